// SNAPSHOT messages of docs/page.md as objects, and what lies between their two
// states. Plain functions without a browser, so that node tests them.

export const Flag = { rewound: 1, overlay: 2, stalled: 4, frozen: 8, paused: 16, offered: 32, pair: 64, quiet: 128 };
export const Bit = { air: 1, low: 2, rage: 4, armor: 8, on: 16, safe: 32, burnt: 64 };
export const frameMillis = 1000 / 60;
const snapDistance = 120; // centimetres; what moves farther in a frame was put there
const headerLen = 36, matchLen = 32, fighterLen = 96, shotLen = 24, eventLen = 16, idLen = 8, boxLen = 14, trailLen = 8;

/** Reads a snapshot from a DataView, or null if it is not one of layout 2. */
export function parse(v) {
  if (v.byteLength < headerLen + 2 * matchLen || v.getUint8(0) !== 3 || v.getUint8(1) !== 2) return null;
  const n = v.getUint8(24), p = v.getUint8(28), q = v.getUint8(29);
  const e = v.getUint8(30), c = v.getUint8(31), b = v.getUint8(32), r = v.getUint8(33);
  const want = headerLen + 2 * matchLen + 2 * n * fighterLen + (p + q) * shotLen + e * eventLen + c * idLen + b * boxLen + r * trailLen;
  if (v.byteLength !== want) return null;
  const s = {
    flags: v.getUint16(2, true), match: v.getUint16(4, true), kind: v.getUint8(6), side: v.getUint8(7),
    frame: v.getInt32(8, true), confirmed: v.getInt32(12, true), clock: v.getUint32(16, true), seq: v.getUint16(20, true),
    depth: v.getUint8(22), again: v.getUint8(23), count: n, active: v.getUint8(25), point: [v.getUint8(26), v.getUint8(27)],
    previous: match(v, headerLen), current: match(v, headerLen + matchLen), events: [], cancelled: [], boxes: [], trail: [],
  };
  let at = headerLen + 2 * matchLen;
  for (const state of [s.previous, s.current]) for (let i = 0; i < n; i++, at += fighterLen) state.fighters.push(fighter(v, at));
  for (let i = 0; i < p; i++, at += shotLen) s.previous.shots.push(shot(v, at));
  for (let i = 0; i < q; i++, at += shotLen) s.current.shots.push(shot(v, at));
  for (let i = 0; i < e; i++, at += eventLen) {
    s.events.push({
      frame: v.getInt32(at, true), value: v.getInt32(at + 4, true), x: v.getInt16(at + 8, true), y: v.getInt16(at + 10, true),
      fighter: v.getUint8(at + 12), kind: v.getUint8(at + 13), serial: v.getUint8(at + 14), variant: v.getUint8(at + 15),
    });
  }
  for (let i = 0; i < c; i++, at += idLen) {
    s.cancelled.push(identity({ frame: v.getInt32(at, true), fighter: v.getUint8(at + 4), kind: v.getUint8(at + 5), serial: v.getUint8(at + 6) }));
  }
  for (let i = 0; i < b; i++, at += boxLen) {
    s.boxes.push({ slot: v.getUint8(at), kind: v.getUint8(at + 1), form: v.getUint8(at + 2), r: v.getInt16(at + 12, true) / 16, x: v.getInt16(at + 4, true) / 16, y: v.getInt16(at + 6, true) / 16,
      hw: v.getInt16(at + 8, true) / 16, hh: v.getInt16(at + 10, true) / 16 });
  }
  for (let i = 0; i < r; i++, at += trailLen) {
    s.trail.push({ words: [v.getUint16(at, true), v.getUint16(at + 2, true)], codes: [v.getUint8(at + 4), v.getUint8(at + 5)],
      depth: v.getUint8(at + 6), bits: v.getUint8(at + 7) });
  }
  return s;
}

/** The identity of an event. */
export function identity(e) { return `${e.frame}/${e.fighter}/${e.kind}/${e.serial}`; }

function match(v, o) {
  return {
    timer: v.getInt32(o, true), phaseFrames: v.getInt32(o + 4, true), frame: v.getInt32(o + 8, true), phase: v.getUint8(o + 12),
    round: v.getUint8(o + 13), wins: [v.getUint8(o + 14), v.getUint8(o + 15)], roundWinner: v.getUint8(o + 16), matchWinner: v.getUint8(o + 17),
    slow: v.getUint8(o + 18), freeze: v.getUint8(o + 19),
    nodeFrames: v.getInt16(o + 20, true), struggle: v.getInt16(o + 22, true), node: v.getUint8(o + 24), owner: v.getUint8(o + 25), target: v.getUint8(o + 26), fallen: v.getUint8(o + 27),
    score: [v.getUint16(o + 28, true), v.getUint16(o + 30, true)], fighters: [], shots: [],
  };
}

const mechanics = ['airJuggle', 'heatLeft', 'soulCharge', 'criticalEdge', 'reversalEdge', 'kiCharge', 'powerCrush', 'stanceEntry', 'stanceRecovery', 'stanceDuration'];

function fighter(v, o) {
  const i = (k) => v.getInt32(o + k, true), u = (k) => v.getUint8(o + k);
  const f = {
    x: i(0) / 65536, y: i(4) / 65536, vx: i(8) / 65536, vy: i(12) / 65536, health: i(16), most: i(20), recoverable: i(24), meter: i(28), mostMeter: i(32),
    frame: i(36), length: i(40), comboDamage: i(44), hitstop: v.getInt16(o + 48, true), hitlag: v.getInt16(o + 50, true),
    id: u(52), facing: v.getInt8(o + 53), action: u(54), move: u(55), contact: u(56), bits: u(57), comboHits: u(58), juggle: u(59), partner: u(60), cancel: u(61),
    word: v.getUint16(o + 62, true), stance: u(84), code: u(85), drive: u(86), stun: u(87), stamina: u(88), heat: u(89), hype: u(90), resolve: u(91),
    armor: u(92), place: u(93), guard: u(94),
  };
  mechanics.forEach((name, k) => { f[name] = v.getInt16(o + 64 + 2 * k, true); });
  return f;
}

function shot(v, o) {
  const i = (k) => v.getInt32(o + k, true) / 65536;
  return { x: i(0), y: i(4), vx: i(8), vy: i(12), life: v.getInt32(o + 16, true), owner: v.getUint8(o + 20), move: v.getUint8(o + 21),
    durability: v.getUint8(o + 22), facing: v.getInt8(o + 23) };
}

/** How far a display is between the two states, 0 to 1, since milliseconds after arrival. */
export function alpha(s, since, interpolate) {
  if (!interpolate || !(s.flags & Flag.pair) || s.flags & Flag.paused) return 1;
  return Math.min(1, Math.max(0, since / frameMillis));
}

/** Where fighter i is drawn at a. */
export function place(s, i, a) {
  const p = s.previous.fighters[i], c = s.current.fighters[i];
  return s.previous.round === s.current.round ? between(p, c, a) : { x: c.x, y: c.y };
}

/** The point at a between two, or the second one if they are too far apart. */
export function between(p, c, a) {
  const dx = c.x - p.x, dy = c.y - p.y;
  if (Math.abs(dx) > snapDistance || Math.abs(dy) > snapDistance) return { x: c.x, y: c.y };
  return { x: p.x + a * dx, y: p.y + a * dy };
}

/** The frame of the action at a, with a fraction while the action goes on. */
export function actionFrame(p, c, a) {
  if (p.action !== c.action || p.move !== c.move || c.frame !== p.frame + 1) return c.frame;
  return p.frame + a;
}
