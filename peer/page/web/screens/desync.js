// The evidence of a desync: the states of both sides as pictures, what differs
// by name, and who was right.

import { el, text, button } from '../dom.js';
import { t } from '../language.js';
import { wordText } from '../fight/trail.js';

export function desync(app, root, part) {
  const cmd = (fields) => app.cmd('theatre', fields);
  const exhibits = part.exhibits.map((name, i) => ({ name, node: button(t('desync.' + name), () => cmd({ exhibit: name }), { 'aria-pressed': 'false', 'data-first': i === part.exhibits.length - 1 }) }));
  const boxes = button(t('theatre.boxes'), () => cmd({ boxes: !part.boxes }), { 'aria-pressed': 'false' });
  const values = part.differences.map((d) => el('tr', {}, el('th', { scope: 'row' }, d.name), el('td', {}, el('bdi', {}, d.host)), el('td', {}, el('bdi', {}, d.guest))));
  const words = [0, 1].map((p) => el('p', { class: 'quiet words' }, (p ? '◆ ' : '▲ ') + part.words[p].slice(-14).map(wordText).join(' ')));
  root.append(
    el('aside', { class: 'desyncbox', tabindex: 0, 'data-scrolls': true, 'aria-label': t('screen.desync') }, el('h1', {}, t('desync.title')), el('output', { class: 'bigcode small' }, part.code),
      el('p', { class: 'lead' }, t('desync.verdict.' + part.verdict)), el('p', { class: 'quiet' }, t('desync.frame', { n: part.frame, agreed: part.agreed }) + ' ' + t('desync.wrote.' + part.wrote)),
      el('div', { class: 'scroll' }, el('table', { class: 'list' }, el('thead', {}, el('tr', {}, ['value', 'host', 'guest'].map((k) => el('th', { scope: 'col' }, t('desync.' + k))))),
        el('tbody', {}, el('tr', {}, el('th', { scope: 'row' }, t('desync.build')), part.builds.map((b) => el('td', {}, el('bdi', {}, b)))), values))),
      el('p', { class: 'quiet' }, t('desync.bytes', { list: (part.ranges || []).map(([at, n]) => (n > 1 ? `${at}–${at + n - 1}` : at)).join(', ') || '–' })), words),
    el('div', { class: 'theatrebar' }, el('div', { class: 'row' }, exhibits.map((x) => x.node), boxes, button(t('theatre.export'), () => cmd({ export: true })), button(t('back'), () => app.cmd('replays')))));
  return {
    update(p) {
      part = p;
      app.view.frameOf({ ruleset: p.ruleset, format: p.format, rounds: 0, teams: p.teams, kind: 'theatre' });
      for (const x of exhibits) x.node.setAttribute('aria-pressed', String(x.name === p.shown));
      boxes.setAttribute('aria-pressed', String(p.boxes));
    },
    back() { app.cmd('replays'); },
    leave() { app.view.frameOf(null); },
  };
}
