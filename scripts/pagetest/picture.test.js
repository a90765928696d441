// When the page draws: hidden tabs, displays of other rates, the newest snapshot,
// and how long a key and a start take to be seen.

import test from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keyTimes, quantiles, room } from './latency.js';
import { Bench, missing, screen, snapshot, press, until } from './harness.js';

const skip = missing() || false;

test('a hidden tab lets go, the match goes on, and on return the present is there at once', { skip, timeout: 120000 }, async (t) => {
  const b = new Bench(t), context = await b.browser();
  await context.addInitScript(() => { // what a browser does to a hidden tab: no frames, and it says so
    const frame = globalThis.requestAnimationFrame.bind(globalThis), later = [];
    let hidden = false;
    globalThis.requestAnimationFrame = (f) => (hidden ? later.push(f) : frame(f));
    Object.defineProperty(document, 'hidden', { get: () => hidden });
    Object.defineProperty(document, 'visibilityState', { get: () => (hidden ? 'hidden' : 'visible') });
    globalThis.hide = (on) => {
      hidden = on;
      document.dispatchEvent(new Event('visibilitychange'));
      if (!on) later.splice(0).forEach(frame);
    };
  });
  const host = await b.peer('host'), pa = await b.open(context, host.url);
  await screen(pa, 'hosting');
  const code = await (await pa.waitForFunction(() => globalThis.backstep.screen.hosting.code)).jsonValue();
  const join = await b.peer('join', code), pb = await b.open(await b.browser(), join.url);
  for (const p of [pa, pb]) { await screen(p, 'forecast'); await p.evaluate(() => globalThis.backstep.cmd('accept')); }
  for (const p of [pa, pb]) { await screen(p, 'select'); await p.evaluate(() => globalThis.backstep.cmd('pick', { team: ['sable'], ready: true })); }
  for (const p of [pa, pb]) await screen(p, 'fight');
  await until(async () => (await snapshot(pb))?.phase === 'live', 30000, 'the fight never goes live');
  await pa.keyboard.down('KeyD');
  await until(async () => (await snapshot(pb)).fighters[0].word !== 0, 5000, 'the other side does not see the button');
  const drawn = await pa.evaluate(() => { globalThis.hide(true); return globalThis.backstep.view.frames; });
  await until(async () => (await snapshot(pb)).fighters[0].word === 0, 5000, 'a hidden tab holds its button');
  const from = (await snapshot(pb)).frame;
  for (const k of ['KeyI', 'KeyA', 'KeyI', 'KeyI']) await press(pb, k, 300); // blows of which the hidden tab hears
  await until(async () => (await snapshot(pb)).frame > from + 120, 10000, 'the match stands still');
  assert.equal((await snapshot(pb)).fighters[0].word, 0);
  assert.ok(await pa.evaluate(() => globalThis.backstep.view.frames) - drawn <= 2, 'nothing is drawn while nobody looks');
  const back = await pa.evaluate(() => new Promise((done) => {
    const view = globalThis.backstep.view, draw = view.draw, newest = view.s.frame;
    view.draw = (f) => { draw.call(view, f); delete view.draw; done({ newest, shown: view.s.frame, effects: view.effects.list.length }); };
    globalThis.hide(false);
  }));
  const there = (await snapshot(pb)).frame;
  assert.ok(back.shown >= back.newest && there - back.shown < 60, `frame ${back.shown} is drawn while the other side is at ${there}`);
  assert.ok(back.effects < 4, `${back.effects} sparks of blows long past`);
  assert.deepEqual([...pa.problems, ...pb.problems], []);
});

