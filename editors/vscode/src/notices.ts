// What ctxls says without being asked: one notice at a time, gone when its reason is gone, and silenced for good on request.
import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Alert, SessionView } from './protocol.ts';
import type { Server } from './server.ts';
import { type Change, keyOf, type Sessions } from './sessions.ts';
import { exactly, line, name, percent } from './text.ts';

/** Sessions that become critical within so many milliseconds share a notice. */
const gathering = 500;

/** A notice goes by itself after so many milliseconds. The window had the focus when it came, so that it could be read. */
const reading = 60_000;

/** Another window's word that it told of a session counts for so many milliseconds. */
const claimed = 24 * 60 * 60 * 1000;

export class Notices implements vscode.Disposable {
  readonly #critical: CriticalNotice;
  /** Sessions that are critical, whether or not anybody was told. */
  readonly #known = new Set<string>();
  /** The alert over all tasks is on the screen: another one would say the same. */
  #alerting = false;
  readonly #disposables: vscode.Disposable[];

  constructor(sessions: Sessions, server: Server, storage: vscode.Uri) {
    this.#critical = new CriticalNotice(sessions, storage.fsPath);
    this.#disposables = [
      this.#critical,
      sessions.onDidChange(changes => {
        for (const change of changes) this.#look(change);
        this.#critical.update();
      }),
      vscode.workspace.onDidChangeConfiguration(e => {
        if (e.affectsConfiguration('ctxls.notices.critical') && !isOn('notices.critical')) this.#critical.close();
      }),
    ];
    server.on('metrics/thresholdExceeded', alert => void this.#fleet(alert));
  }

  /** Tells of a session that crosses into critical. One that was critical when it was first seen crossed nothing. */
  #look({ before, now }: Change): void {
    const one = now ?? before;
    if (!one) return;
    const key = keyOf(one);
    const level = now?.usage.level;
    if (!now || level !== 'critical') {
      if (now && !level) return; // an unknown level is no sign of room
      this.#known.delete(key);
      this.#critical.remove(one);
      return;
    }
    const crossed = before?.usage.level !== undefined && before.usage.level !== 'critical';
    const isNew = !this.#known.has(key);
    this.#known.add(key);
    if (crossed && isNew) this.#critical.add(key);
    if (before && now.compactions > before.compactions) this.#critical.remove(now);
  }

  async #fleet({ rate, threshold, tasks }: Alert): Promise<void> {
    const setting = 'notices.fleet';
    if (this.#alerting || !isOn(setting)) return;
    this.#alerting = true;
    const message = `${(rate * 100).toFixed(1)}% of the last ${exactly(tasks)} tasks were larger than their threshold; at most ${(threshold * 100).toFixed(0)}% should be.`;
    const [show, never] = ['Show Dashboard', 'Don’t Show Again'];
    const chosen = await vscode.window.showWarningMessage(message, show, never);
    if (chosen === show) await vscode.commands.executeCommand('ctxls.showDashboard');
    if (chosen === never) await silence(setting);
    this.#alerting = false;
  }

  /** Ends the notice of critical sessions. */
  dismiss(): void {
    this.#critical.close();
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }
}

/**
 * The one notice of critical sessions. An editor cannot take back a message, but it takes back a progress that ends: so the
 * notice is one, with links for buttons.
 */
class CriticalNotice implements vscode.Disposable {
  /** The keys of the sessions that it tells of, and of those that wait for the window to get the focus. */
  readonly #told = new Set<string>();
  readonly #waiting = new Set<string>();
  readonly #sessions: Sessions;
  readonly #claims: string;
  readonly #focus: vscode.Disposable;
  #timer: NodeJS.Timeout | undefined;
  #open: { report: (message: string, share: number) => void; close: () => void } | undefined;

  constructor(sessions: Sessions, storage: string) {
    this.#sessions = sessions;
    this.#claims = join(storage, 'notices');
    this.#focus = vscode.window.onDidChangeWindowState(() => this.#soon());
  }

  add(key: string): void {
    this.#waiting.add(key);
    this.#soon();
  }

