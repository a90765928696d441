// Drawing a fighter from a pose: limbs by two-bone reach, clothes by fighter.
// All original; nothing is loaded.

const looks = {
  sable: { skin: '#c98b62', top: '#33395f', under: '#1f2340', hair: '#191424', trim: '#e8e2cf', limb: 1, scarf: true, bag: true },
  vesper: { skin: '#e0b48e', top: '#6b3a5b', under: '#2e2038', hair: '#d9d3c2', trim: '#ffd98a', limb: 0.94, rod: 92, coat: true },
  gorse: { skin: '#a86f4c', top: '#6f6a58', under: '#3a3630', hair: '#2a2320', trim: '#c9bfa4', limb: 1.5, beard: true, belt: true },
  tarn: { skin: '#8b5d45', top: '#2f5a58', under: '#23343a', hair: '#11181b', trim: '#d6c79b', limb: 1.1, rod: 150, hat: true },
};
const plain = { skin: '#b98a68', top: '#4a4e70', under: '#2a2d47', hair: '#20202c', trim: '#e8e2cf', limb: 1.05 };

/** The middle joint of a limb from a to b of two bones of length l each, bent towards side. */
function joint(a, b, l, side) {
  const dx = b[0] - a[0], dy = b[1] - a[1], d = Math.max(0.01, Math.hypot(dx, dy)), half = Math.min(d / 2, l);
  const out = Math.sqrt(Math.max(0, l * l - half * half)) * side;
  return [a[0] + dx / 2 - dy / d * out, a[1] + dy / 2 + dx / d * out];
}

/** Every part has an edge of ink, so that it stands out from the night and from the part behind it. */
const ink = '#0d0a1a', edge = 3;

function limb(c, a, m, b, wide, thin, colour, shine) {
  const half = (wide + thin) / 2;
  for (const [fill, more] of [[ink, edge], [colour, 0]]) {
    c.beginPath();
    taper(c, a, m, wide + more, half + more);
    taper(c, m, b, half + more, thin + more);
    c.fillStyle = fill;
    c.fill();
  }
  if (!shine) return;
  c.strokeStyle = 'rgba(255,226,178,0.24)'; // of the lamps
  c.lineWidth = 2;
  c.lineCap = c.lineJoin = 'round';
  c.beginPath(); c.moveTo(a[0] + wide * 0.2, a[1] - 2); c.lineTo(m[0] + half * 0.26, m[1]); c.lineTo(b[0] + thin * 0.22, b[1]); c.stroke();
}

/** An ellipse with its edge: two fills are cheaper than a stroke. */
function blob(c, x, y, rx, ry, colour) {
  for (const [fill, more] of [[ink, edge / 2], [colour, 0]]) { c.fillStyle = fill; c.beginPath(); c.ellipse(x, y, rx + more, ry + more, 0, 0, 7); c.fill(); }
}

/** Fills the path with its edge. */
function inked(c, colour) {
  c.strokeStyle = ink;
  c.lineWidth = edge;
  c.lineJoin = 'round';
  c.stroke();
  c.fillStyle = colour;
  c.fill();
}

/** Adds a round-ended stroke whose width changes to the path. All of it turns the same way, so that where parts overlap there is no hole. */
function taper(c, a, b, wa, wb) {
  const dx = b[0] - a[0], dy = b[1] - a[1], d = Math.max(0.01, Math.hypot(dx, dy)), nx = -dy / d / 2, ny = dx / d / 2;
  c.moveTo(a[0] + wa / 2, a[1]);
  c.arc(a[0], a[1], wa / 2, 0, 7);
  c.moveTo(b[0] + wb / 2, b[1]);
  c.arc(b[0], b[1], wb / 2, 0, 7);
  c.moveTo(a[0] - nx * wa, a[1] - ny * wa);
  c.lineTo(b[0] - nx * wb, b[1] - ny * wb);
  c.lineTo(b[0] + nx * wb, b[1] + ny * wb);
  c.lineTo(a[0] + nx * wa, a[1] + ny * wa);
  c.closePath();
}

function shade(hex, k) {
  const n = parseInt(hex.slice(1), 16), f = (v) => Math.max(0, Math.min(255, Math.round(v * k)));
  return `rgb(${f(n >> 16)},${f(n >> 8 & 255)},${f(n & 255)})`;
}

