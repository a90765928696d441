// Typing with a pad: pressing a text field opens these keys. A field with
// data-keys="code" offers the symbols of codes first.

import { el, text, button } from '../dom.js';
import { t } from '../language.js';
import { openDialog } from './dialog.js';

const code = '23456789BCDFGHJKMNPQRTVWXYZ', plain = '1234567890abcdefghijklmnopqrstuvwxyz.-@:_';

/** Whether pressing a control with a pad should open the keys. */
export const types = (node) => node instanceof HTMLInputElement && node.type === 'text';

export function keyboardDialog(app, field) {
  const shown = el('output', { class: 'typed' }), keys = el('div', { class: 'keyboard' });
  let codes = field.dataset.keys === 'code', upper = false;
  const put = (value) => {
    if (value.length > Number(field.maxLength > 0 ? field.maxLength : 240)) return;
    field.value = value;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    text(shown, field.value || ' ');
    app.sound.menu();
  };
  const paint = (focus) => {
    const list = [...(codes ? code : upper ? plain.toUpperCase() : plain)];
    keys.classList.toggle('codes', codes);
    keys.replaceChildren(...list.map((c, i) => button(c, () => put(field.value + c), { 'data-first': i === 0 })));
    if (focus) keys.firstChild.focus();
  };
  const label = document.querySelector(`label[for="${field.id}"]`)?.textContent || field.getAttribute('aria-label') || t('keyboard.title');
  const shift = button(t('keyboard.case'), () => { upper = !upper; paint(); }), more = button('', () => { codes = !codes; other(); paint(); });
  const other = () => { text(more, t(codes ? 'keyboard.all' : 'keyboard.code')); shift.hidden = codes; };
  const d = openDialog(app, label, [shown, keys, el('div', { class: 'row' }, button(t('keyboard.space'), () => put(field.value + ' ')),
    button(t('keyboard.back'), () => put([...field.value].slice(0, -1).join(''))), shift, field.dataset.keys === 'code' ? more : null, button(t('done'), () => d.close(), { class: 'main' }))],
  { onclose: () => { field.dispatchEvent(new Event('change', { bubbles: true })); } });
  other();
  paint(true);
  text(shown, field.value || ' ');
}
