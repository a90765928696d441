// Shots, boxes, the sweep of a blow and the marks over the fighters, in stage
// coordinates with y up.

import { glow } from './stage.js';

export function drawShots(c, view, s, a, between) {
  s.current.shots.forEach((p) => {
    const was = s.previous.shots.find((q) => q.owner === p.owner && q.move === p.move && Math.abs(q.x - p.x) < 60);
    const at = was ? between(was, p, a) : p, f = s.current.fighters[p.owner], move = f && view.moves.get(f.id)?.get(p.move);
    const [, , hw, hh] = move?.shot?.box || [0, 0, 16, 16], time = view.time, colour = view.app.settings.colours[p.owner & 1 ? 'b' : 'a'];
    const x = at.x, y = at.y;
    c.save();
    c.translate(x, y);
    c.scale(p.facing < 0 ? -1 : 1, 1);
    glow(c, 0, 0, Math.max(hw, hh) * 2.1, 'rgba(255,236,190,0.45)');
    c.fillStyle = colour;
    c.beginPath(); // a wave that leans forward
    c.moveTo(hw, 0);
    c.bezierCurveTo(hw * 0.8, hh, -hw * 0.2, hh * 1.1, -hw * 1.6, hh * 0.35 + Math.sin(time / 3) * 4);
    c.bezierCurveTo(-hw * 0.4, hh * 0.3, -hw * 0.4, -hh * 0.3, -hw * 1.6, -hh * 0.4 + Math.cos(time / 3) * 4);
    c.bezierCurveTo(-hw * 0.2, -hh * 1.1, hw * 0.8, -hh, hw, 0);
    c.fill();
    c.fillStyle = '#fffbe9';
    c.beginPath(); c.ellipse(hw * 0.25, 0, hw * 0.5, hh * 0.5, 0, 0, 7); c.fill();
    c.restore();
  });
}

const boxColours = ['rgba(80,220,140,', 'rgba(255,80,90,', 'rgba(255,190,60,'];

/** The path of a shape: a box, or what lies within r of a line across it. */
function shapePath(c, b) {
  const x = b.x - b.hw, y = b.y - b.hh;
  c.beginPath();
  if (!b.form) { c.rect(x, y, 2 * b.hw, 2 * b.hh); return; }
  const dx = b.hw - b.r, dy = (b.hh - b.r) * (b.form === 2 ? -1 : 1), turn = Math.atan2(dy, dx);
  c.arc(b.x - dx, b.y - dy, b.r, turn + Math.PI / 2, turn - Math.PI / 2);
  c.arc(b.x + dx, b.y + dy, b.r, turn - Math.PI / 2, turn + Math.PI / 2);
  c.closePath();
}

/** Shapes: hurt solid, hit hatched with a thick edge, shot dashed. */
export function drawBoxes(c, s) {
  for (const b of s.boxes) {
    const colour = boxColours[b.kind] || boxColours[0], x = b.x - b.hw, y = b.y - b.hh, w = 2 * b.hw, h = 2 * b.hh;
    shapePath(c, b);
    c.fillStyle = colour + (b.kind === 1 ? '0.34)' : '0.16)');
    c.fill();
    c.strokeStyle = colour + '0.95)';
    c.lineWidth = b.kind === 1 ? 2.2 : 1.2;
    c.setLineDash(b.kind === 2 ? [5, 3] : []);
    c.stroke();
    if (b.kind === 1) { c.save(); c.clip(); c.beginPath(); c.moveTo(x, y); c.lineTo(x + w, y + h); c.moveTo(x + w, y); c.lineTo(x, y + h); c.lineWidth = 0.7; c.stroke(); c.restore(); }
  }
  c.setLineDash([]);
}

/** The sweep behind a blow. */
export function drawSmear(c, kind, p, f, move, colour) {
  if (!p.smear || p.smear < 0.05 || !p.tip || !move) return;
  const [tx, ty] = p.tip, h = kind.stand_height, from = p.limb === 'lf' || p.limb === 'rf' ? [0, 0.46 * h] : [p.chest[0] * 0.4, p.chest[1]];
  const strong = { light: 0.4, medium: 0.6, heavy: 0.85 }[move.button] ?? 0.9;
  c.save();
  c.scale(f.facing < 0 ? -1 : 1, 1);
  c.globalAlpha = 0.55 * strong * p.smear;
  c.fillStyle = move.family === 'super' || move.button === 'special' ? colour : '#fff3d8';
  const dx = tx - from[0], dy = ty - from[1], d = Math.max(1, Math.hypot(dx, dy)), nx = -dy / d, ny = dx / d, wide = 10 + 16 * strong;
  const bow = (move.hits[0] && move.hits[0].box[3] > move.hits[0].box[2] * 1.25) ? -1 : 1;
  c.beginPath();
  c.moveTo(from[0] - dx * 0.15 + nx * wide * bow, from[1] - dy * 0.15 + ny * wide * bow);
  c.quadraticCurveTo(from[0] + dx * 0.75 + nx * wide * 1.5 * bow, from[1] + dy * 0.75 + ny * wide * 1.5 * bow, tx + dx / d * 6, ty + dy / d * 6);
  c.quadraticCurveTo(from[0] + dx * 0.7 + nx * wide * 0.4 * bow, from[1] + dy * 0.7 + ny * wide * 0.4 * bow, from[0] + dx * 0.1, from[1] + dy * 0.1);
  c.fill();
  c.restore();
}

/** The side's shape over the head, larger and with "you" while a round begins. */
export function drawThings(c, view, f, kind, colour, side, you) {
  const y = (f.bits & 2 ? kind.crouch_height : kind.stand_height) + 22, r = you ? 9 : 5;
  c.fillStyle = colour;
  c.strokeStyle = 'rgba(10,8,24,0.9)';
  c.lineWidth = 1.6;
  c.beginPath();
  if (side) { c.moveTo(0, y - r); c.lineTo(r, y); c.lineTo(0, y + r); c.lineTo(-r, y); } else { c.moveTo(0, y - r); c.lineTo(r, y + r); c.lineTo(-r, y + r); }
  c.closePath();
  c.fill();
  c.stroke();
}
