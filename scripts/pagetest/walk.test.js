// Through every screen of the page with the keyboard alone, and again with a pad
// alone. The opponent is worked by commands; what walks uses nothing but its keys.

import test from 'node:test';
import assert from 'node:assert/strict';
import { Bench, findings, missing, screen, snapshot, until } from './harness.js';
import { Keyboard, Pad } from './hands.js';

const skip = missing() || false;

/** look(name) is called wherever the walk stands still. */
async function walk(b, page, hands, relay, look) {
  const go = async (name) => { await hands.to(name); await hands.press(); };
  const dialog = (n) => until(async () => (await page.locator('.dialog').count()) === n, 4000, async () => `not ${n} dialogs: ${await page.innerText('#layer')}`);
  const leave = async () => { await hands.menu(); await dialog(1); await look('menu'); await hands.to('Hold to leave'); await hands.hold(1000); await screen(page, 'title'); };
  const value = (f) => page.evaluate(f);

  await look('title');
  // Everything that opens over the title, and closes again.
  await go('Settings');
  await hands.to('set-name');
  await hands.type('ada');
  await hands.to('set-palette');
  await hands.right();
  await look('settings');
  await until(() => value(() => globalThis.backstep.settings.value.palette === 'deuteranopia' && globalThis.backstep.settings.value.name === 'ada'), 4000, 'the settings do not change');
  await hands.back();
  await dialog(0);
  await go('Controls');
  await look('controls');
  await hands.back();
  await dialog(0);
  await go('How to play');
  await look('how');
  await hands.back();
  await go('Quit');
  await go('Stay');
  await dialog(0);
  await go('Doctor');
  await screen(page, 'doctor');
  await look('doctor');
  await hands.back();
  await screen(page, 'title');
  // Hosting, and taking it back.
  await go('Host a match');
  await look('host');
  await go('Get a code');
  await screen(page, 'hosting');
  await page.waitForFunction(() => globalThis.backstep.screen.hosting.code);
  await look('hosting');
  await hands.back();
  await screen(page, 'title');
  // A code whose relay is not there.
  await go('Join a match');
  await hands.to('join-code');
  await hands.type('k7qm3xtd@127.0.0.1:9');
  await look('join');
  await go('Join');
  await screen(page, 'error', 60000);
  await look('error');
  await go('Ask the doctor');
  await screen(page, 'doctor');
  await hands.back();
  await screen(page, 'error');
  await go('To the title');
  await screen(page, 'title');
  // The training room.
  await go('Training room');
  await screen(page, 'train');
  await look('train');
  await hands.menu();
  await go('Training options');
  await hands.to('train-latency_ms');
  await hands.right();
  await until(() => value(() => globalThis.backstep.screen.train.options.latency_ms === 10), 4000, 'the slider does not reach the peer');
  await look('options');
  await hands.back();
  await dialog(0);
  await hands.menu();
  await go('Leave the training room');
  await screen(page, 'title');
  // The evidence of a desync.
  await go('Replays');
  await screen(page, 'replays');
  await look('replays');
  await go('Look');
  await screen(page, 'desync');
  await go('Before');
  await until(() => value(() => globalThis.backstep.screen.desync.shown === 'before'), 4000, 'the picture does not change');
  await look('desync');
  await hands.back();
  await screen(page, 'replays');
  await hands.back();
  await screen(page, 'title');
  // A match, by a code that is typed.
  const o = await b.peer('host', '--relay', relay, '--frames', '900', '--name', 'Bo'), other = await b.open(await b.browser(), o.url);
  const says = (name, fields) => other.evaluate(([n, f]) => globalThis.backstep.cmd(n, f), [name, fields]);
  await screen(other, 'hosting');
  const code = await (await other.waitForFunction(() => globalThis.backstep.screen.hosting.code)).jsonValue();
  await go('Join a match');
  await hands.to('join-code');
  await hands.type(code.split('@')[0].replace('-', ''));
  await go('Join');
  await screen(page, 'forecast');
  await page.waitForFunction(() => globalThis.backstep.screen.forecast?.grade, null, { timeout: 30000 });
  await look('forecast');
  await says('accept');
  await go('Accept');
  await screen(page, 'select');
  await look('select');
  await go('Tarn');
  await go('Ready');
  await screen(other, 'select');
  await says('pick', { team: ['sable'], ready: true });
  await screen(page, 'fight');
  await until(async () => (await snapshot(page))?.phase === 'live', 30000, 'the fight never goes live');
  assert.deepEqual(await value(() => [globalThis.backstep.sound.tune.number, globalThis.backstep.screen.fight.music[1]]), [1, 1], 'the fight has its music');
  const x0 = (await snapshot(page)).fighters[1].x;
  await hands.walk(true);
  await until(async () => (await snapshot(page)).fighters[1].x > x0 + 15, 6000, 'the fighter does not walk');
  await hands.walk(false);
  await hands.menu();
  await dialog(1);
  await go('Settings');
  await dialog(2);
  await hands.back();
  await hands.back();
  await dialog(0);
  await look('fight');
  await screen(page, 'result', 40000);
  await look('result');
  assert.ok(await value(() => { const { cam, s } = globalThis.backstep.view, w = globalThis.backstep.view.winner(s); return !w || Math.abs(w.x - cam.x) * cam.zoom < cam.w / 2; }), 'the winner is in the picture');
  await screen(other, 'result');
  await hands.to('Hold for a rematch');
  await hands.press(); // not enough
  await page.waitForTimeout(300);
  assert.equal(await value(() => globalThis.backstep.screen.result.you), '');
  await hands.hold(1000);
  await until(() => value(() => globalThis.backstep.screen.result?.you === 'rematch'), 4000, 'the hold asks for no rematch');
  await says('rematch');
  await screen(page, 'fight');
  await leave();
  // What was played, seen again.
  await go('Replays');
  await screen(page, 'replays');
  await go('Watch');
  await screen(page, 'theatre');
  await go('Verify');
  await until(() => value(() => globalThis.backstep.screen.theatre.verified === 'yes'), 8000, 'it is not verified');
  await look('theatre');
  await hands.back();
  await screen(page, 'title');
  // The machine, and the end.
  await go('Play the machine');
  await look('machine');
  await go('Easy');
  await screen(page, 'fight');
  await leave();
  await go('Quit');
  await go('Quit');
  await screen(page, 'bye');
  await look('bye');
}

