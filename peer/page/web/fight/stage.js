// The stage: layers of paper-cut shapes that move with the camera, in the colours
// of its place. Drawn from a seed, so that it is the same on both screens.

import { places, crowd, beams, cage, ropes, bricks, lantern } from './places.js';
import { random } from './random.js';

/** Colours from top to bottom over the whole width, drawn once and stretched: a gradient of that size is most of a frame without a GPU. */
class Ramp {
  constructor(...stops) { // [where, colour]
    this.first = stops[0][1];
    this.last = stops[stops.length - 1][1];
    this.strip = new OffscreenCanvas(4, 512);
    const c = this.strip.getContext('2d', { alpha: false }), g = c.createLinearGradient(0, 0, 0, 512);
    for (const [at, colour] of stops) g.addColorStop(at, colour);
    c.fillStyle = g;
    c.fillRect(0, 0, 4, 512);
  }

  /** From a to b, the first colour above from top on, the last one below to bottom. */
  fill(c, x, w, top, a, b, bottom) {
    c.fillStyle = this.last;
    if (bottom > b - 1) c.fillRect(x, b - 1, w, bottom - b + 1);
    c.imageSmoothingEnabled = false;
    if (b > a) c.drawImage(this.strip, x, a, w, b - a);
    c.imageSmoothingEnabled = true;
    c.fillStyle = this.first;
    if (top < a) c.fillRect(x, top, w, a - top + 1);
  }
}

export class Stage {
  constructor() {
    this.ramps = new Map(); // of the places that were seen
    const r = random(7);
    this.stars = Array.from({ length: 70 }, () => [r(), r() * 0.46, 0.5 + r() * 1.1, r() * 7]);
    this.hills = [0, 1].map((k) => Array.from({ length: 26 }, (_, i) => [(i - 13) * 180, 60 + k * -18 + r() * (90 - k * 30)]));
    this.houses = [];
    for (let x = -1500; x < 1500;) {
      const w = 80 + r() * 90, h = 110 + r() * 170;
      this.houses.push({ x, w, h, roof: 18 + r() * 46, tone: r(), windows: Array.from({ length: Math.floor(w / 26) * Math.floor(h / 44) }, () => r()) });
      x += w + (r() < 0.25 ? 40 : 3);
    }
    this.lamps = [-760, -380, 0, 380, 760];
    this.boats = [[-520, 0.4], [300, 1.9], [720, 3]];
    this.motes = Array.from({ length: 26 }, () => [r() * 1600 - 800, r() * 260 + 20, r() * 7, 0.3 + r()]);
  }

  /** cam: { x, y, zoom, w, h, floor } in design pixels; time in frames; where: a ruleset. */
  draw(c, cam, time, half, calm, open, where) {
    if (!places[where]) where = 'sf';
    const p = this.place = places[where], at = (colours, stops) => colours && new Ramp(...colours.map((colour, i) => [stops[i], colour]));
    if (!this.ramps.has(where)) this.ramps.set(where, { sky: at(p.sky, [0, 0.5, 0.82, 1]), sea: at(p.water, [0, 0.35, 1]), floor: at(p.floor, [0, 0.25, 1]), hall: at(p.hall, [0, 0.5, 1]) });
    this.ramp = this.ramps.get(where);
    if (p.hall) this.hall(c, cam, time, calm);
    else this.outside(c, cam, time, calm);
    this.floor(c, cam, time, half, open);
    if (open) this.edges(c, cam, time, half, calm);
  }

  /** Under a roof: people, light, and a wall if there is one. */
  hall(c, cam, time, calm) {
    const p = this.place, foot = cam.floor - 30 * cam.zoom + cam.y;
    this.ramp.hall.fill(c, -80, cam.w + 160, -80, 0, foot, foot + 2);
    if (p.wall) bricks(c, cam, foot - 16 * cam.zoom, p.wall);
    crowd(c, cam, p.crowd, time, calm, foot - 62 * cam.zoom);
    beams(c, cam, p.beams);
  }

