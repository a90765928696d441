// The page in Debian's Chromium: a match through a lobby code with keys pressed
// here, rematch, reload, pads, menus, doctor, tabs, access, hostile text.

import test from 'node:test';
import assert from 'node:assert/strict';
import { rudePeer } from './rude.js';
import { Bench, findings, missing, screen, screenOf, snapshot, press, until } from './harness.js';
import { Pad } from './hands.js';

const skip = missing() || false;

async function keyTo(page, name) { // Tab until a control has the focus
  for (let i = 0; i < 60; i++) {
    if (await page.evaluate((n) => (document.activeElement?.innerText || document.activeElement?.id || '').trim().startsWith(n), name)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab never reaches ${name}`);
}

test('two pages play a match through a code, rematch and leave; reload comes back', { skip, timeout: 240000 }, async (t) => {
  const b = new Bench(t), nasty = '<img onerror=1 src=x>';
  const host = await b.peer('host', '--rounds', '1', '--name', nasty), ca = await b.browser(), pa = await b.open(ca, host.url);
  await screen(pa, 'hosting');
  const code = await (await pa.waitForFunction(() => globalThis.backstep.screen.hosting.code)).jsonValue();
  const join = await b.peer('join', '--name', 'Grace'), cb = await b.browser(), pb = await b.open(cb, join.url);
  await screen(pb, 'title');
  await until(() => pb.locator('#join-code').isVisible(), 5000, 'peer join does not ask for the code');
  await pb.keyboard.type(code.toLowerCase().replace('-', ' '));
  await pb.keyboard.press('Enter');
  for (const p of [pa, pb]) await screen(p, 'forecast');
  assert.ok((await pb.innerText('#screen h1')).includes('img onerror'), 'the name is shown as text');
  assert.equal(await pb.locator('#screen img').count(), 0);
  await pb.waitForFunction(() => globalThis.backstep.screen.forecast?.sentence, null, { timeout: 30000 });
  for (const p of [pa, pb]) { await keyTo(p, 'Accept'); await p.keyboard.press('Enter'); }
  for (const p of [pa, pb]) await screen(p, 'select');
  // What one says stands on the other's page as text, however it is written.
  const heard = (p, n) => until(() => p.evaluate((k) => globalThis.backstep.talk?.lines.at(-1)?.n === k, n), 10000, `line ${n} does not arrive`);
  await keyTo(pb, 'chat-text');
  await pb.keyboard.insertText('<img src=x onerror="globalThis.owned=1"> \u202eevil\u001b[31m z' + '\u0300'.repeat(60));
  await pb.keyboard.press('Enter');
  await heard(pa, 1);
  const line = await pa.locator('.lines li .text').last().innerText();
  assert.match(line, /^<img src=x onerror="globalThis.owned=1"> evil *\[31m z\u0300{0,2}$/u);
  assert.equal(await pa.locator('#screen img').count(), 0);
  assert.ok((await pa.locator('.lines li').last().boundingBox()).height < 70, 'marks do not climb over the page');
  for (const p of [pa, pb]) { await keyTo(p, 'Ready'); await p.keyboard.press('Enter'); }

  const play = async () => {
    for (const p of [pa, pb]) await screen(p, 'fight');
    await until(async () => (await snapshot(pa))?.phase === 'live', 30000, 'the fight never goes live');
  };
  await play();
  // The first player's keys reach the fighter.
  const x0 = (await snapshot(pa)).fighters[0].x;
  await press(pa, 'KeyD', 600);
  assert.ok((await snapshot(pa)).fighters[0].x > x0 + 20, 'D does not walk right');
  // A reload in the fight comes back to it, and nothing is held.
  await pa.keyboard.down('KeyD');
  await pa.reload();
  await screen(pa, 'fight');
  await pa.waitForFunction(() => globalThis.backstep?.view?.s);
  const f1 = (await snapshot(pa)).frame;
  await until(async () => (await snapshot(pa)).frame > f1 + 30, 10000, 'no frames after the reload');
  assert.equal((await snapshot(pa)).fighters[0].word, 0);
  await pa.keyboard.up('KeyD');

  const finish = async (done) => {
    await until(async () => {
      if (await screenOf(pa) !== 'fight') return true;
      // Up to the opponent, and a blow while that still holds.
      const [me, other] = (await snapshot(pa)).fighters;
      if (Math.abs(other.x - me.x) > 110) await press(pa, other.x > me.x ? 'KeyD' : 'KeyA', 80);
      else await press(pa, 'KeyO', 60);
      return false;
    }, 110000, 'the match does not end');
    t.diagnostic(`over after ${(await snapshot(pa))?.frame} frames`);
    for (const p of [pa, pb]) await screen(p, 'result');
    const [ra, rb] = await Promise.all([pa, pb].map((p) => p.evaluate(() => globalThis.backstep.screen.result)));
    assert.match(ra.hash, /^[0-9a-f]{16}$/);
    assert.equal(ra.hash, rb.hash, 'both end on the same state');
    assert.equal(ra.winner, rb.winner);
    assert.notEqual(ra.won, rb.won);
    assert.equal(ra.score[0] + ra.score[1], done);
  };
  await finish(1);
  await keyTo(pa, 'chat-text');
  await pa.keyboard.type('well fought');
  await pa.keyboard.press('Enter');
  await heard(pb, 2);
  assert.equal(await pb.locator('.lines li .text').last().innerText(), 'well fought');
  assert.equal(await pa.evaluate(() => globalThis.owned), undefined);
  // A press is not enough for a rematch, a hold is.
  for (const p of [pa, pb]) {
    await keyTo(p, 'Hold for a rematch');
    await press(p, 'Enter', 120);
    assert.equal(await p.evaluate(() => globalThis.backstep.screen.result.you), '');
    await press(p, 'Enter', 1000);
  }
  await play();
  // Leaving is a hold too.
  await pb.keyboard.press('Escape');
  await keyTo(pb, 'Hold to leave');
  await press(pb, 'Enter', 1000);
  await screen(pb, 'title');
  await until(async () => ['result', 'error'].includes(await screenOf(pa)), 15000, 'the other side does not learn of it');
  assert.deepEqual([...ca.outside, ...cb.outside], [], 'nothing is fetched from elsewhere');
  assert.deepEqual([...pa.problems, ...pb.problems], []);
});

test('every menu by keyboard alone, without serious findings', { skip, timeout: 180000 }, async (t) => {
  const b = new Bench(t), p = await b.peer('train'), context = await b.browser(), page = await b.open(context, p.url);
  await screen(page, 'train');
  const found = {};
  const look = async (name) => { await page.waitForTimeout(300); const f = await findings(page); if (f) found[name] = f; };
  await look('train');
  await page.keyboard.press('F1');
  await look('options');
  await keyTo(page, 'train-latency_ms');
  await page.keyboard.press('ArrowRight');
  await until(() => page.evaluate(() => globalThis.backstep.screen.train.options.latency_ms === 10), 5000, 'the slider does not reach the peer');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await keyTo(page, 'Leave the training room');
  await page.keyboard.press('Enter');
  await screen(page, 'title');
  await look('title');
  for (const name of ['Host a match', 'Join a match', 'Play the machine', 'Controls', 'Settings', 'How to play', 'Quit']) {
    await keyTo(page, name);
    await page.keyboard.press('Enter');
    await until(() => page.locator('.dialog').isVisible(), 3000, 'no dialog: ' + name);
    await look(name);
    await page.keyboard.press('Escape');
    await until(async () => !(await page.locator('.dialog').count()), 3000, 'Escape does not close ' + name);
    assert.ok(await page.evaluate((n) => document.activeElement.innerText.startsWith(n), name), 'the focus comes back to ' + name);
  }
  await keyTo(page, 'Host a match');
  await page.keyboard.press('ArrowDown');
  assert.ok(await page.evaluate(() => document.activeElement.innerText.startsWith('Join')), 'arrows move the focus');
  await keyTo(page, 'Replays');
  await page.keyboard.press('Enter');
  await screen(page, 'replays');
  await look('replays');
  await page.keyboard.press('Escape');
  await screen(page, 'title');
  await keyTo(page, 'Host a match');
  await page.keyboard.press('Enter');
  await keyTo(page, 'Get a code');
  await page.keyboard.press('Enter');
  await screen(page, 'hosting');
  await page.waitForFunction(() => globalThis.backstep.screen.hosting.code);
  await look('hosting');
  assert.ok(await page.locator('.wait .clock').innerText(), 'a wait has a timer');
  await page.keyboard.press('Escape');
  await screen(page, 'title');
  assert.deepEqual(found, {});
  assert.deepEqual(page.problems, []);
  assert.deepEqual(context.outside, []);
});

test('the doctor finds, hides addresses, and is there when a match does not connect', { skip, timeout: 120000 }, async (t) => {
  const b = new Bench(t), relay = await b.relay(), p = await b.peer('--relay', relay), context = await b.browser(), page = await b.open(context, p.url);
  await screen(page, 'title');
  await keyTo(page, 'Doctor');
  await page.keyboard.press('Enter');
  await screen(page, 'doctor');
  const checks = await page.evaluate(() => globalThis.backstep.screen.doctor.checks);
  assert.deepEqual(await page.locator('.finding h2').count(), checks.length, 'what is still to come has its place');
  assert.ok(await page.locator('.wait .clock').innerText(), 'a wait has a timer');
  await until(() => page.evaluate(() => !globalThis.backstep.screen.doctor.running), 20000, 'the doctor does not end');
  assert.equal(await page.locator('.finding[data-severity=""]').count(), 0);
  assert.equal(await page.locator('.addresses').count(), 0, 'no address unasked');
  assert.equal(await findings(page), '');
  await keyTo(page, 'Show my addresses');
  await page.keyboard.press('Enter');
  await page.locator('.addresses code').first().waitFor(); // the relay on this machine sees one
  const seen = await page.locator('.addresses code').first().innerText(), alone = (s) => s.split('\n').some((line) => line.trim() === seen); // the relay's name may be the same
  assert.ok(alone(await page.evaluate(() => globalThis.backstep.screen.doctor.text)));
  await keyTo(page, 'Hide my addresses');
  await page.keyboard.press('Enter');
  await until(async () => !(await page.locator('.addresses').count()), 5000, 'the addresses stay');
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await keyTo(page, 'Copy as text');
  await page.keyboard.press('Enter');
  const text = await until(() => page.evaluate(() => navigator.clipboard.readText()), 5000, 'nothing is copied');
  assert.ok(text.includes('Relay') && !alone(text), text);
  await page.keyboard.press('Escape');
  await screen(page, 'title');
  // A code of a relay that is not there: the error leads to the doctor, and back.
  await page.evaluate(() => globalThis.backstep.cmd('join', { code: 'K7QM-3XTD@127.0.0.1:9' }));
  await screen(page, 'error', 60000);
  assert.equal(await findings(page), '');
  await keyTo(page, 'Ask the doctor');
  await page.keyboard.press('Enter');
  await screen(page, 'doctor');
  assert.match(await page.innerText('#screen'), /Relay asked: 127.0.0.1:9/);
  await page.keyboard.press('Escape');
  await screen(page, 'error');
  await page.keyboard.press('Escape');
  await screen(page, 'title');
  assert.deepEqual(page.problems, []);
});

test('a pad plays, an unknown one is calibrated; remapping shows conflicts and is kept', { skip, timeout: 120000 }, async (t) => {
  const b = new Bench(t), p = await b.peer(), context = await b.browser();
  await context.addInitScript(() => {
    const pad = { id: 'Odd Pad (0001)', index: 0, mapping: '', connected: true, axes: [0, 0], buttons: Array.from({ length: 14 }, () => ({ pressed: false, value: 0 })) };
    globalThis.fakePad = pad;
    navigator.getGamepads = () => [pad];
  });
  const page = await b.open(context, p.url), hold = (i, on) => page.evaluate(([n, v]) => { globalThis.fakePad.buttons[n] = { pressed: v, value: v ? 1 : 0 }; }, [i, on]);
  await screen(page, 'title');
  const pad = new Pad(page), tap = async (i) => { for (const on of [true, false]) { await hold(i, on); await page.evaluate(() => new Promise((done) => { setTimeout(done, 60); })); } };
  pad.set = (way, on) => (way === 'press' ? hold(0, on) : page.evaluate(([w, v]) => { globalThis.fakePad.axes = v ? { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0] }[w] : [0, 0]; }, [way, on]));
  for (const name of ['Controls', 'ctl-device']) { await pad.to(name); if (name === 'Controls') await pad.press(); }
  for (let i = 0; i < 2; i++) await pad.tap('right');
  await pad.to('Set it up');
  await pad.press();
  assert.equal(await findings(page), '');
  for (let i = 0; i < 12; i++) await tap(i);
  await tap(3); // given already: this pad has no button for the menu
  await until(() => page.evaluate(() => globalThis.backstep?.settings.value.pads['Odd Pad (0001)']?.super?.[0] === 'b11'), 5000, 'the calibration is not kept');
  assert.equal(await page.evaluate(() => globalThis.backstep?.settings.value.pads['Odd Pad (0001)'].menu), undefined);
  await page.keyboard.press('Escape');
  await page.evaluate(() => globalThis.backstep.cmd('train', {}));
  await screen(page, 'train');
  await page.waitForFunction(() => globalThis.backstep?.view?.s);
  const x0 = (await snapshot(page)).fighters[0].x;
  await hold(2, true); // left
  await until(async () => (await snapshot(page)).fighters[0].x < x0 - 15, 8000, 'the pad does not move the fighter');
  await hold(2, false);
  // A second player at the same keyboard.
  await page.evaluate(() => globalThis.backstep.cmd('option', { dummy: 'player2' }));
  const y0 = (await snapshot(page)).fighters[1].x;
  await page.keyboard.down('ArrowRight');
  await until(async () => (await snapshot(page)).fighters[1].x > y0 + 10, 8000, 'the second player does not move');
  await page.keyboard.up('ArrowRight');
  // Remapping.
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Controls' }).click();
  await page.getByRole('button', { name: 'Add a control for heavy' }).click();
  await page.keyboard.press('KeyU');
  assert.match(await page.innerText('.dialog.wide .note'), /U stands for .*light.*heavy/);
  await page.keyboard.down('KeyU');
  await page.waitForTimeout(80);
  assert.equal(await page.locator('.live .on').count(), 2, 'what is pressed now is shown');
  await page.keyboard.up('KeyU');
  await page.waitForTimeout(700);
  await page.reload();
  await screen(page, 'train');
  await until(() => page.evaluate(() => globalThis.backstep?.settings.value.keys[0].heavy?.includes('KeyU')), 5000, 'the map is not kept');
  assert.deepEqual(page.problems, []);
});

test('a second tab is refused, may watch, may take over; a lost program is said', { skip, timeout: 90000 }, async (t) => {
  const b = new Bench(t), p = await b.peer('train'), context = await b.browser(), one = await b.open(context, p.url);
  await screen(one, 'train');
  const two = await context.newPage();
  await two.goto(p.url);
  await two.getByText('open in another tab').waitFor();
  assert.equal(await findings(two), '');
  await two.getByRole('button', { name: 'Watch here' }).click();
  await screen(two, 'train');
  await two.waitForFunction(() => globalThis.backstep?.view?.s);
  const x0 = (await snapshot(one)).fighters[0].x;
  await press(two, 'KeyA', 400);
  assert.equal((await snapshot(one)).fighters[0].x, x0, 'a viewer does not play');
  const wrong = await context.newPage();
  await wrong.goto(p.url.replace(/#.*/, '#' + '0'.repeat(32)));
  await wrong.getByText('earlier run').waitFor();
  p.child.kill('SIGKILL');
  await one.getByText('does not answer').waitFor();
  assert.equal(await findings(one), '');
});

test('every palette and size of text is without serious findings', { skip, timeout: 120000 }, async (t) => {
  const b = new Bench(t), p = await b.player(b.desynced()), page = await b.open(await b.browser(), p.url), found = {};
  await screen(page, 'title');
  const palettes = await page.evaluate(async () => (await import('./settings.js')).palettes);
  for (const [i, palette] of palettes.entries()) {
    await page.evaluate(([name, large]) => globalThis.backstep.settings.change({ palette: name, large_text: large }), [palette, i % 2 === 1]);
    const look = async (where) => { await page.waitForTimeout(150); const f = await findings(page); if (f) found[`${palette}, ${where}`] = f; };
    await look('title');
    for (const name of ['Settings', 'Join a match', 'Play the machine']) {
      await keyTo(page, name);
      await page.keyboard.press('Enter');
      await look(name);
      await page.keyboard.press('Escape');
    }
    for (const name of ['doctor', 'replays']) {
      await page.evaluate((n) => globalThis.backstep.cmd(n), name);
      await screen(page, name);
      await look(name);
      await page.evaluate(() => globalThis.backstep.cmd('title'));
      await screen(page, 'title');
    }
  }
  assert.deepEqual(found, {});
  assert.deepEqual(page.problems, []);
});

test('an opponent whose program cleans nothing is plain text on the page', { skip, timeout: 180000 }, async (t) => {
  const b = new Bench(t), markup = '<img src=x onerror="globalThis.owned=1"><b>', wild = `${markup}\u202e\u001b[31m\nz${'\u0300'.repeat(60)}`;
  const evil = await b.program(rudePeer(b.dir()), b.dir(), 'join', '--name', wild, '--region', wild);
  const host = await b.peer('host', '--rounds', '1', '--name', 'Ada'), ca = await b.browser(), pa = await b.open(ca, host.url);
  await screen(pa, 'hosting');
  const code = await (await pa.waitForFunction(() => globalThis.backstep.screen.hosting.code)).jsonValue();
  const pb = await b.open(await b.browser(), evil.url);
  await screen(pb, 'title');
  await pb.evaluate((c) => globalThis.backstep.cmd('join', { code: c }), code);
  const harmless = async (where) => {
    assert.equal(await pa.evaluate(() => globalThis.owned), undefined, `${where}: something of the opponent's ran`);
    assert.equal(await pa.locator('img, iframe, script:not([src]), [onerror]').count(), 0, `${where}: markup of the opponent's`);
    const text = await pa.evaluate(() => document.title + document.documentElement.outerHTML);
    assert.doesNotMatch(text, /[\u202a-\u202e\u2066-\u2069\u0000\u001b]|\u0300{3}/u, `${where}: characters that are not text`);
  };
  await screen(pa, 'forecast');
  assert.ok((await pa.innerText('#screen h1')).includes(markup.slice(0, 24)), 'the name stands there as text');
  await harmless('forecast');
  for (const p of [pa, pb]) await p.evaluate(() => globalThis.backstep.cmd('accept'));
  for (const p of [pa, pb]) await screen(p, 'select', 60000);
  await harmless('select');
  // A line that no program of ours sends is not taken; one of markup is text.
  for (const line of [wild, 'z'.repeat(399), '\u2066hidden\u200b', `\0${markup}`, markup]) await pb.evaluate((text) => globalThis.backstep.cmd('chat', { text }), line);
  await until(() => pa.evaluate(() => globalThis.backstep.talk?.lines.length > 0), 10000, 'nothing arrives');
  assert.deepEqual(await pa.evaluate(() => globalThis.backstep.talk.lines.map((l) => l.text)), [markup]);
  assert.equal(await pa.locator('.lines li .text').last().innerText(), markup);
  await harmless('chat');
  for (const p of [pa, pb]) await p.evaluate(() => globalThis.backstep.cmd('pick', { ready: true }));
  await screen(pa, 'fight');
  await until(async () => (await snapshot(pa))?.frame > 30, 30000, 'no frames');
  await harmless('fight');
  await pb.evaluate(() => globalThis.backstep.cmd('leave'));
  await until(async () => ['result', 'error'].includes(await screenOf(pa)), 15000, 'the other side does not learn of it');
  await harmless('result');
  assert.deepEqual(ca.outside, []);
  assert.deepEqual(pa.problems, []);
});
