import { el, text, show, button, holdButton } from '../dom.js';
import { t } from '../language.js';
import { leaveDialog } from './select.js';
import { joinDialog } from './title.js';
import { chatBox } from './chat.js';

export function result(app, root, part) {
  const head = el('h1', {}), sentence = el('p', { class: 'lead', role: 'status' });
  const names = [0, 1].map((s) => el('th', { scope: 'col', class: s ? 'b' : 'a' }));
  const rounds = [0, 1].map(() => el('td', {})), score = [0, 1].map(() => el('td', {})), fighters = [0, 1].map(() => el('td', {}));
  const hash = el('code', {}), marks = el('p', { class: 'marks' }), saved = el('p', { class: 'quiet' });
  const rematch = holdButton(t('result.rematch'), () => app.cmd('rematch'), { class: 'main', 'data-first': true });
  const change = button(t('result.change'), () => app.cmd('change'));
  const leave = holdButton(t('leave.hold'), () => app.cmd('leave'), { class: 'danger' });
  const home = button(t('error.title'), () => app.cmd('title'), { class: 'main' });
  const chat = chatBox(app, part.side, () => part.players);
  const hint = el('p', { class: 'quiet' }, t('result.hint'));
  let open = null;
  const row = (key, cells) => el('tr', {}, el('th', { scope: 'row' }, t(key)), cells);
  root.append(el('div', { class: 'panel aside' }, head, sentence,
    el('table', { class: 'score' }, el('thead', {}, el('tr', {}, el('td', {}), names)), el('tbody', {}, row('result.fighters', fighters), row('result.rounds', rounds), row('result.score', score))),
    el('div', { class: 'row' }, rematch, change, leave, home), hint, marks, saved,
    el('p', { class: 'quiet hash' }, t('result.hash'), ' ', hash), el('div', { 'data-wait': true }), chat.node));
  return {
    update(p) {
      part = p;
      text(head, p.winner === 2 ? t('result.draw') : p.winner < 0 ? t('result.none') : t(p.won ? 'result.won' : 'result.lost'));
      head.className = p.winner < 0 || p.winner === 2 ? '' : p.won ? 'won' : 'lost';
      text(sentence, p.sentence.replace(/^(You win|You lose|A draw)\. ?/, '')); // the heading says it
      show(sentence, Boolean(sentence.textContent));
      for (const s of [0, 1]) {
        text(names[s], (s ? '◆ ' : '▲ ') + app.person(p.players[s], s, p.side));
        text(fighters[s], (p.teams[s] || []).map((k) => app.fighter(k).name).join(', '));
        text(rounds[s], p.rounds[s]);
        text(score[s], p.score[s]);
      }
      app.sound.play(p.music[p.winner === 1 ? 1 : 0]); // whoever won has the music
      text(hash, p.hash);
      show(hash.parentNode, Boolean(p.hash));
      text(saved, p.replay ? t('result.saved') : '');
      for (const node of [rematch, leave, hint]) show(node, p.can_rematch);
      show(home, !p.can_rematch);
      chat.close(!p.can_rematch); // nobody is there to read it
      if (open && !p.can_rematch) home.focus();
      open = p.can_rematch;
      show(change, p.can_rematch && !p.players.some((x) => x.bot));
      rematch.disabled = p.you === 'rematch';
      const name = app.person(p.players[1 - p.side], 1 - p.side, p.side);
      text(marks, [p.you && t('result.you.' + p.you), p.they && t('result.they.' + p.they, { name })].filter(Boolean).join('  ·  '));
    },
    talk: chat.take,
    back() { if (part.can_rematch) leaveDialog(app, t('leave.result'), 'leave'); else app.cmd('title'); },
  };
}

export function error(app, root) {
  const sentence = el('p', { class: 'lead', role: 'alert' }), code = el('p', { class: 'quiet' });
  const again = button(t('error.again'), () => {}, { class: 'main', 'data-first': true });
  const ask = button(t('error.doctor'), () => app.cmd('doctor'));
  const home = button(t('error.title'), () => app.cmd('title'));
  root.append(el('div', { class: 'panel narrow' }, el('h1', {}, t('error.head')), sentence, el('p', { class: 'quiet', 'data-advice': true }), el('div', { class: 'row' }, again, ask, home), code));
  const advice = root.querySelector('[data-advice]');
  let act = () => app.cmd('title');
  again.addEventListener('click', () => act());
  return {
    update(p) {
      text(sentence, p.sentence);
      text(code, t('error.code', { code: p.code }));
      text(advice, app.word('error.advice', p.code) === String(p.code) ? '' : t('error.advice.' + p.code));
      show(again, Boolean(p.retry));
      show(ask, [3, 4, 5, 6].includes(p.code)); // the network may be the reason
      act = p.retry === 'join' ? () => joinDialog(app, '') : () => app.cmd(p.retry);
      if (!p.retry) home.focus();
    },
    back() { app.cmd('title'); },
  };
}

export function bye(app, root) {
  const sentence = el('p', { class: 'lead', role: 'status' });
  root.append(el('div', { class: 'panel narrow' }, el('h1', {}, t('bye.head')), sentence));
  return { update(p) { text(sentence, p.sentence); } };
}
