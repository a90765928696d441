// The page: display and input for the peer, which owns clock, simulation and
// sockets. Its SCREEN messages say what is shown; the page never decides.

import { el, text, show, button, clock } from './dom.js';
import { Link } from './link.js';
import { Settings } from './settings.js';
import { Input } from './input.js';
import { load, t, maybe } from './language.js';
import * as navigate from './navigate.js';
import { View } from './fight/view.js';
import { Sound } from './fight/sound.js';
import { screens } from './screens/index.js';
import { openDialog, closeDialogs, topDialog } from './screens/dialog.js';
import { keyboardDialog, types } from './screens/keyboard.js';
import { controlsDialog, calibrate } from './screens/controls.js';

const root = document.getElementById('screen');

class App {
  constructor() {
    this.current = null; // { name, part, update, leave, back }
    this.screen = null;  // newest SCREEN
    this.net = null;
    this.talk = null;  // newest TALK
    this.lostAt = 0;
  }

  async start() {
    this.link = new Link((name, value) => this['on' + name]?.(value));
    this.settings = new Settings(this.link);
    const [data] = await Promise.all([fetch('data.json').then((r) => r.json()), load('en')]);
    this.data = data;
    this.sound = new Sound(this.settings);
    this.view = new View(document.getElementById('stage'), this);
    this.input = new Input(this.link, this.settings, {
      pad: (what) => {
        if (topDialog()?.captures?.()) return;
        if (what === 'press' && types(document.activeElement)) keyboardDialog(this, document.activeElement);
        else navigate.pad(what, () => this.back());
      },
      change: (words) => this.current?.pressed?.(words) ?? topDialog()?.pressed?.(words),
      unknown: (pad) => this.notice('warn', t('pad.unknown', { name: pad.id.slice(0, 60) }), { label: t('pad.calibrate'), act: () => calibrate(this, pad) }),
    });
    this.settings.listeners.add((v) => load(v.language));
    addEventListener('keydown', (e) => this.key(e));
    for (const wake of ['keydown', 'pointerdown']) addEventListener(wake, () => this.sound.wake());
    document.addEventListener('focusin', () => this.sound.tick());
    setInterval(() => this.countWaits(), 250);
    this.watching = el('p', { class: 'viewer', role: 'status', hidden: true }, t('viewer'));
    document.body.append(this.watching);
    this.settings.apply();
    this.link.connect();
    this.view.run();
    globalThis.backstep = this; // for tests and the curious
  }

  /** What the screens say to the peer. */
  cmd(name, fields) { this.link.command(name, fields); }

  key(e) {
    this.sound.wake();
    if (this.playing && this.input.key(e)) return;
    if (this.current?.key?.(e) && !topDialog()) return;
    if (topDialog()?.key?.(e)) return;
    this.input.keys.add(e.code);
    if (this.playing && e.code !== 'Escape' && e.code !== 'Tab') return;
    navigate.key(e, () => this.back());
  }

  get playing() { return Boolean(this.current?.plays) && !topDialog() && this.link.role === 'player'; }

  back() {
    const d = topDialog();
    if (d) { if (!d.sticky) d.close(); return; }
    this.current?.back?.();
  }

  /** Something about dialogs or screens changed: who gets the keys? */
  refocus() {
    this.input?.play(this.playing, Boolean(this.current?.two));
    if (!topDialog() && !this.playing && !root.contains(document.activeElement)) navigate.focusFirst(root);
    if (this.playing) { document.activeElement?.blur?.(); }
  }

  onstate({ state, code }) {
    if (state === 'open') {
      this.lostAt = 0;
      this.input.reset();
      closeDialogs(this, true);
      return;
    }
    this.input.release();
    if (this.screen?.screen === 'bye') return;
    if (state === 'lost') {
      if (!this.lostAt) {
        this.lostAt = performance.now();
        const timer = el('span', { role: 'timer' });
        const d = openDialog(this, t('lost.title'), [el('p', {}, t('lost.text')), el('p', { class: 'quiet' }, t('lost.since'), ' ', timer)], { sticky: true });
        d.tick = () => text(timer, clock(performance.now() - this.lostAt));
      }
      return;
    }
    closeDialogs(this, true);
    const act = (mode) => () => { closeDialogs(this, true); this.link.connect(mode); };
    const parts = [el('p', {}, t(`closed.${code}`))];
    if (code === 4409 || code === 4410) {
      parts.push(el('div', { class: 'row' }, button(t('closed.take'), act('take'), { 'data-first': true, class: 'main' }), button(t('closed.view'), act('view'))));
    }
    openDialog(this, t('closed.title'), parts, { sticky: true });
  }

