import { el, text, button, holdButton } from '../dom.js';
import { t } from '../language.js';
import { openDialog } from './dialog.js';
import { portrait } from '../fight/portrait.js';
import { rulesText } from './rules.js';
import { chatBox } from './chat.js';

export function leaveDialog(app, sentence, cmd) {
  const d = openDialog(app, t('leave.title'), [el('p', {}, sentence),
    el('div', { class: 'row' }, button(t('leave.stay'), () => d.close(), { class: 'main', 'data-first': true }),
      holdButton(t('leave.hold'), () => { app.cmd(cmd); d.close(); }, { class: 'danger' }))]);
}

export function select(app, root, part) {
  const { size } = part;
  let touched = false;
  let team = [...(part.you.team || [])].slice(0, size), now = part;
  const cards = app.data.fighters.map((f) => {
    const canvas = el('canvas', { width: 300, height: 228, 'aria-hidden': 'true' });
    portrait(canvas, app, f, part.side);
    const order = el('span', { class: 'order', 'aria-hidden': 'true' });
    const node = el('button', { type: 'button', class: 'card', 'aria-pressed': 'false', onclick: () => choose(f.key), onfocus: () => describe(f) }, canvas, order, el('span', { class: 'name' }, f.name));
    return { f, node, order };
  });
  const plan = el('p', { class: 'plan' }), facts = el('p', { class: 'quiet' }), chosen = el('p', { class: 'lead', role: 'status' }), marks = el('p', { class: 'marks' });
  const ready = button('', () => pick(!now.you.ready), { class: 'main ready' });
  const grid = el('div', { class: 'cards', role: 'group', 'aria-label': t('select.title') }, cards.map((c) => c.node));
  const rules = rulesText(app, part), people = [];
  people[1 - part.side] = part.opponent;
  const chat = chatBox(app, part.side, () => people);
  root.append(el('div', { class: 'panel full' }, el('h1', {}, t(size > 1 ? 'select.team' : 'select.title')),
    el('p', { class: 'quiet' }, part.opponent ? t('select.against', { name: app.person(part.opponent, 1, 0), rules }) : rules),
    grid, plan, facts, chosen, el('div', { class: 'row' }, ready, button(t('back'), () => back())), marks, el('div', { 'data-wait': true }), chat.node));

  function describe(f) {
    text(plan, f.plan);
    text(facts, t('select.facts', { health: f.health, walk: f.walk[0].toFixed(1), moves: f.moves.length }));
  }
  function choose(key) {
    if (now.you.ready) return;
    if (size === 1) {
      if (team[0] === key && touched) { pick(true); return; } // Enter twice: chosen and ready
      touched = true;
      team = [key];
    } else {
      const i = team.indexOf(key);
      if (i >= 0) team.splice(i, 1);
      else if (team.length < size) team.push(key);
      else team = [...team.slice(1), key];
    }
    app.sound.menu();
    paint();
    if (team.length === size) pick(false);
  }
  function pick(yes) {
    if (team.length < size) return;
    app.cmd('pick', { team, ready: yes });
  }
  function paint() {
    for (const c of cards) {
      const at = team.indexOf(c.f.key);
      c.node.setAttribute('aria-pressed', String(at >= 0));
      text(c.order, at < 0 ? '' : size > 1 ? String(at + 1) : '✓');
    }
    const list = team.map((k) => app.fighter(k).name).join(' + ');
    text(chosen, list ? t('select.chosen', { list }) : t(size > 1 ? 'select.several' : 'select.one', { n: size }));
    ready.disabled = team.length < size;
    text(ready, t(now.you.ready ? 'select.unready' : 'select.ready'));
    text(marks, `${now.you.ready ? '✓' : '○'} ${t('person.you')}   ${now.they.ready ? '✓' : '○'} ${app.person(now.opponent, 1, 0)}`);
    grid.classList.toggle('locked', Boolean(now.you.ready));
  }
  function back() { leaveDialog(app, t('leave.select'), 'leave'); }
  describe(app.fighter(team[0]));
  paint();
  (cards.find((c) => c.f.key === team[0]) || cards[0]).node.setAttribute('data-first', '');
  return {
    update(p) {
      now = p;
      if (p.you.team?.length) team = [...p.you.team].slice(0, size);
      paint();
    },
    talk: chat.take,
    back,
  };
}
