// Every view in three themes and three widths, compared with stored pictures.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Agent } from '../agent.ts';
import { dashboard } from './dashboard.ts';
import { hover } from './gauge.ts';
import { Looks } from './looks.ts';
import { away, gauge, noHover, reads, until, World } from './world.ts';

const themes = {
  light: 'Default Light Modern',
  dark: 'Default Dark Modern',
  'high-contrast': 'Default High Contrast',
};
/** The class of the editor's window in a theme. */
const workbench = { light: 'vs', dark: 'vs-dark', 'high-contrast': 'hc-black' };

const widths = [800, 1_280, 1_920];

/** A morning's work: minutes ago, tokens in the window, and the file that is read. */
const work: [ago: number, tokens: number, file?: string][] = [
  [64, 21_000],
  [61, 24_800, 'internal/cart/total.go'],
  [58, 33_900, 'internal/cart/total_test.go'],
  [55, 47_200, 'internal/money/round.go'],
  [52, 58_300],
  [49, 71_500, 'internal/money/round_test.go'],
  [46, 79_900],
  [43, 96_400, 'internal/checkout/invoice.go'],
  [40, 111_800, 'internal/checkout/invoice_test.go'],
  [37, 118_200],
  [34, 137_300, 'docs/rounding.md'],
  [31, 151_600],
  [28, 164_900],
];
const workSince: typeof work = [
  [24, 28_400],
  [21, 36_700, 'internal/cart/total.go'],
  [17, 51_300, 'internal/checkout/invoice.go'],
  [13, 66_000, 'internal/money/round.go'],
  [9, 74_200],
  [6, 93_700, 'internal/checkout/receipt.go'],
  [3, 104_500],
  [0, 121_300, 'internal/cart/total_test.go'],
];

export async function thePictures(t: TestContext): Promise<void> {
  const world = await World.start({ folder: 'shop' });
  try {
    const look = new Looks(world);
    const why = await look.lack();
    if (why) {
      assert(process.env.CI !== 'true', why);
      t.skip(`not run: the pictures: ${why}`);
      return;
    }
    const agent = world.agent('5e1f0c0a-0000-4000-8000-000000000001');
    await theViews(world, look, agent);
    await theLevels(world, look, agent);
    t.diagnostic(`at most ${(100 * look.most).toFixed(2)}% of a picture that is as it should be differs`);
    assert.deepEqual(look.different, [], 'see out/screenshots; make vscode-screenshots renews what is kept');
  } finally {
    await world.stop();
  }
}

/** The sessions view, the dashboard, the hover and the list. */
async function theViews(world: World, look: Looks, agent: Agent): Promise<void> {
  const { page } = world;
  const notes = world.agent('5e1f0c0a-0000-4000-8000-000000000002');
  const flaky = world.agent('5e1f0c0a-0000-4000-8000-000000000003');
  for (const one of work) turn(agent, ...one);
  agent.ago(26);
  agent.compact(17_000);
  for (const one of workSince) turn(agent, ...one);
  /** Has all sessions tell of themselves, so that each did so just now. */
  const tell = () => {
    flaky.statusline(152_000, { session_name: 'Mend the flaky test of the cart' });
    notes.statusline(46_000, { session_name: 'Write the release notes' });
    agent.statusline(121_300, { session_name: 'Round totals in the checkout' });
  };
  tell();
  notes.hook('SubagentStart', { agent_type: 'Explore' });
  tell();
  await page.locator('.activitybar .action-label[aria-label^="ctxls"]').click();
  await world.command('ctxls: Show Dashboard');
  const view = page.locator('.pane-body').filter({ hasText: 'Round totals' });
  const list = page.locator('.quick-input-widget');
  for (const [kind, theme] of Object.entries(themes)) {
    world.set({ 'workbench.colorTheme': theme });
    await dashboard(page).locator(`body[data-vscode-theme-kind="vscode-${kind}"]`).waitFor();
    await reads(gauge(page), '61% · ~46k to compaction');
    await reads(dashboard(page).locator('#parts'), /system prompt and tools/);
    for (const width of widths) {
      const name = (view: string) => `${view}-${kind}-${width}`;
      await page.setViewportSize({ width, height: 800 });
      await noHover(page);
      tell();
      await look.at(name('view'), page.locator('.sidebar .composite.title'), view.locator('.monaco-list-rows'));
      await look.at(name('dashboard'), page.locator('.part.editor'));
      await look.at(name('hover'), await hover(page), gauge(page));
      await noHover(page);
      await until(async () => {
        if (!(await list.isVisible())) await gauge(page).click(); // a page that is being drawn may take the focus from it
        return (await list.locator('.monaco-list-row').count()) === 4 && list.isVisible();
      }, 'the list');
      await away(page);
      await look.at(name('pick'), list);
      await page.keyboard.press('Escape');
      await list.waitFor({ state: 'hidden' });
    }
  }
  world.set({ 'workbench.colorTheme': themes.dark });
  await dashboard(page).locator('body[data-vscode-theme-kind="vscode-dark"]').waitFor();
  await page.setViewportSize({ width: 1_280, height: 1_400 });
  await noHover(page);
  await world.picture('whole'); // for the README
}

/** The status bar at each level, and the notice. */
async function theLevels(world: World, look: Looks, agent: Agent): Promise<void> {
  const { page } = world;
  const file = join(world.project, 'total.go');
  writeFileSync(file, 'package cart\n\nfunc (c Cart) Total() Money {\n\treturn c.sum().Round()\n}\n');
  await world.command('View: Close All Editors');
  await world.command('Explorer: Focus on Folders View');
  await page.locator('.explorer-folders-view .monaco-list-row').filter({ hasText: 'total.go' }).dblclick();
  const bar = page.locator('.part.statusbar .right-items');
  for (const [kind, theme] of Object.entries(themes)) {
    world.set({ 'workbench.colorTheme': theme });
    await page.locator(`.monaco-workbench.${workbench[kind as keyof typeof themes]}`).waitFor();
    await page.setViewportSize({ width: 1_280, height: 800 });
    await noHover(page);
    for (const [level, tokens, text] of [
      ['normal', 80_000, '40% · ~87k to compaction'],
      ['warning', 144_000, '72% · ~23k to compaction'],
      ['critical', 174_000, '87% · ~0 to compaction'],
    ] as const) {
      agent.turn(tokens);
      await reads(gauge(page), text);
      await look.at(`bar-${level}-${kind}`, bar);
      await world.picture(`window-${level}-${kind}`);
    }
    const notice = page.locator('.notification-toast').filter({ hasText: 'context 87% full' });
    await notice.waitFor();
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      await look.at(`notice-${kind}-${width}`, notice);
    }
    agent.hook('PreCompact.manual');
    await gauge(page).locator('.codicon-sync').waitFor();
    await look.at(`bar-compacting-${kind}`, bar);
    agent.hook('PostCompact.manual', { compact_summary: 'Totals are rounded once, at the end.' });
    await reads(gauge(page), /^~\d+% · ~\d+k to compaction$/);
    await look.at(`bar-compacted-${kind}`, bar);
    await world.picture(`window-compacted-${kind}`);
    await notice.waitFor({ state: 'detached' });
  }
}

function turn(agent: Agent, ago: number, tokens: number, file?: string): void {
  agent.ago(ago || undefined);
  agent.turn(tokens, ...(file ? [file] : []));
}
