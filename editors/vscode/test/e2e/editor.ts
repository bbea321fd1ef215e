// What is done in the editor: measuring, installing hooks, the walkthrough, the log.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { dashboard } from './dashboard.ts';
import { gauge, reads, until, type World } from './world.ts';

export async function theEditor(t: TestContext, world: World): Promise<void> {
  const { page } = world;
  const text = 'hello world\nThe quick brown fox jumps over the lazy dog.\n';
  const file = join(world.project, 'notes.txt');
  writeFileSync(file, text);

  world.agent('e1111111-0000-4000-8000-000000000001').turn(50_000); // its model decides how is counted
  await reads(gauge(page), '25% · ~117k to compaction');

  await t.test('measuring counts the file, or what is selected, as the command line does', async () => {
    const measured = (text: string) => {
      const out = execFileSync(world.machine.ctxls, ['measure', '--json', '-'], {
        input: text,
        env: world.machine.env,
      });
      return JSON.parse(String(out)).tokens as number;
    };
    await world.command('View: Close All Editors');
    await world.command('Explorer: Focus on Folders View');
    await page.locator('.explorer-folders-view .monaco-list-row').filter({ hasText: 'notes.txt' }).click();
    await page.locator('.monaco-editor .view-line').first().waitFor();
    await world.command('ctxls: Measure Selection or File');
    await toast(page, `The file has about ${measured(text)} tokens`);
    await page.locator('.monaco-editor .view-line').first().click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Shift+End');
    await world.command('ctxls: Measure Selection or File');
    await toast(page, `The selection has about ${measured('hello world')} tokens`);
    world.set({ 'ctxls.statusBar.measure': true });
    const item = page.locator('.statusbar-item[id="ctxls.ctxls.measure"]');
    await reads(item, `~${measured('hello world')}`);
    await world.picture('measure');
    await page.keyboard.press('Control+Home');
    await reads(item, `~${measured(text)}`);
    world.set({});
    await until(async () => (await item.count()) === 0, 'it goes when it is not wanted');
  });

  await t.test('installing hooks shows what would change, and changes it when told to', async () => {
    const settings = join(world.machine.env.HOME ?? '', '.claude/settings.json');
    mkdirSync(dirname(settings), { recursive: true });
    writeFileSync(settings, '{\n  "model": "opus"\n}\n');
    await world.command('ctxls: Install Hooks for a Host');
    await reads(option(page, 'Claude Code'), /^Claude Code\s*found on this machine/);
    await reads(option(page, 'Codex'), /^Codex\s*not found on this machine/);
    // The list stays when something else takes the focus.
    await page.locator('.explorer-folders-view .monaco-list-row').filter({ hasText: 'notes.txt' }).click();
    await choose(page, 'Claude Code');
    await choose(page, 'For me, everywhere');
    await choose(page, 'Hooks and status line');
    await page.locator('.view-line').filter({ hasText: 'PostToolBatch' }).first().waitFor();
    await world.picture('install');
    assert.equal(readFileSync(settings, 'utf8'), '{\n  "model": "opus"\n}\n');
    // The change can be read for as long as it takes: the question stays, whatever else is clicked.
    await page.locator('.view-line').filter({ hasText: 'PostToolBatch' }).first().click();
    await choose(page, 'Install');
    await toast(page, 'installed in');
    const { hooks, statusLine } = JSON.parse(readFileSync(settings, 'utf8'));
    // A shell runs the program, so that one that is gone breaks no host.
    const [hook] = hooks.SessionStart[0].hooks;
    const program = [hook.command, ...(hook.args ?? [])].find((word: string) => word.endsWith('/ctxls')) ?? '';
    assert.match(statusLine.command, /statusline/);
    // What hooks run must outlive the extension's directory, which goes with its next version.
    assert(!program.includes('/extensions/'), program);
    assert(existsSync(program) && statSync(program).mode & 0o100, program);
    assert.match(execFileSync(program, ['version'], { encoding: 'utf8' }), /^ctxls \d/);
    await world.command('ctxls: Install Hooks for a Host');
    await reads(option(page, 'Claude Code'), /^Claude Code\s*installed/);
    await choose(page, 'Claude Code');
    await choose(page, 'For me, everywhere');
    await choose(page, 'Hooks and status line');
    await toast(page, 'nothing to do');
  });

  await t.test('setting up asks in a terminal, for all hosts at once', async () => {
    const home = world.machine.env.HOME ?? '';
    const hooks = join(home, '.codex/hooks.json');
    mkdirSync(dirname(hooks), { recursive: true });
    await world.command('ctxls: Set Up All Agent Hosts in a Terminal');
    await page.locator('.terminal-wrapper.active').waitFor();
    await page.keyboard.type('y');
    await page.keyboard.press('Enter');
    await until(() => existsSync(hooks) && readFileSync(hooks, 'utf8').includes('ctxls'), 'Codex runs ctxls');
    const [hook] = JSON.parse(readFileSync(hooks, 'utf8')).hooks.SessionStart[0].hooks;
    assert(!hook.command.includes('/extensions/'), hook.command);
    await page.keyboard.press('Enter'); // closes the terminal
  });

  await t.test('the format of the status bar is seen before it is chosen', async () => {
    await world.command('ctxls: Choose Status Bar Format');
    const input = page.locator('.quick-input-widget input.input');
    await input.fill('{tokens} of {window}');
    await reads(gauge(page), '50k of 200k');
    await page.keyboard.press('Escape');
    await reads(gauge(page), '25% · ~117k to compaction');
    await world.command('ctxls: Choose Status Bar Format');
    await choose(page, 'a bar with a mark where the host compacts');
    await reads(gauge(page), '██░░░░│░ 25%');
    await until(() => world.settings('user')['ctxls.statusBar.format'] === '{icon} {bar} {percent}', 'it is kept');
    await world.picture('format');
    await world.command('ctxls: Choose Status Bar Format');
    await choose(page, 'what is left to compaction');
    await reads(gauge(page), '25% · ~117k to compaction');
  });

  await t.test('each key is the extension’s alone, and does what its command does', async () => {
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Control+s');
    const search = page.locator('.keybindings-editor .keybindings-header input').first();
    const found = page.locator('.keybindings-editor .monaco-list-row');
    for (const [key, command] of [
      ['ctrl+k g', 'Pick Session'],
      ['ctrl+k x', 'Show Dashboard'],
      ['ctrl+k b', 'Show What Fills the Window'],
      ['ctrl+k h', 'Show History'],
    ] as const) {
      await search.fill(`"${key}"`);
      await until(async () => {
        const rows = await found.allTextContents();
        return rows.length === 1 && (rows[0] ?? '').replaceAll('\u00a0', ' ').includes(`ctxls: ${command}`);
      }, `${key} alone for ${command}`);
    }
    await world.picture('keys');
    await world.command('View: Close All Editors');
    await page.keyboard.press('Control+k');
    await page.keyboard.press('g');
    await reads(option(page, '25%'), /~117k left/);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.keyboard.press('x');
    await reads(dashboard(page).locator('.figure'), '25%');
    await world.command('View: Close All Editors');
  });

  await t.test('the walkthrough opens, and the log', async () => {
    await world.command('ctxls: Get Started');
    await page
      .locator('.getting-started-category, .gettingStartedContainer')
      .filter({ hasText: 'Get started with ctxls' })
      .first()
      .waitFor();
    const step = page.locator('.getting-started-step').filter({ hasText: 'Let your agent tell ctxls' }).first();
    await step.locator('.codicon-getting-started-step-checked').first().waitFor(); // since hooks were installed
    await world.picture('walkthrough');
    await world.command('ctxls: Show Log');
    await page
      .locator('.output-view-container .view-line, .panel .view-line')
      .filter({ hasText: 'Starting' })
      .first()
      .waitFor();
    await page.keyboard.press('Escape');
    await world.command('View: Hide Panel');
  });
}

function option(page: Page, text: string) {
  return page.locator('.quick-input-list .monaco-list-row').filter({ hasText: text }).first();
}

async function choose(page: Page, text: string): Promise<void> {
  await option(page, text).click();
}

/** Waits for a notification and closes it. */
export async function toast(page: Page, text: string): Promise<void> {
  const found = page.locator('.notification-toast').filter({ hasText: text }).first();
  await found.waitFor();
  await found.hover();
  await found.locator('.codicon-notifications-clear').click();
  await found.waitFor({ state: 'detached' });
}
