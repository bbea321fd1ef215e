// What the editor says in a CLAUDE.md: lens, hint, hover, diagnostic, link and quick fix.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { reads, until, type World } from './world.ts';

export async function theContextFiles(t: TestContext, world: World): Promise<void> {
  const { page } = world;
  const home = world.machine.env.HOME ?? '';
  mkdirSync(join(home, '.claude'), { recursive: true });
  mkdirSync(join(world.project, 'docs'), { recursive: true });
  writeFileSync(join(world.project, 'docs/orders.md'), 'Orders are paid before they are sent.\n');
  writeFileSync(join(world.project, 'docs/carts.md'), 'Carts live for a day.\n');
  writeFileSync(join(world.project, 'CLAUDE.md'), '# Shop\n\nSee @docs/orders.md and @docs/carts.md, please.\n');
  world.set({ 'editor.inlayHints.enabled': 'on', 'editor.codeLens': true });
  await world.command('View: Close All Editors');
  await world.command('Explorer: Focus on Folders View');
  await page.locator('.explorer-folders-view .monaco-list-row').filter({ hasText: 'CLAUDE.md' }).click();
  const editor = page.locator('.monaco-editor').first();
  await editor.locator('.view-line').first().waitFor();
  const line = async (n: number) =>
    ((await editor.locator('.view-line').allTextContents())[n - 1] ?? '').replaceAll('\u00a0', ' ');
  const lens = page.locator('.codelens-decoration a').first();

  await t.test('a lens on the first line says what the file costs', async () => {
    await reads(lens, /^~\d+ tokens each session in Claude Code · \d+ of them imports/);
    await world.picture('contextfiles');
  });

  await t.test('hints say what an import costs, and why one is not loaded', async () => {
    await until(async () => /~\d+/.test(await line(3)), 'the tokens of the import');
    await until(async () => (await line(3)).includes('not loaded: trailing comma'), 'the reason');
  });

  await t.test('an import that is not loaded is a warning, and links lead to the others', async () => {
    await editor.locator('.squiggly-warning').first().waitFor();
    await editor.locator('.detected-link').first().waitFor();
  });

  await t.test('a hover says what each host makes of the file', async () => {
    await page.keyboard.press('Escape');
    await editor
      .locator('.view-line')
      .filter({ hasText: '# Shop' })
      .hover({ position: { x: 20, y: 8 } });
    await page
      .locator('.monaco-hover')
      .filter({ hasText: /Rules of .*Claude Code/ })
      .first()
      .waitFor();
  });

  await t.test('the quick fix removes the comma; the lens follows the unsaved change', async () => {
    const before = await lens.textContent();
    await page.keyboard.press('Escape');
    await editor
      .locator('.view-line')
      .filter({ hasText: '# Shop' })
      .click({ position: { x: 20, y: 8 } });
    for (const key of ['ArrowDown', 'ArrowDown', 'End', 'Control+.']) await page.keyboard.press(key);
    await page.locator('.action-widget').getByText('Remove "," after the import').first().waitFor();
    await page.keyboard.press('Enter');
    await until(async () => (await line(3)).includes('@docs/carts.md'), 'the import');
    await until(async () => !(await line(3)).includes('trailing comma'), 'the comma is gone');
    await until(async () => (await lens.textContent()) !== before, 'the lens follows');
  });

  await t.test('the lens opens the audit', async () => {
    await lens.click();
    await page.locator('.view-line').filter({ hasText: 'before the first prompt in' }).first().waitFor();
  });
  await world.command('View: Close All Editors');
  world.set({});
}
