// What fills a session's window, which costs the server a look at the transcript and so is asked for less often than the rest.
import * as vscode from 'vscode';
import type { Server } from './client.ts';
import type { Breakdown, Part, SessionView } from './protocol.ts';
import { keyOf, type Sessions } from './sessions.ts';

/** At most one question about a session within so many milliseconds. */
const pause = 3_000;

/** What the categories of a breakdown are called. */
const categories: Record<Part['category'], string> = {
  system: 'system prompt and tools',
  memory: 'memory files',
  summary: 'summary of what was compacted',
  injected: 'added by the host',
  user: 'you',
  assistant: 'answers',
  thinking: 'thinking',
  calls: 'tool calls',
  toolResult: 'results',
  image: 'images and documents',
};

/** Names a part of a window for people. */
export function partName({ category, tool }: Part): string {
  if (category === 'toolResult' && tool) return `results of ${tool}`;
  return categories[category] ?? category; // a newer server may know more of them
}

/** What is known of a session's breakdown: undefined until it was asked, null where the server does not know. */
export type Known = Breakdown | null | undefined;

interface Entry {
  known: Known;
  /** What the session looked like when it was asked, and when that was. */
  of: string;
  at: number;
  waits: boolean;
}

export class Details implements vscode.Disposable {
  readonly #entries = new Map<string, Entry>();
  readonly #changed = new vscode.EventEmitter<string>();
  readonly #gone: vscode.Disposable;
  readonly #server: Server;

  constructor(server: Server, sessions: Sessions) {
    this.#server = server;
    this.#gone = sessions.onDidChange(changes => {
      for (const { before, now } of changes) if (before && !now) this.#entries.delete(keyOf(before));
    });
  }

  /** Fires with the key of a session of which more became known. */
  readonly onDidChange = this.#changed.event;

  /** Returns what is known by now, and sees to it that what the session became since is asked for. */
  of(s: SessionView): Known {
    const key = keyOf(s);
    const entry = this.#entries.get(key) ?? { known: undefined, of: '', at: 0, waits: false };
    this.#entries.set(key, entry);
    const of = `${s.usage.asOf} ${s.usage.tokens} ${s.compactions}`;
    if (entry.of !== of && !entry.waits) {
      entry.waits = true;
      setTimeout(() => void this.#ask(s, entry, of), Math.max(0, entry.at + pause - Date.now()));
    }
    return entry.known;
  }

  async #ask(s: SessionView, entry: Entry, of: string): Promise<void> {
    entry.at = Date.now();
    try {
      const { host, sessionId } = s;
      const { breakdown } = await this.#server.request('session/get', { host, sessionId, breakdown: true });
      entry.known = breakdown?.tokens == null ? null : breakdown;
      entry.of = of;
    } catch {
      entry.known = null;
    }
    entry.waits = false;
    this.#changed.fire(keyOf(s));
  }

  dispose(): void {
    this.#gone.dispose();
    this.#changed.dispose();
  }
}
