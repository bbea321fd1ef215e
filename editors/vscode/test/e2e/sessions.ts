// Several sessions: which one is shown, picking and pinning, sub-agents, other folders.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { gauge, reads, until, type World } from './world.ts';

export async function theSessions(t: TestContext, world: World): Promise<void> {
  const { page } = world;
  const first = world.agent('a1111111-0000-4000-8000-000000000001');
  first.statusline(144_000, { session_name: 'tidy up' });
  const second = world.agent('b2222222-0000-4000-8000-000000000002');
  const elsewhere = world.agent('c3333333-0000-4000-8000-000000000003', join(world.root, 'home/dev/other'));

  await t.test('the newest session of the workspace is shown; what happens elsewhere is not', async () => {
    elsewhere.turn(180_000);
    second.statusline(50_000, { session_name: 'second thoughts' });
    await reads(gauge(page), '25% · ~117k to compaction');
  });

  await t.test('a click lists them with gauges, sub-agents nested; picking one pins it', async () => {
    second.hook('SubagentStart', { agent_type: 'Explore' });
    await gauge(page).click();
    await until(async () => (await rows(page)).length === 3, 'three rows');
    const [newest, agent, older] = await rows(page);
    assert.match(
      newest ?? '',
      /25%\s+second thoughts.*███░░░░░│░ ~117k left.*claude-sonnet-4-6 · claude-code.*~\/dev\/project/,
    );
    assert.match(agent ?? '', /└\s+\?\s+Explore.*·········/);
    assert.match(older ?? '', /72%\s+tidy up.*███████░│░ ~23k left/);
    await world.picture('pick');
    second.hook('SubagentStop', { agent_type: 'Explore' });
    await until(async () => (await rows(page)).length === 2, 'the list follows');
    await row(page, 'tidy up').click();
    await reads(gauge(page), '72% · ~23k to compaction');
  });

  await t.test('the pinned one stays, whatever is newer', async () => {
    second.turn(60_000);
    await until(async () => {
      await gauge(page).click();
      const all = await rows(page);
      await page.keyboard.press('Escape');
      return all.some(text => /30%.*~107k left/.test(text));
    }, 'the list knows the newer one');
    await reads(gauge(page), '72% · ~23k to compaction');
  });

  await t.test('until it is unpinned or ends', async () => {
    await gauge(page).click();
    await row(page, 'Follow the newest session').click();
    await reads(gauge(page), '30% · ~107k to compaction');
    await gauge(page).click();
    await row(page, 'tidy up').hover();
    await row(page, 'tidy up').locator('.codicon-pin').click();
    await page.keyboard.press('Escape');
    await reads(gauge(page), '72% · ~23k to compaction');
    first.hook('SessionEnd.other');
    await reads(gauge(page), '30% · ~107k to compaction');
  });

  await t.test('a long name keeps its figures in sight; the list is sorted and grouped', async () => {
    const name = 'a/name/that/nobody/would/give/a/session/but/some/do/anyway/because/they/can';
    first.hook('SessionStart.startup.interactive');
    first.statusline(144_000, { session_name: name });
    await gauge(page).click();
    await row(page, 'a/name').waitFor();
    for (const part of ['72%', '~23k left']) {
      const box = await row(page, 'a/name').getByText(part).first().boundingBox();
      const list = await page.locator('.quick-input-widget').boundingBox();
      assert(
        box && list && box.x + box.width <= list.x + list.width,
        `${part} is out of sight: ${JSON.stringify(box)}`,
      );
    }
    await page.locator('.quick-input-widget [aria-label="Fullest First"]').click();
    await until(async () => /72%.*30%/.test((await rows(page)).join()), 'the fullest first');
    await page.locator('.quick-input-widget [aria-label="Group by host"]').click();
    await page.locator('.quick-input-list').getByText('claude-code', { exact: true }).waitFor();
    await world.picture('pick-sorted');
    await page.locator('.quick-input-widget [aria-label="Newest First"]').click();
    await page.locator('.quick-input-widget [aria-label="Group by project"]').click();
    await page.locator('.quick-input-list').getByText('~/dev/project', { exact: true }).waitFor();
    await page.locator('.quick-input-widget [aria-label="Group by state"]').click();
    await page.keyboard.press('Escape');
    first.hook('SessionEnd.other');
    await reads(gauge(page), '30% · ~107k to compaction');
  });

  await t.test('all sessions of the machine are shown where the settings say so', async () => {
    world.set({ 'ctxls.sessions': 'all' });
    await until(async () => {
      await gauge(page).click();
      const all = await rows(page);
      await page.keyboard.press('Escape');
      return all.some(text => /90%.*other/.test(text));
    }, 'the other project’s session');
    world.set({});
    await until(() => world.servers().length === 1, 'one server again');
    await reads(gauge(page), '30% · ~107k to compaction');
  });

  await t.test('and in a window without a folder', async () => {
    elsewhere.turn(182_000);
    const bare = await world.open(null);
    await reads(gauge(bare), '91% · ~0 to compaction');
    await bare.close({ runBeforeUnload: true });
    await until(() => world.servers().length === 1, 'its server goes with it');
    await reads(gauge(page), '30% · ~107k to compaction');
  });
}

function row(page: Page, text: string) {
  return page.locator('.quick-input-list .monaco-list-row').filter({ hasText: text }).first();
}

async function rows(page: Page): Promise<string[]> {
  const all = await page.locator('.quick-input-list .monaco-list-row').allTextContents();
  return all.map(text => text.replace(/\s+/g, ' '));
}
