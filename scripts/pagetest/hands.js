// Two ways to work the page, for the tests that use nothing else: the keyboard,
// and a pad that the browser is made to believe in.

import { until } from './harness.js';

/** The label by which the tests know a control. */
const here = () => {
  const n = document.activeElement, id = n?.id || '';
  return { text: (n?.innerText || '').trim(), id, aria: n?.getAttribute('aria-label') || '' };
};
const is = (at, name) => (name.length === 1 ? at.text === name : at.text.startsWith(name) || at.id === name || at.aria.startsWith(name));

export class Keyboard {
  constructor(page) { this.page = page; }

  /** Moves the focus to a control by the beginning of its text, or its id. */
  async to(name) {
    for (let i = 0; i < 90; i++) {
      if (is(await this.page.evaluate(here), name)) return;
      await this.page.keyboard.press('Tab');
    }
    throw new Error(`Tab never reaches ${name}`);
  }

  async press() { await this.page.keyboard.press('Enter'); }

  async hold(ms) {
    await this.page.keyboard.down('Enter');
    await this.page.waitForTimeout(ms);
    await this.page.keyboard.up('Enter');
  }

  async back() { await this.page.keyboard.press('Escape'); }

  async menu() { await this.back(); }

  async right() { await this.page.keyboard.press('ArrowRight'); }

  /** Into the text field that has the focus. */
  async type(text) { await this.page.keyboard.type(text); }

  async walk(on) { await this.page.keyboard[on ? 'down' : 'up']('KeyD'); }
}

const buttons = { press: 0, back: 1, menu: 9, up: 12, down: 13, left: 14, right: 15 };

export class Pad {
  /** Before the page is opened: a pad of the layout that browsers know. */
  static async plug(context) {
    await context.addInitScript(() => {
      const pad = { id: 'Test Pad (STANDARD GAMEPAD)', index: 0, mapping: 'standard', connected: true, axes: [0, 0, 0, 0], buttons: Array.from({ length: 17 }, () => ({ pressed: false, value: 0 })) };
      globalThis.fakePad = pad;
      navigator.getGamepads = () => [pad];
    });
  }

  constructor(page) { this.page = page; }

  async set(button, on) { await this.page.evaluate(([n, v]) => { globalThis.fakePad.buttons[n] = { pressed: v, value: v ? 1 : 0 }; }, [buttons[button] ?? button, on]); }

  /** The page's own timers count, so that it has looked at the pad in between however slow the machine is. */
  async tap(button, ms = 25) {
    for (const on of [true, false]) {
      await this.set(button, on);
      await this.page.evaluate((n) => new Promise((done) => { setTimeout(done, n); }), on ? ms : 25);
    }
  }

  async press() { await this.tap('press'); }

  async hold(ms) { await this.tap('press', ms); }

  async back() { await this.tap('back'); }

  async menu() { await this.tap('menu'); }

  async right() { await this.tap('right'); }

  async walk(on) { await this.set('right', on); }

  /** Moves the focus to a control as eyes and a thumb do: towards it. */
  async to(name) {
    const tried = new Map(); // where -> ways that were tried from there
    for (let i = 0; i < 120; i++) {
      if (is(await this.page.evaluate(here), name)) return;
      const at = await this.page.evaluate((want) => {
        const root = document.getElementById('layer').lastElementChild || document.getElementById('screen'), n = document.activeElement;
        const all = [...root.querySelectorAll('button, input, select, a[href], [tabindex="0"]')].filter((x) => x.getClientRects().length);
        const text = (x) => (x.innerText || '').trim(), goal = want.length === 1 ? all.find((x) => text(x) === want) : all.find((x) => text(x).startsWith(want) || x.id === want || (x.getAttribute('aria-label') || '').startsWith(want));
        if (!goal) return null;
        const a = n.getBoundingClientRect(), b = goal.getBoundingClientRect();
        return { key: all.indexOf(n), dx: (b.left + b.right - a.left - a.right) / 2, dy: (b.top + b.bottom - a.top - a.bottom) / 2, turns: n.matches('select, input[type=range]') };
      }, name);
      if (!at) throw new Error(`there is no ${name}: ${await this.page.evaluate(() => (document.getElementById('layer').lastElementChild || document.getElementById('screen')).innerText)}`);
      const across = at.dx > 0 ? ['right', 'left'] : ['left', 'right'], along = at.dy > 0 ? ['down', 'up'] : ['up', 'down'];
      const ways = (Math.abs(at.dy) > 12 || at.turns ? [along[0], across[0], along[1], across[1]] : [across[0], along[0], along[1], across[1]]).filter((w) => !at.turns || w === 'up' || w === 'down');
      const n = tried.get(at.key) || 0;
      tried.set(at.key, n + 1);
      await this.tap(ways[n % ways.length]);
    }
    throw new Error(`the pad never reaches ${name} but ${JSON.stringify(await this.page.evaluate(here))}`);
  }

  /** Into the text field that has the focus, by the keys that a press on it opens. */
  async type(text) {
    await this.press();
    await until(() => this.page.locator('.keyboard').count(), 3000, 'a press on a text field opens no keys');
    for (const c of text) {
      const has = await this.page.evaluate((k) => [...document.querySelectorAll('.keyboard button')].some((b) => b.innerText === k), c);
      if (!has) { await this.to('All letters'); await this.press(); }
      await this.to(c);
      await this.press();
    }
    await this.to('Done');
    await this.press();
  }
}
