// Music by number, made on the spot: a number is always the same tune. The table
// of the roster gives teams their numbers; 0 is the tune of the menus.

import { random } from './random.js';

const scales = [[0, 3, 5, 7, 10], [0, 2, 3, 5, 7, 9, 10], [0, 1, 3, 5, 7, 8, 10], [0, 2, 3, 5, 7, 8, 11], [0, 2, 4, 7, 9]];
const ways = [[0, 5, 3, 4], [0, 3, 0, 4], [0, 6, 5, 4], [0, 2, 5, 3], [0, 4, 5, 3]]; // steps of the scale that carry two bars each
const basses = ['x..x..x.', 'x.x..x.x', 'xx.x.x..', 'x...x.x.'], kicks = ['x...x...', 'x..xx...', 'x...x..x', 'x.x.x...'];
const lowest = 55; // Hz

/** Two bars of melody: steps of the scale, null for a rest; it wanders, and comes home. */
function melody(r, rests) {
  let at = 4;
  const out = Array.from({ length: 16 }, (_, i) => {
    if (i % 8 && r() < rests) return null;
    at = Math.max(-1, Math.min(9, at + Math.round((r() - 0.5) * 4.4)));
    return at;
  });
  out[15] = null;
  return out;
}

/** The tune with a number. seconds: of an eighth. */
export function tune(n) {
  const r = random(n * 7919 + 17);
  if (!n) return { number: 0, seconds: 0.26, root: lowest, scale: scales[0], way: [0, 0, 3, 4], bass: 'x...x...', kick: '........', snare: false, a: melody(r, 0.72), b: melody(r, 0.72), calm: true };
  const pick = (list) => list[Math.floor(r() * list.length)];
  return { number: n, seconds: 30 / (118 + Math.floor(r() * 34)), root: lowest * 2 ** (Math.floor(r() * 9 - 3) / 12), scale: pick(scales), way: pick(ways),
    bass: pick(basses), kick: pick(kicks), snare: true, a: melody(r, 0.42), b: melody(r, 0.3), calm: false };
}

/** The frequency of a step of the tune's scale, octave by octave. */
function pitch(u, step, octave) {
  const n = u.scale.length, k = ((step % n) + n) % n;
  return u.root * 2 ** (octave + Math.floor(step / n) + u.scale[k] / 12);
}

/** What sounds at an eighth of a tune: { voice, hz, seconds, gain }, where drums have no hz. */
export function notes(u, at) {
  const out = [], beat = at % 8, bar = Math.floor(at / 8) % 8, chord = u.way[bar >> 1], line = bar >> 1 === 2 ? u.b : u.a, step = line[(bar & 1) * 8 + beat];
  if (u.bass[beat] === 'x') out.push({ voice: 'bass', hz: pitch(u, chord + (beat === 6 ? 4 : 0), 0), seconds: u.calm ? 0.7 : u.seconds * 1.6, gain: u.calm ? 0.5 : 0.42 });
  if (step !== null) out.push({ voice: 'lead', hz: pitch(u, chord + step, u.calm ? 2 : 1.0 + 1), seconds: u.calm ? 0.5 : u.seconds * 1.9, gain: u.calm ? 0.16 : 0.12 });
  if (beat === 0 && !u.calm) for (const third of [0, 2, 4]) out.push({ voice: 'chord', hz: pitch(u, chord + third, 1), seconds: u.seconds * 7, gain: 0.06 });
  if (u.kick[beat] === 'x') out.push({ voice: 'kick', seconds: 0.16, gain: 0.55 });
  if (u.snare && beat % 4 === 2) out.push({ voice: 'snare', seconds: 0.11, gain: 0.16 });
  if (u.snare && beat & 1) out.push({ voice: 'hat', seconds: 0.04, gain: 0.06 });
  return out;
}
