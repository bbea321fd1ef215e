// The alert over all tasks: off until somebody wants it.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { gauge, noHover, reads, until, type World } from './world.ts';

export async function theFleet(t: TestContext, world: World): Promise<void> {
  const { page } = world;
  const toast = page.locator('.notification-toast').filter({ hasText: 'tasks were larger than their threshold' });
  // A task above the threshold needs a window above it: the status line says a million.
  const large = (id: string) => {
    const agent = world.agent(id);
    agent.statusline(250_000, {}, 1_000_000);
    agent.turn(250_000);
  };

  await t.test('the fleet alert is off by default', async () => {
    world.agent('90999999-0000-4000-8000-000000000009').statusline(30_000);
    await reads(gauge(page), '15% · ~137k to compaction'); // an alert from before the server was there would be no news to it
    for (let i = 0; i < 6; i++) large(`9${i}999999-0000-4000-8000-000000000009`);
    // What comes after the alert is on the screen: so would the alert be, but for the moment that a notification takes.
    world.agent('95999999-0000-4000-8000-000000000009').statusline(260_000, {}, 1_000_000);
    await reads(gauge(page), /^26%/);
    await new Promise(resolve => setTimeout(resolve, 1_500));
    assert.equal(await toast.count(), 0);
  });

  await t.test('where it is on, it is told with something to do, and silenced for good', async () => {
    world.configure({ metrics: { alertIntervalMs: 0 } });
    world.set({ 'ctxls.notices.fleet': true });
    await until(async () => {
      large('97999999-0000-4000-8000-000000000009');
      return toast.waitFor({ timeout: 2_000 }).then(
        () => true,
        () => false,
      );
    }, 'the alert');
    await noHover(page); // that of the gauge would lie above it
    await toast.hover(); // else it goes by itself after some seconds
    large('98999999-0000-4000-8000-000000000009');
    await reads(gauge(page), /^25%/);
    assert.equal(await toast.count(), 1, 'one at a time');
    await toast.getByRole('button', { name: 'Don’t Show Again' }).click();
    await until(
      () =>
        world.settings('user')['ctxls.notices.fleet'] === false &&
        world.settings('workspace')['ctxls.notices.fleet'] === false,
      'it is silenced for good',
    );
  });
}
