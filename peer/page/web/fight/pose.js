// Poses: where a fighter's joints are, from its action, move and frame alone.
// The striking limb goes to the hit box the simulation uses, so that what is
// seen is what hits. Centimetres, x forward of the feet, y up.

const ease = (a) => a * a * (3 - 2 * a);
const mix = (a, b, k) => a + (b - a) * k;
const point = (p, q, k) => [mix(p[0], q[0], k), mix(p[1], q[1], k)];

/** Blends two poses. */
export function blend(a, b, k) {
  const out = { turn: mix(a.turn, b.turn, k) };
  for (const j of ['hip', 'chest', 'head', 'lh', 'rh', 'lf', 'rf']) out[j] = point(a[j], b[j], k);
  return out;
}

/** The standing guard of a fighter h centimetres tall, breathing with time in frames. */
function stand(h, w, time) {
  const b = Math.sin(time / 18) * 0.008 * h;
  return {
    turn: 0, hip: [-2, 0.5 * h + b * 0.5], chest: [3, 0.76 * h + b], head: [9, 0.905 * h + b],
    lh: [0.24 * h, 0.74 * h + b * 2], rh: [0.13 * h, 0.64 * h + b * 1.5], lf: [w * 0.78, 0], rf: [-w * 0.86, 0],
  };
}

function crouched(h, w, time) {
  const b = Math.sin(time / 18) * 0.6;
  return { turn: 0, hip: [-6, 0.26 * h], chest: [4, 0.47 * h + b], head: [11, 0.62 * h + b], lh: [0.22 * h, 0.5 * h + b], rh: [0.12 * h, 0.4 * h], lf: [w, 0], rf: [-w * 0.9, 0] };
}

function walking(h, w, time, way) {
  const p = stand(h, w, 0), s = Math.sin(time / 5.2) * way, c = Math.cos(time / 5.2);
  p.lf = [w * (0.2 + 0.85 * s), Math.max(0, c) * 9];
  p.rf = [w * (-0.2 - 0.85 * s), Math.max(0, -c) * 9];
  for (const j of ['hip', 'chest', 'head', 'lh', 'rh']) p[j] = [p[j][0] + 3 * way, p[j][1] + Math.abs(s) * 2.5];
  return p;
}

function flying(h, w, vy) {
  const k = Math.max(-1, Math.min(1, vy / 10)); // rising: tucked; falling: legs reach down
  return { turn: 0, hip: [-2, 0.52 * h], chest: [4, 0.76 * h], head: [9, 0.92 * h], lh: [0.2 * h, (0.7 + 0.12 * -k) * h], rh: [-0.1 * h, (0.66 - 0.15 * k) * h],
    lf: [w * 0.5, (0.2 + 0.12 * k) * h], rf: [-w * 0.5, (0.12 + 0.05 * k) * h] };
}

function guarding(h, w, low) {
  const p = low ? crouched(h, w, 0) : stand(h, w, 0), y = low ? 0.58 * h : 0.86 * h;
  p.lh = [0.17 * h, y]; p.rh = [0.13 * h, y - 0.12 * h];
  for (const j of ['hip', 'chest', 'head']) p[j] = [p[j][0] - 6, p[j][1] - 2];
  return p;
}

function reeling(h, w, k, low) {
  const p = low ? crouched(h, w, 0) : stand(h, w, 0), r = k * 0.15 * h;
  p.chest = [p.chest[0] - r * 0.9, p.chest[1] - r * 0.1];
  p.head = [p.head[0] - r * 1.7, p.head[1] - r * 0.3];
  p.hip[0] -= r * 0.3;
  p.lh = [p.lh[0] - r * 0.6, p.lh[1] - r * 1.6]; p.rh = [p.rh[0] - r * 2.2, p.rh[1] - r * 0.6];
  return p;
}

function lying(h) {
  return { turn: 0, flat: true, hip: [0, 0.07 * h], chest: [-0.26 * h, 0.08 * h], head: [-0.44 * h, 0.075 * h], lh: [-0.1 * h, 0.02 * h], rh: [-0.4 * h, 0.02 * h], lf: [0.44 * h, 0.02 * h], rf: [0.4 * h, 0.05 * h] };
}

