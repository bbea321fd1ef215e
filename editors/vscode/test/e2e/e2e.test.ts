// What a person sees, in a real VS Code. One editor serves most parts; later ones go on from where earlier ones left it.
import { test } from 'node:test';
import { theContextFiles } from './contextfiles.ts';
import { theCrowd } from './crowd.ts';
import { theDashboard } from './dashboard.ts';
import { theEditor } from './editor.ts';
import { theFleet } from './fleet.ts';
import { theGauge } from './gauge.ts';
import { theLifecycle, theTrust } from './lifecycle.ts';
import { thePictures } from './pictures.ts';
import { theSessions } from './sessions.ts';
import { theView } from './view.ts';
import { World } from './world.ts';

const parts = {
  theGauge,
  theSessions,
  theView,
  theDashboard,
  theEditor,
  theContextFiles,
  theLifecycle,
  theFleet,
};

/** With CTXLS_PART=NAME only that part is run. */
const wanted = (name: string) => !process.env.CTXLS_PART || process.env.CTXLS_PART === name;

test('the extension in a real VS Code', { skip: !Object.keys(parts).some(wanted) }, async t => {
  const world = await World.start();
  t.after(() => world.stop());
  for (const [name, part] of Object.entries(parts)) {
    if (!wanted(name)) continue;
    await t.test(name, async t => {
      try {
        await part(t, world);
      } finally {
        await world.picture(`end-of-${name}`); // shows what was there when something failed
      }
    });
  }
});

// These have an editor of their own.
test('theCrowd', { skip: !wanted('theCrowd') }, async t => {
  const world = await World.start();
  t.after(() => world.stop());
  await theCrowd(t, world);
});
for (const [name, part] of Object.entries({ theTrust, thePictures })) test(name, { skip: !wanted(name) }, part);
