import { el, text, button, clock } from '../dom.js';
import { t } from '../language.js';

const speeds = [0.1, 0.25, 0.5, 1, 2, 4, 8];

export function theatre(app, root, part) {
  const named = (shown, said) => ({ 'aria-label': `${t(shown)}: ${t(said)}` }); // what is read begins with what is seen
  const cmd = (fields) => app.cmd('theatre', fields);
  const play = button('', () => cmd({ play: !part.playing }), { class: 'main', 'data-first': true });
  const speed = el('select', { id: 'theatre-speed', 'aria-label': t('theatre.speed'), onchange: () => cmd({ speed: speeds[speed.selectedIndex] }) }, speeds.map((s) => el('option', {}, `${s}×`)));
  const seek = el('input', { type: 'range', min: 0, step: 1, class: 'seek', 'aria-label': t('theatre.seek'), oninput: () => { dragged = performance.now(); cmd({ seek: Number(seek.value) }); } });
  const time = el('output', {}), marks = el('div', { class: 'row marksrow', role: 'group', 'aria-label': t('theatre.rounds') }), sentence = el('p', { class: 'quiet', role: 'status' });
  const boxes = button(t('theatre.boxes'), () => cmd({ boxes: !part.boxes }), { 'aria-pressed': 'false' });
  const verify = button(t('theatre.verify'), () => cmd({ verify: true }));
  let dragged = 0, marked = '';
  root.append(el('div', { class: 'theatrebar' }, el('div', { class: 'row seekrow' }, seek, time),
    el('div', { class: 'row' }, button(t('theatre.back10'), () => cmd({ step: -60 }), named('theatre.back10', 'theatre.backsecond')), button('−1', () => cmd({ step: -1 }), { 'aria-label': '−1: ' + t('theatre.stepback') }), play,
      button('+1', () => cmd({ step: 1 }), { 'aria-label': '+1: ' + t('theatre.step') }), button(t('theatre.on10'), () => cmd({ step: 60 }), named('theatre.on10', 'theatre.onsecond')), speed, boxes, verify,
      button(t('theatre.export'), () => cmd({ export: true })), button(t('back'), () => app.cmd('title'))), marks, sentence));
  const keys = { Comma: { step: -1 }, Period: { step: 1 }, KeyB: 'boxes', KeyP: 'play' };
  return {
    update(p) {
      part = p;
      app.view.frameOf({ ruleset: p.ruleset, format: p.format, rounds: p.rounds, teams: p.teams, kind: 'theatre' });
      app.sound.play(p.playing ? p.music[0] : 0);
      text(play, t(p.playing ? 'theatre.pause' : 'theatre.play'));
      seek.max = Math.max(1, p.frames);
      if (performance.now() - dragged > 400) seek.value = p.frame;
      text(time, `${clock(p.frame * 1000 / 60)} / ${clock(p.frames * 1000 / 60)}  ${t('theatre.frame', { n: p.frame })}`);
      seek.setAttribute('aria-valuetext', clock(p.frame * 1000 / 60));
      if (document.activeElement !== speed) speed.selectedIndex = Math.max(0, speeds.indexOf(p.speed));
      boxes.setAttribute('aria-pressed', String(p.boxes));
      text(sentence, [p.sentence, p.verified === 'yes' && '✓ ' + t('theatre.verified'), p.verified === 'failed' && '✗ ' + t('theatre.failed')].filter(Boolean).join(' '));
      const want = JSON.stringify(p.marks);
      if (want !== marked) {
        marked = want;
        marks.replaceChildren(...(p.marks || []).map((f, i) => button(t('fight.round', { n: i + 1 }), () => cmd({ seek: f }), { class: 'plain' })));
      }
    },
    snapshot(s) {
      if (performance.now() - dragged > 400) seek.value = s.frame;
      text(time, `${clock(s.frame * 1000 / 60)} / ${clock(part.frames * 1000 / 60)}  ${t('theatre.frame', { n: s.frame })}`);
    },
    key(e) {
      const k = keys[e.code];
      if (!k || e.ctrlKey || e.metaKey) return false;
      e.preventDefault();
      cmd(k === 'boxes' ? { boxes: !part.boxes } : k === 'play' ? { play: !part.playing } : k);
      return true;
    },
    back() { app.cmd('title'); },
    leave() { app.view.frameOf(null); },
  };
}
