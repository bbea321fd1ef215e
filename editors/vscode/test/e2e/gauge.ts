// The gauge in the status bar and what it says when the pointer rests on it.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { away, gauge, reads, until, type World } from './world.ts';

/** From the end of a hook's process until the screen says it, in milliseconds: what a person calls at once. */
const atOnce = 1_000;

export async function theGauge(t: TestContext, world: World): Promise<void> {
  const { page } = world;
  const agent = world.agent('a1111111-0000-4000-8000-000000000001');

  await t.test('before the first session it says what to do; hidden where the settings say so', async () => {
    await reads(gauge(page), 'ctxls: set up');
    assert.equal(await gauge(page).locator('.codicon-pulse').count(), 1);
    assert.match(await label(page), /set up an agent host/);
    assert.equal(await page.locator('.notification-toast').count(), 0);
    await world.picture('quiet');
    world.set({ 'ctxls.statusBar.whenNoSession': 'hide' });
    await until(async () => (await gauge(page).count()) === 0, 'it hides');
    world.set({});
    await gauge(page).waitFor();
  });

  await t.test('a hook that is run in a terminal makes it appear; what is not known is “?”', async () => {
    const payload = join(world.root, 'payload.json');
    writeFileSync(payload, agent.payload('SessionStart.startup.interactive'));
    await world.command('Terminal: Create New Terminal');
    const terminal = page.locator('.terminal-wrapper.active .xterm');
    await terminal.waitFor();
    await until(() => world.shells() > 0, 'the shell is up');
    await until(async () => {
      await terminal.click();
      await page.keyboard.type(`${world.machine.ctxls} hook claude-code < ${payload}`);
      await page.keyboard.press('Enter');
      const shown = gauge(page).filter({ hasText: '?' }).waitFor({ timeout: 10_000 });
      return shown.then(
        () => true,
        () => false,
      );
    }, 'a hook that was done in time');
    await reads(gauge(page), '?');
    assert.match(await label(page), /how full is not known/);
    await world.picture('terminal');
    await world.command('Terminal: Kill All Terminals');
  });

  await t.test('it follows within a second, with the color and the icon of each level', async () => {
    for (const [tokens, text, kind, level, icon] of [
      [80_000, '40% · ~87k to compaction', '', 'normal', 'pulse'],
      [112_000, '56% · ~55k to compaction', '', 'notice', 'pulse'],
      [144_000, '72% · ~23k to compaction', 'warning-kind', 'warning', 'warning'],
      [172_000, '86% · ~0 to compaction', 'error-kind', 'critical', 'flame'],
    ] as const) {
      agent.turn(tokens);
      const ms = await reads(gauge(page), text);
      t.diagnostic(`${tokens} tokens: on the screen ${ms.toFixed(0)} ms after the hook`);
      assert(ms < atOnce, `it took ${ms.toFixed(0)} ms`);
      await away(page);
      const classes = (await gauge(page).getAttribute('class')) ?? '';
      for (const one of ['warning-kind', 'error-kind'])
        assert.equal(classes.includes(one), one === kind, `${level}: ${classes}`);
      assert.match(await label(page), new RegExp(`level ${level}`));
      assert.equal(await gauge(page).locator(`.codicon-${icon}`).count(), 1, `the icon of ${level}`);
      await world.picture(`level-${level}`);
    }
  });

  await t.test('crossing critical is told once, with something to do', async () => {
    const toast = page.locator('.notification-toast').filter({ hasText: 'context 86% full' });
    await toast.waitFor();
    await world.picture('notice');
    assert.equal(await hidden(toast.locator('.notification-list-item-message')), 0, 'the links are in sight');
    agent.turn(174_000);
    await reads(gauge(page), '87% · ~0 to compaction');
    const toasts = page.locator('.notification-toast');
    await reads(toasts.first(), /context 87% full/); // the figure follows
    assert.equal(await toasts.count(), 1, 'it was told again');
    await toasts.first().getByText('Dismiss').click();
    await until(async () => (await toasts.count()) === 0, 'it is dismissed');
    agent.turn(20_000);
    await reads(gauge(page), '10% · ~147k to compaction');
    agent.turn(174_000);
    await toasts.first().waitFor();
    agent.hook('PreCompact.manual');
    agent.hook('PostCompact.manual', { compact_summary: 'all is well' });
    await until(async () => (await toasts.count()) === 0, 'a compaction takes it back');
    agent.turn(40_000);
    await reads(gauge(page), '20% · ~127k to compaction');
    agent.turn(174_000);
    await toasts.first().getByText('Silence').click();
    await until(() => world.settings('user')['ctxls.notices.critical'] === false, 'it is silenced for good');
    await until(async () => (await toasts.count()) === 0, 'and goes');
  });

  await t.test('compacting is marked, an estimate has its “~”, and the next report is exact', async () => {
    agent.hook('PreCompact.manual');
    await gauge(page).locator('.codicon-sync').waitFor();
    assert.match(await label(page), /compacting now/);
    await world.picture('compacting');
    agent.hook('PostCompact.manual', { compact_summary: 'all is well' });
    await reads(gauge(page), /^~\d+% · ~\d+k to compaction$/);
    assert.match(await label(page), /about \d+ percent/);
    await away(page);
    assert.doesNotMatch((await gauge(page).getAttribute('class')) ?? '', /-kind/);
    agent.turn(30_000);
    await reads(gauge(page), '15% · ~137k to compaction');
  });

  await t.test('the format is the user’s', async () => {
    world.set({
      'ctxls.statusBar.format': '$(rocket) {tokens}/{window} · {model} · {agents} agents | {compactions}x {unknown}',
    });
    await reads(gauge(page), '30k/200k · claude-sonnet-4-6 | 2x {unknown}');
    assert.equal(await gauge(page).locator('.codicon-rocket').count(), 1);
    world.set({});
    await reads(gauge(page), '15% · ~137k to compaction');
  });

  await t.test('the tooltip tells all that is known', async () => {
    agent.statusline(30_000, { session_name: 'tidy up' });
    for (const tokens of [52_000, 75_000, 99_000, 121_000]) agent.turn(tokens, 'src/main.go');
    agent.turn(144_000, 'src/util.go', `src/${'long/'.repeat(20)}name.go`);
    await reads(gauge(page), '72% · ~23k to compaction');
    const tooltip = await hover(page);
    await reads(tooltip, /tidy up.*results of Read ~\d+k/s);
    const text = ((await tooltip.innerText()) ?? '').replace(/\s+/g, ' ');
    for (const part of [
      /claude-sonnet-4-6 \(anthropic, claude-code\)/,
      /Window 200,000 tokens: the host says so/,
      /Tokens 144,000, 72\.0% of the window/,
      /Compaction at 167,000, ~22,9\d\d left; 2 so far/,
      /Growth 2\dk a turn; about 1 turns? left/,
      /Filled by .*results of Read ~\d+k/,
      /Works on src\/long\/…ng\/long\/long\/name\.go, src\/util\.go src\/main\.go/,
      /As of just now, from the transcript/,
    ]) {
      assert.match(text, part);
    }
    const box = await tooltip.boundingBox();
    for (const cell of await tooltip.locator('td').all()) {
      const inside = await cell.boundingBox();
      assert(
        box && inside && inside.x + inside.width <= box.x + box.width,
        `cut on the right: ${await cell.innerText()}`,
      );
    }
    await world.picture('tooltip');
    await tooltip
      .getByRole('link', { name: 'Sessions' })
      .or(tooltip.locator('a', { hasText: 'Sessions' }))
      .first()
      .click();
    await page.locator('.quick-input-list .monaco-list-row').first().waitFor();
    await page.keyboard.press('Escape');
    mkdirSync(join(world.project, 'src'), { recursive: true });
    writeFileSync(join(world.project, 'src/main.go'), 'package main\n');
    const again = await hover(page);
    await again
      .getByRole('link', { name: 'src/main.go' })
      .or(again.locator('a', { hasText: 'src/main.go' }))
      .first()
      .click();
    await page.locator('.monaco-editor .view-line').filter({ hasText: 'package main' }).waitFor();
    await world.command('View: Close All Editors');
  });

  await t.test('what comes from outside is text: no markup, no icon, no command', async () => {
    const name = '**x** $(bug) [run](command:workbench.action.quit) <img src=x onerror=alert(1)> | `c`';
    agent.statusline(144_000, { session_name: name });
    world.set({ 'ctxls.statusBar.format': '{title}' });
    await reads(gauge(page), /^\*\*x\*\* \$\(bug\) \[run\]\(command:/); // the icon of its level is before it
    assert.equal(await gauge(page).locator('.codicon-bug').count(), 0);
    const tooltip = await hover(page);
    await reads(tooltip, /\*\*x\*\* \$\(bug\) \[run\]\(com…rkbench\.action\.quit/);
    assert.equal(await tooltip.locator('.codicon-bug, img, a[data-href*="quit"]').count(), 0);
    await away(page);
    agent.statusline(144_000, { session_name: 'tidy up' });
    world.set({});
    await reads(gauge(page), '72% · ~23k to compaction');
  });
}

/** How much of a line is cut, in pixels. */
function hidden(line: Locator): Promise<number> {
  return line.evaluate(line => line.scrollWidth - line.clientWidth);
}

async function label(page: Page): Promise<string> {
  return (await gauge(page).locator('[aria-label]').first().getAttribute('aria-label')) ?? '';
}

/** Rests the pointer on the gauge until its tooltip is there. */
export async function hover(page: Page) {
  await away(page);
  const tooltip = page.locator('.workbench-hover-container .monaco-hover').filter({ visible: true }).first();
  await until(async () => {
    await gauge(page).hover();
    return tooltip.waitFor({ timeout: 3_000 }).then(
      () => true,
      () => away(page).then(() => false),
    );
  }, 'a tooltip');
  return tooltip;
}
