// What is said without being asked: little, once, and never again where somebody says so.
import * as vscode from 'vscode';
import type { Server } from './client.ts';
import type { Alert, SessionView } from './protocol.ts';
import { type Change, keyOf, type Sessions } from './sessions.ts';
import { exactly, line, mark, name, tokens } from './text.ts';

const show = 'Show Dashboard';
const never = 'Don’t Show Again';

export class Notices implements vscode.Disposable {
  /** Sessions of which it was said that they are critical, until they are no more. */
  readonly #told = new Set<string>();
  /** The alert over all tasks is on the screen: another one would say the same. */
  #alerting = false;
  readonly #disposables: vscode.Disposable[];

  constructor(sessions: Sessions, server: Server) {
    this.#disposables = [
      sessions.onDidChange(changes => {
        for (const change of changes) this.#look(change);
      }),
    ];
    server.on('metrics/thresholdExceeded', alert => void this.#fleet(alert));
  }

  /** Speaks where a session crosses into critical. One that was critical when it was first seen crossed nothing. */
  #look({ before, now }: Change): void {
    const key = keyOf(now ?? before ?? { host: '', sessionId: '' });
    const level = now?.usage.level;
    if (!now || level !== 'critical') {
      if (!now || level) this.#told.delete(key); // an unknown level is no sign of room
      return;
    }
    const crossed = before?.usage.level !== undefined && before.usage.level !== 'critical';
    const isNew = !this.#told.has(key);
    this.#told.add(key);
    if (crossed && isNew) void this.#critical(now);
  }

  async #critical(s: SessionView): Promise<void> {
    const u = s.usage;
    const left = u.toCompaction === null ? '' : `, ${mark(u)}${tokens(u.toCompaction)} tokens are left to compaction`;
    await ask(
      'notices.critical',
      `${line(name(s))}: the context window is ${mark(u)}${u.display.percent ?? '?'} % full${left}.`,
      keyOf(s),
    );
  }

  async #fleet({ rate, threshold, tasks }: Alert): Promise<void> {
    if (this.#alerting) return;
    this.#alerting = true;
    await ask(
      'notices.fleet',
      `${(rate * 100).toFixed(1)} % of the last ${exactly(tasks)} tasks were larger than their threshold; at most ${(threshold * 100).toFixed(0)} % should be.`,
    );
    this.#alerting = false;
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }
}

async function ask(setting: string, message: string, key?: string): Promise<void> {
  const settings = vscode.workspace.getConfiguration('ctxls');
  if (!settings.get<boolean>(setting)) return;
  const chosen = await vscode.window.showWarningMessage(message, show, never);
  if (chosen === show) await vscode.commands.executeCommand('ctxls.showDashboard', key);
  if (chosen === never) {
    await settings.update(setting, false, vscode.ConfigurationTarget.Global);
    if (settings.inspect(setting)?.workspaceValue === true) {
      await settings.update(setting, false, vscode.ConfigurationTarget.Workspace);
    }
  }
}
