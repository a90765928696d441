// The present world on a canvas: the two newest states of the simulation, drawn
// between them at the display's own rate. It never decides anything.

import { Flag, Bit, alpha, place, between, actionFrame, identity } from '../snapshot.js';
import { Stage } from './stage.js';
import { Effects } from './effects.js';
import { Hud } from './hud.js';
import { NetGraph } from './netgraph.js';
import { blend, poseOf } from './pose.js';
import { drawFighter } from './figure.js';
import { drawShots, drawBoxes, drawSmear, drawThings } from './things.js';
import { drawTrail, drawHistory, Trail } from './trail.js';
import { t } from '../language.js';

const pictured = ['fight', 'train', 'theatre', 'desync', 'result'];
const designHeight = 720, floorLine = 606;
const standing = 25; // ms without a snapshot after which the display's rate takes over

export class View {
  constructor(canvas, app) {
    this.canvas = canvas;
    this.app = app;
    this.c = canvas.getContext('2d', { alpha: false });
    this.stage = new Stage();
    this.effects = new Effects(app);
    this.hud = new Hud(app);
    this.net = new NetGraph(app);
    this.s = null;
    this.part = null;
    this.name = 'title';
    this.time = 0;
    this.cam = { x: 0, y: 0, zoom: 1.6, w: 1280, h: 720, floor: floorLine };
    this.trail = new Trail(90);
    this.poses = []; // as drawn last, by slot
    this.step = 0;   // frames since
    this.frames = 0; // drawn, for tests
    this.kinds = new Map(app.data.fighters.map((f) => [f.id, f]));
    this.moves = new Map(app.data.fighters.map((f) => [f.id, new Map(f.moves.map((m) => [m.id, m]))]));
  }

  kind(f) { return this.kinds.get(f.id); }

  move(f) { return f.move ? this.moves.get(f.id)?.get(f.move) || null : null; }

  toggleGraph() { this.net.visible = !this.net.visible; }

  frameOf(part) { this.part = part; }

  /** What the canvas shows: the fight on some screens, the quay behind others. */
  scene(name) {
    this.name = name;
    if (!pictured.includes(name)) { this.s = null; this.effects.clear(); }
  }

  get fighting() { return Boolean(this.s) && pictured.includes(this.name); }

  /** Takes a snapshot: corrections replace, events begin, cancelled ones fade. */
  take(s) {
    if (!this.s || this.s.match !== s.match) { this.effects.clear(); this.hud.clear(); this.net.clear(); this.poses = []; this.cut = true; }
    this.s = s;
    this.at = performance.now();
    this.net.frame(s);
    if (s.trail.length) this.trail.take(s);
    for (const id of s.cancelled) { this.effects.cancel(id); this.app.sound.cancel(id); }
    this.fresh = true;
    if (!this.app.settings.value.interpolate && this.turn && !document.hidden) queueMicrotask(() => { if (this.fresh) this.now(); }); // the newest at once, without waiting for the display
    if (s.flags & Flag.quiet || s.current.round !== s.previous.round) this.hud.ghost = [0, 0];
    if (s.flags & Flag.quiet || document.hidden) return; // what nobody sees is not kept until somebody looks
    for (const e of s.events) {
      this.effects.start(e, s);
      this.app.sound.event(this.app.data.events[e.kind], e.value, (e.x - this.cam.x) / 400, identity(e));
    }
  }

  run() {
    this.drawn = performance.now();
    const step = () => {
      requestAnimationFrame(step);
      // What a snapshot showed at once is not drawn again: twice the drawing makes the next one late.
      if (this.app.settings.value.interpolate || this.fresh || !this.fighting || performance.now() - this.at > standing) this.now();
      this.turn = true;
    };
    requestAnimationFrame(step);
  }

  /** Draws what there is at this moment. */
  now() {
    this.fresh = this.turn = false;
    const at = performance.now(), frames = Math.min(6, Math.max(0, (at - this.drawn) / (1000 / 60)));
    this.drawn = at;
    this.draw(frames);
  }