  outside(c, cam, time, calm) {
    const p = this.place, { w, h } = cam, horizon = cam.floor - 150 * cam.zoom * 0.55 + cam.y * 0.25;
    this.ramp.sky.fill(c, -80, w + 160, -80, 0, horizon, horizon + 2);
    c.fillStyle = '#fff4dc';
    for (const [x, y, size, at] of this.stars) {
      c.globalAlpha = 0.35 + (calm ? 0.2 : 0.3 * Math.sin(time / 40 + at));
      c.fillRect(x * w, y * h, size, size);
    }
    c.globalAlpha = 1;
    const [light, across, down, size] = p.moon, mx = w * across - cam.x * 0.03, my = h * down + cam.y * 0.05;
    glow(c, mx, my, size * 3.4, 'rgba(255,232,190,0.22)');
    c.fillStyle = light;
    c.beginPath(); c.arc(mx, my, size, 0, 7); c.fill();
    this.hills.forEach((list, k) => {
      const far = 0.12 + k * 0.1;
      c.fillStyle = p.hills[k];
      c.beginPath();
      c.moveTo(-90, horizon + 4);
      for (const [x, y] of list) c.lineTo(w / 2 + x * 0.9 - cam.x * far, horizon - y + cam.y * 0.15);
      c.lineTo(w + 90, horizon + 4);
      c.fill();
    });
    if (p.houses) this.town(c, cam, horizon);
    this.water(c, cam, horizon, time, calm);
  }

  town(c, cam, horizon) {
    const far = 0.42;
    for (const b of this.houses) {
      const x = cam.w / 2 + (b.x * 0.8 - cam.x) * far * cam.zoom, w = b.w * far * cam.zoom, h = b.h * far * cam.zoom, y = horizon + 12;
      if (x > cam.w + 90 || x + w < -90) continue;
      c.fillStyle = this.place.houses[b.tone < 0.4 ? 0 : b.tone < 0.75 ? 1 : 2];
      c.fillRect(x, y - h, w + 1, h);
      c.beginPath(); c.moveTo(x - 4, y - h); c.lineTo(x + w / 2, y - h - b.roof * far * cam.zoom); c.lineTo(x + w + 4, y - h); c.fill();
      const columns = Math.max(1, Math.floor(b.w / 26));
      b.windows.forEach((v, i) => {
        if (v < 0.55) return;
        c.fillStyle = this.place.windows[v > 0.8 ? 0 : 1];
        c.globalAlpha = 0.55 + v * 0.3;
        const s = far * cam.zoom;
        c.fillRect(x + (8 + (i % columns) * 26) * s, y - h + (16 + Math.floor(i / columns) * 44) * s, 11 * s, 17 * s);
      });
      c.globalAlpha = 1;
    }
  }

  water(c, cam, horizon, time, calm) {
    const top = horizon + 12, edge = cam.floor - 46 * cam.zoom + cam.y;
    this.ramp.sea.fill(c, -80, cam.w + 160, top, top, edge + 40, Math.max(top, edge + 60));
    c.strokeStyle = 'rgba(255,214,160,0.24)';
    c.lineWidth = 2;
    for (let i = 0; i < 46; i++) {
      const y = top + 5 + ((i * 37) % 100) / 100 * Math.max(10, edge - top), s = 0.4 + (y - top) / 130;
      const x = (((i * 211 - cam.x * 0.5 * s + (calm ? 0 : Math.sin(time / 50 + i) * 12)) % (cam.w + 200)) + cam.w + 200) % (cam.w + 200) - 100;
      c.beginPath(); c.moveTo(x, y); c.lineTo(x + 26 * s, y); c.stroke();
    }
    for (const [bx, at] of this.boats) {
      const x = cam.w / 2 + (bx - cam.x) * 0.6 * cam.zoom, y = top + (edge - top) * 0.42 + (calm ? 0 : Math.sin(time / 45 + at) * 2.5), s = 0.62 * cam.zoom;
      c.fillStyle = '#15122a';
      c.beginPath(); c.moveTo(x - 60 * s, y - 12 * s); c.quadraticCurveTo(x, y + 16 * s, x + 66 * s, y - 16 * s); c.lineTo(x + 48 * s, y + 6 * s); c.lineTo(x - 46 * s, y + 6 * s); c.fill();
      c.fillRect(x - 3 * s, y - 74 * s, 4 * s, 74 * s);
      glow(c, x + 40 * s, y - 22 * s, 22 * s, 'rgba(255,196,110,0.5)');
    }
  }

