// Puts the parts together. Everything about sessions comes from the server.
import * as vscode from 'vscode';
import { Audits } from './contextfiles.ts';
import { Dashboard } from './dashboard.ts';
import { Details } from './details.ts';
import { explainFailure } from './failure.ts';
import { openFile, openRecord } from './files.ts';
import { forget } from './forget.ts';
import { chooseFormat } from './formats.ts';
import { installHooks, Previews, setUp, tickInstalled } from './install.ts';
import { MeasureItem, measureCommand } from './measure.ts';
import { Notices, silence } from './notices.ts';
import { pickSession } from './picker.ts';
import { Server } from './server.ts';
import { Sessions } from './sessions.ts';
import { SessionsView } from './sessionsview.ts';
import { refreshStable } from './stable.ts';
import { StatusBar } from './statusbar.ts';

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel('ctxls', { log: true });
  server = new Server(context, log);
  const running = server;
  const sessions = new Sessions(running, context);
  const details = new Details(running, sessions);
  const dashboard = new Dashboard(context.extensionUri, running, sessions, details);
  const previews = new Previews();
  const audits = new Audits(running);
  const notices = new Notices(sessions, running, context.globalStorageUri);
  const statusBar = new StatusBar(sessions, running, details);
  const command = (name: string, run: (...args: unknown[]) => unknown) =>
    vscode.commands.registerCommand(`ctxls.${name}`, run);

  context.subscriptions.push(
    log,
    running,
    sessions,
    details,
    dashboard,
    previews.register(),
    audits.register(),
    statusBar,
    new MeasureItem(running, sessions),
    notices,
    new SessionsView(sessions, running, details),
    command('pickSession', () => pickSession(sessions, running, context.globalState)),
    command('pin', session => sessions.pin(keyFrom(session))),
    command('unpin', () => sessions.pin(undefined)),
    command('showDashboard', session => dashboard.show(keyFrom(session))),
    command('showBreakdown', session => dashboard.show(keyFrom(session), 'parts')),
    command('showHistory', session => dashboard.show(keyFrom(session), 'history')),
    command('forget', session => forget(sessions, running, keyFrom(session))),
    command('openRecord', session => openRecord(sessions, running, keyFrom(session))),
    command('openFile', (key, path) => openFile(sessions, key, path)),
    command('audit', dir => audits.show(dir)),
    command('chooseFormat', () => chooseFormat(statusBar)),
    command('dismissNotice', () => notices.dismiss()),
    command('silenceCritical', () => silence('notices.critical')),
    command('measure', () => measureCommand(running, sessions)),
    command('installHooks', () => installHooks(context, running, previews)),
    command('setUp', () => setUp(context, running)),
    command('restart', () => running.restart()),
    command('showLog', () => log.show()),
    command('openSettings', () => vscode.commands.executeCommand('workbench.action.openSettings', '@ext:ctxls.ctxls')),
    command('getStarted', async () => {
      await vscode.commands.executeCommand('workbench.action.openWalkthrough', 'ctxls.ctxls#start', false);
      if (sessions.everSeen()) setTimeout(() => void tickInstalled(), 1_000); // once the editor has read the walkthrough
    }),
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

/** Returns the key of the session that a command is about: it is called with one, or by a menu with the row. */
function keyFrom(session: unknown): string | undefined {
  if (typeof session === 'string') return session;
  const key = (session as { key?: unknown } | undefined)?.key;
  return typeof key === 'string' ? key : undefined;
}

/** The editor waits for this: when the window is gone, so is its server. */
export async function deactivate(): Promise<void> {
  await server?.stop();
}
