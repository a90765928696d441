// Elements without markup: every text becomes a text node, so nothing anybody
// typed is ever read as HTML.

/**
 * Makes an element. Attributes that begin with "on" are listeners; true sets an
 * attribute, false, null and undefined leave it out. Children are nodes, texts,
 * lists of these, or nothing.
 */
export function el(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (key === 'class') node.className = value;
    else if (key === 'value') node.value = value;
    else if (key === 'checked') node.checked = value;
    else node.setAttribute(key, value === true ? '' : String(value));
  }
  add(node, children);
  return node;
}

function add(node, children) {
  for (const child of children) {
    if (Array.isArray(child)) add(node, child);
    else if (child instanceof Node) node.append(child);
    else if (child !== null && child !== undefined && child !== false) node.append(String(child));
  }
}

/** Sets the text of a node if it differs; spares the screen reader. */
export function text(node, value) {
  const s = String(value);
  if (node.textContent !== s) node.textContent = s;
}

/** Shows or hides a node. */
export function show(node, visible) {
  if (node.hidden === visible) node.hidden = !visible;
}

/** A button with a label. */
export function button(label, act, attributes) {
  return el('button', { type: 'button', ...attributes, onclick: act }, label);
}

export const holdMillis = 700;

/**
 * A button that acts after it was held for holdMillis, by mouse, key or pad.
 * node.press and node.release are for the pad.
 */
export function holdButton(label, act, attributes) {
  const bar = el('span', { class: 'fill', 'aria-hidden': 'true' });
  const node = el('button', { type: 'button', ...attributes, class: 'hold ' + (attributes?.class || '') }, bar, el('span', { class: 'label' }, label));
  let since = 0, frame = 0;
  const step = () => {
    const part = Math.min(1, (performance.now() - since) / holdMillis);
    bar.style.transform = `scaleX(${part})`;
    if (part < 1) { frame = requestAnimationFrame(step); return; }
    node.release();
    if (node.isConnected && !node.disabled) act();
  };
  node.press = () => {
    if (since || node.disabled) return;
    since = performance.now();
    frame = requestAnimationFrame(step);
  };
  node.release = () => {
    cancelAnimationFrame(frame);
    since = 0;
    bar.style.transform = 'scaleX(0)';
  };
  node.addEventListener('pointerdown', (e) => { if (e.button === 0) node.press(); });
  for (const end of ['pointerup', 'pointerleave', 'pointercancel', 'blur']) node.addEventListener(end, node.release);
  node.addEventListener('keydown', (e) => {
    if (e.code !== 'Enter' && e.code !== 'Space' && e.code !== 'NumpadEnter') return;
    e.preventDefault();
    if (!e.repeat) node.press();
  });
  node.addEventListener('keyup', (e) => {
    if (e.code === 'Enter' || e.code === 'Space' || e.code === 'NumpadEnter') { e.preventDefault(); node.release(); }
  });
  return node;
}

/** m:ss of milliseconds. */
export function clock(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`;
}
