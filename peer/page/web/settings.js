// The settings: the peer's file decides, the page changes it by whole objects.

export const palettes = ['default', 'deuteranopia', 'protanopia', 'tritanopia', 'contrast'];

/** Colours of the two sides and of good, middling and bad, also for the canvas. */
export const colours = {
  default: { a: '#f6a33c', b: '#35c3b5', good: '#7bd88f', fair: '#f2c14e', bad: '#f2637e' },
  deuteranopia: { a: '#ffb000', b: '#648fff', good: '#7aa7ff', fair: '#ffc84a', bad: '#fe6100' },
  protanopia: { a: '#ffc20a', b: '#3f8efc', good: '#6fb1ff', fair: '#ffd65a', bad: '#d98200' },
  tritanopia: { a: '#ff6f61', b: '#3fd0d4', good: '#54d6da', fair: '#f3c7cf', bad: '#ff4d5a' },
  contrast: { a: '#ffd500', b: '#00d5ff', good: '#ffffff', fair: '#ffd500', bad: '#ff6a6a' },
};

export class Settings {
  constructor(link) {
    this.link = link;
    this.value = {
      version: 1, name: '', language: 'en', volume: { master: 80, effects: 80, music: 50 }, large_text: false, palette: 'default', reduced_motion: 'auto',
      hud: 'basic', interpolate: true, mute_chat: false, shake: 100, delay: 'auto', relay: '', keys: [{}, {}], pads: {},
    };
    this.listeners = new Set();
    this.motion = matchMedia('(prefers-reduced-motion: reduce)');
    this.motion.addEventListener('change', () => this.apply());
  }

  take(value) {
    this.value = value;
    this.apply();
  }

  /** Changes some fields and has the peer save all. */
  change(fields) {
    this.value = { ...this.value, ...fields };
    this.apply();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.link.command('settings', { settings: this.value }), 250);
  }

  get reduced() {
    const r = this.value.reduced_motion;
    return r === 'on' || (r === 'auto' && this.motion.matches);
  }

  get colours() { return colours[this.value.palette] || colours.default; }

  apply() {
    const root = document.documentElement;
    root.classList.toggle('large', this.value.large_text);
    root.classList.toggle('calm', this.reduced);
    root.classList.toggle('contrast', this.value.palette === 'contrast');
    for (const [k, v] of Object.entries(this.colours)) root.style.setProperty('--' + k, v);
    for (const f of this.listeners) f(this.value);
  }
}
