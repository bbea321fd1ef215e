// Which program is the server, and whether it can be.
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';

/** A program that said it is ctxls. */
export interface Program {
  path: string;
  /** What named it. */
  source: 'settings' | 'bundled' | 'path';
  version: string;
}

/** Why there is no server: a sentence for people. */
export class StartError extends Error {}

const executable = process.platform === 'win32' ? 'ctxls.exe' : 'ctxls';

/** How long a program may take to tell its version, in milliseconds. A cold disk and a virus scanner count in. */
const patience = 10_000;

/**
 * Finds the server: the one that the settings name, else the one that came with the extension, else the one on the PATH.
 * What the settings name is not replaced by another where it cannot be used.
 */
export async function findServer(configured: string, extension: string): Promise<Program> {
  if (configured.trim() !== '') {
    return ask(await absolute(configured.trim()), 'settings');
  }
  const bundled = join(extension, 'server', executable);
  const target = await readFile(join(extension, 'server', 'target'), 'utf8').catch(() => '');
  const here = `${process.platform}-${process.arch}`;
  if (target.trim() === here && (await isFile(bundled))) {
    return ask(bundled, 'bundled');
  }
  const found = await onPath();
  if (found) {
    return ask(found, 'path');
  }
  const why = target.trim()
    ? `this package of the extension holds a server for ${target.trim()}, and this is ${here}`
    : 'this package of the extension holds none';
  throw new StartError(`No server was found: ${why}, and there is no ctxls on the PATH.`);
}

async function absolute(configured: string): Promise<string> {
  const path = configured.replace(/^~(?=[\\/])/, homedir());
  if (!isAbsolute(path)) {
    throw new StartError(`The setting ctxls.server.path wants an absolute path, and is “${configured}”.`);
  }
  const there = await stat(path).catch(() => undefined);
  if (!there) {
    throw new StartError(`The setting ctxls.server.path names ${path}, and there is no such file.`);
  }
  if (!there.isFile()) {
    throw new StartError(`The setting ctxls.server.path names ${path}, which is not a file.`);
  }
  return path;
}

/** Looks only in absolute directories: a relative one would be the workspace's. */
async function onPath(): Promise<string | undefined> {
  for (const dir of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(dir, executable);
    if (isAbsolute(dir) && (await isFile(path)) && (await isExecutable(path))) return path;
  }
  return undefined;
}

async function ask(path: string, source: Program['source']): Promise<Program> {
  if (!(await isExecutable(path))) {
    throw new StartError(`${path} may not be executed.`);
  }
  const said = await new Promise<string>((resolve, reject) => {
    execFile(path, ['version'], { timeout: patience, windowsHide: true, cwd: homedir() }, (error, stdout) => {
      if (error)
        reject(new StartError(`${path} could not be run: ${error.killed ? 'it did not answer' : brief(error)}.`));
      else resolve(stdout);
    });
  });
  const version = /^ctxls (\S+) /.exec(said)?.[1];
  if (!version) {
    throw new StartError(`${path} is not ctxls: asked for its version it said “${said.trim().slice(0, 80)}”.`);
  }
  return { path, source, version };
}

function brief(error: Error): string {
  return error.message.split('\n').at(error.message.startsWith('Command failed') ? 1 : 0) || error.message;
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
