// The extension's keys against those of VS Code itself, on all systems. The test in the real editor looks at the running one.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const read = (path: string) => JSON.parse(readFileSync(join(import.meta.dirname, path), 'utf8'));

/** What VS Code of this version binds by default after ctrl+k, on macOS after cmd+k. */
const chords: Record<'version' | 'linux' | 'windows' | 'macos', string> = read('chords.json');
const keybindings: { command: string; key: string; mac: string; when: string }[] =
  read('../../package.json').contributes.keybindings;

test('no key is one of VS Code’s', () => {
  assert(keybindings.length > 0);
  for (const { command, key, mac } of keybindings) {
    for (const [system, first, own] of [
      ['linux', 'ctrl+k ', key],
      ['windows', 'ctrl+k ', key],
      ['macos', 'cmd+k ', mac],
    ] as const) {
      assert(own.startsWith(first), `${command}: ${own} on ${system}`);
      const taken = chords[system].split(' | ');
      assert(taken.length > 70);
      assert(!taken.includes(own.slice(first.length)), `${command}: ${own} is VS Code’s on ${system}`);
    }
  }
  assert.equal(new Set(keybindings.map(({ key }) => key)).size, keybindings.length, 'two commands have one key');
});

// There cmd+k alone clears it. A longer key that begins like it would have the editor wait for more.
test('no key takes cmd+k from the terminal, its accessible view or the debug console on macOS', () => {
  for (const { command, when } of keybindings) {
    for (const part of ['!terminalFocus', '!accessibleViewIsShown', "focusedView != 'workbench.panel.repl.view'"]) {
      assert(when.split(' && ').includes(part), `${command}: ${when}`);
    }
  }
});
