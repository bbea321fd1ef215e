// Has the server forget a session, after asking.
import * as vscode from 'vscode';
import type { Server } from './server.ts';
import type { Sessions } from './sessions.ts';
import { line, name } from './text.ts';

export async function forget(sessions: Sessions, server: Server, key: string | undefined): Promise<void> {
  const session = sessions.get(key ?? '');
  if (!session) return;
  const forgotten = 'Forget';
  const chosen = await vscode.window.showWarningMessage(
    `Forget “${line(name(session))}”?`,
    {
      modal: true,
      detail:
        'ctxls deletes its gauge, history and files. The agent’s own record stays. A session that goes on is listed again.',
    },
    forgotten,
  );
  if (chosen !== forgotten) return;
  try {
    await server.request('session/deleted', { host: session.host, sessionId: session.sessionId });
  } catch (error) {
    void vscode.window.showErrorMessage(`ctxls: not forgotten: ${error instanceof Error ? error.message : error}`);
  }
}
