// The dashboard: a panel with one session's curve and contents, and the figures over all tasks.
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { Known, Session } from '../../../internal/ui/page/types.d.ts';
import type { Details } from './details.ts';
import { openFile } from './files.ts';
import type { Asked, Section, Shown } from './messages.ts';
import { Panels } from './panels.ts';
import type { ReportResult, Sample, SessionView } from './protocol.ts';
import type { Server } from './server.ts';
import { keyOf, type Sessions } from './sessions.ts';
import { line, name, percent } from './text.ts';

export const viewType = 'ctxls.dashboard';

/** Changes that come together are shown together, after so many milliseconds. */
const gather = 150;

/** The points of a curve that a page can still show apart. */
const mostSamples = 1_000;

/** Commands that the page may have run. */
const runnable = ['installHooks', 'getStarted', 'explainFailure'];

export class Dashboard implements vscode.Disposable, vscode.WebviewPanelSerializer {
  #panel: vscode.WebviewPanel | undefined;
  /** The session that was chosen here; without one it is the one in the status bar. */
  #chosen: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The section to bring into sight with the next update. */
  #section: Section | null = null;
  /** The history that was read last, and of which state of which session. */
  #history: { of: string; samples: Sample[] } = { of: '', samples: [] };
  /** Updates are numbered; "shown" is the last one that the page got. */
  readonly #round = { begun: 0, shown: 0 };
  readonly #disposables: vscode.Disposable[];
  readonly #extension: vscode.Uri;
  readonly #server: Server;
  readonly #sessions: Sessions;
  readonly #details: Details;
  readonly #panels: Panels;
  /** How often the panel has come into sight. */
  #looks = 0;

  constructor(extension: vscode.Uri, server: Server, sessions: Sessions, details: Details) {
    this.#extension = extension;
    this.#server = server;
    this.#sessions = sessions;
    this.#details = details;
    this.#panels = new Panels(server);
    const soon = () => this.#soon();
    this.#disposables = [
      sessions.onDidChange(soon),
      server.onDidChangeState(soon),
      details.onDidChange(soon),
      this.#panels,
      this.#panels.onDidChange(soon),
      vscode.window.registerWebviewPanelSerializer(viewType, this),
    ];
  }

  /** Shows the panel, with the session of the key and the section where they are given. */
  show(key?: string, section?: Section): void {
    this.#chosen = key ?? this.#chosen;
    this.#section = section ?? null;
    if (!this.#panel) {
      this.#adopt(
        vscode.window.createWebviewPanel(viewType, 'Context Window', vscode.ViewColumn.Active, {
          enableFindWidget: true,
        }),
      );
    }
    this.#panel?.reveal();
    this.#soon();
  }

  /** Takes over a panel that was open when the window was reloaded. */
  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    if (typeof state === 'object' && state !== null && 'key' in state && typeof state.key === 'string') {
      this.#chosen = state.key;
    }
    this.#adopt(panel);
  }

  #adopt(panel: vscode.WebviewPanel): void {
    this.#panel?.dispose();
    this.#panel = panel;
    const files = vscode.Uri.joinPath(this.#extension, 'dist');
    panel.iconPath = new vscode.ThemeIcon('graph-line') as unknown as vscode.Uri; // newer editors take it, older show none
    panel.webview.options = { enableScripts: true, enableForms: false, localResourceRoots: [files] };
    panel.webview.html = page(panel.webview, files);
    panel.webview.onDidReceiveMessage((asked: Asked) => this.#hear(asked));
    panel.onDidChangeViewState(() => {
      if (!panel.visible) return;
      this.#looks++;
      this.#soon();
    });
    panel.onDidDispose(() => {
      if (this.#panel === panel) this.#panel = undefined;
    });
  }

  #hear(asked: Asked): void {
    switch (asked?.type) {
      case 'ready':
        void this.#update();
        break;
      case 'select':
        this.#chosen = String(asked.key);
        void this.#update();
        break;
      case 'pin':
        void this.#sessions.pin(asked.key === null ? undefined : String(asked.key));
        break;
      case 'open':
        void openFile(this.#sessions, asked.key, asked.path);
        break;
      case 'run':
        if (runnable.includes(asked.command)) void vscode.commands.executeCommand(`ctxls.${asked.command}`);
        break;
    }
  }

  #soon(): void {
    if (!this.#panel?.visible || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#update();
    }, gather);
  }

  async #update(): Promise<void> {
    const panel = this.#panel;
    if (!panel?.visible) return;
    const round = ++this.#round.begun;
    const shown = await this.#collect();
    if (round < this.#round.shown) return; // a later one was faster
    this.#round.shown = round;
    if (panel !== this.#panel) return;
    this.#section = null;
    await panel.webview.postMessage(shown);
  }

  async #collect(): Promise<Shown> {
    const all = this.#sessions.list();
    const session = this.#sessions.get(this.#chosen ?? '') ?? this.#sessions.shown() ?? all[0];
    const state = this.#server.state;
    const [samples, report] = await Promise.all([this.#samples(session), this.#report()]);
    const pinned = this.#sessions.pinned();
    return {
      type: 'show',
      now: Date.now(),
      sessions: all.map(s => ({ key: keyOf(s), name: line(name(s), 40), detail: `${percent(s.usage)}, ${s.state}` })),
      session: session ? this.#shown(session, samples) : null,
      pinned: pinned !== undefined && session !== undefined && keyOf(pinned) === keyOf(session),
      audit: session ? null : this.#panels.audit(undefined, this.#looks),
      report,
      compactions: this.#panels.allCompactions(all),
      section: this.#section,
      failed: state.kind === 'failed' ? state.why : '',
    };
  }

  #shown(s: SessionView, samples: Sample[]): Session {
    return {
      key: keyOf(s),
      view: s,
      points: samples.map(({ at, tokens, kind }) => ({ at: Date.parse(at), tokens, kind })),
      breakdown: this.#details.of(s),
      plan: this.#panels.plan(s),
      compactions: this.#panels.compactions(s),
      audit: this.#panels.audit(s, this.#looks),
    };
  }

  async #samples(s: SessionView | undefined): Promise<Sample[]> {
    if (!s) return [];
    const { host, sessionId, usage, compactions } = s;
    const of = `${keyOf(s)} ${usage.asOf} ${usage.tokens} ${compactions}`;
    if (of !== this.#history.of) {
      const result = await this.#server
        .request('session/history', { host, sessionId, limit: mostSamples })
        .catch(() => undefined);
      if (!result) return [];
      this.#history = { of, samples: result.samples };
    }
    return this.#history.samples;
  }

  #report(): Promise<Known<ReportResult>> {
    return this.#server.request('metrics/report', { histogram: true }).catch(() => ({ why: '' }));
  }

  dispose(): void {
    clearTimeout(this.#timer);
    for (const disposable of this.#disposables) disposable.dispose();
    this.#panel?.dispose();
  }
}

/** Makes the page. It can load its own script and style, and nothing else from anywhere. */
function page(webview: vscode.Webview, files: vscode.Uri): string {
  const nonce = randomBytes(16).toString('base64url');
  const script = webview.asWebviewUri(vscode.Uri.joinPath(files, 'webview.js'));
  const style = webview.asWebviewUri(vscode.Uri.joinPath(files, 'webview.css'));
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${style}">
<title>Context Window</title>
</head>
<body>
<main id="main" aria-busy="true"></main>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}
