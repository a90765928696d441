import { Bench, screen, until, snapshot } from './harness.js';
const ends = [], bench = new Bench({ after: (f) => ends.push(f) });
try {
  const p = await bench.peer('play');
  const c = await bench.browser(), page = await bench.open(c, p.url);
  await screen(page, 'fight');
  const cdp = await c.newCDPSession(page);
  await cdp.send('Emulation.setFocusEmulationEnabled', { enabled: false });
  const two = await c.newPage(); await two.goto('about:blank'); await two.bringToFront();
  await two.waitForTimeout(500);
  console.log(await page.evaluate(() => [document.visibilityState, document.hasFocus()]));
  const b = await c.newCDPSession(two);
  const { windowId } = await b.send('Browser.getWindowForTarget');
  await b.send('Browser.setWindowBounds', { windowId, bounds: { windowState: 'minimized' } }).catch((e) => console.log(e.message));
  await two.waitForTimeout(500);
  console.log(await page.evaluate(() => [document.visibilityState, document.hasFocus()]));
} finally { for (const f of ends) await f(); }