  /** Where one can fall off, the planks end and the water begins. */
  edges(c, cam, time, half, calm) {
    const y = cam.floor + cam.y, z = cam.zoom, back = y - 46 * z;
    for (const side of [-1, 1]) {
      const at = (x, k) => cam.w / 2 + (side * x - cam.x) * z * k, top = at(half + 20, 0.92), foot = at(half + 14, 1.32), far = side < 0 ? -90 : cam.w + 90;
      if (side < 0 ? Math.max(top, foot) < -80 : Math.min(top, foot) > cam.w + 80) continue;
      const g = c.createLinearGradient(0, back, 0, cam.h);
      g.addColorStop(0, this.place.water[1]);
      g.addColorStop(1, this.place.water[2]);
      c.fillStyle = g;
      c.beginPath(); c.moveTo(top, back - 1); c.lineTo(far, back - 1); c.lineTo(far, cam.h + 90); c.lineTo(foot, cam.h + 90); c.fill();
      c.fillStyle = '#8d6a4a'; // the cut ends of the planks
      c.beginPath(); c.moveTo(top, back); c.lineTo(top + side * 9 * z, back + 3 * z); c.lineTo(foot + side * 15 * z, cam.h + 90); c.lineTo(foot, cam.h + 90); c.fill();
      c.strokeStyle = 'rgba(255,214,160,0.22)';
      c.lineWidth = 2;
      for (let i = 0; i < 9; i++) {
        const wy = back + 14 * z + i * 17 * z, wx = top + side * (30 + ((i * 67) % 150)) * z + (calm ? 0 : Math.sin(time / 40 + i) * 8);
        c.beginPath(); c.moveTo(wx, wy); c.lineTo(wx + 30, wy); c.stroke();
      }
    }
  }

  floor(c, cam, time, half, open) {
    const p = this.place, y = cam.floor + cam.y, z = cam.zoom, back = y - 46 * z;
    const at = (x, k = 1) => cam.w / 2 + (x - cam.x) * z * k;
    const lit = ['rail', 'lanterns', 'fires'].includes(p.back);
    if (p.back === 'cage') cage(c, cam, back, at, z);
    if (p.back === 'ropes') ropes(c, cam, back, at, half, z);
    if (lit) this.rail(c, cam, back, at, z, time);
    this.ramp.floor.fill(c, -80, cam.w + 160, back, back, cam.h, cam.h + 160);
    c.strokeStyle = 'rgba(20,12,28,0.5)';
    c.lineWidth = 2;
    c.beginPath();
    for (let x = -1500; x <= 1500; x += p.planks ? 58 : 250) { c.moveTo(at(x, 0.92), back); c.lineTo(at(x, 1.7), cam.h + 80); }
    if (!p.planks) for (const down of [18, 60]) { c.moveTo(-80, back + down * z); c.lineTo(cam.w + 80, back + down * z); }
    c.stroke();
    c.fillStyle = 'rgba(255,200,130,0.18)';
    c.fillRect(-80, back, cam.w + 160, 2.5 * z);
    for (const x of lit ? this.lamps : [-400, 0, 400]) { // light on the floor
      c.save(); c.translate(at(x), y + 4 * z); c.scale(1, 0.22);
      glow(c, 0, 0, 190 * z, 'rgba(255,186,100,0.17)');
      c.restore();
    }
    for (const side of open || p.back === 'ropes' ? [] : [-1, 1]) { // the ends of the stage
      const x = at(side * (half + 30));
      c.fillStyle = p.ink;
      c.fillRect(x - 11 * z, y - 62 * z, 22 * z, 74 * z);
      c.fillStyle = '#cbb88e';
      c.fillRect(x - 12 * z, y - 40 * z, 24 * z, 9 * z);
      c.fillRect(x - 12 * z, y - 22 * z, 24 * z, 5 * z);
    }
    c.fillStyle = '#ffd79a';
    for (const [x, h, at0, v] of this.motes) {
      c.globalAlpha = 0.25 + 0.25 * Math.sin(time / 30 + at0);
      c.fillRect(at(x + Math.sin(time / 90 * v + at0) * 40, 0.95), y - h * z + Math.cos(time / 70 + at0) * 10, 2.4, 2.4);
    }
    c.globalAlpha = 1;
  }

