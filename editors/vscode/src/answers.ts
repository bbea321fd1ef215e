// Answers that cost the server a while, such as to read a record. They are kept, and asked for again where something has changed.
import * as vscode from 'vscode';

interface Entry<T> {
  known: T | { why: string } | undefined;
  /** The state that it is the answer for, and when it was asked for. */
  of: string;
  at: number;
  waits: boolean;
}

export class Answers<T> implements vscode.Disposable {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #changed = new vscode.EventEmitter<string>();
  readonly #pause: number;

  /** pause is the shortest time between two questions about one thing, in milliseconds. */
  constructor(pause: number) {
    this.#pause = pause;
  }

  /** Fires with the key of what is known otherwise than before. */
  readonly onDidChange = this.#changed.event;

  /**
   * Returns what is known now: the answer, why there is none, or undefined where it has not come yet. Asks where the state is another
   * one than at the last answer. What failed is asked for again.
   */
  of(key: string, state: string, ask: () => Promise<T>): T | { why: string } | undefined {
    const entry = this.#entries.get(key) ?? { known: undefined, of: '', at: 0, waits: false };
    this.#entries.set(key, entry);
    if (entry.of !== state && !entry.waits) {
      entry.waits = true;
      setTimeout(() => void this.#ask(key, entry, state, ask), Math.max(0, entry.at + this.#pause - Date.now()));
    }
    return entry.known;
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }

  async #ask(key: string, entry: Entry<T>, state: string, ask: () => Promise<T>): Promise<void> {
    const before = JSON.stringify(entry.known);
    entry.at = Date.now();
    try {
      entry.known = await ask();
      entry.of = state;
    } catch (error) {
      entry.known = { why: error instanceof Error ? error.message : String(error) };
    }
    entry.waits = false;
    if (JSON.stringify(entry.known) !== before) this.#changed.fire(key);
  }

  dispose(): void {
    this.#changed.dispose();
  }
}
