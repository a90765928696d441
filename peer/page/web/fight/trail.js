// The frame meter and the input history of training room and theatre, from the
// trail of the newest snapshot.

/** Colours of the phase codes; the letter says the same. */
const cell = [
  ['#3b3f5c', ''], ['#4fb3ff', 'S'], ['#ff5f6d', 'A'], ['#3f6fd8', 'R'], ['#ffd24d', 'H'], ['#a9b7c9', 'B'], ['#a05f2c', 'D'], ['#5fd08a', 'J'],
  ['#2f8a5a', 'L'], ['#ff8bd0', 'T'], ['#c0408f', 'X'], ['#35c3b5', '»'], ['#ffb020', 'F'], ['#6a6a7a', '·'],
];

const arrows = { 0: '•', 1: '↑', 2: '↓', 4: '←', 8: '→', 5: '↖', 9: '↗', 6: '↙', 10: '↘' };
const letters = 'LMHSTAPX'; // light … super; A assist, P stance, X super

/** A word as arrows and letters; opposite directions are neutral. */
export function wordText(word) {
  let d = word & 15;
  if ((d & 3) === 3) d &= ~3;
  if ((d & 12) === 12) d &= ~12;
  let s = arrows[d] || '•';
  for (let i = 0; i < 8; i++) if (word & (16 << i)) s += letters[i];
  return s;
}

/** Runs of equal words, newest first: [text, frames]. */
export function history(trail, side, most) {
  const out = [];
  for (let i = trail.length - 1; i >= 0 && out.length <= most; i--) {
    const w = trail[i].words[side], last = out[out.length - 1];
    if (last && last.word === w) last.n++;
    else out.push({ word: w, n: 1 });
  }
  return out.slice(0, most);
}

export function drawTrail(c, s, w, y, colours) { // s: { trail }
  const n = s.trail.length, cw = Math.min(11, (w - 120) / Math.max(60, n)), x0 = (w - n * cw) / 2;
  if (!n) return;
  c.fillStyle = 'rgba(12,10,28,0.86)';
  c.fillRect(x0 - 22, y - 6, n * cw + 26, 62);
  c.font = '700 9px "DejaVu Sans", system-ui, sans-serif';
  c.textAlign = 'center';
  c.textBaseline = 'middle';
  for (const side of [0, 1]) {
    const yy = y + side * 21;
    c.fillStyle = side ? colours.b : colours.a;
    c.fillText(side ? '◆' : '▲', x0 - 12, yy + 9);
    let run = 0;
    for (let i = 0; i < n; i++) {
      const code = s.trail[i].codes[side], [fill, letter] = cell[code & 127] || cell[13], next = s.trail[i + 1]?.codes[side];
      run = i && s.trail[i - 1].codes[side] === code ? run + 1 : 1;
      c.globalAlpha = code & 128 ? 0.55 : 1;
      c.fillStyle = fill;
      c.fillRect(x0 + i * cw, yy, cw - 1, 18);
      c.globalAlpha = 1;
      if (next !== code && letter) { // the length of a run stands in its last cell
        c.fillStyle = '#0d0c1c';
        c.fillText(run > 2 && cw > 9 ? String(run % 100) : letter, x0 + i * cw + cw / 2 - 0.5, yy + 10);
      }
    }
  }
  for (let i = 0; i < n; i++) {
    const b = s.trail[i].bits;
    if (s.trail[i].depth) { c.fillStyle = colours.fair; c.fillRect(x0 + i * cw, y + 42, cw - 1, Math.min(10, 2 + s.trail[i].depth)); }
    if (b & 4) { c.fillStyle = colours.bad; c.fillRect(x0 + i * cw, y - 5, cw - 1, 4); }
    if (b & 1) { c.fillStyle = 'rgba(255,255,255,0.5)'; c.fillRect(x0 + i * cw, y - 2, cw - 1, 1.5); }
  }
  c.textBaseline = 'alphabetic';
}

export function drawHistory(c, s, w, top, colours) {
  for (const side of [0, 1]) {
    const list = history(s.trail, side, 12), x = side ? w - 20 : 20;
    c.textAlign = side ? 'right' : 'left';
    list.forEach((e, i) => {
      c.globalAlpha = 1 - i * 0.065;
      c.font = '700 15px "DejaVu Sans Mono", monospace';
      const s1 = `${String(Math.min(99, e.n)).padStart(2)} ${wordText(e.word)}`;
      c.lineWidth = 4;
      c.strokeStyle = 'rgba(10,8,24,0.85)';
      c.strokeText(s1, x, top + i * 19);
      c.fillStyle = i ? '#f4ead8' : side ? colours.b : colours.a;
      c.fillText(s1, x, top + i * 19);
    });
    c.globalAlpha = 1;
  }
}

/** Joins the trails of snapshots to a longer one: corrections replace, a jump begins anew. */
export class Trail {
  constructor(most) { this.most = most; this.list = []; this.last = -2; }

  take(s) {
    const first = s.frame - s.trail.length + 1, kept = first - (this.last - this.list.length + 1);
    this.list = first > this.last + 1 || kept < 0 || s.frame < this.last ? [] : this.list.slice(0, kept);
    this.list = [...this.list, ...s.trail].slice(-this.most);
    this.last = s.frame;
  }
}
