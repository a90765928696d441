// Sound made on the spot: noise and oscillators through one mixer. Nothing is
// loaded. An event that turned out not to happen has its sound faded.

import { tune, notes } from './music.js';

export class Sound {
  constructor(settings) {
    this.settings = settings;
    this.live = new Map(); // event id -> gain
    this.tune = tune(0);
    settings.listeners.add(() => this.volume());
  }

  /** Browsers let sound begin only after a key or a click. */
  wake() {
    if (this.ctx) { if (this.ctx.state === 'suspended') this.ctx.resume().catch(() => {}); return; }
    if (!globalThis.AudioContext) return;
    try { this.ctx = new AudioContext({ latencyHint: 'interactive' }); } catch { return; }
    const c = this.ctx;
    this.master = c.createGain();
    const soft = c.createDynamicsCompressor();
    this.master.connect(soft).connect(c.destination);
    this.effects = c.createGain();
    this.music = c.createGain();
    this.effects.connect(this.master);
    this.music.connect(this.master);
    this.noise = c.createBuffer(1, c.sampleRate, c.sampleRate);
    const d = this.noise.getChannelData(0);
    for (let i = 0; i < d.length; i++) d[i] = Math.random() * 2 - 1;
    this.volume();
    this.beat = 0;
    this.next = c.currentTime + 0.1;
    setInterval(() => this.score(), 120);
  }

  volume() {
    if (!this.ctx) return;
    const v = this.settings.value.volume, k = (x) => (x / 100) ** 2;
    this.master.gain.value = k(v.master);
    this.effects.gain.value = k(v.effects);
    this.music.gain.value = k(v.music) * 0.5;
  }

  get ready() { return this.ctx?.state === 'running'; }

  out(pan, id) {
    const g = this.ctx.createGain(), p = this.ctx.createStereoPanner();
    p.pan.value = Math.max(-0.8, Math.min(0.8, pan));
    g.connect(p).connect(this.effects);
    if (id) { this.live.set(id, g); setTimeout(() => this.live.delete(id), 1500); }
    return g;
  }

  tone(to, type, from, until, seconds, gain, delay = 0) {
    const c = this.ctx, o = c.createOscillator(), g = c.createGain(), at = c.currentTime + delay;
    o.type = type;
    o.frequency.setValueAtTime(from, at);
    o.frequency.exponentialRampToValueAtTime(Math.max(10, until), at + seconds);
    g.gain.setValueAtTime(gain, at);
    g.gain.exponentialRampToValueAtTime(0.0005, at + seconds);
    o.connect(g).connect(to);
    o.start(at);
    o.stop(at + seconds + 0.02);
  }

  hiss(to, kind, frequency, q, seconds, gain, sweep, delay = 0) {
    const c = this.ctx, s = c.createBufferSource(), f = c.createBiquadFilter(), g = c.createGain(), at = c.currentTime + delay;
    s.buffer = this.noise;
    f.type = kind;
    f.Q.value = q;
    f.frequency.setValueAtTime(frequency, at);
    if (sweep) f.frequency.exponentialRampToValueAtTime(sweep, at + seconds);
    g.gain.setValueAtTime(gain, at);
    g.gain.exponentialRampToValueAtTime(0.0005, at + seconds);
    s.connect(f).connect(g).connect(to);
    s.start(at, Math.random() * 0.5, seconds + 0.02);
  }

