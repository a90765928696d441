// What happens for the eye alone: sparks, dust, rings, words, shakes, flashes.
// Each belongs to an event; one whose event turned out not to happen fades.

import { identity } from '../snapshot.js';
import { evaluate, Flashes } from './shake.js';
import { boxAt } from './pose.js';
import { t } from '../language.js';

const most = 160;

export class Effects {
  constructor(app) {
    this.app = app;
    this.flashes = new Flashes();
    this.clear();
  }

  clear() { this.list = []; this.shakes = []; this.flash = 0; this.words = []; }

  /** Starts what an event shows. s: the snapshot it came with. */
  start(e, s) {
    const { data } = this.app, kind = data.events[e.kind], id = identity(e);
    const f = s.current.fighters[e.fighter], at = f ? { x: e.x, y: e.y } : { x: 0, y: 0 };
    const foe = f && s.current.fighters[s.point[1 - (e.fighter & 1)]];
    const spot = () => this.contact(f, foe, at);
    const dir = foe ? Math.sign(at.x - foe.x) || 1 : 1;
    const add = (type, o) => { if (this.list.length < most) this.list.push({ type, id, age: 0, seed: e.variant, fade: 1, ...o }); };
    switch (kind) {
      case 'hit': case 'counter-hit': {
        const p = spot(), size = Math.min(1.5, 0.6 + e.value / 120);
        add('burst', { ...p, size, life: 15, dir, colour: kind === 'counter-hit' ? '#ff6a4d' : '#ffc04d' });
        if (kind === 'counter-hit' || e.value >= 70) add('ring', { ...p, size, life: 13, colour: '#fff' });
        if (kind === 'counter-hit') this.word(e.fighter ^ 1, t('fight.counter'), id);
        this.shake(kind === 'counter-hit' ? 'CounterHit' : e.value >= 70 ? 'HeavyHit' : 'Small', dir, id);
        break;
      }
      case 'block': { const p = spot(); add('guard', { ...p, size: 1, life: 12, dir, colour: '#9fd8ff' }); this.shake('Block', dir, id); break; }
      case 'armor': { const p = spot(); add('guard', { ...p, size: 1.3, life: 14, dir, colour: '#ffd27a' }); this.shake('Small', dir, id); break; }
      case 'clash': add('ring', { x: at.x, y: at.y + 90, size: 1.2, life: 14, colour: '#cfe8ff' }); break;
      case 'grab': { const p = spot(); add('ring', { ...p, size: 0.9, life: 10, colour: '#ffffff' }); break; }
      case 'tech': { const p = spot(); add('ring', { ...p, size: 1.5, life: 16, colour: '#b7ffd8' }); this.word(e.fighter & 1, t('fight.tech'), id); break; }
      case 'jump': case 'land': case 'dash': add('dust', { x: at.x, y: 0, size: kind === 'dash' ? 1.1 : 0.8, life: 20, dir: kind === 'dash' ? -f.facing * e.value : 0 }); break;
      case 'fall': add('dust', { x: at.x, y: 0, size: 1.8, life: 28, dir: 0 }); this.shake('Land', dir, id); break;
      case 'flash': add('focus', { x: at.x, y: at.y + 100, size: 1, life: Math.max(20, e.value), colour: '#fff3c9' }); this.shake('Super', dir, id); this.flashIf(0.3); break;
      case 'ko': add('burst', { x: at.x, y: at.y + 100, size: 3, life: 30, dir, colour: '#ffd27a' }); this.shake('KO', dir, id); this.flashIf(0.5); break;
      case 'finisher': this.shake('Fatality', dir, id); this.flashIf(0.5); break;
      case 'guard crush': add('burst', { ...spot(), size: 2, life: 24, dir, colour: '#9fd8ff' }); this.shake('GuardBreak', dir, id); this.word(e.fighter ^ 1, t('fight.guardcrush'), id); break;
      case 'dazed': this.word(e.fighter & 1, t('fight.dazed'), id); break;
      case 'burnout': this.word(e.fighter & 1, t('fight.burnout'), id); break;
      case 'heat': this.word(e.fighter & 1, t('fight.heat'), id); break;
      case 'rage': this.word(e.fighter & 1, t('fight.rage'), id); break;
      case 'tag': case 'assist': case 'escape': case 'ring out': case 'kick-out': case 'tap-out': case 'reversal edge': case 'soul charge':
        if (f) this.word(e.fighter & 1, t('fight.' + kind.replace(/\W/g, '')), id); break;
      case 'count': this.app.say(String(e.value)); if (f) this.word(e.fighter & 1, String(e.value), id); break;
      case 'environment': add('burst', { ...spot(), size: 2.4, life: 26, dir, colour: '#ffb37a' }); this.shake('HeavyHit', dir, id); break;
      case 'wakeup': case 'stance': add('ring', { x: at.x, y: 20, size: 0.6, life: 10, colour: '#ffffff' }); break;
      default:
    }
  }

