// The language features of context files, and the audit that a lens opens.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import type { Server } from './server.ts';

/** The files whose features the server offers. They have no language of their own. */
export const contextFiles = [
  { scheme: 'file', pattern: '**/{CLAUDE,CLAUDE.local,AGENTS,AGENTS.override,GEMINI,SKILL}.md' },
  { scheme: 'file', pattern: '**/.claude/{rules,commands,agents}/**/*.md' },
];

const scheme = 'ctxls-audit';

/** Shows audits as documents that cannot be edited. */
export class Audits implements vscode.TextDocumentContentProvider {
  readonly #texts = new Map<string, string>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #server: Server;
  readonly onDidChange = this.#changed.event;

  constructor(server: Server) {
    this.#server = server;
  }

  register(): vscode.Disposable {
    return vscode.workspace.registerTextDocumentContentProvider(scheme, this);
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.path) ?? '';
  }

  /** Shows the audit of a directory; of the first folder where none is named. */
  async show(dir: unknown): Promise<void> {
    const at = typeof dir === 'string' ? dir : vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    const program = this.#server.program;
    if (!at || !program) {
      void vscode.window.showWarningMessage(
        `ctxls: ${at ? 'The server is not running.' : 'Open a folder to audit it.'}`,
      );
      return;
    }
    try {
      const { stdout } = await promisify(execFile)(program.path, ['audit', at, '--color', 'never'], {
        maxBuffer: 16 << 20,
        timeout: 30_000,
        windowsHide: true,
      });
      const uri = vscode.Uri.from({ scheme, path: '/ctxls audit' });
      this.#texts.set(uri.path, stdout);
      this.#changed.fire(uri);
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
    } catch (error) {
      void vscode.window.showErrorMessage(`ctxls: ${error instanceof Error ? error.message : error}`);
    }
  }
}
