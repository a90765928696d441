// Fields for the rules of a match and for teams, shared by hosting, the match
// against the machine and the training room. What was chosen last is offered again.

import { el, text } from '../dom.js';
import { t } from '../language.js';
import { portrait } from '../fight/portrait.js';

const last = { ruleset: '', format: '', rounds: 2, teams: [[], []] };

/** How many fighters a side has. */
export const sizeOf = (format) => ({ '1v1': 1, '2v2': 2 }[format] || 3);

/** Takes note of what is played now, so that the next dialog begins there. */
export function remember(fields) { Object.assign(last, fields); }

export const chosenLast = () => last;

/** What one may choose in words: "Street rules · 2 against 2 · first to 2". */
export function rulesText(app, p) {
  return [app.word('ruleset', p.ruleset), t('format.' + p.format), p.rounds ? t('host.rounds', { n: p.rounds }) : ''].filter(Boolean).join(' · ');
}

/** Selects for ruleset, format and, if rounds is set, length; .value gives what a command takes, onchange is told. */
export function rulesFields(app, id, { rounds = true, onchange = () => {} } = {}) {
  const pick = (name, list, label, chosen) => el('select', { id: `${id}-${name}`, onchange: () => changed() }, list.map((v) => el('option', { selected: String(v) === String(chosen) }, label(v))));
  const ruleset = pick('ruleset', app.data.rulesets, (v) => app.word('ruleset', v), last.ruleset || app.data.rulesets[0]);
  const format = pick('format', app.data.formats, (v) => t('format.' + v), last.format || app.data.formats[0]);
  const length = rounds && pick('rounds', [1, 2, 3, 4, 5], (n) => t('host.rounds', { n }), last.rounds);
  const what = el('p', { class: 'quiet rulewhat', id: `${id}-what`, role: 'status' });
  ruleset.setAttribute('aria-describedby', `${id}-what`);
  const field = (name, node) => el('div', { class: 'field' }, el('label', { for: node.id }, t('rules.' + name)), node);
  const fields = {
    nodes: [field('ruleset', ruleset), what, field('format', format), length && field('rounds', length)],
    get value() {
      const v = { ruleset: app.data.rulesets[ruleset.selectedIndex], format: app.data.formats[format.selectedIndex] };
      if (length) v.rounds = length.selectedIndex + 1;
      return v;
    },
  };
  function changed() {
    const v = fields.value;
    text(what, app.word('ruleset.what', v.ruleset) === v.ruleset ? '' : t('ruleset.what.' + v.ruleset));
    remember(v);
    onchange(v);
  }
  changed();
  return fields;
}

/** A row of fighters to choose for a side, each a picture and a select; .size sets how many, .value gives the keys. */
export function teamFields(app, id, side, label) {
  const cast = app.data.fighters, row = el('div', { class: 'teamrow', role: 'group', 'aria-label': label });
  const slots = [0, 1, 2].map((k) => {
    const canvas = el('canvas', { width: 200, height: 210, 'aria-hidden': 'true' });
    const start = last.teams[side][k] || cast[(side + k) % cast.length].key;
    const select = el('select', { id: `${id}-${side}-${k}`, 'aria-label': t('rules.fighter', { n: k + 1 }) + ', ' + label, onchange: () => draw() }, cast.map((f) => el('option', { selected: f.key === start }, f.name)));
    const draw = () => { portrait(canvas, app, cast[select.selectedIndex], side); last.teams[side] = team.value; };
    return { node: el('div', { class: 'pick' }, canvas, select), select, draw };
  });
  let size = 1;
  const team = {
    node: el('div', { class: 'teamside ' + (side ? 'b' : 'a') }, el('p', { class: 'side' }, (side ? '◆ ' : '▲ ') + label), row),
    get value() { return slots.slice(0, size).map((s) => cast[s.select.selectedIndex].key); },
    set size(n) {
      size = n;
      row.replaceChildren(...slots.slice(0, n).map((s) => s.node));
      for (const s of slots.slice(0, n)) s.draw();
    },
  };
  return team;
}