  /** Where a blow met the defender: the attacker's box, kept within the defender. */
  contact(f, foe, at) {
    const tall = (f && this.app.data.fighters.find((k) => k.id === f.id)?.stand_height) || 170;
    let y = at.y + tall * 0.66, x = at.x;
    if (foe?.move) {
      const move = this.app.view.move(foe), hit = move && boxAt(move, foe.frame);
      if (hit) {
        x = foe.x + foe.facing * (hit.box[0] + hit.box[2] * 0.6);
        y = foe.y + hit.box[1];
        x = at.x + Math.max(-24, Math.min(24, x - at.x));
        y = Math.max(at.y + 14, Math.min(at.y + tall, y));
      }
    }
    return { x, y };
  }

  shake(name, direction, id) {
    const row = this.app.data.feel.shakes.find((s) => s.name === name);
    if (row && this.shakes.length < 12) this.shakes.push({ shake: row, age: 0, direction, id });
  }

  flashIf(power) {
    if (this.flashes.allow(performance.now(), this.app.settings.reduced)) this.flash = Math.max(this.flash, power);
  }

  word(side, text, id) {
    this.words = this.words.filter((w) => w.side !== side);
    this.words.push({ side, text, id, age: 0 });
  }

  /** An event did not happen after all. */
  cancel(id) {
    for (const e of this.list) if (e.id === id) e.fading = true;
    this.shakes = this.shakes.filter((s) => s.id !== id);
    this.words = this.words.filter((w) => w.id !== id);
  }

  /** frames: display time since the last call, in frames; 0 while the match stands still. */
  tick(frames) {
    for (const e of this.list) { e.age += frames; if (e.fading) e.fade -= frames / 6; }
    this.list = this.list.filter((e) => e.age < e.life && e.fade > 0);
    for (const s of this.shakes) s.age += frames;
    this.shakes = this.shakes.filter((s) => s.age < s.shake.frames);
    for (const w of this.words) w.age += frames;
    this.words = this.words.filter((w) => w.age < 55);
    this.flash = Math.max(0, this.flash - frames * 0.035);
  }

  offset() {
    const o = evaluate(this.shakes, this.app.data.feel, this.app.settings.reduced), k = this.app.settings.value.shake / 100;
    return { x: o.x * k, y: o.y * k, degrees: o.degrees * k };
  }

  /** Draws in stage coordinates, y up. */
  draw(c) {
    for (const e of this.list) {
      const k = e.age / e.life;
      c.save();
      c.globalAlpha = Math.max(0, (1 - k) * e.fade);
      c.translate(e.x, e.y);
      c.fillStyle = c.strokeStyle = e.colour || '#d9c7b0';
      this[e.type](c, e, k);
      c.restore();
    }
    c.globalAlpha = 1;
  }

