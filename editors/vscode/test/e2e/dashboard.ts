// The dashboard: drawn, in all themes, by keyboard, and without a request to anywhere.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Frame, FrameLocator, Locator, Page } from 'playwright-core';
import { toast } from './editor.ts';
import { hover } from './gauge.ts';
import { away, gauge, reads, until, type World } from './world.ts';

const themes = {
  light: 'Default Light Modern',
  dark: 'Default Dark Modern',
  'high-contrast': 'Default High Contrast',
  'high-contrast-light': 'Default High Contrast Light',
};

/** How the page of a report may be asked to look. */
const looks = [
  { colorScheme: 'light' },
  { colorScheme: 'dark' },
  { colorScheme: 'light', contrast: 'more' },
  { colorScheme: 'dark', contrast: 'more' },
  { colorScheme: 'dark', forcedColors: 'active' },
] as const;

/** Of the window, in pixels: the page is what the side bar leaves of it. */
const widths = [320, 900, 1_280, 2_560];
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export async function theDashboard(t: TestContext, world: World): Promise<void> {
  const { page } = world;
  await world.command('View: Close All Editors');
  const other = world.agent('d3333333-0000-4000-8000-000000000003');
  const agent = world.agent('d4444444-0000-4000-8000-000000000004');

  await t.test('without a session it says what to do, with buttons', async () => {
    // Another browser's window: it has seen no session yet.
    const bare = await world.open(join(world.root, 'home/dev/empty'));
    await reads(gauge(bare), 'ctxls: set up');
    await bare.locator('.activitybar .action-label[aria-label^="ctxls"]').click();
    await bare.locator('.welcome-view').getByRole('button', { name: 'Set Up an Agent Host' }).waitFor();
    await bare.locator('.pane-header, .title-actions').locator('[aria-label^="Show Dashboard"]').first().click();
    const frame = dashboard(bare);
    await reads(frame.locator('h1'), 'No session yet');
    await frame.getByRole('button', { name: 'Get Started' }).waitFor();
    assert.deepEqual(await violations(await pageOf(bare)), []);
    await world.picture('welcome', bare);
    await frame.getByRole('button', { name: 'Set Up an Agent Host' }).click();
    await reads(
      bare.locator('.quick-input-list .monaco-list-row').filter({ hasText: 'Codex' }),
      /not found on this machine/,
    );
    await bare.close({ runBeforeUnload: true });
    await until(() => world.servers().length === 1, 'its server goes with it');
  });

  await t.test('it draws the curve with its compaction, the contents and the figures of all tasks', async () => {
    other.statusline(46_000, { session_name: 'write the release notes' });
    agent.statusline(21_000, { session_name: 'port the parser' });
    for (const tokens of [34_000, 58_000, 71_000, 96_000, 118_000, 139_000, 163_000])
      agent.turn(tokens, 'src/token.go');
    agent.compact(17_000);
    agent.turn(31_000, 'src/parse.go');
    agent.turn(44_000, 'README.md');
    agent.turn(67_000, 'src/scan.go');
    agent.turn(89_000, 'src/parse.go');
    agent.turn(112_000, 'src/parse_test.go');
    await reads(gauge(page), '56% · ~55k to compaction');
    await world.command('ctxls: Show Dashboard');
    const frame = dashboard(page);
    await reads(frame.locator('h1'), 'port the parser');
    await reads(frame.locator('.figure'), '56%');
    const curve = await frame.locator('#history path.curve').getAttribute('d');
    assert((curve?.match(/[ML]/g)?.length ?? 0) >= 14, `the curve is ${curve}`);
    assert.equal(await frame.locator('#history .compaction').count(), 1);
    const box = await frame.locator('#history path.curve').boundingBox();
    assert(box && box.width > 300 && box.height > 50, `the curve is ${JSON.stringify(box)}`);
    await reads(frame.locator('#fleet'), /Tasks\d+ of the last 1,000/);
    await reads(frame.locator('#files'), /src\/parse\.go ~\d+k/);
    await reads(frame.locator('#parts'), /results of Read~\d+k\d+%.*system prompt and tools/);
    await reads(frame.locator('#turn'), /results of Read/);
    assert((await frame.locator('#sizes rect.bar').count()) > 3, 'the sizes of the tasks');
  });

  await t.test('it shows what could go, what compactions cost, and what stands before the first prompt', async () => {
    const frame = dashboard(page);
    await reads(
      frame.locator('#plan'),
      /(Cut|Wait).*Could go~\d+k, \d+%Left after a cut~\d+k.*duplicate: the same result stands again later/,
    );
    await reads(
      frame.locator('#compactions'),
      /^Compactions163k → 17k just now, automatic, between turnsThe summary names\d+ of \d+ files?.*Used of that.*Files read again\d+ of \d+/,
    );
    await reads(
      frame.locator('#ledger'),
      /Compactions\d+Automatic\d+ of \d+In the middle of a turn\d+ of \d+Freed by each\d+k/,
    );
    await reads(frame.locator('#audit'), /A session of Claude Code that starts in \S+project holds ~[\d.]+k tokens/);
  });

  await t.test('it follows', async () => {
    agent.turn(120_000, 'src/parse_test.go');
    await reads(dashboard(page).locator('.figure'), '60%');
    await reads(await hover(page), /results of Read ~\d+k/);
    await world.picture('hover');
    await away(page);
  });

  await t.test('it fits each kind of theme', async () => {
    await world.command('View: Close Primary Side Bar').catch(() => {});
    const { width, height } = page.viewportSize() ?? { width: 1280, height: 800 };
    const long = 'a/title/without/any/space/'.repeat(6);
    agent.statusline(120_000, { session_name: long });
    await reads(dashboard(page).locator('h1'), /^a\/title/);
    assert.equal(await dashboard(page).getByText('a/title/without').count(), 1, 'the title stands there once');
    const found: string[] = [];
    for (const [name, theme] of Object.entries(themes)) {
      world.set({ 'workbench.colorTheme': theme });
      await dashboard(page).locator(`body[data-vscode-theme-kind="vscode-${name}"]`).waitFor();
      for (const wide of widths) {
        await page.setViewportSize({ width: wide, height });
        await until(async () => (await overflow(page)) === 0, `all of it in sight at ${wide} pixels, ${name}`, 10_000);
        found.push(...(await violations(await pageOf(page))).map(text => `${name}, ${wide} pixels: ${text}`));
      }
    }
    assert.deepEqual(found, []);
    agent.statusline(120_000, { session_name: 'port the parser' });
    await reads(dashboard(page).locator('h1'), 'port the parser');
    await page.setViewportSize({ width, height: 3400 }); // all of it in one picture
    for (const [name, theme] of Object.entries(themes)) {
      world.set({ 'workbench.colorTheme': theme });
      await dashboard(page).locator(`body[data-vscode-theme-kind="vscode-${name}"]`).waitFor();
      await away(page);
      await world.picture(`dashboard-${name}`);
    }
    await page.setViewportSize({ width, height });
    world.set({});
    await dashboard(page).locator('body.vscode-light, body.vscode-dark').first().waitFor();
  });

  await t.test('the page of a report says the same in the same words, and fits as well', () => thePage(world, agent));

  await t.test('it is used by keyboard and read aloud', async () => {
    const frame = dashboard(page);
    const slider = frame.getByRole('slider', { name: 'Point of the history' });
    const points = Number(await slider.getAttribute('max')) + 1;
    await slider.focus();
    const before = await slider.getAttribute('aria-valuetext');
    await page.keyboard.press('ArrowLeft');
    await until(async () => (await slider.getAttribute('aria-valuetext')) !== before, 'the slider says another point');
    assert.match((await slider.getAttribute('aria-valuetext')) ?? '', /reported 112,060 tokens, 56% of the window/);
    assert.match(
      (await frame.getByRole('img').first().getAttribute('aria-label')) ?? '',
      /History of \d+ points\. The last: 120,000 of 200,000 tokens\. Compacted once\./,
    );
    assert.equal(await frame.getByRole('meter').first().getAttribute('aria-valuenow'), '60');
    await frame.locator('#history summary').focus();
    await page.keyboard.press('Enter');
    assert.equal(await frame.locator('#history tbody tr').filter({ visible: true }).count(), points);
    // What a person is at stays as it is when the session goes on.
    await slider.focus();
    const at = await slider.inputValue();
    agent.turn(124_000, 'src/parse_test.go');
    await reads(frame.locator('.figure'), '62%');
    assert.equal(await slider.inputValue(), at);
    assert.equal(await frame.locator('#point:focus').count(), 1, 'the focus');
    assert.equal(await frame.locator('#history details[open]').count(), 1, 'the open table');
    await frame.getByRole('combobox', { name: 'Show another session' }).selectOption({ index: 1 });
    await reads(frame.locator('h1'), 'write the release notes');
    await frame.getByRole('button', { name: 'Pin to Status Bar' }).click();
    await reads(gauge(page), '23% · ~121k to compaction');
    await frame.getByRole('button', { name: 'Unpin' }).click();
    await reads(gauge(page), '62% · ~43k to compaction');
  });

  await t.test('files are links, and what fills the window says why it is not known', async () => {
    const frame = dashboard(page);
    mkdirSync(join(world.project, 'src'), { recursive: true });
    writeFileSync(join(world.project, 'src/parse.go'), 'package parse\n');
    await frame.getByRole('combobox', { name: 'Show another session' }).selectOption({ index: 1 });
    await frame.locator('#files').getByRole('button', { name: 'src/parse.go', exact: true }).click();
    await page.locator('.monaco-editor .view-line').filter({ hasText: 'package parse' }).waitFor();
    await world.command('ctxls: Show Dashboard');
    await frame.locator('#files').getByRole('button', { name: 'README.md' }).click();
    await toast(page, 'there is no file README.md');
    const lost = world.agent('d5555555-0000-4000-8000-000000000005');
    lost.statusline(20_000, { session_name: 'lost', transcript_path: '/nowhere/at-all.jsonl' });
    await frame.getByRole('combobox', { name: 'Show another session' }).selectOption({ label: 'lost (10%, active)' });
    await reads(frame.locator('#parts'), /Not known: \S+ .*\./);
    await reads(frame.locator('dl').first(), /Growth\? \(known after the first turn\)/);
    lost.hook('SessionEnd.other');
    await reads(frame.locator('h1'), 'port the parser');
  });

  await t.test('names are text there, and nothing may be loaded', async () => {
    const frame = dashboard(page);
    agent.statusline(120_000, { session_name: '<img src=x onerror=alert(1)><b>bold</b>' });
    await reads(frame.locator('h1'), '<img src=x onerror=alert(1)><b>bold</b>');
    assert.equal(await frame.locator('h1 *, img').count(), 0);
    const refused = await frame.locator('body').evaluate(async body => {
      const script = body.ownerDocument.createElement('script');
      script.textContent = 'document.body.dataset.ran = "yes"';
      body.append(script);
      const fetched = await fetch('/').then(
        () => 'fetched',
        () => 'refused',
      );
      return `${fetched} ${body.dataset.ran ?? 'not run'}`;
    });
    assert.equal(refused, 'refused not run');
    agent.statusline(120_000, { session_name: 'port the parser' });
    await reads(frame.locator('h1'), 'port the parser');
  });
}

