import { Bench, screen, until, snapshot } from './harness.js';
const ends = [], bench = new Bench({ after: (f) => ends.push(f) });
try {
  const impair = process.argv[2] || 'delay=110ms,jitter=8ms';
  const a = await bench.peer('host', '--mode', 'rollback', '--delay', '0', '--impair', impair, '--name', 'Ada'), pa = await bench.open(await bench.browser(), a.url);
  await screen(pa, 'hosting');
  const code = await (await pa.waitForFunction(() => globalThis.backstep.screen.hosting.code)).jsonValue();
  const b = await bench.peer('join', code, '--mode', 'rollback', '--delay', '0', '--impair', impair, '--name', 'Grace'), pb = await bench.open(await bench.browser(), b.url);
  for (const p of [pa, pb]) { await screen(p, 'forecast'); await p.evaluate(() => globalThis.backstep.cmd('accept')); }
  for (const p of [pa, pb]) { await screen(p, 'select'); await p.evaluate(() => globalThis.backstep.cmd('pick', { team: ['sable'], ready: true })); }
  for (const p of [pa, pb]) await screen(p, 'fight');
  await until(async () => (await snapshot(pa))?.phase === 'live', 30000, 'no live');
  for (const p of [pa, pb]) await p.evaluate(() => { globalThis.flags = []; const v = globalThis.backstep.view, take = v.take.bind(v); v.take = (s) => { globalThis.flags.push(s.flags & ~(64|1)); take(s); }; });
  let on = false;
  const end = Date.now() + 15000;
  while (Date.now() < end) {
    on = !on; await pb.keyboard[on ? 'down' : 'up']('KeyA'); await pa.keyboard[on ? 'down' : 'up']('KeyD'); await pa.waitForTimeout(100);
    const o = await pa.evaluate(() => globalThis.backstep.screen.fight?.offer), ob = await pb.evaluate(() => globalThis.backstep.screen.fight?.offer);
    if (o || ob) { console.log('offer', o, ob); await pa.screenshot({ path: '/tmp/sc/offer.png' }); break; }
  }
  console.log(await pa.evaluate(() => globalThis.backstep.net?.line), await pa.evaluate(() => globalThis.backstep.screen.screen));
  await pa.evaluate(() => { globalThis.flags = []; });
  b.child.kill('SIGSTOP'); await pa.waitForTimeout(1800); await pa.screenshot({ path: '/tmp/sc/frozen.png' });
  const f1 = await pa.evaluate(() => globalThis.flags.splice(0)); console.log('stopped', JSON.stringify(f1.reduce((m, f) => (m[f] = (m[f] || 0) + 1, m), {})));
  b.child.kill('SIGCONT'); await pa.waitForTimeout(1500);
  for (const p of [pa, pb]) { const f = await p.evaluate(() => globalThis.flags.splice(0)); console.log('after', JSON.stringify(f.reduce((m, f) => (m[f] = (m[f] || 0) + 1, m), {}))); }
  console.log(await pa.evaluate(() => globalThis.backstep.screen.screen));
} finally { for (const f of ends) await f(); }