  resize() {
    const ratio = Math.min(2, devicePixelRatio || 1), w = Math.round(innerWidth * ratio), h = Math.round(innerHeight * ratio);
    if (this.canvas.width !== w || this.canvas.height !== h) { this.canvas.width = w; this.canvas.height = h; }
    this.scale = h / designHeight;
    this.cam.w = w / this.scale;
    this.cam.h = designHeight;
    if (this.cam.w < 960) { this.scale = w / 960; this.cam.w = 960; this.cam.h = h / this.scale; }
    this.cam.floor = this.cam.h - (designHeight - floorLine);
  }

  draw(frames) {
    this.resize();
    this.step = frames;
    if (this.fighting) this.cam.floor -= this.hud.raised(this.s) * 0.7; // bars below
    this.frames++;
    const c = this.c, s = this.s, calm = this.app.settings.reduced;
    const still = s && s.flags & (Flag.paused | Flag.frozen);
    if (!still) this.time += frames;
    c.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    if (!this.fighting) { this.idle(c, calm, frames); return; }
    // The finisher's freeze and hitstop stand in the states themselves; slow motion stretches what only the eye sees.
    this.effects.tick(still ? 0 : s.current.slow ? frames * 0.45 : frames);
    this.hud.tick(s, frames);
    const a = this.alpha = alpha(s, performance.now() - this.at, this.app.settings.value.interpolate);
    const at = s.current.fighters.map((_, i) => place(s, i, a));
    this.follow(s, at, frames, calm);
    const cam = this.cam, o = this.effects.offset();
    c.save();
    c.translate(cam.w / 2 + o.x, cam.h / 2 + o.y);
    c.rotate(o.degrees * Math.PI / 180);
    c.translate(-cam.w / 2, -cam.h / 2);
    this.where = this.part?.ruleset || this.where || 'sf'; // it stays while the end of the match is shown
    const { half = 640, ring_out: open = false } = this.app.data.stage[this.where] || {};
    this.stage.draw(c, cam, this.time, half, calm, open, this.where);
    c.save();
    c.translate(cam.w / 2 - cam.x * cam.zoom, cam.floor + cam.y);
    c.scale(cam.zoom, -cam.zoom);
    this.fighters(c, s, at, a, calm);
    drawShots(c, this, s, a, between);
    this.effects.draw(c);
    drawBoxes(c, s);
    c.restore();
    c.restore();
    if (this.effects.flash > 0) { c.fillStyle = `rgba(255,250,235,${this.effects.flash})`; c.fillRect(0, 0, cam.w, cam.h); }
    if (this.name === 'result') {
      const g = c.createLinearGradient(0, 0, cam.w, 0);
      for (const [at, dark] of [[0, 0.85], [0.45, 0.5], [0.6, 0.08], [1, 0.2]]) g.addColorStop(at, `rgba(12,10,28,${dark})`);
      c.fillStyle = g;
      c.fillRect(0, 0, cam.w, cam.h);
      return;
    }
    this.hud.draw(c, s, cam.w, cam.h, this.part, this.effects.words, Boolean(s.flags & (Flag.overlay | Flag.frozen)));
    if (s.kind !== 1 && s.trail.length && this.name !== 'desync') {
      const long = { trail: this.trail.list };
      const top = s.count > 4 ? 164 : s.count > 2 ? 140 : 118;
      drawTrail(c, long, cam.w, top, this.app.settings.colours);
      drawHistory(c, long, cam.w, top + 162, this.app.settings.colours);
    }
    if (s.kind !== 3) this.net.draw(c, cam.w, cam.h);
    if (s.flags & (Flag.overlay | Flag.frozen)) this.overlay(c, t('fight.recovery'), t(s.flags & Flag.stalled ? 'fight.frozen' : 'fight.catching'));
    else if (s.flags & Flag.stalled) this.corner(c, t('fight.stalled'));
  }

