// The sessions that this window shows, and the one that the status bar shows.
import * as vscode from 'vscode';
import type { SessionRemovedParams, SessionView } from './protocol.ts';
import type { Server } from './server.ts';
import { exactly } from './text.ts';

/** Where a window keeps the key of its pinned session, and the editor that a session was ever seen. */
const pinnedKey = 'ctxls.pinned';
const seenKey = 'ctxls.seen';

/** The share of the sessions that are kept from which on some may be missing: ended ones, and those elsewhere, count too. */
const full = 0.9;

/** Changes within so many milliseconds fire one event: a server that starts sends every session. */
const gathering = 25;

/** Names a session among those of all hosts. */
export function keyOf(s: { host: string; sessionId: string }): string {
  return `${s.host}/${s.sessionId}`;
}

/** A change of one session; "before" is undefined for a new one and "now" for one that is gone. */
export interface Change {
  before: SessionView | undefined;
  now: SessionView | undefined;
}

export class Sessions implements vscode.Disposable {
  readonly #all = new Map<string, SessionView>();
  /** The sorted list; undefined where a change made it out of date. */
  #list: SessionView[] | undefined;
  #changes: Change[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** How many sessions the server keeps; 0 until it said so. */
  #most = 0;
  readonly #changed = new vscode.EventEmitter<Change[]>();
  readonly #disposables: vscode.Disposable[] = [this.#changed];
  readonly #server: Server;
  readonly #window: vscode.Memento;
  readonly #editor: vscode.Memento;

  constructor(server: Server, context: Pick<vscode.ExtensionContext, 'workspaceState' | 'globalState'>) {
    this.#server = server;
    this.#window = context.workspaceState;
    this.#editor = context.globalState;
    server.on('session/changed', ({ session }) => this.#set([session]));
    server.on('session/removed', gone => this.#remove(gone));
    this.#disposables.push(
      new vscode.Disposable(() => clearTimeout(this.#timer)),
      server.onDidChangeState(({ kind }) => {
        if (kind === 'running') void this.refresh();
        if (kind === 'failed') this.#replace([]); // better none than one that may be wrong
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => void this.refresh()),
    );
  }

  /** Fires after sessions changed, or after another one is shown. */
  readonly onDidChange = this.#changed.event;

  /** Returns the sessions that have not ended, the most recently updated first. Do not change the list. */
  list(): SessionView[] {
    this.#list ??= [...this.#all.values()]
      .map(session => ({ session, at: Date.parse(session.updatedAt) }))
      .sort((a, b) => b.at - a.at)
      .map(({ session }) => session);
    return this.#list;
  }

  get(key: string): SessionView | undefined {
    return this.#all.get(key);
  }

  /** Returns the session to show: the pinned one, else the most recently updated active one. */
  shown(): SessionView | undefined {
    return this.pinned() ?? this.list().find(s => s.state === 'active');
  }

  pinned(): SessionView | undefined {
    return this.#all.get(this.#window.get<string>(pinnedKey, ''));
  }

  /** Whether any session was ever seen in this editor. */
  everSeen(): boolean {
    return this.#all.size > 0 || this.#editor.get<boolean>(seenKey, false);
  }

  /** Pins a session in this window; undefined goes back to the most recent one. */
  async pin(key: string | undefined): Promise<void> {
    await this.#window.update(pinnedKey, key);
    this.#fire();
  }

  /** Says that older sessions are forgotten, where there are as many as the server keeps; else "". */
  note(): string {
    if (this.#most === 0 || this.#all.size < this.#most * full) return '';
    return `The ${exactly(this.#most)} last active sessions are kept. ctxls forgets older ones: store.maxSessions`;
  }

  /** Asks the server for all sessions. */
  async refresh(): Promise<void> {
    try {
      const { sessions, maxSessions } = await this.#server.request('session/list', { workspaceFolders: scope() });
      this.#most = maxSessions;
      this.#replace(sessions);
    } catch {
      // The server is gone. When another one runs, it is asked.
    }
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }

  #set(sessions: SessionView[]): void {
    for (const now of sessions) {
      const key = keyOf(now);
      const before = this.#all.get(key);
      if (now.state === 'ended') this.#all.delete(key);
      else this.#all.set(key, now);
      this.#changes.push({ before, now: now.state === 'ended' ? undefined : now });
    }
    this.#list = undefined;
    this.#soon();
  }

  #replace(sessions: SessionView[]): void {
    const known = new Set(sessions.map(keyOf));
    for (const [key, before] of this.#all) {
      if (known.has(key)) continue;
      this.#all.delete(key);
      this.#changes.push({ before, now: undefined });
    }
    this.#set(sessions);
  }

  #remove(gone: SessionRemovedParams): void {
    const before = this.#all.get(keyOf(gone));
    if (!before) return;
    this.#all.delete(keyOf(gone));
    this.#changes.push({ before, now: undefined });
    this.#list = undefined;
    this.#soon();
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => this.#fire(), gathering);
  }

  #fire(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const changes = this.#changes.splice(0);
    if (this.#all.size > 0 && !this.#editor.get<boolean>(seenKey, false)) void this.#editor.update(seenKey, true);
    this.#changed.fire(changes);
  }
}

/** The folders whose sessions are shown; none stands for all sessions. */
function scope(): string[] {
  if (vscode.workspace.getConfiguration('ctxls').get('sessions') === 'all') return [];
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.filter(({ uri }) => uri.scheme === 'file').map(({ uri }) => uri.toString());
}