  /** The session has room again, or is gone. */
  remove(s: SessionView): void {
    this.#waiting.delete(keyOf(s));
    this.#told.delete(keyOf(s));
    void rm(this.#claim(s), { force: true });
  }

  /** Brings the figures of an open notice up to date, and ends it where no session is left. */
  update(): void {
    const critical = [...this.#told].map(key => this.#sessions.get(key)).filter(s => s !== undefined);
    if (!this.#open) return;
    if (critical.length === 0) this.#open.close();
    else this.#open.report(message(critical), Math.max(...critical.map(s => s.usage.display.percent ?? 0)));
  }

  close(): void {
    this.#open?.close();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.close();
    this.#focus.dispose();
  }

  #soon(): void {
    if (this.#waiting.size === 0 || !vscode.window.state.focused) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#tell();
    }, gathering);
  }

  async #tell(): Promise<void> {
    const keys = [...this.#waiting];
    this.#waiting.clear();
    if (!isOn('notices.critical')) return;
    for (const key of keys) {
      const session = this.#sessions.get(key);
      if (session && (await this.#isOurs(session))) this.#told.add(key);
    }
    if (this.#told.size === 0) return;
    if (!this.#open) this.#show();
    this.update();
  }

  #show(): void {
    const location = vscode.ProgressLocation.Notification;
    void vscode.window.withProgress(
      { location },
      progress =>
        new Promise<void>(resolve => {
          const timer = setTimeout(() => this.close(), reading);
          const last = { message: '', share: 0 };
          this.#open = {
            report: (message, share) => {
              if (message === last.message) return;
              progress.report({ message, increment: Math.max(0, share - last.share) }); // its bar is a gauge
              last.message = message;
              last.share = Math.max(share, last.share);
            },
            close: () => {
              clearTimeout(timer);
              this.#open = undefined;
              this.#told.clear();
              resolve();
            },
          };
        }),
    );
  }

  /** Whether this window is the first to tell of the session: of several windows only one may. */
  async #isOurs(s: SessionView): Promise<boolean> {
    try {
      await mkdir(this.#claims, { recursive: true });
      await this.#forgetOld();
      await (await open(this.#claim(s), 'wx')).close();
      return true;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== 'EEXIST'; // where nothing can be written, telling twice is better than never
    }
  }

  async #forgetOld(): Promise<void> {
    for (const name of await readdir(this.#claims)) {
      const path = join(this.#claims, name);
      const made = await stat(path).catch(() => undefined);
      if (made && Date.now() - made.mtimeMs > claimed) await rm(path, { force: true });
    }
  }

  #claim(s: SessionView): string {
    return join(
      this.#claims,
      createHash('sha256')
        .update(`${keyOf(s)} ${s.compactions}`)
        .digest('hex')
        .slice(0, 32),
    );
  }
}

/** The longest name in a notice: the editor shows one line of it, and the links shall be on that. */
const longestName = 16;

/** Writes the notice with its links. What comes from outside can make no link. */
function message(critical: SessionView[]): string {
  const silent =
    '[Dismiss](command:ctxls.dismissNotice) · [Silence](command:ctxls.silenceCritical "Do not show such notices again")';
  const [only] = critical;
  if (critical.length > 1) {
    return `${critical.length} sessions are critically full. [Show](command:ctxls.pickSession "Show the list of sessions") · ${silent}`;
  }
  if (!only) return '';
  const key = encodeURIComponent(JSON.stringify([keyOf(only)])).replace(/[()]/g, c => (c === '(' ? '%28' : '%29'));
  const show = `command:ctxls.showDashboard?${key} "Show the dashboard"`;
  const title = line(name(only), longestName).replace(/[[\]()]/g, ' ');
  return `${title}: context ${percent(only.usage)} full. [Show](${show}) · ${silent}`;
}

function isOn(setting: string): boolean {
  return vscode.workspace.getConfiguration('ctxls').get<boolean>(setting, false);
}

/** Turns a notice off for the user, and for the workspace where its settings turn it on. */
export async function silence(setting: string): Promise<void> {
  const settings = vscode.workspace.getConfiguration('ctxls');
  await settings.update(setting, false, vscode.ConfigurationTarget.Global);
  if (settings.inspect(setting)?.workspaceValue === true) {
    await settings.update(setting, false, vscode.ConfigurationTarget.Workspace);
  }
}
