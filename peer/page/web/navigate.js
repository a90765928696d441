// Menus by keyboard and pad: arrows move the focus to the nearest control in
// their direction, Enter and Space press, Escape goes back.

const controls = 'button:not([disabled]),a[href],input:not([disabled]),select:not([disabled]),textarea:not([disabled]),[tabindex="0"]';

/** The part of the page that has the focus: the top dialog, or the screen. */
export function top() {
  const layer = document.getElementById('layer');
  return layer.lastElementChild || document.getElementById('screen');
}

/** The controls of a part that can be seen. */
export function reachable(root) {
  return [...root.querySelectorAll(controls)].filter((n) => n.getClientRects().length > 0);
}

/** Focuses the control that wants it, else the first. */
export function focusFirst(root) {
  const list = reachable(root);
  const node = list.find((n) => n.hasAttribute('data-first')) || list[0] || root;
  node.focus({ preventScroll: false });
}

/** Moves the focus one control towards (dx, dy); true if it moved. */
export function move(dx, dy) {
  const root = top(), list = reachable(root), here = document.activeElement;
  if (!list.includes(here)) { focusFirst(root); return true; }
  if (dy && here.hasAttribute('data-scrolls')) { // what is longer than its place is read first
    const was = here.scrollTop;
    here.scrollTop += dy * Math.max(40, here.clientHeight / 3);
    if (Math.abs(here.scrollTop - was) > 1) return true;
  }
  const a = here.getBoundingClientRect();
  let best = null, least = Infinity;
  for (const n of list) {
    if (n === here) continue;
    const b = n.getBoundingClientRect();
    // Distance between the edges along the way; sideways between the middles.
    const along = dx ? dx * (dx > 0 ? b.left - a.right : b.right - a.left) : dy * (dy > 0 ? b.top - a.bottom : b.bottom - a.top);
    if (along < -4) continue;
    const gap = dx ? Math.max(0, Math.max(a.top, b.top) - Math.min(a.bottom, b.bottom)) : Math.max(0, Math.max(a.left, b.left) - Math.min(a.right, b.right));
    const skew = dx ? Math.abs(b.top + b.bottom - a.top - a.bottom) / 2 : Math.abs(b.left + b.right - a.left - a.right) / 2;
    const cost = Math.max(0, along) + 3 * gap + 0.25 * skew;
    if (cost < least) { least = cost; best = n; }
  }
  if (!best) return false;
  best.focus();
  return true;
}

const arrows = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

/** Whether an element needs an arrow key for itself. */
function keepsArrow(node, code) {
  const sideways = code === 'ArrowLeft' || code === 'ArrowRight';
  if (node instanceof HTMLSelectElement) return sideways;
  if (node instanceof HTMLInputElement) {
    if (node.type === 'range') return sideways;
    if (node.type === 'radio') return false;
    return sideways && ['text', 'search', 'number'].includes(node.type) && node.value !== '';
  }
  return false;
}

/** Handles a key in a menu; true if it was one of its own. */
export function key(e, back) {
  if (e.isComposing) return false;
  if (e.code === 'Escape') { e.preventDefault(); if (!e.repeat) back(); return true; }
  const way = arrows[e.code];
  if (way && !e.altKey && !e.ctrlKey && !e.metaKey) {
    const node = document.activeElement;
    if (node instanceof HTMLSelectElement && (e.code === 'ArrowLeft' || e.code === 'ArrowRight')) { e.preventDefault(); turn(node, way[0]); return true; }
    if (keepsArrow(node, e.code)) return false;
    e.preventDefault();
    move(way[0], way[1]);
    return true;
  }
  if (e.code === 'Tab') { // stays inside the top part
    const list = reachable(top());
    if (!list.length) { e.preventDefault(); return true; }
    const i = list.indexOf(document.activeElement);
    const next = e.shiftKey ? (i <= 0 ? list.length - 1 : i - 1) : (i + 1) % list.length;
    e.preventDefault();
    list[next].focus();
    return true;
  }
  return false;
}

/** Chooses the next option of a select, or moves a slider, for arrows and pads. */
export function turn(node, by) {
  if (node instanceof HTMLSelectElement) {
    const i = node.selectedIndex + by;
    if (i < 0 || i >= node.options.length) return false;
    node.selectedIndex = i;
  } else if (node instanceof HTMLInputElement && node.type === 'range') {
    const was = node.value;
    if (by > 0) node.stepUp(); else node.stepDown();
    if (node.value === was) return false;
    node.dispatchEvent(new Event('input', { bubbles: true }));
  } else return false;
  node.dispatchEvent(new Event('change', { bubbles: true }));
  return true;
}

/** A menu button of a pad: up, down, left, right, press, release or back. */
export function pad(what, back) {
  const node = document.activeElement;
  switch (what) {
    case 'up': move(0, -1); break;
    case 'down': move(0, 1); break;
    case 'left': if (!turn(node, -1)) move(-1, 0); break;
    case 'right': if (!turn(node, 1)) move(1, 0); break;
    case 'press':
      if (!top().contains(node)) focusFirst(top());
      else if (node.press) node.press();
      else if (node instanceof HTMLSelectElement) turn(node, node.selectedIndex + 1 < node.options.length ? 1 : -node.selectedIndex);
      else node.click?.();
      break;
    case 'release': node?.release?.(); break;
    case 'back': back(); break;
  }
}
