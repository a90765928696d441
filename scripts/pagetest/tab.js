// A real tab for scripts/pagebench: node tab.js URL draws|hidden|crashed|frozen
// opens the page of a running peer, waits for its fight, makes the tab so, says
// what it is by then, and stays until it is told to end.

import { Bench } from './harness.js';

const [url, how] = process.argv.slice(2), ends = [], b = new Bench({ after: (f) => ends.push(f) });
let over;
const told = new Promise((done) => { over = done; });
process.once('SIGTERM', over);
process.stdin.on('end', over).resume();
try {
  const context = await b.browser(), page = await b.open(context, url);
  await page.waitForFunction(() => globalThis.backstep.view.s, null, { timeout: 20000 });
  const cdp = await context.newCDPSession(page), ways = ['draws', 'hidden', 'frozen', 'crashed'];
  if (!ways.includes(how)) throw new Error(`the second argument is one of ${ways.join(', ')}`);
  let is = how;
  if (how === 'hidden') {
    is = await page.evaluate(() => { // headless Chromium hides no tab: the page is told what it would see
      Object.defineProperties(document, { hidden: { get: () => true }, visibilityState: { get: () => 'hidden' } });
      globalThis.requestAnimationFrame = () => 0;
      document.dispatchEvent(new Event('visibilitychange'));
      return document.visibilityState;
    });
  } else if (how === 'frozen') {
    await cdp.send('Page.setWebLifecycleState', { state: 'frozen' });
  } else if (how === 'crashed') {
    const gone = new Promise((done) => page.once('crash', done));
    cdp.send('Page.crash').catch(() => {}); // nobody is left to answer
    await gone;
  } else {
    await page.waitForTimeout(1000);
    is = `draws ${await page.evaluate(() => globalThis.backstep.view.frames)} frames`;
  }
  console.log(is);
  await told;
} finally { for (const f of ends) await f(); }
