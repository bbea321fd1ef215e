// What fills a session's window. The server reads the transcript to answer, so that this is asked for less often than the rest.
import type * as vscode from 'vscode';
import { Answers } from './answers.ts';
import type { Breakdown, SessionView } from './protocol.ts';
import type { Server } from './server.ts';
import { keyOf, type Sessions } from './sessions.ts';

export { partName } from '../../../internal/ui/page/words.mjs';

/** The shortest time between two requests for one session, in milliseconds. */
const pause = 3_000;

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

export class Details implements vscode.Disposable {
  readonly #answers = new Answers<Breakdown | { tokens: null; why: string }>(pause);
  readonly #gone: vscode.Disposable;
  readonly #server: Server;

  constructor(server: Server, sessions: Sessions) {
    this.#server = server;
    this.#gone = sessions.onDidChange(changes => {
      for (const { before, now } of changes) if (before && !now) this.#answers.forget(keyOf(before));
    });
  }

  /** Fires with the key of the session whose breakdown arrived. */
  readonly onDidChange = this.#answers.onDidChange;

  /** Returns what is known now, and asks the server again where the session has changed since. */
  of(s: SessionView): Known {
    const { host, sessionId } = s;
    const known = this.#answers.of(keyOf(s), stateOf(s), async () => {
      const { breakdown } = await this.#server.request('session/get', { host, sessionId, breakdown: true });
      return breakdown ?? { tokens: null, why: '' };
    });
    return known && !('tokens' in known) ? { tokens: null, why: known.why } : known;
  }

  dispose(): void {
    this.#gone.dispose();
    this.#answers.dispose();
  }
}

/** A string that changes with each response of a session, and so with its record. */
export function stateOf({ usage, compactions }: SessionView): string {
  return `${usage.asOf} ${usage.tokens} ${compactions}`;
}
