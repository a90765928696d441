// What the two players say to each other. The peer has cleaned every line; here
// each is a text node in an isolate of its own, so that it can neither be markup
// nor turn the line around it.

import { el, text, show, button } from '../dom.js';
import { t } from '../language.js';
import { focusFirst } from '../navigate.js';

/** Longest line in characters as people count them, and bytes of a command's text. */
export const mostRunes = 120, mostBytes = 400;

/** A typed line as it is sent: one line, bounded; the peer has the last word. */
export function tidyLine(typed) {
  const s = typed.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu, ' ').replace(/\s+/gu, ' ').trim();
  let out = '', bytes = 0, runes = 0;
  for (const c of s) {
    bytes += new TextEncoder().encode(c).length;
    if (++runes > mostRunes || bytes > mostBytes) break;
    out += c;
  }
  return out.trim();
}

/** The lines of a TALK that are newer than line n. */
export const newer = (talk, n) => (talk?.lines || []).filter((l) => l.n > n);

/**
 * A box with the newest lines and a field. side: this player's; players: the
 * PERSONs by side. What it knows is app.talk; .take is called when that changes.
 */
export function chatBox(app, side, players) {
  const lines = el('ol', { class: 'lines', role: 'log', 'aria-live': 'polite', 'aria-label': t('chat.lines') });
  const away = el('p', { class: 'quiet away', role: 'status' });
  const field = el('input', { type: 'text', id: 'chat-text', class: 'say', autocomplete: 'off', maxlength: 240, placeholder: t('chat.hint'), 'aria-label': t('chat.hint') });
  const go = () => {
    const line = tidyLine(field.value);
    field.value = '';
    if (line) app.cmd('chat', { text: line });
  };
  field.addEventListener('keydown', (e) => {
    if (e.isComposing) return;
    if (e.key === 'Enter') { e.preventDefault(); e.stopPropagation(); go(); }
    if (e.key === 'Escape' && field.value) { e.preventDefault(); e.stopPropagation(); field.value = ''; }
    else if (e.key === 'Escape') { e.preventDefault(); e.stopPropagation(); focusFirst(field.closest('.dialog') || document.getElementById('screen')); }
  });
  const say = el('div', { class: 'sayrow' }, field, button(t('chat.send'), go));
  const node = el('section', { class: 'chat', 'aria-label': t('chat.title') }, lines, away, say);
  let shown = 0, closed = false;
  const box = {
    node,
    /** Leaves what was said and takes the field away. */
    close(yes) { closed = yes; show(say, !yes); box.take(); },
    take() {
      const talk = app.talk, muted = app.settings.value.mute_chat;
      show(node, !muted && !players().some((p) => p?.bot) && !(closed && !talk?.lines.length));
      show(away, talk?.they === 'away');
      text(away, talk?.they === 'away' ? t('chat.away', { name: app.person(players()[1 - side], 1 - side, side) }) : '');
      for (const l of newer(talk, shown)) {
        shown = l.n;
        lines.append(el('li', { class: l.side ? 'b' : 'a' }, el('bdi', { class: 'who' }, (l.side ? '◆ ' : '▲ ') + app.person(players()[l.side], l.side, side)), el('bdi', { class: 'text' }, l.text)));
      }
      while (lines.children.length > 32) lines.firstChild.remove();
      lines.scrollTop = lines.scrollHeight;
    },
  };
  box.take();
  return box;
}

/** The lines that arrive while a fight runs, each for some seconds. */
export function chatTicker(app, side, players) {
  const node = el('ol', { class: 'ticker', role: 'log', 'aria-live': 'polite', 'aria-label': t('chat.lines') });
  let shown = newer(app.talk, 0).at(-1)?.n || 0;
  return {
    node,
    take() {
      for (const l of newer(app.talk, shown)) {
        shown = l.n;
        if (app.settings.value.mute_chat) continue;
        const line = el('li', { class: l.side ? 'b' : 'a' }, el('bdi', { class: 'who' }, (l.side ? '◆ ' : '▲ ') + app.person(players()[l.side], l.side, side)), el('bdi', { class: 'text' }, l.text));
        node.append(line);
        setTimeout(() => line.remove(), 7000);
      }
      while (node.children.length > 4) node.firstChild.remove();
    },
  };
}
