// Dialogs over the screen: settings, controls, leaving. The top one has the keys.

import { el, button } from '../dom.js';
import { focusFirst } from '../navigate.js';
import { t } from '../language.js';

const stack = [];

export function topDialog() { return stack[stack.length - 1] || null; }

/**
 * Opens a dialog and gives { node, body, close }. sticky: Escape does not close
 * it, and it has no close button.
 */
export function openDialog(app, title, parts, { sticky = false, wide = false, onclose } = {}) {
  const id = 'dialog' + (stack.length + 1);
  const body = el('div', { class: 'body' }, parts);
  const before = document.activeElement;
  const node = el('div', { class: 'shade' },
    el('section', { class: 'dialog' + (wide ? ' wide' : ''), role: 'dialog', 'aria-modal': 'true', 'aria-labelledby': id },
      el('header', {}, el('h2', { id }, title), sticky ? null : button(t('close'), () => d.close(), { class: 'plain close' })), body));
  const d = { node, body, sticky,
    close() {
      const i = stack.indexOf(d);
      if (i < 0) return;
      stack.splice(i, 1);
      node.remove();
      onclose?.();
      if (before?.isConnected) before.focus?.();
      app.refocus();
    } };
  stack.push(d);
  document.getElementById('layer').append(node);
  focusFirst(node);
  app.refocus();
  return d;
}

/** Closes the dialogs; sticky ones only if all. */
export function closeDialogs(app, all) {
  for (const d of [...stack].reverse()) if (all ? d.sticky : !d.sticky) d.close();
}
