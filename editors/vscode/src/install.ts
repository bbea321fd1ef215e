// Runs `ctxls install`, after showing what it would change.
import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { findServer, StartError } from './locator.ts';
import type { Server } from './server.ts';
import { installedPath, stablePath } from './stable.ts';

/** What `ctxls install --json` says of a host. */
interface Host {
  host: string;
  /** Its name in sentences. */
  title: string;
  scopes: string[];
  statusline: boolean;
  /** Its program or its directory is on this machine. */
  found: boolean;
  /** What installing for the user would change; nothing where it is installed. */
  changes: string[];
}

/**
 * Ticks the walkthrough's step that sets up a host. The editor ticks a step when a context becomes true, and never where it
 * was true before the walkthrough was first opened. So the context is true for a moment only.
 */
export async function tickInstalled(): Promise<void> {
  await vscode.commands.executeCommand('setContext', 'ctxls.installed', true);
  await vscode.commands.executeCommand('setContext', 'ctxls.installed', false);
}

const scopes: Record<string, string> = {
  user: 'For me, everywhere',
  project: 'For everybody in this project',
  local: 'For me, in this project',
};

const previewScheme = 'ctxls-preview';

/** Shows previews of changes, as text that cannot be edited. */
export class Previews implements vscode.TextDocumentContentProvider {
  readonly #texts = new Map<string, string>();
  #count = 0;

  register(): vscode.Disposable {
    return vscode.workspace.registerTextDocumentContentProvider(previewScheme, this);
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.path) ?? '';
  }

  async show(host: string, text: string): Promise<void> {
    const path = `/${++this.#count}/${host}.diff`;
    this.#texts.clear();
    this.#texts.set(path, text);
    const document = await vscode.workspace.openTextDocument(vscode.Uri.from({ scheme: previewScheme, path }));
    await vscode.languages.setTextDocumentLanguage(document, 'diff');
    await vscode.window.showTextDocument(document, { preview: true });
  }
}

export async function installHooks(
  context: vscode.ExtensionContext,
  server: Server,
  previews: Previews,
): Promise<void> {
  try {
    await install(context, server, previews);
  } catch (error) {
    void vscode.window.showErrorMessage(`ctxls: ${error instanceof Error ? error.message : error}`);
  }
}

/** Runs `ctxls setup` as a task, in a terminal that stays: it shows the changes of all hosts, asks once, and ends with a check. */
export async function setUp(context: vscode.ExtensionContext, server: Server): Promise<void> {
  try {
    const path = vscode.workspace.getConfiguration('ctxls').get('server.path', '');
    const program = await stablePath(context, server.program ?? (await findServer(path, context.extensionPath)));
    const run = new vscode.ProcessExecution(program, ['setup'], { cwd: folder() });
    const task = new vscode.Task({ type: 'ctxls' }, vscode.TaskScope.Workspace, 'setup', 'ctxls', run, []);
    task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, focus: true };
    const execution = await vscode.tasks.executeTask(task);
    const ended = vscode.tasks.onDidEndTaskProcess(async end => {
      if (end.execution !== execution) return;
      ended.dispose();
      if (end.exitCode === 0) await tickInstalled();
    });
  } catch (error) {
    void vscode.window.showErrorMessage(`ctxls: ${error instanceof Error ? error.message : error}`);
  }
}

async function install(context: vscode.ExtensionContext, server: Server, previews: Previews): Promise<void> {
  const path = vscode.workspace.getConfiguration('ctxls').get('server.path', '');
  const program = server.program ?? (await findServer(path, context.extensionPath));
  const known = await run(await installedPath(context, program), ['install', '--json']);
  const hosts: Host[] = JSON.parse(known).hosts;
  const args = await choose(hosts);
  if (!args) return;

  const ctxls = await stablePath(context, program);
  const preview = await run(ctxls, [...args, '--dry-run']);
  if (preview.startsWith('nothing to do')) {
    await tickInstalled();
    void vscode.window.showInformationMessage(`ctxls: ${preview.trim()}.`);
    return;
  }
  const host = args[1] ?? '';
  await previews.show(host, preview);
  // A list stays until it is answered; a notification would disappear while the user still reads.
  const go = 'Install';
  const chosen = await vscode.window.showQuickPick([go, 'Cancel'], {
    title: `This is what changes in the settings of ${hosts.find(h => h.host === host)?.title ?? host}`,
    placeHolder: 'Nothing is written yet',
    ignoreFocusOut: true,
  });
  if (chosen !== go) return;
  const done = await run(ctxls, args);
  await tickInstalled();
  const [where, ...said] = done.trim().split('\n');
  const more = said.filter(line => !line.startsWith(' ')).join(' '); // what was changed is known by now
  void vscode.window.showInformationMessage(`ctxls: installed in ${where}. ${more}`);
}

/** Asks for host, scope and status line; returns the arguments of the command line. */
async function choose(hosts: Host[]): Promise<string[] | undefined> {
  const host = await one(
    'Host',
    [...hosts].sort((a, b) => rank(a) - rank(b)).map(h => ({ label: h.title, description: status(h), value: h })),
  );
  if (!host) return undefined;
  const here = vscode.workspace.workspaceFolders !== undefined && vscode.workspace.isTrusted;
  const scope = await one(
    'For whom',
    host.scopes
      .filter(s => s === 'user' || here)
      .map(s => ({ label: scopes[s] ?? s, description: `--${s}`, value: s })),
  );
  if (!scope) return undefined;
  const extra = host.statusline
    ? await one('What', [
        {
          label: 'Hooks and status line',
          description: '--statusline',
          detail: 'The status line is also a sensor: only there does the host tell how large the window is.',
          value: ['--statusline'],
        },
        { label: 'Hooks only', value: [] },
      ])
    : [];
  return extra && ['install', host.host, ...(host.scopes.length > 1 ? [`--${scope}`] : []), ...extra];
}

/** Says whether a host is there, and whether it tells ctxls of the user's sessions. */
function status({ found, changes }: Host): string {
  if (changes.length === 0) return 'installed';
  return found ? 'found on this machine' : 'not found on this machine';
}

/** Orders hosts: those that can be set up, those that are, those that are not there. */
function rank({ found, changes }: Host): number {
  if (!found) return 2;
  return changes.length === 0 ? 1 : 0;
}

/** Asks the user to choose, unless there is only one choice. The list stays when something else takes the focus. */
async function one<T>(title: string, items: (vscode.QuickPickItem & { value: T })[]): Promise<T | undefined> {
  if (items.length === 1) return items[0]?.value;
  const chosen = await vscode.window.showQuickPick(items, { title: `Install Hooks: ${title}`, ignoreFocusOut: true });
  return chosen?.value;
}

/** The window's first folder on this machine, or the user's home. */
function folder(): string {
  return vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file')?.uri.fsPath ?? homedir();
}

/** Runs ctxls in the window's first folder and returns what it prints. */
function run(program: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd: folder(), timeout: 30_000, windowsHide: true }, (error, stdout, stderr) => {
      if (error) reject(new StartError(stderr.trim().replace(/^ctxls: /, '') || error.message));
      else resolve(stdout);
    });
  });
}