/**
 * Draws a fighter whose feet are at the origin, y up. o: facing, colour (of its
 * side), side, light 0…1 (darker behind), flash 0…1, time, glow, alpha.
 */
export function drawFighter(c, kind, p, o) {
  const k = looks[kind.key] || plain, h = kind.stand_height, dark = o.light ?? 1;
  const tint = (hex) => shade(hex, dark * (1 + (o.flash || 0) * 0.9));
  c.save();
  c.scale(o.facing < 0 ? -1 : 1, 1);
  if (p.turn) {
    const y = p.pivot ?? 0.5 * h;
    c.translate(0, y);
    c.rotate(p.turn);
    c.translate(0, -y);
  }
  const arm = 0.235 * h, leg = 0.285 * h, thick = 0.072 * h * k.limb;
  const axis = [p.chest[0] - p.hip[0], p.chest[1] - p.hip[1]], long = Math.max(1, Math.hypot(...axis));
  const up = [axis[0] / long, axis[1] / long];
  const shoulder = [p.chest[0] + up[0] * 4, p.chest[1] + up[1] * 4];
  const farS = [shoulder[0] - 5, shoulder[1] + 1], nearS = [shoulder[0] + 4, shoulder[1] - 1];
  const hipN = [p.hip[0] + 4, p.hip[1]], hipF = [p.hip[0] - 4, p.hip[1] + 1];
  const reach = (from, to, l) => { // a limb is never drawn longer than it is by more than a fifth
    const d = Math.hypot(to[0] - from[0], to[1] - from[1]), most = 2.4 * l;
    return d > most ? [from[0] + (to[0] - from[0]) * most / d, from[1] + (to[1] - from[1]) * most / d] : to;
  };
  const lh = reach(nearS, p.lh, arm), rh = reach(farS, p.rh, arm), lf = reach(hipN, p.lf, leg), rf = reach(hipF, p.rf, leg);
  const armed = k.rod && (p.limb !== 'lf' && p.limb !== 'rf');
  if (o.glow) { c.shadowColor = o.colour; c.shadowBlur = 26 * o.glow; }
  // Behind: far arm and leg.
  if (k.scarf) scarf(c, p, o, h, tint);
  if (k.coat) coat(c, p, h, tint(k.top), o.time || 0);
  limb(c, farS, joint(farS, rh, arm, -1), rh, thick * 0.95, thick * 0.7, shade(k.top, dark * 0.62));
  fist(c, rh, thick * 0.62, shade(k.skin, dark * 0.72));
  limb(c, hipF, joint(hipF, rf, leg, 1), [rf[0], rf[1] + 5], thick * 1.35, thick * 0.85, shade(k.under, dark * 0.7));
  shoe(c, rf, thick, shade(k.hair, dark * 0.8));
  // Body.
  limb(c, hipN, joint(hipN, lf, leg, 1), [lf[0], lf[1] + 5], thick * 1.4, thick * 0.9, tint(k.under), true);
  shoe(c, lf, thick, tint(k.hair));
  torso(c, p, shoulder, h, k, tint, o.colour);
  if (k.bag) { blob(c, p.hip[0] - 11, p.hip[1] + 9, 8, 10, tint('#8a5a36')); }
  head(c, p.head, h, k, tint, o.colour);
  if (armed) rod(c, p, lh, rh, k, h, tint, o.colour);
  limb(c, nearS, joint(nearS, lh, arm, -1), lh, thick * 1.05, thick * 0.74, shade(k.top, dark * (1.28 + (o.flash || 0))), true);
  c.fillStyle = o.colour;
  c.beginPath(); c.arc(...mid(joint(nearS, lh, arm, -1), lh, 0.62), thick * 0.46, 0, 7); c.fill(); // band of the side's colour
  fist(c, lh, thick * 0.68, tint(k.skin));
  c.restore();
}

const mid = (a, b, k) => [a[0] + (b[0] - a[0]) * k, a[1] + (b[1] - a[1]) * k];

function fist(c, at, r, colour) { blob(c, at[0], at[1], r, r, colour); }

