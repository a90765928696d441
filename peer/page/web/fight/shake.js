// Camera shake of the feel catalogue, as peer/present evaluates it: all shakes
// under way fold into one offset and one turn, each clamped.

const offsetUnit = 25, degreesUnit = 4;

const wave = (t, rate, phase) => (Math.sin(t * rate + phase) + 0.6 * Math.sin(t * rate * 1.73 + phase * 2) + 0.4 * Math.sin(t * rate * 2.41 + phase * 3)) / 2;

/** list: [{ shake: row of data.feel.shakes, age, direction }]; reduced: the reduced-motion ceilings hold. */
export function evaluate(list, feel, reduced) {
  let x = 0, y = 0, degrees = 0;
  for (const { shake, age, direction } of list) {
    if (age < 0 || age >= shake.frames) continue;
    const power = (reduced ? Math.min(shake.base, shake.reduced) : shake.base) * (1 - age / shake.frames);
    let sx = 0, sy = 0, turn = 0;
    if (shake.pattern === 'perlin') { sx = wave(age, 0.9, 0); sy = wave(age, 1.1, 2); turn = wave(age, 0.7, 4); }
    if (shake.pattern === 'spring') { sy = Math.cos(age * 0.9); turn = 0.25 * Math.sin(age * 0.9); }
    if (shake.pattern === 'directional') { sx = direction * Math.cos(age * 1.2); sy = 0.3 * Math.sin(age * 1.2); }
    x += power * offsetUnit * sx;
    y += power * offsetUnit * sy;
    degrees += power * degreesUnit * turn;
  }
  const d = Math.hypot(x, y);
  if (d > feel.max_offset) { x *= feel.max_offset / d; y *= feel.max_offset / d; }
  return { x, y, degrees: Math.max(-feel.max_degrees, Math.min(feel.max_degrees, degrees)) };
}

/** No more than three flashes in any second (WCAG 2.3.1); none with reduced motion. */
export class Flashes {
  constructor() { this.times = []; }

  allow(at, reduced) {
    this.times = this.times.filter((t) => at - t < 1000);
    if (reduced || this.times.length >= 3) return false;
    this.times.push(at);
    return true;
  }
}
