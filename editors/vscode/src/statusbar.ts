// The gauge in the status bar.
import * as vscode from 'vscode';
import type { Details } from './details.ts';
import type { SessionView } from './protocol.ts';
import type { Server } from './server.ts';
import type { Sessions } from './sessions.ts';
import { fill, spoken } from './text.ts';
import { failedTooltip, quietTooltip, sessionTooltip } from './tooltip.ts';

/** How often the ages in the tooltip are brought up to date, in milliseconds. */
const ageing = 30_000;

export class StatusBar implements vscode.Disposable {
  readonly #item: vscode.StatusBarItem;
  readonly #disposables: vscode.Disposable[];
  readonly #sessions: Sessions;
  readonly #server: Server;
  readonly #details: Details;
  #preview: string | undefined;

  constructor(sessions: Sessions, server: Server, details: Details) {
    this.#sessions = sessions;
    this.#server = server;
    this.#details = details;
    this.#item = vscode.window.createStatusBarItem('gauge', vscode.StatusBarAlignment.Right, 90);
    this.#item.name = 'ctxls: Context Window';
    const timer = setInterval(() => this.update(), ageing);
    this.#disposables = [
      this.#item,
      new vscode.Disposable(() => clearInterval(timer)),
      sessions.onDidChange(() => this.update()),
      server.onDidChangeState(() => this.update()),
      details.onDidChange(() => this.update()),
      vscode.workspace.onDidChangeConfiguration(e => e.affectsConfiguration('ctxls.statusBar') && this.update()),
    ];
    this.update();
  }

  /** Shows the session in another format until it is called without one. */
  preview(format?: string): void {
    this.#preview = format;
    this.update();
  }

  update(): void {
    const shown = this.#sessions.shown();
    if (this.#server.state.kind === 'failed') this.#showFailure(this.#server.state.why);
    else if (shown) this.#show(shown);
    else this.#showNothing();
  }

  #show(s: SessionView): void {
    const format = this.#preview ?? vscode.workspace.getConfiguration('ctxls').get('statusBar.format', '');
    const item = this.#item;
    item.text = fill(format, s);
    item.backgroundColor = background(s);
    item.tooltip = sessionTooltip(s, this.#details.of(s), this.#sessions.pinned() !== undefined, Date.now());
    item.accessibilityInformation = { label: spoken(s), role: 'button' };
    item.command = 'ctxls.pickSession';
    item.show();
  }

  /** Until a first session was seen, a lone icon would say nothing: it says what to do. */
  #showNothing(): void {
    const item = this.#item;
    const isNew = !this.#sessions.everSeen();
    item.text = isNew ? '$(pulse) ctxls: set up' : '$(pulse)';
    item.backgroundColor = undefined;
    item.tooltip = quietTooltip(isNew);
    item.accessibilityInformation = {
      label: isNew ? 'ctxls: set up an agent host' : 'Context window: no active session here',
      role: 'button',
    };
    item.command = isNew ? 'ctxls.installHooks' : 'ctxls.pickSession';
    if (vscode.workspace.getConfiguration('ctxls').get('statusBar.whenNoSession') === 'hide') item.hide();
    else item.show();
  }

  #showFailure(why: string): void {
    const item = this.#item;
    item.text = '$(debug-disconnect) ctxls';
    item.backgroundColor = undefined;
    item.tooltip = failedTooltip(why);
    item.accessibilityInformation = { label: `ctxls does not run: ${why}`, role: 'button' };
    item.command = 'ctxls.explainFailure';
    item.show();
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }
}

/** The background of a level. Themes of high contrast have none, which is why the icon says the level, too. */
function background(s: SessionView): vscode.ThemeColor | undefined {
  switch (s.usage.level) {
    case 'warning':
      return new vscode.ThemeColor('statusBarItem.warningBackground');
    case 'critical':
      return new vscode.ThemeColor('statusBarItem.errorBackground');
    default:
      return undefined;
  }
}