  /** The camera keeps both fighters in view. */
  follow(s, at, frames, calm) {
    const cam = this.cam, [p, q] = s.point.map((i) => at[i] || { x: 0, y: 0 });
    const apart = Math.abs(p.x - q.x), half = this.app.data.stage[this.part?.ruleset || 'sf']?.half || 640;
    const high = Math.max(p.y, q.y) + 200, sky = cam.floor - (s.kind === 1 ? 126 : 190); // the higher one's head stays below the bars
    const zoom = Math.min(Math.max(1.3, Math.min(calm ? 1.6 : 1.9, cam.w / (apart + 330))), Math.max(0.95, (sky + 80) / high));
    const room = Math.max(0, half + 70 - cam.w / 2 / zoom), won = this.name === 'result' && this.winner(s);
    const aside = { result: 0.21, desync: 0.15 }[this.name] * cam.w / zoom || 0; // a panel stands on the left
    const down = !calm && this.app.data.phases[s.current.phase] === 'round end' && s.current.phaseFrames < 80 && [p, q].find((_, side) => s.current.fighters[s.point[side]]?.health <= 0);
    const x = (won ? won.x : Math.max(-room, Math.min(room, (p.x + q.x) / 2))) - aside;
    const close = down ? Math.min(2.2, zoom * 1.25) : zoom, y = Math.max(0, high * close - sky); // whoever fell is seen from near
    const k = this.cut ? 1 : 1 - Math.exp(-frames / 7);
    this.cut = false;
    cam.x += (x + (down ? (down.x - x) * 0.55 : 0) - cam.x) * k;
    cam.y += (y - cam.y) * k;
    cam.zoom += (close - cam.zoom) * (this.cut ? 1 : 1 - Math.exp(-frames / 16));
  }

  /** Whom the picture of the end is about, null for a draw. */
  winner(s) {
    const side = s.current.matchWinner - 1;
    return side === 0 || side === 1 ? s.current.fighters[s.point[side]] : null;
  }

  fighters(c, s, at, a, calm) {
    const order = s.current.fighters.map((_, i) => i).filter((i) => s.active & (1 << i));
    // Whoever attacks stands in front; the leader before the partner.
    order.sort((i, j) => this.front(s, i) - this.front(s, j));
    for (const i of order) { // shadows first
      c.fillStyle = 'rgba(10,6,20,0.42)';
      const r = 44 * Math.max(0.45, 1 - at[i].y / 420);
      c.beginPath(); c.ellipse(at[i].x, -3, r, 7, 0, 0, 7); c.fill();
    }
    for (const i of order) {
      const f = s.current.fighters[i], kind = this.kind(f);
      if (!kind) continue;
      const action = this.app.data.actions[f.action], move = this.move(f), frame = actionFrame(s.previous.fighters[i], f, a);
      const pose = this.eased(i, f, action, poseOf(kind, f, action, move, frame, this.time + i * 40));
      const shiver = f.hitstop > 0 && f.comboHits > 0 && !calm ? Math.sin(this.time * 2.4) * 2.2 : 0;
      const colour = this.app.settings.colours[i & 1 ? 'b' : 'a'];
      c.save();
      c.translate(at[i].x + shiver, at[i].y);
      if (this.name !== 'result' && (f.place === 1 || s.count <= 2)) drawThings(c, this, f, kind, colour, i & 1, s.side === (i & 1) && s.kind === 1 && s.current.phaseFrames < 120 && this.app.data.phases[s.current.phase] !== 'live');
      drawSmear(c, kind, pose, f, move, colour);
      drawFighter(c, kind, pose, { facing: f.facing, colour, side: i & 1, light: f.place > 1 ? 0.75 : 1, time: this.time, vx: f.vx * f.facing,
        flash: f.hitstop > 0 && f.comboHits > 0 ? (calm ? 0.15 : 0.5) : 0, glow: f.bits & Bit.rage || f.heatLeft > 0 || move?.family === 'super' ? 0.8 : f.bits & Bit.armor ? 0.45 : 0 });
      c.restore();
    }
  }

  /** A change of pose takes a moment, except that of a blow, which is where the simulation has it. */
  eased(i, f, action, pose) {
    const was = this.poses[i], exact = !this.app.settings.value.interpolate || !was || was.id !== f.id || ['attack', 'throwing', 'pinning', 'roll'].includes(action);
    const k = 1 - Math.exp(-this.step / (f.comboHits > 0 || action === 'blockstun' ? 0.7 : 1.6)), out = exact ? pose : { ...pose, ...blend(was.pose, pose, k) };
    this.poses[i] = { id: f.id, pose: out };
    return out;
  }

