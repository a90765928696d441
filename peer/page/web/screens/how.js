import { el } from '../dom.js';
import { t } from '../language.js';
import { openDialog } from './dialog.js';
import { controlName } from './controls.js';
import { names } from '../input.js';

/** What the game is, for somebody who never saw it. */
export function howDialog(app) {
  const keys = app.settings.value.keys[0];
  openDialog(app, t('how'), [
    el('ul', { class: 'how' }, ['move', 'block', 'attack', 'throw', 'cancel', 'win'].map((k) => el('li', {}, t('how.' + k)))),
    el('table', { class: 'keys' }, el('caption', {}, t('how.keys')), el('tbody', {}, names.map((n) => el('tr', {}, el('th', { scope: 'row' }, t('button.' + n)),
      el('td', {}, (keys[n] || []).map(controlName).join(', ') || '–')))))], { wide: true });
}
