import { el, text, show, button } from '../dom.js';
import { t } from '../language.js';
import { openDialog } from './dialog.js';
import { pauseDialog } from './fight.js';
import { trainDialog } from './title.js';
import { remember } from './rules.js';

const dummies = ['stand', 'crouch', 'jump', 'guard', 'guard-low', 'player2', 'bot-easy', 'bot-medium', 'bot-hard', 'play'];
const sliders = [['latency_ms', 0, 400, 10], ['jitter_ms', 0, 60, 1], ['loss_pct', 0, 30, 1], ['rollback', 0, 8, 1], ['delay', 0, 8, 1]];
const keys = { F1: 'options', F2: 'graph', F3: 'boxes', F4: 'reset', F5: 'save', F6: 'load', F7: 'record', F8: 'play', F9: 'pause', F10: 'step' };

export function train(app, root, part) {
  const status = el('p', { class: 'trainstatus', role: 'status' });
  const bar = el('p', { class: 'trainkeys' }, Object.entries(keys).map(([k, what]) => button(`${k} ${t('train.key.' + what)}`, () => act(what), { tabindex: -1, class: 'plain' })));
  root.append(el('div', { class: 'trainbar' }, status, bar));
  let last = 'stand', refresh = null;

  const option = (fields) => app.cmd('option', fields);
  function act(what) {
    const o = part.options;
    switch (what) {
      case 'options': options(); break;
      case 'graph': app.view.toggleGraph(); break;
      case 'boxes': option({ boxes: !o.boxes }); break;
      case 'pause': option({ paused: !o.paused }); break;
      case 'play': if (o.dummy !== 'play') last = o.dummy; option({ dummy: o.dummy === 'play' ? last : 'play' }); break;
      case 'step': if (!o.paused) option({ paused: true }); else option({ act: 'step' }); break;
      default: option({ act: what });
    }
  }

  function options() {
    const choice = (id, list, name) => el('select', { id, onchange: (e) => option({ [id.slice(6)]: list[e.target.selectedIndex] }) }, list.map((v) => el('option', {}, name(v))));
    const dummy = choice('train-dummy', dummies, (v) => t('dummy.' + v)), slot = choice('train-slot', [0, 1, 2], (v) => t('train.slotn', { n: v + 1 }));
    const side = choice('train-side', [0, 1], (v) => t('train.side' + v)), speed = choice('train-speed', [1, 0.5, 0.25], (v) => t('percent', { n: v * 100 }));
    dummy.setAttribute('data-first', '');
    const check = (field) => el('input', { type: 'checkbox', id: 'train-' + field, onchange: (e) => option({ [field]: e.target.checked }) });
    const boxes = check('boxes'), refill = check('refill');
    const ranges = sliders.map(([field, min, max, step]) => {
      const out = el('output', { for: 'train-' + field });
      const range = el('input', { type: 'range', id: 'train-' + field, min, max, step, oninput: () => { text(out, t('train.unit.' + field, { n: range.value })); option({ [field]: Number(range.value) }); } });
      return { field, range, out };
    });
    const record = button('', () => option({ act: 'record' })), pause = button('', () => option({ paused: !part.options.paused }));
    const field = (id, label, node, more) => el('div', { class: 'field' }, el('label', { for: id }, label), node, more);
    const d = openDialog(app, t('train.options'), [el('div', { class: 'columns' },
      el('div', {}, field('train-dummy', t('train.dummy'), dummy), field('train-slot', t('train.slot'), slot), field('train-side', t('train.side'), side), field('train-speed', t('train.speed'), speed),
        field('train-boxes', t('train.boxes'), boxes), field('train-refill', t('train.refill'), refill),
        el('div', { class: 'row' }, record, button(t('train.clear'), () => option({ act: 'clear' }))),
        el('div', { class: 'row' }, pause, button(t('train.reset'), () => option({ act: 'reset' })), button(t('train.moment'), () => option({ act: 'save' })), button(t('train.momentback'), () => option({ act: 'load' })))),
      el('div', {}, el('h3', {}, t('train.network')), el('p', { class: 'quiet' }, t('train.networktext')), ranges.map((r) => field('train-' + r.field, t('train.' + r.field), r.range, r.out)))),
    el('div', { class: 'row' }, button(t('train.fighters'), () => { d.close(); trainDialog(app); }), button(t('controls'), () => app.controls()), button(t('back'), () => d.close(), { class: 'main' }))],
    { wide: true, onclose: () => { refresh = null; } });
    refresh = () => {
      const o = part.options;
      dummy.selectedIndex = Math.max(0, dummies.indexOf(o.dummy));
      slot.selectedIndex = o.slot;
      side.selectedIndex = o.side;
      speed.selectedIndex = Math.max(0, [1, 0.5, 0.25].indexOf(o.speed));
      boxes.checked = o.boxes;
      refill.checked = o.refill;
      for (const r of ranges) if (document.activeElement !== r.range) { r.range.value = o[r.field]; text(r.out, t('train.unit.' + r.field, { n: o[r.field] })); }
      text(pause, t(o.paused ? 'train.goon' : 'train.pause'));
      text(record, t(part.recording ? 'train.stop' : 'train.record', { n: o.slot + 1 }));
    };
    refresh();
  }

  return {
    plays: true,
    two: true,
    update(p) {
      part = p;
      app.view.frameOf({ ruleset: p.ruleset, format: p.format, rounds: 0, teams: p.teams, kind: 'train' });
      app.sound.play(p.music[p.options.side]);
      remember({ ruleset: p.ruleset, format: p.format, teams: p.teams.map((list) => [...list]) });
      const o = p.options;
      text(status, [t('train.status', { dummy: t('dummy.' + o.dummy), slot: o.slot + 1, frames: p.slots[o.slot] }), p.recording && '● ' + t('train.recording'), p.playing && '▶ ' + t('train.playing'),
        p.advantage !== null && t('train.advantage', { n: (p.advantage > 0 ? '+' : '') + p.advantage }), p.last.move && t('train.last', { move: p.last.move, damage: p.last.damage, hits: p.last.hits }),
        (o.latency_ms || o.jitter_ms || o.loss_pct || o.rollback) && t('train.net', { latency: o.latency_ms, jitter: o.jitter_ms, loss: o.loss_pct, rollback: o.rollback }), o.paused && t('train.paused')].filter(Boolean).join('   ·   '));
      refresh?.();
    },
    key(e) {
      const what = keys[e.code];
      if (!what) return false;
      e.preventDefault();
      if (!e.repeat || what === 'step') act(what);
      return true;
    },
    back() {
      pauseDialog(app, t('train.text'), (close) => [button(t('train.options'), () => { close(); options(); }), button(t('train.leave'), () => { app.cmd('title'); close(); }, { class: 'danger' })], 'train');
    },
    leave() { app.view.frameOf(null); show(bar, false); },
  };
}
