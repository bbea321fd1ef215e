// What a person sees, in a real VS Code. One editor serves all but the last; later parts go on from where earlier ones left it.
import { test } from 'node:test';
import { theContextFiles } from './contextfiles.ts';
import { theDashboard } from './dashboard.ts';
import { theEditor } from './editor.ts';
import { theFleet } from './fleet.ts';
import { theGauge } from './gauge.ts';
import { theLifecycle, theTrust } from './lifecycle.ts';
import { theSessions } from './sessions.ts';
import { theView } from './view.ts';
import { World } from './world.ts';

test('the extension in a real VS Code', async t => {
  const world = await World.start();
  t.after(() => world.stop());
  const parts = { theGauge, theSessions, theView, theDashboard, theEditor, theContextFiles, theLifecycle, theFleet };
  for (const [name, part] of Object.entries(parts)) {
    if (process.env.CTXLS_PART && process.env.CTXLS_PART !== name) continue;
    await t.test(name, async t => {
      try {
        await part(t, world);
      } finally {
        await world.picture(`end-of-${name}`); // shows what was there when something failed
      }
    });
  }
});

test('trust', theTrust);