function shoe(c, at, thick, colour) {
  blob(c, at[0] + thick * 0.35, at[1] + thick * 0.34, thick * 0.95, thick * 0.42, colour);
}

function torso(c, p, shoulder, h, k, tint, colour) {
  const wide = 0.108 * h * (0.7 + 0.3 * k.limb) * (k.limb > 1.3 ? 1.28 : 1), narrow = wide * (k.limb > 1.3 ? 0.95 : 0.72);
  c.fillStyle = tint(k.top);
  c.save();
  c.translate(...p.hip);
  c.rotate(Math.atan2(shoulder[1] - p.hip[1], shoulder[0] - p.hip[0]) - Math.PI / 2);
  const tall = Math.hypot(shoulder[0] - p.hip[0], shoulder[1] - p.hip[1]);
  c.beginPath();
  c.moveTo(-narrow, -6);
  c.quadraticCurveTo(-narrow * 0.86, tall * 0.4, -wide, tall * 0.82);
  c.quadraticCurveTo(-wide * 0.95, tall + 5, -wide * 0.3, tall + 8);
  c.lineTo(wide * 0.4, tall + 8);
  c.quadraticCurveTo(wide * 1.1, tall + 3, wide, tall * 0.78);
  c.quadraticCurveTo(narrow * 0.8, tall * 0.4, narrow, -6);
  c.quadraticCurveTo(0, -14, -narrow, -6);
  inked(c, tint(k.top));
  c.strokeStyle = 'rgba(255,226,178,0.28)';
  c.lineWidth = 2;
  c.beginPath(); c.moveTo(wide * 0.84, tall * 0.82); c.quadraticCurveTo(narrow * 0.66, tall * 0.4, narrow * 0.8, 4); c.stroke();
  c.restore();
  c.fillStyle = tint(k.skin); // neck
  c.beginPath(); taper(c, shoulder, [shoulder[0] + (p.head[0] - shoulder[0]) * 0.7, shoulder[1] + (p.head[1] - shoulder[1]) * 0.7], 0.055 * h, 0.05 * h); c.fill();
  c.fillStyle = tint(k.trim);
  const belt = mid(p.hip, shoulder, 0.12);
  c.save();
  c.translate(...belt);
  c.rotate(Math.atan2(shoulder[1] - p.hip[1], shoulder[0] - p.hip[0]) - Math.PI / 2);
  c.fillRect(-narrow, -3, narrow * 2, k.belt ? 7 : 4);
  c.fillStyle = colour; // sash of the side's colour across the chest
  c.beginPath(); c.moveTo(-narrow * 0.94, 0.035 * h); c.lineTo(wide * 0.62, 0.2 * h); c.lineTo(wide * 0.93, 0.16 * h); c.lineTo(-narrow * 0.62, 0.012 * h); c.closePath(); c.fill();
  c.restore();
}

function head(c, at, h, k, tint, colour) {
  const r = 0.062 * h * (k.limb > 1.3 ? 1.05 : 1);
  c.beginPath(); c.ellipse(at[0], at[1], r * 0.92, r * 1.1, 0, 0, 7);
  c.moveTo(at[0] + r * 0.8, at[1] + r * 0.15); c.lineTo(at[0] + r * 1.12, at[1] - r * 0.22); c.lineTo(at[0] + r * 0.82, at[1] - r * 0.3); // nose
  inked(c, tint(k.skin));
  c.fillStyle = tint(k.hair);
  c.beginPath(); c.arc(at[0] - r * 0.12, at[1] + r * 0.22, r * 1.04, 0.15, Math.PI + 0.75); c.closePath(); c.fill();
  if (k.beard) { c.beginPath(); c.ellipse(at[0] + r * 0.35, at[1] - r * 0.75, r * 0.62, r * 0.55, 0, 0, 7); c.fill(); }
  if (k.coat) { c.beginPath(); c.ellipse(at[0] - r * 0.95, at[1] - r * 0.15, r * 0.5, r * 0.9, 0.4, 0, 7); c.fill(); } // bun
  if (k.hat) {
    c.beginPath(); c.moveTo(at[0] - r * 2.3, at[1] + r * 0.5); c.lineTo(at[0], at[1] + r * 2.1); c.lineTo(at[0] + r * 2.3, at[1] + r * 0.5); c.quadraticCurveTo(at[0], at[1] + r * 0.95, at[0] - r * 2.3, at[1] + r * 0.5);
    inked(c, tint('#b99b5e'));
  }
  c.fillStyle = colour; // headband
  if (!k.hat) c.fillRect(at[0] - r * 0.95, at[1] + r * 0.28, r * 1.95, r * 0.3);
  c.fillStyle = '#120f18';
  c.beginPath(); c.ellipse(at[0] + r * 0.5, at[1] - r * 0.02, r * 0.13, r * 0.2, 0, 0, 7); c.fill();
  c.strokeStyle = '#120f18';
  c.lineWidth = 1.3;
  c.beginPath(); c.moveTo(at[0] + r * 0.28, at[1] + r * 0.2); c.lineTo(at[0] + r * 0.72, at[1] + r * 0.13); // the brow of somebody who means it
  if (!k.beard) { c.moveTo(at[0] + r * 0.42, at[1] - r * 0.56); c.lineTo(at[0] + r * 0.8, at[1] - r * 0.54); }
  c.stroke();
}

