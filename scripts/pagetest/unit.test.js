// The page's plain functions, without a browser.

import test from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { between } from '../../peer/page/web/snapshot.js';
import { evaluate, Flashes } from '../../peer/page/web/fight/shake.js';
import { Trail, wordText } from '../../peer/page/web/fight/trail.js';
import { notes, tune } from '../../peer/page/web/fight/music.js';
import { conflicts, padHolds, wordOf } from '../../peer/page/web/input.js';

const root = fileURLToPath(new URL('../../', import.meta.url)), web = join(root, 'peer/page/web');

function files(dir) {
  return readdirSync(dir, { withFileTypes: true }).flatMap((e) => (e.isDirectory() ? files(join(dir, e.name)) : [join(dir, e.name)]));
}

test('PRES-02: interpolation as in the vectors of peer/present', () => {
  for (const v of JSON.parse(readFileSync(join(root, 'docs/vectors/present.json')))) {
    const a = v.new_round ? 1 : Math.min(1, v.seconds * 60);
    const got = v.new_round ? { x: v.to[0], y: v.to[1] } : between({ x: v.from[0], y: v.from[1] }, { x: v.to[0], y: v.to[1] }, a);
    assert.ok(Math.abs(got.x - v.want[0]) < 1e-9 && Math.abs(got.y - v.want[1]) < 1e-9, JSON.stringify(v));
  }
});

test('FEEL-21, FEEL-13: shakes fold into one, clamped; reduced motion is less', () => {
  const feel = { max_offset: 50, max_degrees: 10 }, ko = { name: 'KO', base: 1, reduced: 0.35, frames: 40, pattern: 'perlin' };
  for (let age = 0; age < 40; age += 0.5) {
    const many = evaluate(Array.from({ length: 12 }, () => ({ shake: ko, age, direction: 1 })), feel, false);
    assert.ok(Math.hypot(many.x, many.y) <= 50.0001 && Math.abs(many.degrees) <= 10);
    const one = evaluate([{ shake: ko, age, direction: 1 }], feel, false), less = evaluate([{ shake: ko, age, direction: 1 }], feel, true);
    assert.ok(Math.hypot(less.x, less.y) <= Math.hypot(one.x, one.y) * 0.351 + 1e-9);
  }
});

test('no more than three flashes in any second, none with reduced motion', () => {
  const f = new Flashes(), seen = [];
  for (let at = 0; at < 5000; at += 50) if (f.allow(at, false)) seen.push(at);
  for (const at of seen) assert.ok(seen.filter((x) => x >= at && x < at + 1000).length <= 3);
  assert.ok(seen.length >= 12);
  assert.equal(new Flashes().allow(0, true), false);
});

test('controls: words, pads at rest, conflicts', () => {
  assert.equal(wordOf({ up: ['KeyW'], super: ['KeyX'] }, (c) => c === 'KeyX'), 1 << 11);
  const pad = { buttons: [{ pressed: true, value: 1 }], axes: [-0.9, 3.28] };
  assert.ok(padHolds(pad, 'b0') && padHolds(pad, 'a0-'));
  assert.ok(!padHolds(pad, 'a0+') && !padHolds(pad, 'a1+') && !padHolds(pad, 'b7'), 'a hat at rest lies beyond 1');
  const c = conflicts([{ light: ['KeyU'], heavy: ['KeyU', 'KeyO'] }, { up: ['KeyO'] }]);
  assert.deepEqual([...c.keys()].sort(), ['KeyO', 'KeyU']);
});

test('the frame meter joins trails, corrections replace, a jump begins anew', () => {
  const t = new Trail(6), cells = (...n) => n.map((v) => ({ words: [v, 0] })), words = () => t.list.map((c) => c.words[0]);
  t.take({ frame: 3, trail: cells(1, 2, 3) });
  t.take({ frame: 4, trail: cells(2, 9, 4) });
  assert.deepEqual(words(), [1, 2, 9, 4]);
  t.take({ frame: 5, trail: cells(9, 4, 5) });
  t.take({ frame: 7, trail: cells(5, 6, 7) });
  assert.deepEqual(words(), [2, 9, 4, 5, 6, 7]);
  t.take({ frame: 40, trail: cells(40) });
  assert.deepEqual(words(), [40]);
  t.take({ frame: 7, trail: cells(7) });
  assert.deepEqual(words(), [7]);
  assert.equal(wordText(1 | 8 | 16 | 128), '↗LS');
  assert.equal(wordText(4 | 8), '•', 'opposite directions are neutral');
});

test('TAGT-16: a number is always the same tune, another number another one, all of it audible', () => {
  const played = (n) => { const u = tune(n); return Array.from({ length: 64 }, (_, at) => notes(u, at)); };
  const seen = new Set();
  for (let n = 0; n <= 255; n++) {
    const all = played(n).flat();
    assert.deepEqual(played(n), played(n));
    assert.ok(all.some((x) => x.voice === 'lead') && all.some((x) => x.voice === 'bass'), `${n}`);
    for (const x of all) assert.ok(x.gain > 0 && x.gain < 0.6 && x.seconds > 0 && (x.hz === undefined || x.hz > 38 && x.hz < 3000), `${n}: ${JSON.stringify(x)}`);
    seen.add(JSON.stringify(all));
  }
  assert.equal(seen.size, 256);
});

test('every text the page asks for is in the language file', () => {
  const en = JSON.parse(readFileSync(join(web, 'lang/en.json')));
  for (const f of files(web).filter((n) => n.endsWith('.js'))) {
    for (const m of readFileSync(f, 'utf8').matchAll(/\bt\('([^']+)'[,)]/g)) assert.ok(m[1] in en, `${f}: ${m[1]}`);
  }
});

test('the page weighs at most 500 KB, no file of it more than 20 KB, nothing inline', () => {
  const all = files(web);
  assert.ok(all.reduce((n, f) => n + statSync(f).size, 0) <= 500e3);
  for (const f of all) {
    assert.ok(statSync(f).size <= 20e3, f);
    const s = readFileSync(f, 'utf8');
    assert.ok(!/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/.test(s), f);
    assert.ok(!/https?:\/\/(?!www\.w3\.org\/2000\/svg)/.test(s), f);
  }
  assert.ok(!/<style|<script(?![^>]*src)|\son\w+=|\sstyle=/.test(readFileSync(join(web, 'index.html'), 'utf8')));
});