  front(s, i) {
    const f = s.current.fighters[i], action = this.app.data.actions[f.action];
    return (action === 'attack' || action === 'throwing' ? 2 : 0) + (s.point[i & 1] === i ? 1 : 0) - (f.comboHits > 0 ? 1 : 0);
  }

  /** Behind menus: the quay, and on the title two fighters at ease. */
  idle(c, calm, frames) {
    const cam = this.cam;
    cam.x += ((calm ? 0 : Math.sin(this.time / 420) * 30) + (this.name === 'title' ? -150 : 0) - cam.x) * Math.min(1, frames / 30);
    cam.zoom += (1.62 - cam.zoom) * Math.min(1, frames / 20);
    cam.y = 0;
    this.stage.draw(c, cam, this.time, 640, calm);
    if (this.name === 'title') {
      const list = this.app.data.fighters, places = [[10, 1, 'a', 0], [132, -1, 'b', 1], [212, -1, 'b', 3], [-78, 1, 'a', 2]];
      c.save();
      c.translate(cam.w / 2 - cam.x * cam.zoom, cam.floor);
      c.scale(cam.zoom, -cam.zoom);
      places.slice(0, list.length).reverse().forEach(([x, facing, side, i]) => {
        const kind = list[i % list.length], back = i > 1;
        c.fillStyle = 'rgba(10,6,20,0.4)';
        c.beginPath(); c.ellipse(x, -3, 42, 7, 0, 0, 7); c.fill();
        c.save();
        c.translate(x, back ? 12 : 0);
        drawFighter(c, kind, poseOf(kind, { bits: 16, vy: 0, length: 0 }, 'idle', null, 1, this.time + i * 31), { facing, colour: this.app.settings.colours[side], side: i & 1, light: back ? 0.6 : 1, time: this.time + i * 50, vx: 0 });
        c.restore();
      });
      c.restore();
    } else { c.fillStyle = 'rgba(12,10,28,0.58)'; c.fillRect(0, 0, cam.w, cam.h); }
  }

  /** A wait that stops the fight, above the heads of the fighters. */
  overlay(c, words, why) {
    const { w } = this.cam, y = 122, font = (weight, px) => `${weight} ${px}px "Trebuchet MS", "DejaVu Sans", sans-serif`;
    c.font = font(700, 25);
    const long = c.measureText(words).width;
    c.font = font(600, 15);
    const wide = Math.max(380, long + 90, c.measureText(why).width + 60);
    c.font = font(700, 25);
    c.fillStyle = 'rgba(14,12,32,0.92)';
    c.beginPath(); c.roundRect(w / 2 - wide / 2, y, wide, 96, 12); c.fill();
    c.strokeStyle = 'rgba(255,212,138,0.7)';
    c.lineWidth = 2;
    c.stroke();
    c.fillStyle = '#fff4dc';
    c.textAlign = 'center';
    c.fillText(words, w / 2, y + 37);
    c.font = font(600, 15);
    c.fillStyle = '#cbc1cf';
    c.fillText(why, w / 2, y + 61);
    c.fillStyle = '#ffd48a';
    for (let i = 0; i < 5; i++) {
      c.globalAlpha = 0.3 + 0.7 * Math.max(0, Math.cos(performance.now() / 260 - i * 0.8));
      c.fillRect(w / 2 - 58 + i * 26, y + 75, 14, 7);
    }
    c.globalAlpha = 1;
  }

  corner(c, words) {
    c.textAlign = 'center';
    c.font = '600 15px "Trebuchet MS", "DejaVu Sans", sans-serif';
    c.fillStyle = 'rgba(12,10,28,0.75)';
    c.fillRect(this.cam.w / 2 - 110, 86, 220, 26);
    c.fillStyle = '#fff4dc';
    c.fillText(words, this.cam.w / 2, 104);
  }
}
