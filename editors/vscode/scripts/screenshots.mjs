// Cuts the README's pictures out of those that the tests left behind.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

/** What to cut out of which picture: x, y, width, height; and how small to make it. */
const cuts = {
  gauge: { from: 'hover', cut: [834, 424, 446, 376] },
  levels: { from: ['level-normal', 'level-warning', 'level-critical', 'compacting'], cut: [980, 768, 300, 32] },
  dashboard: { from: 'dashboard-dark', cut: [200, 64, 930, 1310] },
  view: { from: 'view', cut: [4, 30, 346, 100] },
  pick: { from: 'pick', cut: [340, 30, 602, 182] },
};

const root = new URL('../', import.meta.url);
const picture = name => `data:image/png;base64,${readFileSync(new URL(`out/screenshots/${name}.png`, root), 'base64')}`;
const executablePath = execFileSync(
  'sh',
  ['-c', 'command -v chromium || command -v chromium-browser || command -v google-chrome'],
  {
    encoding: 'utf8',
  },
).trim();
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const page = await browser.newPage();
for (const [name, { from, cut }] of Object.entries(cuts)) {
  const [x, y, width, height] = cut;
  const parts = [from].flat();
  await page.setViewportSize({ width, height: height * parts.length });
  const style = `display:block;width:${width}px;height:${height}px;background-position:-${x}px -${y}px;background-image:`;
  const html = parts.map(part => `<div style="${style}url(${picture(part)})"></div>`).join('');
  await page.setContent(`<body style="margin:0">${html}</body>`);
  writeFileSync(new URL(`media/${name}.png`, root), await page.screenshot());
  console.log(`media/${name}.png`);
}
await browser.close();