/** The page of `ctxls report --html` is made of the same components. */
async function thePage(world: World, agent: ReturnType<World['agent']>): Promise<void> {
  const file = join(world.root, 'report.html');
  const unknown = world.agent('d6666666-0000-4000-8000-000000000006'); // whose share of the window no meter can show
  unknown.hook('SessionStart.startup.interactive');
  agent.statusline(120_000, { session_name: 'port the parser' }); // the newest is shown
  execFileSync(world.machine.ctxls, ['report', '--html', file], { env: world.machine.env, stdio: 'ignore' });
  unknown.hook('SessionEnd.other');
  const context = await world.page.context().browser()?.newContext();
  assert(context);
  const page = await context.newPage();
  const asked: string[] = [];
  page.on('request', request => asked.push(request.url()));
  await page.goto(`file://${file}`);
  const found: string[] = [];
  for (const media of looks) {
    await page.emulateMedia(media);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      const wide = await page.locator('html').evaluate(html => html.scrollWidth - html.clientWidth);
      assert(wide <= 0, `${JSON.stringify(media)}: ${wide} of ${width} pixels are out of sight`);
      found.push(...(await violations(page.mainFrame())).map(text => `${JSON.stringify(media)}, ${width}: ${text}`));
    }
    await page.setViewportSize({ width: 1280, height: 3600 });
    await world.picture(`page-${Object.values(media).join('-')}`, page);
  }
  assert.deepEqual(found, []);
  assert.deepEqual(asked, [`file://${file}`]);
  for (const id of ['gauge', 'history', 'parts', 'plan', 'compactions', 'audit', 'fleet', 'sizes', 'ledger']) {
    const [here, there] = [page.locator(`#${id}`), dashboard(world.page).locator(`#${id}`)];
    assert.deepEqual(await words(here), await words(there), `the words of ${id}`);
  }
  await context.close();
}

/** The headings and labels of a part: what does not hang on the moment. */
function words(part: Locator): Promise<string[]> {
  return part.locator('h2, h3, dt, figcaption').allTextContents();
}

/** How far the page is wider than its window, in pixels. */
async function overflow(page: Page): Promise<number> {
  return dashboard(page)
    .locator('html')
    .evaluate(html => Math.max(0, html.scrollWidth - html.clientWidth));
}

/** The frame of the dashboard. */
async function pageOf(page: Page): Promise<Frame> {
  const frame = await (await dashboard(page).locator('body').elementHandle())?.ownerFrame();
  assert(frame);
  return frame;
}

/** What axe objects to. */
async function violations(frame: Frame): Promise<string[]> {
  await frame.evaluate(axe); // by the browser's debugger, which no policy of the page holds
  return frame.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  });
}

/** The page inside the panel. */
export function dashboard(page: Page): FrameLocator {
  return page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame');
}
