import { el, text, show, button } from '../dom.js';
import { t, maybe } from '../language.js';
import { names, padNames, padMap, padHolds, conflicts, wordOf } from '../input.js';
import { openDialog } from './dialog.js';

/** A control as people call it; those of a pad that the browser knows have names. */
export function controlName(c, standard) {
  const pad = /^([ba])(\d+)([+-]?)$/.exec(c);
  if (pad && standard && maybe('pad.' + c, '')) return t('pad.' + c);
  if (pad) return pad[1] === 'b' ? t('pad.button', { n: pad[2] }) : t('pad.axis', { n: pad[2], way: pad[3] });
  return maybe('key.' + c, c.replace(/^(Key|Digit)/, '').replace(/^Arrow/, '').replace(/^Numpad/, t('key.pad') + ' '));
}

/** The control of a pad that is held now and was not at rest, or ''. */
export function heldControl(pad, rest) {
  for (let i = 0; i < Math.min(32, pad.buttons.length); i++) if (padHolds(pad, 'b' + i) && !rest.has('b' + i)) return 'b' + i;
  for (let i = 0; i < Math.min(16, pad.axes.length); i++) for (const way of '-+') if (padHolds(pad, `a${i}${way}`) && !rest.has(`a${i}${way}`)) return `a${i}${way}`;
  return '';
}

function resting(pad) {
  const rest = new Set();
  for (let i = 0; i < pad.buttons.length; i++) if (padHolds(pad, 'b' + i)) rest.add('b' + i);
  for (let i = 0; i < pad.axes.length; i++) for (const way of '-+') if (padHolds(pad, `a${i}${way}`)) rest.add(`a${i}${way}`);
  return rest;
}

/** A button that was held at first counts once it was let go; an axis that rested at its end never does at that end. */
function settle(rest, pad) {
  for (const c of rest) if (c[0] === 'b' && !padHolds(pad, c)) rest.delete(c);
}

const newest = (pad) => [...navigator.getGamepads()].find((p) => p && p.index === pad.index);

/** Asks for every button of an unknown pad in turn; Skip, or one that was given already, leaves one out. */
export function calibrate(app, pad) {
  const map = {}, ask = el('p', { class: 'lead', role: 'status' }), got = el('p', { class: 'quiet' });
  let i = 0, rest = resting(pad), waiting = true;
  const skip = button(t('pad.skip'), () => next(), { 'data-first': true });
  const d = openDialog(app, t('pad.title'), [el('p', { class: 'quiet' }, pad.id.slice(0, 128)), ask, el('p', { class: 'quiet' }, t('pad.how')), got, el('div', { class: 'row' }, skip, button(t('back'), () => d.close()))], { onclose: () => clearInterval(timer) });
  const put = () => text(ask, t('pad.press', { button: t('button.' + padNames[i]), n: i + 1, of: padNames.length }));
  const next = () => {
    if (++i < padNames.length) { put(); return; }
    app.settings.change({ pads: { ...app.settings.value.pads, [pad.id.slice(0, 128)]: map } });
    app.notice('info', t('pad.saved'));
    d.close();
  };
  const timer = setInterval(() => {
    const p = newest(pad);
    if (!p) return;
    settle(rest, p);
    const c = heldControl(p, rest);
    if (!c) { waiting = true; return; }
    if (!waiting) return;
    waiting = false;
    const given = Object.values(map).flat().includes(c);
    if (!given) map[padNames[i]] = [c];
    text(got, `${t('button.' + padNames[i])}: ${given ? t('pad.none') : controlName(c, pad.mapping === 'standard')}`);
    next();
  }, 16);
  d.captures = () => true;
  put();
}

