// Opens the files that the server names: those of a session's working set and the session's own record.
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import * as vscode from 'vscode';
import type { SessionView } from './protocol.ts';
import type { Server } from './server.ts';
import { keyOf, type Sessions } from './sessions.ts';
import { line } from './text.ts';

/** The command that opens a file of a session: its arguments are the session's key and the path as the server shows it. */
export const openCommand = 'ctxls.openFile';

/** Returns the link that opens a file from a tooltip. */
export function openLink(s: SessionView, path: string): string {
  const args = encodeURIComponent(JSON.stringify([keyOf(s), path]));
  return `command:${openCommand}?${args.replace(/[()]/g, c => (c === '(' ? '%28' : '%29'))}`;
}

/** Opens a file of a session, or says that it is not there. Only a regular file is opened. */
export async function openFile(sessions: Sessions, key: unknown, path: unknown): Promise<void> {
  const session = sessions.get(String(key));
  const shown = String(path);
  const full = session && absolute(shown, session.cwd);
  if (full && (await isFile(full))) {
    await vscode.window.showTextDocument(vscode.Uri.file(full), { preview: true });
  } else {
    void vscode.window.showWarningMessage(`ctxls: there is no file ${line(shown, 200)}.`);
  }
}

/** Opens the host's own record of a session. */
export async function openRecord(sessions: Sessions, server: Server, key: string | undefined): Promise<void> {
  const session = sessions.get(key ?? '');
  if (!session) return;
  try {
    const { host, sessionId } = session;
    const { record } = await server.request('session/get', { host, sessionId, breakdown: true });
    if (record && (await isFile(record)))
      await vscode.window.showTextDocument(vscode.Uri.file(record), { preview: true });
    else void vscode.window.showWarningMessage('ctxls: there is no record of this session.');
  } catch (error) {
    void vscode.window.showErrorMessage(`ctxls: ${error instanceof Error ? error.message : error}`);
  }
}

/** Completes a path as the server shows it: relative to the session's directory, with ~ for the home directory. */
function absolute(path: string, cwd: string): string | undefined {
  const full = /^~[\\/]/.test(path) ? join(homedir(), path.slice(2)) : path;
  if (isAbsolute(full)) return full;
  return isAbsolute(cwd) ? resolve(cwd, full) : undefined;
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}
