// What fills a session's window. The server reads the transcript to answer, so that this is asked for less often than the rest.
import * as vscode from 'vscode';
import type { Breakdown, Part, SessionView } from './protocol.ts';
import type { Server } from './server.ts';
import { keyOf, type Sessions } from './sessions.ts';

/** The shortest time between two requests for one session, in milliseconds. */
const pause = 3_000;

/** What the categories of a breakdown are called. */
const categories: Record<Part['category'], string> = {
  system: 'system prompt and tools',
  unaccounted: 'not accounted for',
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

/** A session's breakdown: undefined until the server answered, else the breakdown or the reason why there is none. */
export type Known = Breakdown | { tokens: null; why: string } | undefined;

/** Returns the breakdown, or undefined where there is none. */
export function knownBreakdown(known: Known): Breakdown | undefined {
  return known && known.tokens !== null ? (known as Breakdown) : undefined;
}

/** Says why there is no breakdown. */
export function whyUnknown(known: Known): string {
  if (known === undefined) return 'Reading the conversation …';
  return known.why ? `Not known: ${known.why}.` : 'Not known.';
}

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

  /** Fires with the key of the session whose breakdown arrived. */
  readonly onDidChange = this.#changed.event;

  /** Returns what is known now, and asks the server again where the session has changed since. */
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
      entry.known = breakdown ?? { tokens: null, why: '' };
      entry.of = of;
    } catch (error) {
      entry.known = { tokens: null, why: error instanceof Error ? error.message : String(error) };
    }
    entry.waits = false;
    this.#changed.fire(keyOf(s));
  }

  dispose(): void {
    this.#gone.dispose();
    this.#changed.dispose();
  }
}
