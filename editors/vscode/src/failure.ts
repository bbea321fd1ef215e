// Shows why the server does not run, with buttons for what to do.
import * as vscode from 'vscode';
import type { Server } from './server.ts';

const installPage = 'https://github.com/ctxls/ctxls/tree/main/editors/vscode#the-server';

export async function explainFailure(server: Server): Promise<void> {
  if (server.state.kind !== 'failed') return;
  const [log, settings, install] = ['Show Log', 'Open Settings', 'How to Install'] as const;
  const chosen = await vscode.window.showErrorMessage(
    `ctxls does not run. ${server.state.why}`,
    log,
    settings,
    install,
  );
  if (chosen === log) await vscode.commands.executeCommand('ctxls.showLog');
  if (chosen === settings) await openSettings('ctxls.server.path');
  if (chosen === install) await vscode.env.openExternal(vscode.Uri.parse(installPage));
}

/** Opens the settings of the machine that the extension runs on. In a remote window the user's settings are those of another machine. */
async function openSettings(query: string): Promise<void> {
  if (vscode.env.remoteName) await vscode.commands.executeCommand('workbench.action.openRemoteSettings', { query });
  else await vscode.commands.executeCommand('workbench.action.openSettings', query);
}
