#!/usr/bin/env node
// A browser for --browser: opens the page of a peer in headless Chromium, writes
// to the file FIRST_FRAME names when the first frame of a fight was drawn (ms since
// 1970), then leaves the fight and ends the program.

import { writeFileSync } from 'node:fs';
import { Bench } from './harness.js';

const ends = [], b = new Bench({ after: (f) => ends.push(f) });
try {
  const page = await b.open(await b.browser(), process.argv[2]);
  await page.waitForFunction(() => {
    const { view, current } = globalThis.backstep;
    return current?.name === 'fight' && view.fighting && view.frames > 0;
  }, null, { timeout: 30000 });
  writeFileSync(process.env.FIRST_FRAME, String(Date.now()));
  const go = async (name, screen) => {
    await page.evaluate((cmd) => globalThis.backstep.cmd(cmd), name);
    await page.waitForFunction((s) => globalThis.backstep.current?.name === s, screen, { timeout: 10000 });
  };
  await go('leave', 'title');
  await go('quit', 'bye');
} finally { for (const f of ends) await f(); }