  onwelcome(w) {
    document.documentElement.dataset.role = w.role;
    show(this.watching, w.role === 'viewer');
  }

  onscreen(s) {
    this.screen = s;
    const make = screens[s.screen];
    if (!make) return;
    const part = s[s.screen];
    if (this.current?.name !== s.screen) {
      this.current?.leave?.();
      closeDialogs(this, false);
      root.replaceChildren();
      root.className = 'screen ' + s.screen;
      root.setAttribute('aria-label', t('screen.' + s.screen));
      this.current = { name: s.screen, ...make(this, root, part) };
      this.waitBox = el('section', { class: 'wait', hidden: true });
      this.waitReason = el('p', { class: 'reason', role: 'status' });
      this.waitClock = el('span', { class: 'clock', role: 'timer' });
      this.waitHint = button(t('wait.cancel'), () => this.back(), { class: 'plain' });
      this.waitBox.append(this.waitReason, el('p', { class: 'left' }, this.waitClock, ' ', this.waitHint));
      (root.querySelector('[data-wait]') || root).append(this.waitBox);
      this.view.scene(s.screen);
      if (!this.current.plays && !['theatre', 'result'].includes(s.screen)) this.sound.play(0);
      this.current.update?.(part, s);
      this.say(t('screen.' + s.screen));
      navigate.focusFirst(root);
    } else this.current.update?.(part, s);
    this.setWait(s.wait);
    document.title = t('title.' + (this.current.plays ? 'fight' : 'page'));
    this.refocus();
  }

  setWait(w) {
    this.waiting = w ? { ...w, at: performance.now() } : null;
    this.waitBox.hidden = !w;
    root.classList.toggle('waits', Boolean(w));
    if (!w) return;
    const reason = w.reason ? w.reason[0].toUpperCase() + w.reason.slice(1) : '';
    text(this.waitReason, /[.!?…]$/.test(reason) ? reason : reason + '…');
    this.waitHint.hidden = !w.cancel;
    this.countWaits();
  }

  countWaits() {
    topDialog()?.tick?.();
    const w = this.waiting;
    if (!w) return;
    const past = w.since_ms + performance.now() - w.at;
    text(this.waitClock, w.limit_ms ? t('wait.of', { past: clock(past), limit: clock(w.limit_ms) }) : clock(past));
  }

  onsnapshot(s) {
    this.view.take(s);
    this.current?.snapshot?.(s);
  }

  onnet(n) {
    this.net = n;
    this.view.net.take(n);
    this.current?.net?.(n);
  }

  ontalk(talk) {
    this.talk = talk;
    this.current?.talk?.();
    topDialog()?.talk?.();
  }

  onsettings(v) { this.settings.take(v); }

  onnotice(n) { this.notice(n.kind, n.text); }

  onfile(f) {
    const link = el('a', { href: URL.createObjectURL(new Blob([f.bytes])), download: f.name.replace(/[^\w.-]/g, '_') });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    this.notice('info', t('file.saved', { name: f.name }));
  }

  /** Shows a sentence for a while. */
  notice(kind, sentence, offer) {
    const box = document.getElementById('notices');
    const node = el('div', { class: 'notice ' + (kind === 'warn' ? 'warn' : 'info') }, el('span', {}, sentence));
    if (offer) node.append(button(offer.label, () => { node.remove(); offer.act(); }));
    box.append(node);
    while (box.children.length > 3) box.firstChild.remove();
    setTimeout(() => node.remove(), offer ? 20000 : 7000);
  }

  /** Says something to a screen reader alone. */
  say(sentence) { text(document.getElementById('say'), sentence); }

  /** The name of a person on a side, from the peer's cleaned text. */
  person(p, side, you) {
    if (p?.name) return p.name;
    if (p?.bot) return t('person.machine');
    return side === you ? t('person.you') : t('person.opponent');
  }

  fighter(key) { return this.data.fighters.find((f) => f.key === key) || this.data.fighters[0]; }

  controls() { controlsDialog(this); }

  word(group, value) { return maybe(`${group}.${value}`, String(value)); }
}

new App().start();
