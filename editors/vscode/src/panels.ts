// What the dashboard shows besides: what could go of a window, compactions, and what context files cost.
import * as vscode from 'vscode';
import type { Known } from '../../../internal/ui/page/types.d.ts';
import { Answers } from './answers.ts';
import { stateOf } from './details.ts';
import type { AuditReport, Listing, PlanResult, SessionView } from './protocol.ts';
import type { Server } from './server.ts';
import { keyOf } from './sessions.ts';

/** The shortest times between two requests for the same, in milliseconds: records are read whole for them. */
const pause = { plan: 10_000, compactions: 15_000, all: 60_000, audit: 3_000 };

/** The number of the error that says that params are wrong: here, that ctxls cannot tell it of such a session. */
const invalid = -32602;

export class Panels implements vscode.Disposable {
  readonly #plans = new Answers<PlanResult>(pause.plan);
  readonly #compactions = new Answers<Listing>(pause.compactions);
  readonly #all = new Answers<Listing>(pause.all);
  readonly #audits = new Answers<AuditReport | null>(pause.audit);
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
    for (const answers of [this.#plans, this.#compactions, this.#all, this.#audits]) {
      answers.onDidChange(() => this.#changed.fire());
    }
  }

  /** Fires when there is something new. */
  readonly onDidChange = this.#changed.event;

  /** What could go of a session's window. Null messages are none: the session's record is meant. */
  plan(s: SessionView): Known<PlanResult> {
    const { host, sessionId } = s;
    return this.#plans.of(keyOf(s), stateOf(s), () =>
      this.#server.request('context/plan', { host, sessionId, messages: null }),
    );
  }

  /** The compactions of a session. */
  compactions(s: SessionView): Known<Listing> {
    const { host, sessionId } = s;
    if (s.compactions === 0) return null;
    const ask = () => this.#server.request('session/compactions', { host, sessionId });
    return this.#compactions.of(keyOf(s), stateOf(s), () => ask().catch(recordless));
  }

  /** The compactions of all sessions; these are those of the window. */
  allCompactions(sessions: readonly SessionView[]): Known<Listing> {
    const known = sessions.map(s => `${keyOf(s)} ${s.compactions}`).join();
    return this.#all.of('', known || 'none', () => this.#server.request('session/compactions', {}));
  }

  /** What a session that starts where this one did holds before its first prompt; without one, in the first folder. look is another one each time. */
  audit(s: SessionView | undefined, look: number): Known<AuditReport> {
    const params = s ? { dir: s.cwd, host: s.host } : {};
    const ask = () => this.#server.request('context/audit', params);
    const unknown = (error: unknown) => {
      if (isInvalid(error)) return null; // of such a host, ctxls does not know what it loads
      throw error;
    };
    return this.#audits.of(`${s?.host} ${s?.cwd}`, `look ${look}`, () => ask().catch(unknown));
  }

  dispose(): void {
    this.#changed.dispose();
    for (const answers of [this.#plans, this.#compactions, this.#all, this.#audits]) answers.dispose();
  }
}

function isInvalid(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === invalid;
}

function recordless(error: unknown): never {
  throw isInvalid(error) ? new Error('the host’s record does not tell of them') : error;
}
