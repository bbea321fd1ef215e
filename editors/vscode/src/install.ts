// Runs `ctxls install`, after showing what it would change.
import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import type { Server } from './client.ts';
import { findServer, StartError } from './server.ts';
import { stablePath } from './stable.ts';

/** What `ctxls install --json` says of a host. */
interface Host {
  host: string;
  scopes: string[];
  statusline: boolean;
}

const names: Record<string, string> = {
  'claude-code': 'Claude Code',
  opencode: 'OpenCode',
  codex: 'Codex',
  'gemini-cli': 'Gemini CLI',
};

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

async function install(context: vscode.ExtensionContext, server: Server, previews: Previews): Promise<void> {
  const path = vscode.workspace.getConfiguration('ctxls').get('server.path', '');
  const program = server.program ?? (await findServer(path, context.extensionPath));
  const args = await choose(JSON.parse(await run(program.path, ['install', '--json'])).hosts);
  if (!args) return;

  const ctxls = await stablePath(context, program);
  const preview = await run(ctxls, [...args, '--dry-run']);
  if (preview.startsWith('nothing to do')) {
    void vscode.window.showInformationMessage(`ctxls: ${preview.trim()}.`);
    return;
  }
  const host = args[1] ?? '';
  await previews.show(host, preview);
  // A list stays until it is answered; a notification would go by itself while somebody still reads.
  const go = 'Install';
  const chosen = await vscode.window.showQuickPick([go, 'Cancel'], {
    title: `This is what changes in the settings of ${names[host] ?? host}`,
    placeHolder: 'Nothing is written yet',
    ignoreFocusOut: true,
  });
  if (chosen !== go) return;
  const done = await run(ctxls, args);
  const [where, ...said] = done.trim().split('\n');
  const more = said.filter(line => !line.startsWith(' ')).join(' '); // what was changed is known by now
  void vscode.window.showInformationMessage(`ctxls: installed in ${where}. ${more}`);
}

/** Asks for host, scope and status line; returns the arguments of the command line. */
async function choose(hosts: Host[]): Promise<string[] | undefined> {
  const host = await one(
    'Host',
    hosts.map(h => ({ label: names[h.host] ?? h.host, description: h.host, value: h })),
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

/** Lets a person choose; where there is one choice only it is taken. */
async function one<T>(title: string, items: (vscode.QuickPickItem & { value: T })[]): Promise<T | undefined> {
  if (items.length === 1) return items[0]?.value;
  return (await vscode.window.showQuickPick(items, { title: `Install Hooks: ${title}` }))?.value;
}

/** Runs ctxls in the window's first folder and returns what it prints. */
function run(program: string, args: string[]): Promise<string> {
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file');
  const cwd = folder?.uri.fsPath ?? homedir();
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd, timeout: 30_000, windowsHide: true }, (error, stdout, stderr) => {
      if (error) reject(new StartError(stderr.trim().replace(/^ctxls: /, '') || error.message));
      else resolve(stdout);
    });
  });
}
