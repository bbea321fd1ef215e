// Makes the README's pictures of those that the test of pictures left behind.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

/** Which pictures become which one, below each other; of those not wanted whole, left, top, width and height, or how much of the right. */
const pictures = {
  gauge: { from: ['hover-light-1280'] },
  levels: { from: ['normal', 'warning', 'critical', 'compacting'].map(level => `bar-${level}-light`), right: 310 },
  dashboard: { from: ['whole'], cut: [348, 64, 932, 1310] },
  view: { from: ['view-light-1280'], cut: [0, 0, 300, 130] },
  pick: { from: ['pick-light-1280'] },
};

const root = new URL('../', import.meta.url);
const read = name => readFileSync(new URL(`out/screenshots/${name}.png`, root));
const executablePath = execFileSync(
  'sh',
  ['-c', 'command -v chromium || command -v chromium-browser || command -v google-chrome'],
  {
    encoding: 'utf8',
  },
).trim();
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const page = await browser.newPage();
for (const [name, { from, cut, right }] of Object.entries(pictures)) {
  const parts = from.map(read);
  const sizes = parts.map(png => [png.readUInt32BE(16), png.readUInt32BE(20)]); // as its first chunk says
  const widest = Math.max(...sizes.map(([width]) => width));
  const boxes = parts.map((png, i) => {
    const [w, h] = sizes[i];
    const [x, y, width, height] = cut ?? (right ? [w - right, 0, right, h] : [0, 0, w, h]);
    const background = `url(data:image/png;base64,${png.toString('base64')}) -${x}px -${y}px no-repeat`;
    return { width, height, style: `width:${width}px;height:${height}px;margin-left:auto;background:${background}` };
  });
  const width = cut?.[2] ?? right ?? widest;
  await page.setViewportSize({ width, height: boxes.reduce((sum, { height }) => sum + height, 0) });
  await page.setContent(
    `<body style="margin:0">${boxes.map(({ style }) => `<div style="${style}"></div>`).join('')}</body>`,
  );
  writeFileSync(new URL(`media/${name}.png`, root), await page.screenshot());
  console.log(`media/${name}.png`);
}
await browser.close();
