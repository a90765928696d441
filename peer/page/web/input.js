// Keys and pads become the words of docs/page.md. What is held is sent at every
// change and again while anything is held; on blur everything is let go.

export const names = ['up', 'down', 'left', 'right', 'light', 'medium', 'heavy', 'special', 'throw', 'assist', 'stance', 'super'];

/** The layout of a pad that the browser knows ("standard"). */
export const standardPad = {
  up: ['b12', 'a1-'], down: ['b13', 'a1+'], left: ['b14', 'a0-'], right: ['b15', 'a0+'],
  light: ['b2'], medium: ['b3'], heavy: ['b5'], special: ['b0'], throw: ['b1'], assist: ['b4'], stance: ['b6'], super: ['b7'], menu: ['b9'],
};

/** What a map may name: the bits of a word, and on pads what Escape does in a fight. */
export const padNames = [...names, 'menu'];

const repeatMillis = 400;
const axisHalf = 0.5;

/** Whether a pad control such as b3 or a1- is held. */
export function padHolds(pad, control) {
  const n = parseInt(control.slice(1), 10);
  if (control[0] === 'b') return Boolean(pad.buttons[n] && (pad.buttons[n].pressed || pad.buttons[n].value > axisHalf));
  const v = pad.axes[n] || 0;
  return control.endsWith('-') ? v < -axisHalf : v > axisHalf && v <= 1; // hats rest beyond 1
}

/** The word of a map whose control c is held if held(c). */
export function wordOf(map, held) {
  let word = 0;
  names.forEach((name, bit) => { if ((map[name] || []).some(held)) word |= 1 << bit; });
  return word;
}

/** Controls that stand for more than one action within the maps of one device: control -> actions. */
export function conflicts(maps) {
  const seen = new Map();
  maps.forEach((map, player) => {
    for (const name of padNames) for (const c of map[name] || []) seen.set(c, [...(seen.get(c) || []), { player, name }]);
  });
  for (const [c, uses] of seen) if (uses.length < 2) seen.delete(c);
  return seen;
}

/** The map of a pad: saved, or the standard one, or null if it has to be calibrated. */
export function padMap(settings, pad) {
  return settings.pads[pad.id.slice(0, 128)] || (pad.mapping === 'standard' ? standardPad : null);
}

export class Input {
  constructor(link, settings, on) {
    this.link = link;
    this.settings = settings;
    this.on = on; // pad(what) in menus, change(words) always, unknown(pad)
    this.keys = new Set();
    this.active = false; // words go to the peer
    this.two = false;    // a second player sits here
    this.words = [0, 0];
    this.sent = [0, 0];
    this.sentAt = 0;
    this.held = [0, 0];  // all that is held
    this.muted = [0, 0]; // of that, what does not count before it was let go
    this.menu = new Map();
    this.known = new Set();
    addEventListener('blur', () => this.release());
    addEventListener('pagehide', () => this.release());
    document.addEventListener('visibilitychange', () => { if (document.hidden) this.release(); });
    addEventListener('keyup', (e) => { this.keys.delete(e.code); if (this.active) this.poll(); });
    addEventListener('gamepaddisconnected', () => this.poll());
    setInterval(() => this.poll(), 4);
  }

  /** Takes a key that goes down; true if it belongs to the game. */
  key(e) {
    this.keys.add(e.code);
    if (!this.active) return false;
    const ours = this.settings.value.keys.some((map) => names.some((n) => (map[n] || []).includes(e.code)));
    if (ours) { e.preventDefault(); this.poll(); }
    return ours;
  }

  /** Lets everything go; what a pad still holds does not count before it was let go. */
  release() {
    this.keys.clear();
    this.muted = [...this.held];
    this.words = [0, 0];
    this.send(true);
  }

  play(active, two) {
    if (this.active === active && this.two === two) return;
    this.active = active;
    this.two = two;
    this.muted = [...this.held]; // the press that closed a menu is no move
    if (!active) { this.keys.clear(); this.send(true); }
  }

  pads() { return [...(navigator.getGamepads?.() || [])].filter((p) => p && p.connected); }

  poll() {
    const s = this.settings.value, pads = this.pads();
    const keys = s.keys.map((map) => wordOf(map, (c) => this.keys.has(c)));
    const words = this.two ? keys : [keys[0] | keys[1], 0];
    pads.forEach((p, i) => {
      if (!this.known.has(p.index + p.id)) { this.known.add(p.index + p.id); if (!padMap(s, p)) this.on.unknown(p); }
      const map = padMap(s, p);
      if (map) words[this.two ? Math.min(i, 1) : 0] |= wordOf(map, (c) => padHolds(p, c));
    });
    this.held = document.hidden ? [0, 0] : words;
    this.muted = this.muted.map((m, i) => m & this.held[i]);
    this.words = this.held.map((w, i) => w & ~this.muted[i]);
    this.menuPads(pads, s);
    this.on.change(this.words);
    this.send(false);
  }

  send(now) {
    const w = this.active ? this.words : [0, 0], at = performance.now();
    const changed = w[0] !== this.sent[0] || w[1] !== this.sent[1];
    if (!changed && !((w[0] | w[1]) && at - this.sentAt > repeatMillis)) return;
    if (!this.link.open && !now) return;
    this.link.input(w[0], w[1]);
    this.sent = [...w];
    this.sentAt = at;
  }

  /** Everything has to be said again on a new connection. */
  reset() { this.sent = [0, 0]; }

  /** Presses of pads in menus; in a fight only the one that opens the menu. */
  menuPads(pads, s) {
    const at = performance.now();
    for (const p of pads) {
      const own = padMap(s, p), map = own || standardPad, standard = !own || p.mapping === 'standard'; // one nobody has set up gets to where it is
      const held = (list) => (list || []).some((c) => padHolds(p, c));
      const now = {
        up: held(map.up), down: held(map.down), left: held(map.left), right: held(map.right),
        press: held(standard ? ['b0'] : map.light), back: held(standard ? ['b1'] : map.throw), menu: held(map.menu || (standard ? standardPad.menu : [])),
      };
      const was = this.menu.get(p.index) || {}, next = {};
      for (const what of Object.keys(now)) {
        if (!now[what]) { if (was[what] && what === 'press' && !this.active) this.on.pad('release'); continue; }
        next[what] = was[what] || at + 350;
        const again = was[what] && at > was[what] && ['up', 'down', 'left', 'right'].includes(what);
        if (again) next[what] = at + 110;
        if ((!was[what] || again) && (!this.active || what === 'menu')) this.on.pad(what === 'menu' ? 'back' : what);
      }
      this.menu.set(p.index, next);
    }
  }
}
