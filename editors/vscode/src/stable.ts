// The copy of the bundled server that hooks run. An editor puts each version of an extension into a directory of its own and
// removes the old ones, but hooks stay. So hooks run a copy in a place that stays, and each new version of the extension
// updates the copy.
import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type * as vscode from 'vscode';
import type { Program } from './locator.ts';

/** Returns the path by which hosts are to run the program. */
export async function stablePath(context: vscode.ExtensionContext, program: Program): Promise<string> {
  if (program.source !== 'bundled') return program.path;
  const copy = placeOf(context, program);
  if (!(await same(program.path, copy))) await replace(program.path, copy);
  return copy;
}

/** Returns the program that hosts run, or would run: the copy where there is one. Nothing is copied. */
export async function installedPath(context: vscode.ExtensionContext, program: Program): Promise<string> {
  const copy = placeOf(context, program);
  return program.source === 'bundled' && (await exists(copy)) ? copy : program.path;
}

/** Brings the copy up to date, where there is one. */
export async function refreshStable(context: vscode.ExtensionContext, program: Program): Promise<boolean> {
  const copy = placeOf(context, program);
  if (program.source !== 'bundled' || !(await exists(copy)) || (await same(program.path, copy))) return false;
  await replace(program.path, copy);
  return true;
}

function placeOf(context: vscode.ExtensionContext, program: Program): string {
  return join(context.globalStorageUri.fsPath, 'bin', basename(program.path));
}

/** Puts a program in the place of another one, which may be running. At no time is there half of one. */
async function replace(from: string, to: string): Promise<void> {
  await mkdir(join(to, '..'), { recursive: true });
  const fresh = `${to}.new-${process.pid}`;
  await copyFile(from, fresh);
  await chmod(fresh, 0o755);
  if (process.platform === 'win32' && (await exists(to))) {
    const old = `${to}.old`; // a program that runs can be renamed there, not replaced
    await rm(old, { force: true }).catch(() => {});
    await rename(to, old);
  }
  await rename(fresh, to);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function same(a: string, b: string): Promise<boolean> {
  const hash = async (path: string) =>
    createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  try {
    return (await hash(a)) === (await hash(b));
  } catch {
    return false;
  }
}
