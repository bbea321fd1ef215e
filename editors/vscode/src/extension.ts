// Puts the parts together. All that is known of sessions comes from the server.
import * as vscode from 'vscode';
import { Server } from './client.ts';
import { Dashboard } from './dashboard.ts';
import { Details } from './details.ts';
import { explainFailure } from './failure.ts';
import { installHooks, Previews } from './install.ts';
import { MeasureItem, measureCommand } from './measure.ts';
import { Notices } from './notices.ts';
import { pickSession } from './picker.ts';
import { Sessions } from './sessions.ts';
import { refreshStable } from './stable.ts';
import { StatusBar } from './statusbar.ts';

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel('ctxls', { log: true });
  server = new Server(context, log);
  const running = server;
  const sessions = new Sessions(running, context.workspaceState);
  const details = new Details(running, sessions);
  const dashboard = new Dashboard(context.extensionUri, running, sessions, details);
  const previews = new Previews();
  const command = (name: string, run: (...args: unknown[]) => unknown) =>
    vscode.commands.registerCommand(`ctxls.${name}`, run);

  context.subscriptions.push(
    log,
    running,
    sessions,
    details,
    dashboard,
    previews.register(),
    new StatusBar(sessions, running, details),
    new MeasureItem(running, sessions),
    new Notices(sessions, running),
    command('pickSession', () => pickSession(sessions, running)),
    command('unpin', () => sessions.pin(undefined)),
    command('showDashboard', key => dashboard.show(typeof key === 'string' ? key : undefined)),
    command('measure', () => measureCommand(running, sessions)),
    command('installHooks', () => installHooks(context, running, previews)),
    command('restart', () => running.restart()),
    command('showLog', () => log.show()),
    command('openSettings', () => vscode.commands.executeCommand('workbench.action.openSettings', '@ext:ctxls.ctxls')),
    command('getStarted', () =>
      vscode.commands.executeCommand('workbench.action.openWalkthrough', 'ctxls.ctxls#start', false),
    ),
    command('explainFailure', () => explainFailure(running)),
    running.onDidChangeState(state => {
      if (state.kind === 'failed') void explainFailure(running);
      if (state.kind === 'running') void refreshStable(context, state.program).catch(error => log.warn(String(error)));
    }),
    vscode.workspace.onDidChangeConfiguration(e => {
      if (e.affectsConfiguration('ctxls.server.path') || e.affectsConfiguration('ctxls.sessions'))
        void running.restart();
      else if (e.affectsConfiguration('ctxls.config')) void running.configure();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      // A path that the workspace's settings name counts from now on.
      if (vscode.workspace.getConfiguration('ctxls').inspect('server.path')?.workspaceValue) void running.restart();
    }),
  );
  await running.restart();
}

/** The editor waits for this: when the window is gone, so is its server. */
export async function deactivate(): Promise<void> {
  await server?.stop();
}