  /** The sound of an event; kind by name, pan -1…1. */
  event(kind, value, pan, id) {
    if (!this.ready || this.live.size > 24) return;
    const k = Math.min(1.6, 0.6 + value / 110), o = (name) => this.out(pan, name ?? id);
    switch (kind) {
      case 'hit': case 'counter-hit': {
        const g = o();
        this.hiss(g, 'bandpass', 1500 / k, 0.8, 0.09 * k, 0.9);
        this.tone(g, 'sine', 190 / k, 45, 0.16 * k, 0.9 * k);
        if (kind === 'counter-hit') this.tone(g, 'square', 720, 180, 0.12, 0.16);
        break;
      }
      case 'block': { const g = o(); this.hiss(g, 'bandpass', 2600, 2.5, 0.06, 0.5); this.tone(g, 'triangle', 420, 240, 0.08, 0.35); break; }
      case 'armor': { const g = o(); this.tone(g, 'triangle', 300, 140, 0.18, 0.5); this.hiss(g, 'highpass', 3000, 1, 0.05, 0.3); break; }
      case 'move': this.hiss(o(), 'bandpass', 700, 1.4, 0.13, 0.17, 1900); break;
      case 'jump': this.hiss(o(), 'bandpass', 380, 1, 0.12, 0.18, 900); break;
      case 'land': this.tone(o(), 'sine', 110, 50, 0.09, 0.3); break;
      case 'dash': this.hiss(o(), 'highpass', 900, 0.7, 0.12, 0.15, 2400); break;
      case 'fall': { const g = o(); this.tone(g, 'sine', 95, 32, 0.3, 0.8); this.hiss(g, 'lowpass', 500, 1, 0.18, 0.45); break; }
      case 'grab': this.hiss(o(), 'bandpass', 900, 2, 0.07, 0.5); break;
      case 'tech': { const g = o(); this.tone(g, 'triangle', 520, 780, 0.14, 0.3); break; }
      case 'shot': { const g = o(); this.tone(g, 'sawtooth', 180, 520, 0.25, 0.13); this.hiss(g, 'bandpass', 500, 1, 0.3, 0.22, 1700); break; }
      case 'clash': this.tone(o(), 'square', 900, 300, 0.18, 0.14); break;
      case 'flash': { const g = o(); for (const [i, n] of [0, 7, 12, 19].entries()) this.tone(g, 'sawtooth', 220 * 2 ** (n / 12), 222 * 2 ** (n / 12), 0.6, 0.09, i * 0.05); break; }
      case 'ko': { const g = o(); this.tone(g, 'sine', 120, 24, 1.0, 1); this.hiss(g, 'lowpass', 900, 0.6, 0.7, 0.6, 120); break; }
      case 'guard crush': { const g = o(); this.hiss(g, 'highpass', 2000, 1, 0.4, 0.5); this.tone(g, 'square', 300, 60, 0.4, 0.2); break; }
      case 'round': this.bell(o(), 392); break;
      case 'match won': { const g = o(); [0, 4, 7, 12].forEach((n, i) => this.tone(g, 'triangle', 261.6 * 2 ** (n / 12), 261.6 * 2 ** (n / 12), 0.5, 0.22, i * 0.13)); break; }
      default:
    }
  }

  bell(g, f) { this.tone(g, 'sine', f, f, 0.9, 0.35); this.tone(g, 'sine', f * 2.76, f * 2.75, 0.5, 0.12); }

  cancel(id) {
    const g = this.live.get(id);
    if (g) g.gain.setTargetAtTime(0, this.ctx.currentTime, 0.02);
  }

  tick() { if (this.ready) this.tone(this.out(0), 'triangle', 520, 500, 0.05, 0.06); }

  menu() { if (this.ready) this.tone(this.out(0), 'triangle', 660, 880, 0.09, 0.12); }

  /** Changes the music to the tune with a number, from the next eighth on. */
  play(number) {
    if (this.tune.number === number) return;
    this.tune = tune(number);
    this.beat = 0;
  }

  /** Schedules the next eighths of the tune. */
  score() {
    if (!this.ready || this.settings.value.volume.music === 0 || document.hidden) { if (this.ctx) this.next = this.ctx.currentTime + 0.1; return; }
    while (this.next < this.ctx.currentTime + 0.3) {
      const delay = Math.max(0, this.next - this.ctx.currentTime);
      for (const n of notes(this.tune, this.beat++)) this.note(n, delay);
      this.next += this.tune.seconds;
    }
  }

  note({ voice, hz, seconds, gain }, delay) {
    switch (voice) {
      case 'bass': this.tone(this.music, 'triangle', hz, hz, seconds, gain, delay); break;
      case 'lead': this.tone(this.music, this.tune.calm ? 'sine' : 'square', hz, hz, seconds, this.tune.calm ? gain : gain * 0.6, delay); break;
      case 'chord': this.tone(this.music, 'triangle', hz, hz, seconds, gain, delay); break;
      case 'kick': this.tone(this.music, 'sine', 130, 42, seconds, gain, delay); break;
      case 'snare': this.hiss(this.music, 'bandpass', 1800, 0.8, seconds, gain, 0, delay); break;
      case 'hat': this.hiss(this.music, 'highpass', 7000, 0.7, seconds, gain, 0, delay); break;
      default:
    }
  }
}
