// What the tests share: programs, browsers, and ways to look at the page.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, dirname, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const here = dirname(fileURLToPath(import.meta.url));
export const peerPath = process.env.PEER || join(here, '../../bin/peer');
export const relayPath = process.env.RELAY || join(here, '../../bin/relay');
export const chromiumPath = process.env.CHROMIUM || '/usr/bin/chromium';
const webDir = process.env.PAGE_WEB || ''; // files of the page from here instead of the program's, while working on them
const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
  '--mute-audio'];
const types = { '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.html': 'text/html', '.svg': 'image/svg+xml' };

/** Why the tests cannot run here, or ''. */
export function missing() {
  if (!existsSync(chromiumPath)) return `no Chromium at ${chromiumPath}`;
  if (!existsSync(peerPath)) return `no program at ${peerPath}: make build`;
  return '';
}

/** Everything a test opened, to be closed by t.after. */
export class Bench {
  constructor(t) {
    this.ends = [];
    t.after(() => this.close());
  }

  dir() {
    const d = mkdtempSync(join(tmpdir(), 'backstep-page-'));
    this.ends.push(() => rmSync(d, { recursive: true, force: true, maxRetries: 5 }));
    return d;
  }

  /** Starts a peer and gives { url, child, log, exit }. */
  peer(...args) { return this.player(this.dir(), ...args); }

  /** A directory of a player whose last match ended in a desync. */
  desynced() {
    const d = this.dir();
    execFileSync(process.env.GO || 'go', ['run', '-buildvcs=false', './scripts/pagetest/evidence', d], { cwd: join(here, '../..'), stdio: ['ignore', 'inherit', 'inherit'] });
    return d;
  }

  /** Starts a peer whose files are in dir. */
  async player(dir, ...args) { return this.program(peerPath, dir, ...args); }

  /** Starts another build of it. */
  async program(file, dir, ...args) {
    const child = spawn(file, [...args, '--browser', 'none', '--data-dir', dir], { stdio: ['ignore', 'pipe', 'pipe'] });
    const p = { child, log: '', url: '', exit: new Promise((done) => child.on('exit', done)) };
    for (const s of [child.stdout, child.stderr]) s.on('data', (b) => { p.log += b; });
    this.ends.push(async () => {
      if (child.exitCode === null) child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), 4000);
      await p.exit;
      clearTimeout(late);
    });
    await until(() => { p.url = /page (http:\S+)/.exec(p.log)?.[1]; return p.url || child.exitCode !== null; }, 20000, () => 'the program printed no address: ' + p.log);
    if (!p.url) throw new Error('the program ended: ' + p.log);
    return p;
  }

  /** Starts a relay and gives its address. */
  async relay() {
    const child = spawn(relayPath, ['--listen', '127.0.0.1:0', '--admin', '', '--state-dir', ''], { stdio: ['ignore', 'pipe', 'pipe'] });
    let log = '';
    for (const s of [child.stdout, child.stderr]) s.on('data', (b) => { log += b; });
    this.ends.push(() => new Promise((done) => { if (child.exitCode !== null) done(); else { child.on('exit', done); child.kill('SIGKILL'); } }));
    return until(() => /127\.0\.0\.1:\d+/.exec(log)?.[0], 10000, () => 'the relay printed no address: ' + log);
  }

  /** A browser with an empty profile. */
  async browser(options) {
    const context = await chromium.launchPersistentContext(this.dir(), { executablePath: chromiumPath, headless: true, args: flags, viewport: { width: 1280, height: 720 }, ...options });
    this.ends.push(() => context.close());
    context.outside = [];
    context.on('request', (r) => { if (!/^(http|ws):\/\/(127\.0\.0\.1|localhost|\[::1\]):|^(blob|data|about):/.test(r.url())) context.outside.push(r.url()); });
    if (webDir) { // all but the document itself: Chromium takes an answered document for one from far away and keeps it from 127.0.0.1
      await context.route(/^http:\/\/127\.0\.0\.1:\d+\/(?!ws|data\.json|$)/, async (route) => {
        const path = new URL(route.request().url()).pathname, file = join(webDir, path);
        if (!existsSync(file)) { await route.continue(); return; }
        await route.fulfill({ body: readFileSync(file), contentType: types[extname(file)] || 'application/octet-stream',
          headers: { 'Content-Security-Policy': "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; object-src 'none'" } });
      });
    }
    return context;
  }

  /** Opens the page of a peer and waits for its first screen. */
  async open(context, url) {
    const page = await context.newPage();
    page.problems = [];
    page.on('pageerror', (e) => page.problems.push(String(e.stack || e)));
    page.on('console', (m) => { if (m.type() === 'error' && !/net::ERR_CONNECTION_REFUSED|WebSocket connection/.test(m.text())) page.problems.push(m.text()); });
    await page.goto(url);
    await page.waitForFunction(() => globalThis.backstep?.current, null, { timeout: 20000 });
    return page;
  }

  async close() { for (const end of this.ends.splice(0).reverse()) await end(); }
}

/** Serious findings of axe-core on a page, as one text. */
export async function findings(page) {
  const source = readFileSync(axe, 'utf8');
  await page.evaluate((s) => { (0, eval)(s); }, source).catch(async () => { // CSP forbids eval: over the debugger instead
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('Runtime.evaluate', { expression: source });
  });
  return page.evaluate(async () => {
    // What is still coming into view has not got its colours yet.
    await Promise.all(document.getAnimations().filter((a) => a.effect.getTiming().iterations !== Infinity).map((a) => a.finished.catch(() => {})));
    const r = await globalThis.axe.run(document, { resultTypes: ['violations'] });
    return r.violations.filter((v) => v.impact === 'serious' || v.impact === 'critical').map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(' ')).join(', ')}`).join('\n');
  });
}

export async function until(test, ms, why) {
  const end = Date.now() + ms;
  for (;;) {
    const v = await test();
    if (v) return v;
    if (Date.now() > end) throw new Error(typeof why === 'function' ? await why() : why);
    await new Promise((r) => setTimeout(r, 50));
  }
}

export const screenOf = (page) => page.evaluate(() => globalThis.backstep?.current?.name || '');

export async function screen(page, name, ms = 30000) {
  await until(async () => (await screenOf(page)) === name, ms, async () => `not at ${name} but ${await screenOf(page)}: ${await page.innerText('#screen')}`);
}

/** The newest snapshot, as far as the tests need it. */
export const snapshot = (page) => page.evaluate(() => {
  const s = globalThis.backstep?.view?.s;
  return s && { frame: s.frame, phase: globalThis.backstep.data.phases[s.current.phase], side: s.side, wins: s.current.wins, fighters: s.current.fighters.map((f) => ({ x: f.x, y: f.y, word: f.word, health: f.health, move: f.move })) };
});

/** Presses a key for some milliseconds. */
export async function press(page, code, ms = 40) {
  await page.keyboard.down(code);
  await page.waitForTimeout(ms);
  await page.keyboard.up(code);
}