function scarf(c, p, o, h) {
  const t = o.time || 0, x = p.head[0] - 4, y = p.head[1] - 0.06 * h, sway = (o.vx || 0) * 2.2;
  c.lineCap = 'round';
  c.beginPath();
  c.moveTo(x + 6, y);
  c.bezierCurveTo(x - 18, y - 2, x - 26 - sway, y + 6 + Math.sin(t / 9) * 6, x - 44 - sway * 1.6, y - 4 + Math.sin(t / 9 + 1.4) * 9);
  for (const [colour, wide] of [[ink, 7 + edge], [o.colour, 7]]) { c.strokeStyle = colour; c.lineWidth = wide; c.stroke(); }
}

function coat(c, p, h, colour, t) {
  c.beginPath();
  c.moveTo(p.hip[0] + 9, p.hip[1] + 14);
  c.quadraticCurveTo(p.hip[0] + 6, p.hip[1] - 16, p.hip[0] - 4, p.hip[1] - 0.2 * h);
  c.quadraticCurveTo(p.hip[0] - 22, p.hip[1] - 0.17 * h + Math.sin(t / 11) * 3, p.hip[0] - 27, p.hip[1] - 0.22 * h + Math.sin(t / 11) * 5);
  c.quadraticCurveTo(p.hip[0] - 20, p.hip[1] - 6, p.hip[0] - 11, p.hip[1] + 14);
  inked(c, colour);
}

/** Vesper's lighting rod, Tarn's pole: through the leading hand, towards where the blow goes. */
function rod(c, p, lh, rh, k, h, tint, colour) {
  const hand = p.limb === 'rh' ? rh : lh, other = p.limb === 'rh' ? lh : rh;
  let dx = hand[0] - other[0], dy = hand[1] - other[1];
  if (p.tip && p.smear > 0.05) { dx = p.tip[0] - hand[0]; dy = p.tip[1] - hand[1]; } else if (p.flat) { dx = 1; dy = 0; } else if (k.rod > 120) { dx = 0.4; dy = 1; }
  const d = Math.max(0.01, Math.hypot(dx, dy)), ux = dx / d, uy = dy / d;
  const ahead = p.tip && p.smear > 0.05 ? Math.max(k.rod * 0.45, d) : k.rod * 0.58, behind = k.rod - Math.min(ahead, k.rod * 0.8);
  const wide = k.rod > 120 ? 5.5 : 4;
  c.lineCap = 'round';
  c.beginPath();
  c.moveTo(hand[0] - ux * behind, hand[1] - uy * behind);
  c.lineTo(hand[0] + ux * ahead, hand[1] + uy * ahead);
  for (const [ofRod, w] of [[ink, wide + edge], [tint(k.rod > 120 ? '#9a7546' : '#b9b4c8'), wide]]) { c.strokeStyle = ofRod; c.lineWidth = w; c.stroke(); }
  blob(c, hand[0] + ux * ahead, hand[1] + uy * ahead, 4.8, 4.8, k.rod > 120 ? colour : '#ffe6a0');
}
