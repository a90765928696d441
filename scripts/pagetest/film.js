// A short animation of a real match, for the README: node film.js REPLAY OUT.webp [SECONDS].
// The theatre steps through the replay and every fourth frame is drawn and kept,
// so the film does not depend on how fast this machine is. Chromium makes the
// stills; here they are put behind one another as an animated WebP:
//
//	RIFF size WEBP | VP8X flags canvas | ANIM background loops | ANMF x y w h ms flags VP8 …

import { readFileSync, writeFileSync } from 'node:fs';
import { Bench, screen } from './harness.js';

const [from, out, seconds = '6'] = process.argv.slice(2);
const width = 640, height = 360, every = 4, frames = Math.round(Number(seconds) * 60);

function chunk(name, body) {
  const b = Buffer.alloc(8 + body.length + (body.length & 1));
  b.write(name, 0, 'latin1');
  b.writeUInt32LE(body.length, 4);
  body.copy(b, 8);
  return b;
}

const three = (n) => Buffer.from([n & 255, n >> 8 & 255, n >> 16 & 255]);

/** Joins WebP stills of one size to an animation that repeats. */
export function animate(stills, w, h, ms) {
  const parts = [chunk('VP8X', Buffer.concat([Buffer.from([2, 0, 0, 0]), three(w - 1), three(h - 1)])), chunk('ANIM', Buffer.from([0, 0, 0, 255, 0, 0]))];
  for (const s of stills) {
    let at = 12; // Chromium may put a colour profile before the picture
    while (at + 8 < s.length && s.toString('latin1', at, at + 4) !== 'VP8 ') at += 8 + s.readUInt32LE(at + 4) + (s.readUInt32LE(at + 4) & 1);
    if (at + 8 >= s.length) throw new Error('Chromium gave no lossy WebP: ' + s.toString('latin1', 0, 40));
    const picture = s.subarray(at, at + 8 + s.readUInt32LE(at + 4) + (s.readUInt32LE(at + 4) & 1));
    parts.push(chunk('ANMF', Buffer.concat([three(0), three(0), three(w - 1), three(h - 1), three(ms), Buffer.from([2]), picture])));
  }
  const body = Buffer.concat([Buffer.from('WEBP', 'latin1'), ...parts]), head = Buffer.alloc(8);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
}

const ends = [], bench = new Bench({ after: (f) => ends.push(f) });
try {
  const p = await bench.peer('train'), page = await bench.open(await bench.browser(), p.url);
  await screen(page, 'train');
  await page.evaluate(() => globalThis.backstep.cmd('title'));
  await screen(page, 'title');
  await page.evaluate((b64) => globalThis.backstep.link.upload(Uint8Array.from(atob(b64), (c) => c.charCodeAt(0)).buffer), readFileSync(from).toString('base64'));
  await screen(page, 'theatre');
  const stills = await page.evaluate(async ({ w, h, frames, every }) => {
    const app = globalThis.backstep, view = app.view, data = app.data, cmd = (f) => app.cmd('theatre', f);
    cmd({ play: false });
    view.now = () => {};
    let came = null;
    const take = view.take.bind(view);
    view.take = (s) => { s.kind = 1; s.flags &= ~(16 | 64); s.trail = []; take(s); came?.(s); };
    const next = (fields) => new Promise((done) => { came = (s) => { came = null; done(s); }; cmd(fields); });
    const last = app.screen.theatre.frames, worth = new Float64Array(last + 1);
    await next({ seek: 0 });
    for (let f = 1; f < last; f++) {
      const s = await next({ step: 1 });
      for (const e of s.events) worth[f] += { hit: 1 + e.value / 40, 'counter-hit': 3, flash: 4, ko: 5, tag: 2, block: 0.5, shot: 1, armor: 1 }[data.events[e.kind]] || 0;
    }
    let best = 60, most = -1;
    for (let from = 60; from + frames < last; from += 15) {
      let sum = 0;
      for (let f = from; f < from + frames; f++) sum += worth[f];
      if (sum > most) { most = sum; best = from; }
    }
    await next({ seek: Math.max(0, best - 60) });
    const still = new OffscreenCanvas(w, h), c = still.getContext('2d', { alpha: false }), out = [];
    c.imageSmoothingQuality = 'high';
    for (let f = -60; f < frames; f++) { // a second to let the camera settle
      await next({ step: 1 });
      view.draw(1);
      if (f < 0 || f % every) continue;
      c.drawImage(view.canvas, 0, 0, w, h);
      const bytes = new Uint8Array(await (await still.convertToBlob({ type: 'image/webp', quality: 0.62 })).arrayBuffer());
      let s = '';
      for (let i = 0; i < bytes.length; i += 8192) s += String.fromCharCode(...bytes.subarray(i, i + 8192));
      out.push(btoa(s));
    }
    return out;
  }, { w: width, h: height, frames, every });
  const film = animate(stills.map((s) => Buffer.from(s, 'base64')), width, height, Math.round(every * 1000 / 60));
  writeFileSync(out, film);
  console.log(`${out}: ${stills.length} stills, ${film.length} bytes`);
} finally {
  for (const f of ends) await f();
}
