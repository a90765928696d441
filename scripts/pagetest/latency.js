// From a key to the frame that shows it, by stages, in headless Chromium:
//
//   node latency.js [presses, 300]
//
// Each press is an event on the page at a moment that the peer's clock knows
// nothing of; docs/page.md says what the columns mean.

import { fileURLToPath } from 'node:url';
import { Bench, missing, screen } from './harness.js';

/**
 * Presses and releases a key n times in the training room. Each press gives
 * the milliseconds until the peer's snapshot with it was there, until the
 * drawing of it was done, and until the display took that picture.
 */
export async function keyTimes(page, n) {
  const all = [];
  for (let i = 0; i < n; i++) {
    all.push(await page.evaluate((e) => new Promise((done) => {
      const view = globalThis.backstep.view, was = view.s.current.fighters[0].word, take = view.take, draw = view.draw, times = [];
      view.take = (s) => {
        if (!times.length && s.current.fighters[0].word !== was) times.push(performance.now() - start);
        take.call(view, s);
      };
      view.draw = (f) => {
        draw.call(view, f);
        if (times.length !== 1 || view.s.current.fighters[0].word === was || !(view.alpha > 0)) return;
        times.push(performance.now() - start);
        delete view.take;
        delete view.draw;
        const channel = new MessageChannel(); // the task behind a frame: its picture is on its way to the display
        channel.port1.onmessage = () => { times.push(performance.now() - start); done(times); };
        requestAnimationFrame(() => channel.port2.postMessage(0));
      };
      const start = performance.now();
      dispatchEvent(new KeyboardEvent(e, { code: 'KeyS' }));
    }), i % 2 ? 'keyup' : 'keydown'));
    await page.waitForTimeout(40 + (i * 7) % 17); // another phase of the peer's clock each time
  }
  return all;
}

/** Median, p90, p99 and largest of column k. */
export function quantiles(all, k) {
  const v = all.map((t) => t[k]).sort((x, y) => x - y), at = (p) => v[Math.min(v.length - 1, Math.ceil(v.length * p) - 1)];
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: v[v.length - 1] };
}

/** A training room with the settings, ready to be pressed in. */
export async function room(b, interpolate) {
  const p = await b.peer('train'), page = await b.open(await b.browser(), p.url);
  await screen(page, 'train');
  await page.waitForFunction(() => globalThis.backstep?.view?.s);
  await page.evaluate((on) => globalThis.backstep.settings.change({ interpolate: on }), interpolate);
  await page.waitForTimeout(700);
  return page;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const why = missing(), ends = [];
  if (why) { console.error(why); process.exit(1); }
  const b = new Bench({ after: (f) => ends.push(f) }), n = Number(process.argv[2] || 300);
  const row = (name, q) => console.log(name.padEnd(44) + ['p50', 'p90', 'p99', 'max'].map((k) => q[k].toFixed(1).padStart(8)).join(''));
  console.log('ms'.padEnd(44) + ['p50', 'p90', 'p99', 'max'].map((k) => k.padStart(8)).join(''));
  try {
    for (const on of [false, true]) {
      const page = await room(b, on), all = await keyTimes(page, n), name = on ? 'interpolating' : 'newest snapshot';
      ['key to snapshot', 'key to drawn frame', 'key to display'].forEach((what, k) => row(`${name}: ${what}`, quantiles(all, k)));
      if (page.problems.length) throw new Error(page.problems.join('\n'));
    }
  } finally { for (const f of ends) await f(); }
}