function tumbling(h, w, time, vy) {
  const p = { turn: Math.max(-1.5, Math.min(1.5, 1.15 - vy * 0.05)), hip: [0, 0.5 * h], chest: [-4, 0.74 * h], head: [-10, 0.9 * h], lh: [0.26 * h, 0.86 * h], rh: [0.2 * h, 0.66 * h], lf: [w * 1.1, 0.12 * h], rf: [w * 0.3, 0.02 * h] };
  p.lh[1] += Math.sin(time / 4) * 5;
  return p;
}

const kicks = new Set(['heavy']);

/** How the limbs of a move are led. */
function limbOf(move, box, h) {
  if (move.family === 'throw' || move.family.startsWith('grapple') || move.guard === 'grab') return 'both';
  if (move.shot) return 'both';
  if (box && box[1] < 0.3 * h) return 'lf';
  if (box && box[1] < 0.75 * h && (kicks.has(move.button) || move.from === 'air' && move.button !== 'light')) return 'rf';
  return move.button === 'light' ? 'lh' : 'rh';
}

/** The box that counts at a frame of a move, or the one to come. */
export function boxAt(move, frame) {
  for (const hit of move.hits) if (frame <= hit.frames[1]) return hit;
  return move.hits[move.hits.length - 1] || null;
}

function attacking(kind, h, w, move, frame, base, armed) {
  const hit = boxAt(move, frame);
  const box = hit ? hit.box : move.shot ? move.shot.box : [0.5 * h, 0.62 * h, 0.2 * h, 0.1 * h];
  const first = hit ? hit.frames[0] : move.startup + 1, last = hit ? hit.frames[1] : move.startup + Math.max(1, move.active);
  const wind = structuredClone(base), reach = structuredClone(base);
  const limb = limbOf(move, box, h), tall = box[3] > box[2] * 1.25;
  const tip = tall ? [box[0] + box[2] * 0.35, box[1] + box[3] * 0.7] : [box[0] + box[2] * 0.85, box[1]];
  const power = { light: 0.45, medium: 0.75, heavy: 1 }[move.button] ?? 1.1, back = 0.13 * h * power, low = tip[1] < 0.45 * h;
  for (const j of ['chest', 'head', 'lh', 'rh']) wind[j][0] -= back;
  wind.hip[0] -= back * 0.5; wind.hip[1] -= 2.5 * power;
  const lean = Math.min(0.3 * h, Math.max(0, tip[0] - 0.34 * h) * 0.55) * (limb === 'lf' || limb === 'rf' ? -0.25 : 1);
  reach.hip[0] += Math.max(0, lean) * 0.6 + 3;
  reach.chest[0] += lean; reach.head[0] += lean * 1.05;
  if (low) { reach.hip[1] -= 0.07 * h; reach.chest[1] -= 0.1 * h; reach.head[1] -= 0.1 * h; }
  if (tall) { reach.chest[1] += 3; wind.hip[1] -= 0.08 * h; wind.chest[1] -= 0.1 * h; wind.head[1] -= 0.1 * h; }
  const hand = armed && (limb === 'rh' || limb === 'lh') ? shorten(reach.chest, tip, 0.46) : tip;
  if (limb === 'both') {
    reach.lh = [hand[0], hand[1] + 7]; reach.rh = [hand[0] - 7, hand[1] - 9];
    wind.lh = [-0.1 * h, 0.56 * h]; wind.rh = [-0.16 * h, 0.5 * h];
  } else if (limb === 'lf' || limb === 'rf') {
    reach[limb] = tip;
    wind[limb] = [base[limb][0] * 0.4 + 6, Math.max(8, Math.min(0.4 * h, tip[1] * 0.6))];
    reach.lh = [-0.12 * h, reach.chest[1] - 4]; reach.rh = [-0.2 * h, reach.chest[1] - 12];
    reach.chest[0] -= 0.06 * h; reach.head[0] -= 0.07 * h;
  } else {
    reach[limb] = hand;
    wind[limb] = tall ? [0.02 * h, 0.34 * h] : [-0.24 * h, reach.chest[1] - 4];
    const other = limb === 'lh' ? 'rh' : 'lh';
    reach[other] = [-0.08 * h + lean * 0.4, reach.chest[1] - 0.12 * h];
    if (move.from !== 'air') reach.lf[0] += lean * 0.9;
  }
  const start = first - 1, snap = Math.max(2, Math.min(4, start * 0.4)); // the blow itself takes its last frames
  let pose, smear = 0;
  if (frame < start - snap) pose = blend(base, wind, ease(Math.min(1, frame / Math.max(1, start - snap))));
  else if (frame <= start) { const k = (frame - (start - snap)) / snap; pose = blend(wind, reach, k * k); smear = k; }
  else if (frame <= last) { pose = reach; smear = 1 - (frame - start) / Math.max(1, last - start) * 0.6; }
  else {
    const k = Math.min(1, (frame - last) / Math.max(1, move.total - last));
    pose = blend(reach, base, ease(k));
    smear = Math.max(0, 0.4 - k * 1.6);
  }
  return { ...pose, limb, tip, smear, live: frame > start && frame <= last, reachOf: pose };
}