export function controlsDialog(app) {
  const device = el('select', { id: 'ctl-device', 'data-first': true, onchange: () => paint() });
  const body = el('tbody', {}), clash = el('p', { class: 'note', role: 'status' }), live = el('div', { class: 'live', 'aria-hidden': 'true' }, names.map((n) => el('span', { 'data-b': n }, t('button.' + n))));
  const calibrateButton = button(t('pad.calibrate'), () => { const p = chosen().pad; if (p) calibrate(app, p); });
  let waitsFor = null, watch = 0;
  const list = () => [{ name: t('ctl.keys0'), player: 0 }, { name: t('ctl.keys1'), player: 1 }, ...app.input.pads().map((p) => ({ name: p.id.slice(0, 60), pad: p, id: p.id.slice(0, 128) }))];
  const chosen = () => list()[device.selectedIndex] || list()[0];
  const mapOf = (d) => (d.pad ? padMap(app.settings.value, d.pad) || {} : app.settings.value.keys[d.player]);

  function save(map) {
    const d = chosen(), s = app.settings.value;
    if (d.pad) app.settings.change({ pads: { ...s.pads, [d.id]: map } });
    else app.settings.change({ keys: s.keys.map((m, i) => (i === d.player ? map : m)) });
    paint();
  }
  function devices() {
    const at = Math.max(0, device.selectedIndex);
    device.replaceChildren(...list().map((d) => el('option', {}, d.name)));
    device.selectedIndex = Math.min(at, device.options.length - 1);
  }
  function paint(focus) {
    const d = chosen(), map = mapOf(d), named = (c) => controlName(c, d.pad?.mapping === 'standard'), twice = conflicts(d.pad ? [map] : app.settings.value.keys);
    show(calibrateButton, Boolean(d.pad));
    body.replaceChildren(...(d.pad ? padNames : names).map((n) => el('tr', { 'data-name': n }, el('th', { scope: 'row' }, t('button.' + n)),
      el('td', {}, (map[n] || []).map((c) => {
        const bad = twice.has(c);
        return button([named(c), bad ? ' ⚠' : '', ' ×'].join(''), () => save({ ...map, [n]: map[n].filter((x) => x !== c) }), { class: 'chip' + (bad ? ' bad' : ''), 'aria-label': t('ctl.remove', { key: named(c), button: t('button.' + n) }) + (bad ? ' ' + t('ctl.twice') : '') });
      })), el('td', {}, button(waitsFor === n ? t('ctl.press') : t('ctl.add'), () => listen(n), { class: waitsFor === n ? 'listening' : '', disabled: (map[n] || []).length >= 4, 'aria-label': t('ctl.addto', { button: t('button.' + n) }) })))));
    text(clash, [...twice].map(([c, uses]) => t('ctl.conflict', { key: named(c), uses: uses.map((u) => (d.pad ? '' : t('ctl.p' + u.player) + ' ') + t('button.' + u.name)).join(', ') })).join(' '));
    if (focus) body.querySelector(`[data-name=${focus}] td:last-child button`)?.focus();
  }
  function listen(n) {
    waitsFor = n;
    clearInterval(watch);
    const d = chosen();
    if (d.pad) {
      const rest = resting(newest(d.pad) || d.pad);
      watch = setInterval(() => {
        const p = newest(d.pad), held = p ? heldControl(p, rest) : '';
        if (p) settle(rest, p);
        if (held) take(held);
      }, 16);
    }
    paint(n);
  }
  function take(c) {
    const n = waitsFor, map = mapOf(chosen());
    clearInterval(watch);
    waitsFor = null;
    if (c && !(map[n] || []).includes(c)) save({ ...map, [n]: [...(map[n] || []), c].slice(-4) });
    paint(n);
  }
  const defaults = button(t('ctl.defaults'), () => {
    const d = chosen();
    if (d.pad) { const pads = { ...app.settings.value.pads }; delete pads[d.id]; app.settings.change({ pads }); paint(); return; }
    save(d.player === 0 ? firstKeys : secondKeys);
  });
  const dialog = openDialog(app, t('controls'), [el('div', { class: 'field' }, el('label', { for: 'ctl-device' }, t('ctl.device')), device), clash,
    el('div', { class: 'scroll' }, el('table', { class: 'controls' }, el('caption', { class: 'unseen' }, t('controls')), body)), el('p', { class: 'quiet' }, t('ctl.now')), live,
    el('div', { class: 'row' }, calibrateButton, defaults, button(t('done'), () => dialog.close(), { class: 'main' }))],
  { wide: true, onclose: () => { clearInterval(watch); removeEventListener('gamepadconnected', devices); } });
  dialog.key = (e) => {
    if (!waitsFor || chosen().pad && e.code !== 'Escape') return false;
    e.preventDefault();
    take(e.code === 'Escape' ? '' : e.code);
    return true;
  };
  dialog.captures = () => Boolean(waitsFor && chosen().pad);
  dialog.pressed = () => {
    const d = chosen(), map = mapOf(d), p = d.pad && newest(d.pad);
    const word = d.pad ? (p ? wordOf(map, (c) => padHolds(p, c)) : 0) : wordOf(map, (c) => app.input.keys.has(c));
    names.forEach((n, i) => live.children[i].classList.toggle('on', Boolean(word & (1 << i))));
  };
  addEventListener('gamepadconnected', devices);
  devices();
  device.focus();
  paint();
}

const firstKeys = { up: ['KeyW', 'Space'], down: ['KeyS'], left: ['KeyA'], right: ['KeyD'], light: ['KeyU'], medium: ['KeyI'], heavy: ['KeyO'], special: ['KeyJ'], throw: ['KeyK'], assist: ['KeyP'], stance: ['KeyL'], super: ['Semicolon'] };
const secondKeys = { up: ['ArrowUp'], down: ['ArrowDown'], left: ['ArrowLeft'], right: ['ArrowRight'], light: ['Numpad4'], medium: ['Numpad5'], heavy: ['Numpad6'], special: ['Numpad1'], throw: ['Numpad2'], assist: ['Numpad7'], stance: ['Numpad3'], super: ['Numpad8'] };
