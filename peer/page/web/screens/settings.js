import { el, text, button } from '../dom.js';
import { t } from '../language.js';
import { palettes } from '../settings.js';
import { openDialog } from './dialog.js';

export function settingsDialog(app) {
  const s = app.settings;
  const field = (id, label, node, more) => el('div', { class: 'field' }, el('label', { for: id }, label), node, more);
  const choice = (key, list, name, first) => {
    const id = 'set-' + key;
    return field(id, t('set.' + key), el('select', { id, 'data-first': first, onchange: (e) => s.change({ [key]: list[e.target.selectedIndex] }) },
      list.map((v) => el('option', { selected: s.value[key] === v }, name(v)))));
  };
  const check = (key) => field('set-' + key, t('set.' + key), el('input', { type: 'checkbox', id: 'set-' + key, checked: s.value[key], onchange: (e) => s.change({ [key]: e.target.checked }) }));
  const range = (id, label, get, set) => {
    const out = el('output', { for: id }, t('percent', { n: get() }));
    const node = el('input', { type: 'range', id, min: 0, max: 100, step: 5, oninput: () => { text(out, t('percent', { n: node.value })); set(Number(node.value)); } });
    node.value = get();
    return field(id, label, node, out);
  };
  const volume = (key) => range('set-volume-' + key, t('set.volume.' + key), () => s.value.volume[key], (v) => s.change({ volume: { ...s.value.volume, [key]: v } }));
  const typed = (key, max) => field('set-' + key, t('set.' + key), el('input', { type: 'text', id: 'set-' + key, value: s.value[key], maxlength: max, autocomplete: 'off', spellcheck: 'false',
    placeholder: t('set.' + key + '.hint'), onchange: (e) => s.change({ [key]: e.target.value.trim() }) }));
  const d = openDialog(app, t('settings'), [el('div', { class: 'columns' },
    el('div', {}, el('h3', {}, t('set.you')), typed('name', 24), typed('relay', 255), choice('delay', ['auto', '0', '1', '2', '3'], (v) => (v === 'auto' ? t('set.auto') : t('frames', { n: v }))),
      el('h3', {}, t('set.sound')), volume('master'), volume('effects'), volume('music')),
    el('div', {}, el('h3', {}, t('set.sight')), check('large_text'), choice('palette', palettes, (v) => t('palette.' + v)), choice('reduced_motion', ['auto', 'on', 'off'], (v) => t('motion.' + v)),
      range('set-shake', t('set.shake'), () => s.value.shake, (v) => s.change({ shake: v })), choice('hud', ['off', 'basic', 'full'], (v) => t('hud.' + v)), check('interpolate'), check('mute_chat'),
      choice('language', ['en'], () => t('language.name')))),
  el('div', { class: 'row' }, button(t('controls'), () => app.controls()), button(t('done'), () => d.close(), { class: 'main' }))], { wide: true });
}