async function through(t, Hands) {
  const b = new Bench(t), relay = await b.relay(), dir = b.desynced(), context = await b.browser();
  if (Hands === Pad) await Pad.plug(context);
  const p = await b.player(dir, '--relay', relay, '--frames', '900'), page = await b.open(context, p.url), found = {};
  await screen(page, 'title');
  await page.evaluate(() => {
    const app = globalThis.backstep, take = app.onscreen.bind(app);
    app.visited = new Set(['title']);
    app.onscreen = (s) => { app.visited.add(s.screen); take(s); };
    if (app.input.pads().length) for (const kind of ['keydown', 'pointerdown']) addEventListener(kind, (e) => { if (e.isTrusted) app.cheated = kind; }, true);
  });
  const look = async (where) => {
    if (Hands === Pad) return;
    await page.waitForTimeout(200);
    const f = await findings(page);
    if (f) found[where] = f;
  };
  await walk(b, page, new Hands(page), relay, look);
  const [visited, all, cheated] = await page.evaluate(async () => [[...globalThis.backstep.visited].sort(), Object.keys((await import('./screens/index.js')).screens).sort(), globalThis.backstep.cheated]);
  assert.deepEqual(visited, all);
  assert.equal(cheated, undefined);
  assert.deepEqual(found, {});
  assert.deepEqual(page.problems, []);
  assert.deepEqual(context.outside, []);
  await until(() => p.child.exitCode === 0, 8000, 'the program does not end');
}

test('through every screen by keyboard alone', { skip, timeout: 420000 }, (t) => through(t, Keyboard));

test('through every screen by pad alone', { skip, timeout: 420000 }, (t) => through(t, Pad));