test('what lies between two states is drawn at 144 Hz, the newest at once if asked', { skip, timeout: 60000 }, async (t) => {
  const b = new Bench(t), p = await b.peer('train'), page = await b.open(await b.browser(), p.url);
  await screen(page, 'train');
  await page.waitForFunction(() => globalThis.backstep?.view?.s);
  const places = await page.evaluate(async () => {
    const { alpha, place, Flag } = await import('./snapshot.js');
    const s = structuredClone(globalThis.backstep?.view?.s);
    s.flags = Flag.pair;
    s.previous.fighters[0].x = 0;
    s.current.fighters[0].x = 12;
    const at = (ms, smooth) => place(s, 0, alpha(s, ms, smooth)).x;
    return { smooth: [0, 1, 2, 3].map((k) => at(k * 1000 / 144, true)), newest: at(0, false) };
  });
  places.smooth.forEach((x, k) => assert.ok(Math.abs(x - Math.min(12, 12 * k * 60 / 144)) < 0.01, `${k}: ${x}`));
  assert.equal(places.newest, 12);
  assert.deepEqual(page.problems, []);
});

const timed = Boolean(process.env.PAGETEST_TIMING); // PAGETEST_TIMING=1 on a machine that does nothing else: the figures are judged

test('from a key to the drawn frame that shows it', { skip, timeout: 120000 }, async (t) => {
  const b = new Bench(t);
  for (const [interpolate, most] of [[false, 20], [true, 37]]) {
    const page = await room(b, interpolate), q = quantiles(await keyTimes(page, timed ? 300 : 24), 1);
    t.diagnostic(`key to drawn frame, ${interpolate ? 'interpolating' : 'newest snapshot'}: median ${q.p50.toFixed(1)} ms, p99 ${q.p99.toFixed(1)} ms`);
    if (timed) assert.ok(q.p99 <= most, `p99 ${q.p99} ms, more than ${most}`);
    assert.deepEqual(page.problems, []);
    await page.close();
  }
});

test('the newest snapshot is drawn once, when it comes', { skip, timeout: 60000 }, async (t) => {
  const b = new Bench(t), page = await room(b, false);
  const n = await page.evaluate(() => new Promise((done) => {
    const view = globalThis.backstep.view, take = view.take, now = view.now, n = { came: 0, waits: 0, twice: 0 };
    view.take = (s) => {
      const turn = view.turn;
      take.call(view, s);
      n.came++;
      queueMicrotask(() => { if (turn && view.fresh) n.waits++; });
    };
    view.now = () => {
      if (!view.fresh && performance.now() - view.at < 20) n.twice++;
      now.call(view);
    };
    setTimeout(() => { delete view.take; delete view.now; done(n); }, 3000);
  }));
  assert.ok(n.came > 0);
  assert.equal(n.waits, 0, `of ${n.came} snapshots so many waited for the display: ${n.waits}`);
  assert.equal(n.twice, 0, `of ${n.came} snapshots so many were drawn again: ${n.twice}`);
});

test('from the command to the first frame of a fight', { skip, timeout: 60000 }, async (t) => {
  const b = new Bench(t), context = await b.browser(), began = performance.now();
  const p = await b.peer('play'), page = await b.open(context, p.url);
  await page.waitForFunction(() => globalThis.backstep.screen?.screen === 'fight' && globalThis.backstep.view.s && globalThis.backstep.view.fighting, null, { timeout: 30000 });
  const ms = performance.now() - began;
  t.diagnostic(`first fight frame after ${Math.round(ms)} ms`);
  if (timed) assert.ok(ms <= 2000, `${ms} ms`);
});

test('from make play on a built tree to the first frame of a fight, the browser not yet running', { skip, timeout: 90000 }, async (t) => {
  const b = new Bench(t), dir = b.dir(), file = join(dir, 'first'), here = dirname(fileURLToPath(import.meta.url)), began = Date.now();
  const env = { ...process.env, DISPLAY: ':0', BACKSTEP_BROWSER: join(here, 'open.js'), BACKSTEP_DATA_DIR: dir, FIRST_FRAME: file };
  const child = spawn('make', ['play'], { cwd: join(here, '../..'), env, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.on('data', (d) => { log += d; });
  assert.equal(await new Promise((done) => child.on('exit', done)), 0, log);
  const ms = Number(readFileSync(file, 'utf8')) - began;
  t.diagnostic(`first fight frame ${ms} ms after make play`);
  if (timed) assert.ok(ms <= 2000, `${ms} ms`);
});
