// The sessions that this window shows, and which of them the status bar does.
import * as vscode from 'vscode';
import type { Server } from './client.ts';
import type { SessionRemovedParams, SessionView } from './protocol.ts';

/** Where a window keeps the key of the session that is pinned in it. */
const pinnedKey = 'ctxls.pinned';

/** Names a session among those of all hosts. */
export function keyOf(s: { host: string; sessionId: string }): string {
  return `${s.host}/${s.sessionId}`;
}

/** What happened to one session; "before" is undefined for a new one and "now" for one that is gone. */
export interface Change {
  before: SessionView | undefined;
  now: SessionView | undefined;
}

export class Sessions implements vscode.Disposable {
  readonly #all = new Map<string, SessionView>();
  readonly #changed = new vscode.EventEmitter<Change[]>();
  readonly #disposables: vscode.Disposable[] = [this.#changed];
  readonly #server: Server;
  readonly #memory: vscode.Memento;

  constructor(server: Server, memory: vscode.Memento) {
    this.#server = server;
    this.#memory = memory;
    server.on('session/changed', ({ session }) => this.#set([session]));
    server.on('session/removed', gone => this.#remove(gone));
    this.#disposables.push(
      server.onDidChangeState(({ kind }) => {
        if (kind === 'running') void this.refresh();
        if (kind === 'failed') this.#replace([]); // better none than one that may be wrong
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => void this.refresh()),
    );
  }

  /** Fires after sessions changed, or which one is shown. */
  readonly onDidChange = this.#changed.event;

  /** Those that have not ended, the most recently updated first. */
  list(): SessionView[] {
    return [...this.#all.values()].sort((a, b) => Date.parse(b.updatedAt) - Date.parse(a.updatedAt));
  }

  get(key: string): SessionView | undefined {
    return this.#all.get(key);
  }

  /** The one to show: the pinned one, else the most recently updated one that is active. */
  shown(): SessionView | undefined {
    return this.pinned() ?? this.list().find(s => s.state === 'active');
  }

  pinned(): SessionView | undefined {
    return this.#all.get(this.#memory.get<string>(pinnedKey, ''));
  }

  /** Pins a session in this window; undefined goes back to the most recent one. */
  async pin(key: string | undefined): Promise<void> {
    await this.#memory.update(pinnedKey, key);
    this.#changed.fire([]);
  }

  /** Asks for all of them anew. */
  async refresh(): Promise<void> {
    try {
      const { sessions } = await this.#server.request('session/list', { workspaceFolders: scope() });
      this.#replace(sessions);
    } catch {
      // The server went away; when it is there again it is asked again.
    }
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }

  #set(sessions: SessionView[], others: Change[] = []): void {
    const changes = others;
    for (const now of sessions) {
      const key = keyOf(now);
      const before = this.#all.get(key);
      if (now.state === 'ended') this.#all.delete(key);
      else this.#all.set(key, now);
      changes.push({ before, now: now.state === 'ended' ? undefined : now });
    }
    this.#changed.fire(changes);
  }

  #replace(sessions: SessionView[]): void {
    const there = new Set(sessions.map(keyOf));
    const gone = [...this.#all].filter(([key]) => !there.has(key));
    for (const [key] of gone) this.#all.delete(key);
    this.#set(
      sessions,
      gone.map(([, before]) => ({ before, now: undefined })),
    );
  }

  #remove(gone: SessionRemovedParams): void {
    const before = this.#all.get(keyOf(gone));
    if (!before) return;
    this.#all.delete(keyOf(gone));
    this.#changed.fire([{ before, now: undefined }]);
  }
}

/** The folders whose sessions are shown; none is everywhere. */
function scope(): string[] {
  if (vscode.workspace.getConfiguration('ctxls').get('sessions') === 'all') return [];
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.filter(({ uri }) => uri.scheme === 'file').map(({ uri }) => uri.toString());
}