  /** A blow: a glow, a star of light, splinters that fly on the way of the blow. */
  burst(c, e, k) {
    const out = Math.sqrt(k), r = 46 * e.size, at = (i, n) => ((e.seed * (i + 3) * n) % 100) / 100;
    c.globalCompositeOperation = 'lighter';
    const g = c.createRadialGradient(0, 0, 0, 0, 0, r * 1.5);
    g.addColorStop(0, e.colour);
    g.addColorStop(1, 'rgba(0,0,0,0)');
    c.globalAlpha *= 0.75;
    c.fillStyle = g;
    c.beginPath(); c.arc(0, 0, r * 1.5, 0, 7); c.fill();
    c.globalCompositeOperation = 'source-over';
    c.globalAlpha = Math.max(0, Math.min(1, (1 - k) * 2)) * e.fade;
    for (const [colour, wide] of [[e.colour, 1], ['#fffdf2', 0.55]]) {
      c.fillStyle = colour;
      for (let i = 0; i < 8; i++) {
        const a = i * 0.785 + e.seed * 0.7, long = (i % 2 ? 0.62 : 1.15) * (0.75 + at(i, 37) * 0.5) * r * (0.45 + out) * wide, w = 8 * e.size * (1 - k) * wide;
        spike(c, 0, 0, a, long, w);
      }
      c.beginPath(); c.arc(0, 0, 13 * e.size * (1 - k) * wide, 0, 7); c.fill();
    }
    c.fillStyle = e.colour;
    for (let i = 0; i < 7; i++) {
      const a = (at(i, 53) - 0.5) * 1.9 + (e.dir < 0 ? Math.PI : 0), far = r * (0.7 + at(i, 71)) * 2 * out;
      spike(c, Math.cos(a) * far, Math.sin(a) * far - 30 * k * k, a, 16 * (1 - k) * e.size, 2.6);
    }
  }

  ring(c, e, k) { c.lineWidth = 3.5 * (1 - k) + 0.4; c.beginPath(); c.arc(0, 0, (8 + 52 * Math.sqrt(k)) * e.size, 0, 7); c.stroke(); }

  guard(c, e, k) {
    c.lineWidth = 5 * (1 - k) + 1;
    for (const r of [22, 34]) { c.beginPath(); c.arc(-e.dir * 12, 0, (r + 20 * k) * e.size, e.dir < 0 ? -1.1 : Math.PI - 1.1, e.dir < 0 ? 1.1 : Math.PI + 1.1); c.stroke(); }
    for (let i = 0; i < 5; i++) { const a = (i - 2) * 0.5 + (e.dir > 0 ? Math.PI : 0); c.fillRect(Math.cos(a) * (30 + 60 * k), Math.sin(a) * (30 + 60 * k), 4, 4); }
  }

  dust(c, e, k) {
    c.fillStyle = '#c9ad97';
    for (let i = 0; i < 6; i++) {
      const s = (i - 2.5) * 9 * e.size, r = (5 + 9 * k) * e.size * (0.6 + ((e.seed + i * 53) % 10) / 20);
      c.globalAlpha = Math.max(0, (1 - k) * 0.4 * e.fade);
      c.beginPath(); c.arc(s * (1 + k * 1.6) + e.dir * 34 * k, 3 + r * 0.6 + k * 12, r, 0, 7); c.fill();
    }
  }

  focus(c, e, k) {
    c.lineWidth = 3;
    for (let i = 0; i < 14; i++) { const a = i / 14 * 6.283 + e.seed, r = 220 * (1 - k) + 30; c.beginPath(); c.moveTo(Math.cos(a) * r, Math.sin(a) * r); c.lineTo(Math.cos(a) * r * 1.35, Math.sin(a) * r * 1.35); c.stroke(); }
  }
}

/** A thin triangle from (x, y) along an angle. */
function spike(c, x, y, a, long, wide) {
  const u = Math.cos(a), v = Math.sin(a);
  c.beginPath(); c.moveTo(x + u * long, y + v * long); c.lineTo(x - v * wide, y + u * wide); c.lineTo(x + v * wide, y - u * wide); c.fill();
}
