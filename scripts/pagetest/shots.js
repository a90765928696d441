// Screenshots of every screen, for people to look at: node shots.js DIR [WxH [PART,…]].
// Nothing is staged: each is what the real programs show.

import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Pad } from './hands.js';
import { Bench, screen, snapshot, until, press } from './harness.js';

const dir = process.argv[2] || 'shots', [width, height] = (process.argv[3] || '1280x720').split('x').map(Number);
const img = process.env.IMG || '', shown = { title: 'title', 'fight-5': 'fight', train: 'training' }; // IMG=DIR: those of the README, small
const only = process.argv[4] ? new Set(process.argv[4].split(',')) : null;
mkdirSync(dir, { recursive: true });
const ends = [];
const bench = new Bench({ after: (f) => ends.push(f) });
const problems = [];
const take = async (page, name, wait = 250) => {
  await page.waitForTimeout(wait); await page.screenshot({ path: join(dir, name + '.png') });
  if (img && shown[name]) await page.screenshot({ path: join(img, shown[name] + '.jpg'), type: 'jpeg', quality: 80 });
  console.log(name);
};
const part = async (name, f) => { if (only && !only.has(name)) return; try { await f(); } catch (e) { problems.push(`${name}: ${e.message}`); } };
const view = { viewport: { width, height } };
const cmd = (page, name, fields) => page.evaluate(([n, f]) => globalThis.backstep.cmd(n, f), [name, fields]);

/** Two players in a fight; a and b are their flags. */
async function meet(a, b, teams = [['vesper'], ['vesper']], chosen = () => {}) {
  const host = await bench.peer('host', '--name', 'Ada', ...a), pa = await bench.open(await bench.browser(view), host.url);
  await screen(pa, 'hosting');
  const code = await (await pa.waitForFunction(() => globalThis.backstep.screen.hosting.code)).jsonValue();
  const guest = await bench.peer('join', code, '--name', 'Grace', ...b), pb = await bench.open(await bench.browser(view), guest.url);
  for (const p of [pa, pb]) { await screen(p, 'forecast'); await cmd(p, 'accept'); }
  for (const [i, p] of [pa, pb].entries()) { await screen(p, 'select'); await cmd(p, 'pick', { team: teams[i], ready: false }); }
  await chosen(pa);
  for (const [i, p] of [pa, pb].entries()) await cmd(p, 'pick', { team: teams[i], ready: true });
  for (const p of [pa, pb]) await screen(p, 'fight');
  await until(async () => (await snapshot(pa))?.phase === 'live', 30000, 'the fight never goes live');
  return { host, guest, pa, pb };
}

