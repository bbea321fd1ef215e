// The view of all sessions in the side bar.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { dashboard } from './dashboard.ts';
import { away, gauge, reads, until, type World } from './world.ts';

export async function theView(t: TestContext, world: World): Promise<void> {
  const { page } = world;
  const first = world.agent('71111111-0000-4000-8000-000000000007');
  const second = world.agent('72222222-0000-4000-8000-000000000007');

  await t.test('it has a row a session, with sub-agents below and the level as an icon', async () => {
    first.statusline(144_000, { session_name: 'mend the tests' });
    second.statusline(50_000, { session_name: 'plan the release' });
    second.hook('SubagentStart', { agent_type: 'Explore' });
    await page.locator('.activitybar .action-label[aria-label^="ctxls"]').click();
    await reads(row(page, 'mend the tests'), /72% mend the tests\s*~23k left · claude-code · ~\/dev\/project/);
    await reads(row(page, 'plan the release'), /25% plan the release/);
    await reads(row(page, 'Explore'), /\? Explore/);
    assert.equal(await row(page, 'mend the tests').locator('.codicon-warning').count(), 1);
    second.hook('SubagentStop', { agent_type: 'Explore' });
    await until(async () => (await row(page, 'Explore').count()) === 0, 'the sub-agent goes');
    await away(page);
    await world.picture('view');
  });

  await t.test('a change of one session draws one row', async () => {
    const mark = (element: { setAttribute(name: string, value: string): void }) =>
      element.setAttribute('data-seen', 'yes');
    await row(page, 'mend the tests').locator('.monaco-tl-contents').evaluate(mark);
    second.statusline(60_000, { session_name: 'plan the release' });
    await reads(row(page, 'plan the release'), /30% plan the release/);
    assert.equal(await row(page, 'mend the tests').locator('[data-seen]').count(), 1);
  });

  await t.test('its menu pins, shows and forgets a session', async () => {
    await menu(page, 'mend the tests', 'Pin to Status Bar');
    await reads(gauge(page), '72% · ~23k to compaction');
    await row(page, 'mend the tests').locator('.codicon-pinned').first().waitFor();
    await menu(page, 'mend the tests', 'Unpin');
    await reads(gauge(page), '30% · ~107k to compaction');
    await menu(page, 'mend the tests', 'Show What Fills the Window');
    await reads(dashboard(page).locator('h1'), 'mend the tests');
    await until(async () => {
      const box = await dashboard(page).locator('#parts').boundingBox();
      return box !== null && box.y < 700;
    }, 'what fills the window is in sight');
    first.turn(144_000);
    await menu(page, 'mend the tests', 'Open Record of Session');
    await page.locator('.tab').filter({ hasText: '71111111-0000-4000-8000-000000000007.jsonl' }).waitFor();
    await menu(page, 'mend the tests', 'Forget Session');
    const dialog = page.locator('.monaco-dialog-box').filter({ hasText: 'Forget “mend the tests”?' });
    await dialog.waitFor();
    await world.picture('forget');
    await dialog.getByRole('button', { name: 'Forget', exact: true }).click();
    await until(async () => (await row(page, 'mend the tests').count()) === 0, 'it is forgotten');
  });

  await t.test('without a session it says what to do', async () => {
    second.hook('SessionEnd.other');
    await until(async () => (await row(page, 'plan the release').count()) === 0, 'the session goes');
  });
}

function row(page: Page, text: string) {
  return page.locator('.pane-body .monaco-list-row').filter({ hasText: text }).first();
}

/** Runs an entry of a session's menu by the keyboard: a menu takes no click in the moment in which it opens. */
async function menu(page: Page, session: string, entry: string): Promise<void> {
  await away(page);
  await row(page, session).click({ button: 'right' });
  const entries = page.locator('.context-view .action-item');
  await entries.filter({ hasText: entry }).first().waitFor();
  await until(async () => {
    await page.keyboard.press('ArrowDown');
    return (await page.locator('.context-view .action-item.focused').filter({ hasText: entry }).count()) > 0;
  }, `${entry} has the focus`);
  await page.keyboard.press('Enter');
}
