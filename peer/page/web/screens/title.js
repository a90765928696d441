import { el, button } from '../dom.js';
import { t } from '../language.js';
import { openDialog } from './dialog.js';
import { settingsDialog } from './settings.js';
import { howDialog } from './how.js';
import { rulesFields, teamFields, sizeOf, chosenLast } from './rules.js';

const codeShape = /^[23456789BCDFGHJKMNPQRTVWXYZ]{8,12}$/;

/** What a typed or pasted invitation looks like, tidied; the peer has the last word. */
export function tidyCode(typed) {
  let s = typed.trim();
  const hash = s.lastIndexOf('#');
  if (hash >= 0) s = s.slice(hash + 1);
  s = s.replace(/^peer\s+join\s+/i, '');
  const at = s.indexOf('@');
  const code = (at >= 0 ? s.slice(0, at) : s).replace(/[\s\-–—_.]/g, '').toUpperCase();
  return { code, relay: at >= 0 ? s.slice(at + 1).trim() : '', whole: at >= 0 ? code + '@' + s.slice(at + 1).trim() : code, good: codeShape.test(code) };
}

export function joinDialog(app, relay) {
  const hint = el('p', { class: 'quiet', id: 'join-hint', 'aria-live': 'polite' }, t('join.hint'));
  const field = el('input', { type: 'text', id: 'join-code', class: 'code', 'data-keys': 'code', autocomplete: 'off', autocapitalize: 'characters', spellcheck: 'false', maxlength: 200,
    placeholder: 'K7QM-3XTD', 'aria-describedby': 'join-hint', 'data-first': true });
  const go = () => {
    const c = tidyCode(field.value);
    if (!c.good) { hint.textContent = field.value.trim() ? t('join.odd') : t('join.empty'); field.focus(); return; }
    app.cmd('join', { code: c.whole, ...(c.relay || relay === 'this machine' ? {} : { relay }) });
    d.close();
  };
  field.addEventListener('keydown', (e) => { if (e.key === 'Enter') { e.preventDefault(); e.stopPropagation(); go(); } });
  field.addEventListener('input', () => { hint.textContent = tidyCode(field.value).good ? t('join.good') : t('join.hint'); });
  const d = openDialog(app, t('join.title'), [el('label', { for: 'join-code' }, t('join.label')), field, hint,
    el('div', { class: 'row' }, button(t('join.go'), go, { class: 'main' }), button(t('back'), () => d.close()))]);
}

function hostDialog(app, part) {
  const rules = rulesFields(app, 'host');
  const relay = el('input', { type: 'text', id: 'host-relay', autocomplete: 'off', spellcheck: 'false', maxlength: 255, placeholder: part.relay, value: '' });
  const d = openDialog(app, t('host.title'), [
    rules.nodes,
    el('div', { class: 'field' }, el('label', { for: 'host-relay' }, t('host.relay')), relay),
    el('p', { class: 'quiet' }, part.relay === 'this machine' ? t('host.embedded') : t('host.through', { relay: part.relay })),
    el('div', { class: 'row' }, button(t('host.go'), () => {
      app.cmd('host', { ...rules.value, ...(relay.value.trim() ? { relay: relay.value.trim() } : {}) });
      d.close();
    }, { class: 'main', 'data-first': true }), button(t('back'), () => d.close()))]);
}

function machineDialog(app) {
  const own = teamFields(app, 'machine', 0, t('rules.yours'));
  const rules = rulesFields(app, 'machine', { onchange: (v) => { own.size = sizeOf(v.format); } });
  const d = openDialog(app, t('machine.title'), [el('div', { class: 'columns' }, el('div', {}, rules.nodes), own.node), el('p', { class: 'quiet' }, t('machine.text')),
    el('div', { class: 'row' }, ['easy', 'medium', 'hard'].map((bot) => button(t('bot.' + bot), () => { app.cmd('play', { bot, ...rules.value, team: own.value }); d.close(); },
      { class: bot === 'medium' ? 'main' : '', 'data-first': bot === 'medium' })))], { wide: true });
}

/** Rules and fighters of the training room. */
export function trainDialog(app) {
  const sides = [0, 1].map((side) => teamFields(app, 'train', side, t(side ? 'rules.theirs' : 'rules.yours')));
  const rules = rulesFields(app, 'room', { rounds: false, onchange: (v) => { for (const s of sides) s.size = sizeOf(v.format); } });
  const d = openDialog(app, t('select.train'), [el('div', { class: 'columns' }, el('div', {}, rules.nodes), el('div', { class: 'teams' }, sides.map((s) => s.node))),
    el('div', { class: 'row' }, button(t('select.go'), () => { app.cmd('train', { ...rules.value, teams: sides.map((s) => s.value) }); d.close(); }, { class: 'main', 'data-first': true }),
      button(t('back'), () => d.close()))], { wide: true });
}

export function title(app, root, part) {
  const entry = (key, act, first) => el('li', {}, el('button', { type: 'button', class: 'entry', onclick: act, 'data-first': first },
    el('span', { class: 'name' }, t(key)), el('span', { class: 'what' }, t(key + '.what'))));
  const sentence = el('p', { class: 'sentence', role: 'status' });
  const train = () => {
    const { ruleset, format, teams } = chosenLast();
    app.cmd('train', { ...(ruleset ? { ruleset, format } : {}), teams: teams.every((list) => list.length) ? teams : [] });
  };
  root.append(el('div', { class: 'titlebox' },
    el('h1', { class: 'logo' }, el('span', { 'aria-hidden': 'true', class: 'mark' }), 'Backstep'),
    el('p', { class: 'motto' }, t('title.motto')), sentence,
    el('nav', { 'aria-label': t('title.menu') }, el('ul', { class: 'menu' },
      entry('title.host', () => hostDialog(app, part), true), entry('title.join', () => joinDialog(app, part.relay)),
      entry('title.machine', () => machineDialog(app)), entry('title.train', train), entry('title.replays', () => app.cmd('replays')))),
    el('div', { class: 'row small' }, button(t('controls'), () => app.controls()), button(t('settings'), () => settingsDialog(app)),
      button(t('how'), () => howDialog(app)), button(t('title.doctor'), () => app.cmd('doctor')), button(t('quit'), () => quit(app)))),
  el('footer', { class: 'foot' }, t('title.foot', { version: part.version, relay: part.relay })));
  if (part.join) queueMicrotask(() => joinDialog(app, part.relay));
  return {
    update(p) { part = p; sentence.textContent = p.sentence; sentence.hidden = !p.sentence; },
    back() { quit(app); },
  };
}

function quit(app) {
  const d = openDialog(app, t('quit.title'), [el('p', {}, t('quit.text')),
    el('div', { class: 'row' }, button(t('quit.stay'), () => d.close(), { 'data-first': true, class: 'main' }), button(t('quit.go'), () => app.cmd('quit')))]);
}
