// How many tokens the selection or the active file has.
import * as vscode from 'vscode';
import type { Measurement } from './protocol.ts';
import type { Server } from './server.ts';
import type { Sessions } from './sessions.ts';
import { exactly, tokens } from './text.ts';

/** The status bar item counts texts up to this length, in UTF-16 units. The command counts longer ones, too. */
const maxLength = 1_000_000;

/** The status bar item counts so many milliseconds after the last change. */
const delay = 300;

interface Measured extends Measurement {
  what: 'selection' | 'file';
}

/** Counts the tokens of all selections, or of the whole file if nothing is selected. */
async function measure(editor: vscode.TextEditor, server: Server, sessions: Sessions): Promise<Measured> {
  const { document, selections } = editor;
  const selected = selections.filter(selection => !selection.isEmpty).map(selection => document.getText(selection));
  const text = selected.length > 0 ? selected.join('\n') : document.getText();
  const session = sessions.shown();
  const result = await server.request('context/measure', {
    messages: [{ role: 'user', content: text }],
    ...(session?.model && { model: session.model }),
    ...(session?.provider && { provider: session.provider }),
    ...(session && { windowTokens: session.usage.windowTokens }),
  });
  return { ...result, what: selected.length > 0 ? 'selection' : 'file' };
}

function describe(m: Measured): string {
  const share =
    m.percent === null ? '' : `, ${m.percent < 0.1 ? 'less than 0.1' : m.percent.toFixed(1)} % of the window`;
  return `The ${m.what} has ${m.exact ? '' : 'about '}${exactly(m.tokens)} tokens${share} (${m.encoding}).`;
}

/** Runs the command ctxls.measure. */
export async function measureCommand(server: Server, sessions: Sessions): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!editor) {
    void vscode.window.showInformationMessage('ctxls: open a file to measure it.');
    return;
  }
  try {
    const measured = await measure(editor, server, sessions);
    const copy = 'Copy Number';
    const chosen = await vscode.window.showInformationMessage(describe(measured), copy);
    if (chosen === copy) await vscode.env.clipboard.writeText(String(measured.tokens));
  } catch (error) {
    void vscode.window.showErrorMessage(`ctxls: not measured: ${error instanceof Error ? error.message : error}`);
  }
}

/** Shows the tokens of the active editor in the status bar, if the setting ctxls.statusBar.measure is on. */
export class MeasureItem implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem('measure', vscode.StatusBarAlignment.Right, 89);
  readonly #disposables: vscode.Disposable[];
  readonly #server: Server;
  readonly #sessions: Sessions;
  #timer: NodeJS.Timeout | undefined;
  #requests = 0;

  constructor(server: Server, sessions: Sessions) {
    this.#server = server;
    this.#sessions = sessions;
    this.#item.name = 'ctxls: Tokens of the Editor';
    this.#item.command = 'ctxls.measure';
    const soon = () => this.#soon();
    this.#disposables = [
      this.#item,
      vscode.window.onDidChangeActiveTextEditor(soon),
      vscode.window.onDidChangeTextEditorSelection(soon),
      vscode.workspace.onDidChangeTextDocument(e => e.document === vscode.window.activeTextEditor?.document && soon()),
      vscode.workspace.onDidChangeConfiguration(e => e.affectsConfiguration('ctxls.statusBar.measure') && soon()),
      server.onDidChangeState(soon),
    ];
  }

  #soon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#update(), delay);
  }

  async #update(): Promise<void> {
    const request = ++this.#requests;
    const editor = vscode.window.activeTextEditor;
    const wanted = vscode.workspace.getConfiguration('ctxls').get('statusBar.measure', false);
    if (!wanted || !editor || this.#server.state.kind !== 'running' || editor.document.getText().length > maxLength) {
      this.#item.hide();
      return;
    }
    const measured = await measure(editor, this.#server, this.#sessions).catch(() => undefined);
    if (request !== this.#requests) return; // a newer request is under way
    if (!measured) {
      this.#item.hide();
      return;
    }
    this.#item.text = `$(symbol-numeric) ${measured.exact ? '' : '~'}${tokens(measured.tokens)}`;
    this.#item.tooltip = describe(measured);
    this.#item.accessibilityInformation = { label: describe(measured), role: 'button' };
    this.#item.show();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    for (const disposable of this.#disposables) disposable.dispose();
  }
}
