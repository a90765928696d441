import { el, text, show, button, holdButton } from '../dom.js';
import { t } from '../language.js';
import { openDialog } from './dialog.js';
import { settingsDialog } from './settings.js';
import { chatBox, chatTicker } from './chat.js';

/** The line of figures below a fight, by the hud setting. */
export function netLine(app, part) {
  const shape = el('span', { class: 'shape', 'aria-hidden': 'true' }), words = el('span', {}), more = el('span', { class: 'more' });
  const node = el('p', { class: 'netline', 'aria-label': t('net.line') }, shape, ' ', words, more);
  return {
    node,
    take(n) {
      const hud = app.settings.value.hud;
      show(node, hud !== 'off' && part().kind !== 'play' || hud === 'full');
      const grade = n.grade || 'good';
      node.dataset.grade = grade;
      text(shape, { good: '●', borderline: '▲', poor: '■' }[grade] || '●');
      text(words, n.line);
      text(more, hud === 'full' ? ' · ' + t('net.more', { jitter: n.jitter_ms.toFixed(1), stalls: n.stalls, offset: (n.offset_us / 1000).toFixed(1), adv: n.advantage,
        up: (n.up_bps / 1000).toFixed(1), down: (n.down_bps / 1000).toFixed(1), fec: n.fec, rec: n.recovered, p99: n.tick_us.p99 }) : '');
    },
  };
}

export function pauseDialog(app, sentence, leave, key = 'pause', chat = null, question = null) {
  const d = openDialog(app, t(key + '.title'), [el('p', { class: 'quiet' }, sentence), question?.(() => d.close()),
    el('div', { class: 'column' }, button(t(key + '.resume'), () => d.close(), { class: 'main', 'data-first': true }), button(t('controls'), () => app.controls()),
      button(t('settings'), () => settingsDialog(app)), button(t('pause.graph'), () => { app.view.toggleGraph(); d.close(); }), leave(() => d.close())), chat?.node]);
  if (chat) d.talk = chat.take;
}

export function fight(app, root, part) {
  const net = netLine(app, () => part);
  const asked = el('p', {});
  const offer = el('section', { class: 'offer', hidden: true, role: 'alertdialog', 'aria-label': t('offer.title') },
    asked, el('p', { class: 'quiet' }, t('offer.keys')),
    el('div', { class: 'row' }, button(t('offer.yes'), () => app.cmd('answer', { accept: true })), button(t('offer.no'), () => app.cmd('answer', { accept: false }))));
  const ticker = chatTicker(app, part.side, () => part.players);
  root.append(net.node, offer, ticker.node, el('p', { class: 'unseen' }, t('fight.keys')));
  net.node.hidden = true;
  let offered = false, mode = '';
  /** What one is asked, in the menu as well, where a pad reaches it. */
  const question = (close) => el('div', { class: 'note' }, el('p', {}, asked.textContent), el('div', { class: 'row' },
    [true, false].map((accept) => button(t(accept ? 'offer.yes' : 'offer.no'), () => { app.cmd('answer', { accept }); close(); }))));
  return {
    plays: true,
    update(p) { part = p; app.view.frameOf(p); app.sound.play(p.music[Math.max(0, p.side)]);
      offered = Boolean(p.offer) && app.link.role === 'player';
      text(asked, offered ? t('offer.text.' + p.offer) : '');
      if (offered && offer.hidden) app.say(asked.textContent + ' ' + t('offer.keys'));
      show(offer, offered);
      if (mode && mode !== p.mode) app.notice('info', t('mode.changed', { mode: app.word('mode', p.mode) }));
      mode = p.mode;
    },
    net: net.take,
    talk: ticker.take,
    key(e) {
      if (e.repeat) return false;
      if (e.code === 'F2' || e.code === 'Tab') { e.preventDefault(); app.view.toggleGraph(); return true; }
      if (offered && (e.code === 'F9' || e.code === 'F10')) { e.preventDefault(); app.cmd('answer', { accept: e.code === 'F9' }); return true; }
      return false;
    },
    back() {
      pauseDialog(app, t('pause.text'), (close) => holdButton(t('leave.hold'), () => { app.cmd('leave'); close(); }, { class: 'danger' }), 'pause', part.kind === 'match' ? chatBox(app, part.side, () => part.players) : null, offered ? question : null);
    },
    leave() { app.view.frameOf(null); },
  };
}