  /** A railing behind the fighters, with what lights the place. */
  rail(c, cam, back, at, z, time) {
    const p = this.place;
    c.strokeStyle = p.ink;
    c.lineWidth = 4 * z * 0.7;
    c.beginPath(); c.moveTo(-80, back - 50 * z); c.lineTo(cam.w + 80, back - 50 * z); c.moveTo(-80, back - 26 * z); c.lineTo(cam.w + 80, back - 26 * z); c.stroke();
    c.fillStyle = p.ink;
    for (let x = -1200; x <= 1200; x += 95) c.fillRect(at(x, 0.92) - 3 * z, back - 56 * z, 6 * z, 60 * z);
    if (p.back === 'fires') { for (const x of this.lamps) this.fire(c, at(x, 0.92), back, z, time + x); return; }
    for (const x of this.lamps) {
      const lx = at(x, 0.92), ly = back - 205 * z;
      c.fillStyle = p.ink;
      c.fillRect(lx - 3.5 * z, ly, 7 * z, 210 * z);
      c.fillRect(lx - 16 * z, ly - 2 * z, 32 * z, 5 * z);
      glow(c, lx, ly - 16 * z, 120 * z, 'rgba(255,190,96,0.30)');
      c.fillStyle = '#ffe2a3';
      c.beginPath(); c.moveTo(lx - 9 * z, ly - 4 * z); c.lineTo(lx - 12 * z, ly - 28 * z); c.lineTo(lx + 12 * z, ly - 28 * z); c.lineTo(lx + 9 * z, ly - 4 * z); c.fill();
      c.fillStyle = p.ink;
      c.beginPath(); c.moveTo(lx - 15 * z, ly - 28 * z); c.lineTo(lx, ly - 42 * z); c.lineTo(lx + 15 * z, ly - 28 * z); c.fill();
    }
    if (p.back === 'lanterns') this.lanterns(c, back, at, z, time);
  }

  /** Strings of paper lanterns from lamp to lamp. */
  lanterns(c, back, at, z, time) {
    const y = back - 214 * z;
    for (let k = 0; k < this.lamps.length - 1; k++) {
      const from = at(this.lamps[k], 0.92), to = at(this.lamps[k + 1], 0.92), sag = 58 * z, way = (u) => [from + (to - from) * u, y + 4 * sag * u * (1 - u)];
      c.strokeStyle = this.place.ink;
      c.lineWidth = 2;
      c.beginPath(); c.moveTo(from, y); c.quadraticCurveTo((from + to) / 2, y + 2 * sag, to, y); c.stroke();
      for (let i = 1; i < 7; i++) {
        const [x, ly] = way(i / 7), r = 8.5 * z;
        if (x > -60 && x < 2400) lantern(c, x, ly + r * 1.4 + Math.sin(time / 50 + i) * z, r, i + k);
      }
    }
  }

  /** A bowl of fire on a post. */
  fire(c, x, back, z, time) {
    const y = back - 120 * z;
    c.fillStyle = this.place.ink;
    c.fillRect(x - 5 * z, y, 10 * z, 124 * z);
    c.beginPath(); c.moveTo(x - 24 * z, y - 10 * z); c.lineTo(x + 24 * z, y - 10 * z); c.lineTo(x + 12 * z, y + 8 * z); c.lineTo(x - 12 * z, y + 8 * z); c.fill();
    glow(c, x, y - 28 * z, 130 * z, 'rgba(255,130,60,0.32)');
    for (const [colour, k] of [['#c8402a', 1], ['#ff9a3c', 0.68], ['#ffe2a0', 0.36]]) {
      const tall = (46 + Math.sin(time / 7) * 5) * z * k, wide = 19 * z * k;
      c.fillStyle = colour;
      c.beginPath(); c.moveTo(x - wide, y - 10 * z); c.quadraticCurveTo(x - wide, y - 10 * z - tall * 0.6, x + Math.sin(time / 9) * 5 * z, y - 10 * z - tall); c.quadraticCurveTo(x + wide, y - 10 * z - tall * 0.5, x + wide, y - 10 * z); c.fill();
    }
  }
}

/** A soft round light. */
export function glow(c, x, y, r, colour) {
  const g = c.createRadialGradient(x, y, 0, x, y, r);
  g.addColorStop(0, colour);
  g.addColorStop(1, colour.replace(/[\d.]+\)$/, '0)'));
  c.fillStyle = g;
  c.beginPath(); c.arc(x, y, r, 0, 7); c.fill();
}
