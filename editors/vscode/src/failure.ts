// Says why there is no server, and what can be done about it.
import * as vscode from 'vscode';
import type { Server } from './server.ts';

const help = 'https://github.com/ctxls/ctxls/tree/main/editors/vscode#the-server';

export async function explainFailure(server: Server): Promise<void> {
  if (server.state.kind !== 'failed') return;
  const [log, settings, how] = ['Show Log', 'Open Settings', 'How to Install'] as const;
  const chosen = await vscode.window.showErrorMessage(`ctxls does not run. ${server.state.why}`, log, settings, how);
  if (chosen === log) await vscode.commands.executeCommand('ctxls.showLog');
  if (chosen === settings) {
    await openSettings('ctxls.server.path');
  }
  if (chosen === how) await vscode.env.openExternal(vscode.Uri.parse(help));
}

/** Opens the settings that count where the extension runs: in a remote window the user's own are those of another machine. */
async function openSettings(query: string): Promise<void> {
  if (vscode.env.remoteName) await vscode.commands.executeCommand('workbench.action.openRemoteSettings', { query });
  else await vscode.commands.executeCommand('workbench.action.openSettings', query);
}