function shorten(from, to, part) {
  return [mix(from[0], to[0], part), mix(from[1], to[1], part)];
}

/**
 * The pose of fighter f (of a snapshot) of a kind (of data.json) in an action
 * by name, with its move or null, at a frame with fraction; time runs with the
 * display.
 */
export function poseOf(kind, f, action, move, frame, time) {
  const h = kind.stand_height, w = kind.body_half, low = Boolean(f.bits & 2), air = Boolean(f.bits & 1);
  const base = air ? flying(h, w, f.vy) : low ? crouched(h, w, time) : stand(h, w, time);
  const part = f.length > 0 ? Math.min(1, frame / f.length) : 0;
  switch (action) {
    case 'attack': case 'throwing': case 'pinning':
      if (move) return attacking(kind, h, w, move, frame, base, kind.key === 'vesper' || kind.key === 'tarn');
      return { ...guarding(h, w, false), lh: [0.38 * h, 0.7 * h], rh: [0.34 * h, 0.58 * h] };
    case 'crouch': return crouched(h, w, time);
    case 'walk forward': return walking(h, w, time, 1);
    case 'walk back': return walking(h, w, time, -1);
    case 'dash forward': return blend(walking(h, w, time * 2.2, 1), { ...stand(h, w, 0), chest: [0.14 * h, 0.68 * h], head: [0.24 * h, 0.82 * h] }, 0.6);
    case 'dash back': return { ...stand(h, w, 0), hip: [-0.08 * h, 0.45 * h], chest: [-0.1 * h, 0.7 * h], lf: [w * 0.9, 6], rf: [-w * 1.4, 0] };
    case 'pre-jump': case 'landing': return blend(stand(h, w, 0), crouched(h, w, 0), 0.7);
    case 'airborne': return flying(h, w, f.vy);
    case 'blockstun': return guarding(h, w, low);
    case 'hitstun': case 'recoil': return air ? { ...tumbling(h, w, time, f.vy), turn: 0.35 } : reeling(h, w, 1 - part * 0.75, low);
    case 'dazed': return reeling(h, w, 0.5 + 0.35 * Math.sin(time / 9), false);
    case 'launched': return tumbling(h, w, time, f.vy);
    case 'thrown': case 'pinned': case 'prompted': return { ...tumbling(h, w, time, 4), turn: air ? 1 : 0.5 };
    case 'down': return lying(h);
    case 'wakeup': return part < 0.5 ? blend(lying(h), crouched(h, w, 0), ease(part * 2)) : blend(crouched(h, w, 0), stand(h, w, 0), ease(part * 2 - 1));
    case 'roll': { const p = crouched(h, w, 0); return { ...p, turn: -part * Math.PI * 2, pivot: 0.3 * h }; }
    case 'teched': return reeling(h, w, 0.4 * (1 - part), false);
    case 'victory': { const p = stand(h, w, time); return { ...p, rh: [0.02 * h, 1.16 * h + Math.sin(time / 12) * 3], lh: [0.16 * h, 0.5 * h], head: [4, 0.95 * h], lf: [w * 0.5, 0], rf: [-w * 0.55, 0] }; }
    case 'tag out': return walking(h, w, time * 2, -1);
    case 'tag in': return air ? flying(h, w, f.vy) : walking(h, w, time * 2, 1);
    default: return base;
  }
}