try {
  await part('menus', async () => {
    const p = await bench.peer('train'), page = await bench.open(await bench.browser(view), p.url);
    await screen(page, 'train');
    await page.keyboard.press('F3');
    for (const k of ['KeyD', 'KeyD']) await press(page, k, 300);
    await page.keyboard.down('KeyI');
    await page.waitForTimeout(150);
    await take(page, 'train', 0);
    await page.keyboard.up('KeyI');
    await page.keyboard.press('F1');
    await take(page, 'train-options');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await take(page, 'train-menu');
    await page.getByRole('button', { name: 'Leave the training room' }).click();
    await screen(page, 'title');
    await page.waitForTimeout(700);
    await take(page, 'title');
    for (const [button, name] of [['Controls', 'controls'], ['Settings', 'settings'], ['How to play', 'how'], [/^Join a match/, 'join'], [/^Host a match/, 'host'], [/^Play the machine/, 'machine'], ['Quit', 'quit']]) {
      await page.getByRole('button', { name: button, exact: typeof button === 'string' }).click();
      await take(page, name);
      await page.keyboard.press('Escape');
    }
    await page.evaluate(() => globalThis.backstep.cmd('replays'));
    await screen(page, 'replays');
    await take(page, 'replays-empty');
    problems.push(...page.problems);
  });
  await part('match', async () => {
    const a = await bench.peer('host', '--rounds', '1', '--name', 'Ada'), pa = await bench.open(await bench.browser(view), a.url);
    await screen(pa, 'hosting');
    await pa.waitForFunction(() => globalThis.backstep.screen.hosting.code);
    await take(pa, 'hosting');
    const code = await pa.evaluate(() => globalThis.backstep.screen.hosting.code);
    const b = await bench.peer('join', code, '--name', 'Grace'), pb = await bench.open(await bench.browser(view), b.url);
    await screen(pa, 'forecast');
    await take(pa, 'forecast-probe');
    await pa.waitForFunction(() => globalThis.backstep.screen.forecast?.sentence, null, { timeout: 30000 });
    await take(pa, 'forecast');
    for (const p of [pa, pb]) await p.getByRole('button', { name: 'Accept and fight' }).click();
    await screen(pa, 'select');
    await screen(pb, 'select');
    await pb.locator('.card').nth(1).click();
    await pb.evaluate(() => globalThis.backstep.cmd('chat', { text: 'Hello Ada! Three rounds?' }));
    await pa.evaluate(() => globalThis.backstep.cmd('chat', { text: 'With pleasure. <b>You</b> first.' }));
    await pa.locator('.lines li').nth(1).waitFor();
    await take(pa, 'select');
    for (const p of [pa, pb]) await p.locator('button.ready').click();
    await screen(pa, 'fight');
    await until(async () => (await snapshot(pa))?.phase === 'live', 20000, 'no live phase');
    await take(pa, 'fight-start');
    await pb.evaluate(() => globalThis.backstep.cmd('chat', { text: 'Here I come' }));
    await pa.keyboard.down('KeyD');
    await pb.keyboard.down('KeyA');
    await pa.waitForTimeout(1500);
    await pa.keyboard.up('KeyD');
    await pb.keyboard.up('KeyA');
    let n = 0;
    for (const k of ['KeyU', 'KeyI', 'KeyO', 'KeyJ', 'KeyI', 'KeyO', 'KeyJ', 'KeyK', 'KeyI', 'KeyO']) {
      await pa.keyboard.down(k);
      await pa.evaluate(() => { // stand still a few frames into a hit, however slow the machine is
        const view = globalThis.backstep.view, draw = view.draw.bind(view);
        view.thaw = () => { view.draw = draw; };
        view.draw = (f) => { draw(f); if (view.effects.list.some((e) => e.type === 'burst' && e.age > 1.5 && e.age < 9)) view.draw = () => {}; };
      });
      await pa.waitForTimeout(450);
      await take(pa, n === 4 ? 'fight-combo' : `fight-${n}`, 0);
      await pa.evaluate(() => globalThis.backstep.view.thaw());
      n++;
      await pa.keyboard.up(k);
      await press(pa, 'KeyD', 160);
    }
    await pa.keyboard.press('F2');
    await take(pa, 'fight-graph');
    await pa.keyboard.press('Escape');
    await take(pa, 'pause');
    await pa.keyboard.press('Escape');
    const end = Date.now() + 90000;
    while (Date.now() < end && (await pa.evaluate(() => globalThis.backstep.current.name)) === 'fight') { await press(pa, 'KeyI', 90); await press(pa, 'KeyD', 200); }
    await screen(pa, 'result');
    await take(pa, 'result-a');
    await take(pb, 'result-b');
    await pb.evaluate(() => globalThis.backstep.cmd('leave'));
    await pa.evaluate(() => globalThis.backstep.cmd('leave'));
    await screen(pa, 'title');
    await pa.evaluate(() => globalThis.backstep.cmd('replays'));
    await screen(pa, 'replays');
    await take(pa, 'replays');
    await pa.getByRole('button', { name: /^Watch/ }).first().click();
    await screen(pa, 'theatre');
    await pa.evaluate(() => { globalThis.backstep.cmd('theatre', { boxes: true }); globalThis.backstep.cmd('theatre', { seek: 260 }); });
    await pa.waitForTimeout(900);
    await take(pa, 'theatre');
    problems.push(...pa.problems, ...pb.problems);
  });
  await part('rules', async () => { // every ruleset and format, against the machine
    const p = await bench.peer('train'), page = await bench.open(await bench.browser(view), p.url), cast = await page.evaluate(() => globalThis.backstep.data.fighters.map((f) => f.key));
    await screen(page, 'train');
    await page.keyboard.press('F1');
    await page.getByRole('button', { name: 'Rules and fighters' }).click();
    await page.locator('#room-format').selectOption({ index: 2 });
    await take(page, 'train-rules');
    await page.keyboard.press('Escape');
    const rulesets = await page.evaluate(() => globalThis.backstep.data.rulesets), formats = ['1v1', '2v2', '3v3', 'trinity'];
    for (const [i, ruleset] of rulesets.entries()) {
      const format = ruleset === 'tagteam' ? '3v3' : formats[i % 4], turn = (k) => [0, 1, 2].map((j) => cast[(i + j + k) % cast.length]);
      await page.evaluate((fields) => globalThis.backstep.cmd('train', fields), { ruleset, format, teams: [turn(0), turn(1)] });
      await page.waitForFunction((r) => globalThis.backstep.screen.train?.ruleset === r, ruleset);
      await page.evaluate(() => globalThis.backstep.cmd('option', { dummy: 'bot-hard', refill: false }));
      await page.keyboard.down('KeyD');
      await page.waitForTimeout(900);
      await page.keyboard.up('KeyD');
      for (const k of ['KeyP', 'KeyI', 'KeyO', 'KeyL', 'KeyK', 'KeyU']) await press(page, k, 200);
      await page.evaluate(() => globalThis.backstep.cmd('option', { paused: true, boxes: true }));
      await take(page, `rules-${ruleset}-${format}`);
      await page.evaluate(() => globalThis.backstep.cmd('option', { paused: false }));
    }
    problems.push(...page.problems);
  });
  await part('error', async () => { // what goes wrong before a match, and the doctor
    const silent = createServer(() => {}).listen(0, '127.0.0.1'); // a relay that accepts and says nothing
    ends.push(() => silent.close());
    await until(() => silent.address(), 2000, 'no port');
    const p = await bench.peer('join', `K7QM-3XTD@127.0.0.1:${silent.address().port}`, '--timeout', '6s'), page = await bench.open(await bench.browser(view), p.url);
    await screen(page, 'joining');
    await take(page, 'joining', 1200);
    await screen(page, 'error', 60000);
    await take(page, 'error');
    await cmd(page, 'doctor');
    await screen(page, 'doctor');
    await page.waitForFunction(() => globalThis.backstep.screen.doctor.findings.length > 2);
    await take(page, 'doctor-looking', 0);
    await page.waitForFunction(() => !globalThis.backstep.screen.doctor.running, null, { timeout: 20000 });
    await cmd(page, 'doctor', { addresses: true });
    await take(page, 'doctor');
    await cmd(page, 'title');
    await screen(page, 'error');
    await cmd(page, 'host', { ruleset: 'chess' });
    await page.waitForFunction(() => globalThis.backstep.screen.error?.code === 2);
    await take(page, 'error-usage');
    await cmd(page, 'title');
    await screen(page, 'title');
    await page.evaluate(() => { // that screen is gone in a blink
      const app = globalThis.backstep, show = app.onscreen.bind(app), later = [];
      app.onscreen = (s) => { if (app.current.name === 'starting') later.push(s); else show(s); };
      app.goOn = () => { delete app.onscreen; later.forEach(show); };
    });
    await cmd(page, 'play', { bot: 'easy' });
    await screen(page, 'starting');
    await take(page, 'starting', 500);
    await page.evaluate(() => globalThis.backstep.goOn());
    await screen(page, 'fight');
    await cmd(page, 'leave');
    await screen(page, 'title');
    await cmd(page, 'quit');
    await screen(page, 'bye');
    await take(page, 'bye');
    problems.push(...page.problems);
  });
  await part('desync', async () => {
    const p = await bench.player(bench.desynced()), page = await bench.open(await bench.browser(view), p.url);
    await screen(page, 'title');
    await cmd(page, 'replays');
    await screen(page, 'replays');
    await take(page, 'replays-desync');
    await page.getByRole('button', { name: 'Look at' }).click();
    await screen(page, 'desync');
    await take(page, 'desync', 900);
    await cmd(page, 'theatre', { exhibit: 'host', boxes: true });
    await take(page, 'desync-host', 900);
    problems.push(...page.problems);
  });
  await part('tabs', async () => { // a second tab, and a program that is gone
    const p = await bench.peer('train'), context = await bench.browser(view), one = await bench.open(context, p.url), two = await context.newPage(), old = await context.newPage();
    await screen(one, 'train');
    await two.goto(p.url);
    await two.getByText('open in another tab').waitFor();
    await take(two, 'tab-refused');
    await two.getByRole('button', { name: 'Watch here' }).click();
    await screen(two, 'train');
    await take(two, 'tab-viewer', 600);
    await old.goto(p.url.replace(/#.*/, '#' + '0'.repeat(32)));
    await old.getByText('earlier run').waitFor();
    await take(old, 'tab-old');
    p.child.kill('SIGKILL');
    await one.getByText('does not answer').waitFor();
    await take(one, 'lost', 1200);
  });
  await part('overlay', async () => { // the opponent's machine stops for two seconds, then for good
    const { guest, pa } = await meet([], ['--impair', 'delay=60ms']);
    guest.child.kill('SIGSTOP');
    await take(pa, 'overlay', 1500);
    guest.child.kill('SIGCONT');
    await pa.waitForTimeout(1500);
    guest.child.kill('SIGKILL');
    await screen(pa, 'result', 30000);
    await take(pa, 'result-gone');
    problems.push(...pa.problems);
  });
  await part('team', async () => { // three against three, between two players
    const { pa, pb } = await meet(['--ruleset', 'tagteam', '--format', '3v3', '--rounds', '1'], [], [['sable', 'gorse', 'vesper'], ['tarn', 'vesper', 'gorse']], (p) => take(p, 'select-team', 500));
    for (const p of [pa, pb]) await p.keyboard.down(p === pa ? 'KeyD' : 'KeyA');
    await pa.waitForTimeout(1200);
    for (const p of [pa, pb]) await p.keyboard.up(p === pa ? 'KeyD' : 'KeyA');
    for (const [i, k] of ['KeyI', 'KeyO', 'KeyJ', 'KeyP', 'Semicolon', 'KeyL'].entries()) { await press(pa, k, 150); await take(pa, `team-${i}`, 40); await pa.waitForTimeout(350); }
    problems.push(...pa.problems, ...pb.problems);
  });
  await part('offer', async () => { // 1800 ticks under pressure take half a minute
    const far = ['--mode', 'rollback', '--delay', '0', '--impair', 'delay=170ms'], { pa, pb } = await meet(far, far);
    for (let i = 0; i < 900 && !await pa.evaluate(() => globalThis.backstep.screen.fight?.offer); i++) { await press(pa, 'KeyI', 60); await press(pb, 'KeyJ', 60); }
    await take(pa, 'offer');
    await pa.keyboard.press('F2');
    await pa.keyboard.press('Escape');
    await take(pa, 'offer-menu');
    await pa.keyboard.press('Escape');
    for (const p of [pa, pb]) await cmd(p, 'answer', { accept: true });
    await pa.waitForFunction(() => globalThis.backstep.screen.fight?.mode === 'delay', null, { timeout: 20000 });
    await take(pa, 'offer-taken');
    problems.push(...pa.problems);
  });
  await part('typing', async () => { // what a pad needs
    const context = await bench.browser(view);
    await Pad.plug(context);
    const p = await bench.peer(), page = await bench.open(context, p.url), pad = new Pad(page);
    await screen(page, 'title');
    await pad.to('Join a match');
    await pad.press();
    await pad.press();
    await pad.to('Q');
    await pad.press();
    await take(page, 'typing');
    for (let i = 0; i < 2; i++) await pad.back();
    await pad.to('Controls');
    await pad.press();
    for (let i = 0; i < 2; i++) await pad.tap('right');
    await take(page, 'controls-pad');
    await pad.to('Set it up');
    await pad.press();
    await take(page, 'calibrate');
    problems.push(...page.problems);
  });
  await part('sight', async () => { // every palette, large text, motion reduced
    const p = await bench.peer('train'), page = await bench.open(await bench.browser(view), p.url);
    await screen(page, 'train');
    await cmd(page, 'train', { ruleset: 'tagteam', format: '3v3', teams: [['sable', 'gorse', 'vesper'], ['tarn', 'vesper', 'sable']] });
    await cmd(page, 'option', { dummy: 'bot-hard', refill: false });
    const palettes = await page.evaluate(async () => (await import('./settings.js')).palettes);
    for (const [i, palette] of palettes.entries()) {
      await page.evaluate(([name, large, still]) => globalThis.backstep.settings.change({ palette: name, large_text: large, reduced_motion: still ? 'on' : 'off' }), [palette, i % 2 === 1, i === 3]);
      for (const k of ['KeyD', 'KeyI', 'KeyO', 'KeyJ']) await press(page, k, 200);
      await cmd(page, 'option', { paused: true });
      await take(page, `sight-${palette}`);
      await cmd(page, 'option', { paused: false });
    }
    await cmd(page, 'title');
    await screen(page, 'title');
    await page.evaluate(() => globalThis.backstep.settings.change({ palette: 'contrast', large_text: true }));
    await take(page, 'title-large', 700);
    for (const [button, name] of [['Settings', 'settings-large'], ['Controls', 'controls-large'], [/^Host a match/, 'host-large'], [/^Play the machine/, 'machine-large'], ['How to play', 'how-large']]) {
      await page.getByRole('button', { name: button, exact: typeof button === 'string' }).click();
      await take(page, name);
      await page.keyboard.press('Escape');
    }
    await cmd(page, 'host');
    await screen(page, 'hosting');
    await page.waitForFunction(() => globalThis.backstep.screen.hosting.code);
    await take(page, 'hosting-large');
    problems.push(...page.problems);
  });
} finally {
  for (const f of ends) await f();
}
if (problems.length) { console.error(problems.join('\n')); process.exit(1); }
