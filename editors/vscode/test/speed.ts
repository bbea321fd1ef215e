// What the shipped extension costs the window that loads it: a figure for `make bench`, which runs this. The window is the one of the
// unit tests. As VS Code counts it, activation is loading the program and what activate() does before it waits for anything.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Window } from './unit/vscode.ts';

const bundle = join(import.meta.dirname, '../dist/extension.js');

/** Each process has loaded nothing before. The fastest counts: what else the machine does can only slow one down. */
const processes = 9;

if (process.argv[2] === 'once') {
  const empty = mkdtempSync(join(tmpdir(), 'ctxls-speed-'));
  const window = new Window(empty);
  const began = performance.now();
  const activated = window.activate(bundle, empty);
  console.log(performance.now() - began);
  await activated; // there is no server to wait for
  await window.deactivate();
  rmSync(empty, { recursive: true });
} else {
  const times = Array.from({ length: processes }, () =>
    Number(
      execFileSync(process.execPath, [import.meta.filename, 'once'], {
        encoding: 'utf8',
        env: { ...process.env, PATH: '' },
      }),
    ),
  );
  console.log(`figure activation-ms ${Math.min(...times).toFixed(1)}`);
}
