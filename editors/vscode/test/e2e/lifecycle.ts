// The server's life: one a window, whatever happens to it, and a clear word where there is none.
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { dashboard } from './dashboard.ts';
import { gauge, noHover, reads, until, World } from './world.ts';

export async function theLifecycle(t: TestContext, world: World): Promise<void> {
  const { page } = world;
  const agent = world.agent('e5555555-0000-4000-8000-000000000005');

  await t.test('kill -9 of the server: another one takes over, with what happened meanwhile', async () => {
    agent.turn(40_000);
    await reads(gauge(page), '20% · ~127k to compaction');
    const [first, ...others] = world.servers();
    assert.deepEqual(others, [], 'more than one server');
    assert(first);
    process.kill(first, 'SIGKILL');
    agent.turn(60_000);
    const ms = await reads(gauge(page), '30% · ~107k to compaction');
    t.diagnostic(`recovered in ${ms.toFixed(0)} ms`);
    await until(() => world.servers().length === 1 && world.servers()[0] !== first, 'one new server');
    assert.equal(await page.locator('.notification-toast').count(), 0, 'a death that is mended is no news');
  });

  await t.test('a reload of the window leaves one server, and the dashboard', async () => {
    await world.command('View: Close All Editors');
    await world.command('ctxls: Show Dashboard');
    await reads(dashboard(page).locator('.figure'), /%/);
    for (let i = 0; i < 2; i++) {
      const [before] = world.servers();
      await world.command('Developer: Reload Window');
      await until(() => world.servers().length === 1 && world.servers()[0] !== before, 'one new server');
      await reads(gauge(page), '30% · ~107k to compaction');
    }
    await world.picture('reloaded');
    await reads(dashboard(page).locator('.figure'), /%/);
    await world.command('View: Close All Editors');
  });

  await t.test('restarting by command leaves one server', async () => {
    const [before] = world.servers();
    await world.command('ctxls: Restart Server');
    await until(() => world.servers().length === 1 && world.servers()[0] !== before, 'one new server');
    await reads(gauge(page), '30% · ~107k to compaction');
  });

  await t.test('a second window has a server of its own, which goes with it', async () => {
    const folder = join(world.root, 'home/dev/other');
    world.agent('e6666666-0000-4000-8000-000000000006', folder).turn(150_000);
    const other = await world.open(folder);
    await reads(gauge(other), '75% · ~17k to compaction');
    assert.equal(world.servers().length, 2);
    await other.close({ runBeforeUnload: true });
    await until(() => world.servers().length === 1, 'its server goes with it');
    await world.command('ctxls: Restart Server'); // the first one's is not the one that goes
    await reads(gauge(page), '30% · ~107k to compaction');
  });

  await t.test('a missing program: a clear message with buttons; put right, it runs', async () => {
    const missing = join(world.root, 'nowhere/ctxls');
    world.set({ 'ctxls.server.path': missing });
    const message = page
      .locator('.notification-toast')
      .filter({ hasText: `names ${missing}, and there is no such file` });
    await message.waitFor();
    for (const name of ['Show Log', 'Open Settings', 'How to Install']) {
      await message.getByRole('button', { name }).waitFor();
    }
    await reads(gauge(page), 'ctxls');
    assert.equal(await gauge(page).locator('.codicon-debug-disconnect').count(), 1);
    await world.picture('missing');
    await message.getByRole('button', { name: 'Open Settings' }).click();
    await page.locator('.settings-editor').filter({ hasText: 'Server: Path' }).waitFor();
    await page.keyboard.press('Escape');

    const wrong = join(world.root, 'wrong');
    writeFileSync(wrong, '#!/bin/sh\necho something else\n');
    chmodSync(wrong, 0o755);
    world.set({ 'ctxls.server.path': wrong });
    await page
      .locator('.notification-toast')
      .filter({ hasText: 'is not ctxls: asked for its version it said “something else”' })
      .waitFor();

    const dying = join(world.root, 'dying');
    writeFileSync(
      dying,
      '#!/bin/sh\n[ "$1" = version ] && echo "ctxls 9 x y" && exit\necho "ctxls: the state is of a newer ctxls" >&2; exit 1\n',
    );
    chmodSync(dying, 0o755);
    world.set({ 'ctxls.server.path': dying });
    await page
      .locator('.notification-toast')
      .filter({ hasText: 'did not start: the state is of a newer ctxls' })
      .waitFor();

    world.set({});
    await reads(gauge(page), '30% · ~107k to compaction');
    await until(() => world.servers().length === 1, 'one server');
    await world.command('Notifications: Clear All Notifications');
  });

  await t.test('a list that is open while the server goes says so', async () => {
    await gauge(page).click();
    const row = page.locator('.quick-input-list .monaco-list-row');
    await reads(row.first(), /30%/);
    world.set({ 'ctxls.server.path': join(world.root, 'nowhere/ctxls') });
    await reads(row.first(), /ctxls does not run.*there is no such file/);
    await world.picture('pick-failed');
    world.set({});
    await reads(row.first(), /30%/);
    await page.keyboard.press('Escape');
    await noHover(page);
    await world.command('Notifications: Clear All Notifications');
  });

  await t.test('a server that dies again and again is given up, with a word why', async () => {
    const mortal = join(world.root, 'mortal');
    // It dies once it was greeted, however long that takes: one that dies before did not start at all.
    const heard = join(world.root, 'heard');
    writeFileSync(
      mortal,
      `#!/bin/sh
[ "$1" = version ] && exec ${world.machine.ctxls} version
exec 3<&0
tee ${heard}.$$ <&3 | ${world.machine.ctxls} "$@" &
until grep -q '"initialized"' ${heard}.$$; do sleep 0.1; done
kill -9 $!
`,
    );
    chmodSync(mortal, 0o755);
    world.set({ 'ctxls.server.path': mortal });
    await page.locator('.notification-toast').filter({ hasText: 'The server died 5 times in a short while' }).waitFor();
    await until(() => world.servers().length === 0, 'none is left');
    world.set({});
    await reads(gauge(page), '30% · ~107k to compaction');
    await world.command('Notifications: Clear All Notifications');
  });
}

/** In an editor that asks whom to trust. */
export async function theTrust(t: TestContext): Promise<void> {
  const world = await World.start({ trust: true });
  try {
    const { page } = world;
    await t.test('a program that an untrusted workspace names is not run; once trusted, it is', async () => {
      const ran = join(world.root, 'ran');
      const evil = join(world.project, 'evil');
      writeFileSync(evil, `#!/bin/sh\necho ran >> ${ran}\necho not ctxls\n`);
      chmodSync(evil, 0o755);
      world.set({ 'ctxls.server.path': evil });
      await page.reload();
      world.agent('f6666666-0000-4000-8000-000000000006').turn(80_000);
      await reads(gauge(page), '40% · ~87k to compaction');
      assert.deepEqual(await content(ran), '');
      await world.command('Workspaces: Manage Workspace Trust');
      await page.locator('.workspace-trust-editor').getByRole('button', { name: 'Trust', exact: true }).first().click();
      await page.locator('.notification-toast').filter({ hasText: 'is not ctxls' }).waitFor();
      assert.equal(await content(ran), 'ran\n');
    });
  } finally {
    await world.stop();
  }
}

async function content(path: string): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  return readFile(path, 'utf8').catch(() => '');
}
