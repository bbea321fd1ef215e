// The life of the server: at most one a window, started again when it dies.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import * as vscode from 'vscode';
import { CloseAction, ErrorAction, LanguageClient, RevealOutputChannelOn } from 'vscode-languageclient/node';
import { contextFiles } from './contextfiles.ts';
import { findServer, type Program, StartError } from './locator.ts';
import { type Notifications, protocolVersion, type Requests } from './protocol.ts';

/** What the window knows of its server. */
export type ServerState =
  | { kind: 'starting' }
  | { kind: 'running'; program: Program }
  | { kind: 'failed'; why: string }
  | { kind: 'stopped' };

/** So many deaths within so many milliseconds are taken for a fault that a further start does not mend. */
const deaths = { most: 4, within: 180_000 };

/** How long a server may take to end before it is ended, in milliseconds. */
const farewell = 2_000;

/** How long a server may take to answer initialize, in milliseconds. */
const patience = 20_000;

type Listener = { method: keyof Notifications; listen: (params: unknown) => void };

export class Server implements vscode.Disposable {
  #client: LanguageClient | undefined;
  #child: ChildProcessWithoutNullStreams | undefined;
  #state: ServerState = { kind: 'stopped' };
  #program: Program | undefined;
  /** Starts and stops come one after another. */
  #turn: Promise<void> = Promise.resolve();
  #died: number[] = [];
  #lastWords: string[] = [];
  #disposed = false;
  readonly #listeners: Listener[] = [];
  readonly #changed = new vscode.EventEmitter<ServerState>();
  readonly #context: vscode.ExtensionContext;
  readonly #log: vscode.LogOutputChannel;

  constructor(context: vscode.ExtensionContext, log: vscode.LogOutputChannel) {
    this.#context = context;
    this.#log = log;
  }

  readonly onDidChangeState = this.#changed.event;

  get state(): ServerState {
    return this.#state;
  }

  /** The program in use; the last one while it is started again. */
  get program(): Program | undefined {
    return this.#program;
  }

  /**
   * Listens to a notification, of every server that is started from now on. One may listen to each: the library would tell the
   * last one only.
   */
  on<M extends keyof Notifications>(method: M, listen: (params: Notifications[M]) => void): void {
    this.#listeners.push({ method, listen: params => listen(params as Notifications[M]) });
  }

  /** Asks the server. Fails where there is none. */
  async request<M extends keyof Requests>(method: M, params: Requests[M]['params']): Promise<Requests[M]['result']> {
    if (this.#state.kind !== 'running' || !this.#client) {
      throw new StartError(this.#state.kind === 'failed' ? this.#state.why : 'The server is not running.');
    }
    return this.#client.sendRequest(method, params);
  }

  /** Starts the server, in place of the one that runs. A person who asks for it is not refused for past deaths. */
  async restart(): Promise<void> {
    this.#died = [];
    await this.#next(async () => {
      await this.#stop();
      await this.#start();
    });
  }

  /** Tells the server of settings that changed. */
  async configure(): Promise<void> {
    if (this.#state.kind === 'running') {
      await this.#client?.sendNotification('workspace/didChangeConfiguration', { settings: { ctxls: config() } });
    }
  }

  async stop(): Promise<void> {
    this.#disposed = true;
    await this.#next(() => this.#stop());
  }

  dispose(): void {
    void this.stop();
    this.#changed.dispose();
  }

  #next(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(work, work);
    return this.#turn;
  }

  #become(state: ServerState): void {
    this.#state = state;
    if (!this.#disposed) this.#changed.fire(state);
  }

  /** Ends the server; when this returns there is none. */
  async #stop(): Promise<void> {
    const [client, child] = [this.#client, this.#child];
    this.#client = this.#child = undefined;
    if (client) {
      await client.dispose(farewell).catch(error => this.#log.debug(`The server did not say good-bye: ${error}`));
    }
    if (child && !isGone(child)) {
      const gone = new Promise(resolve => child.once('exit', resolve));
      child.stdin.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), farewell);
      await gone;
      clearTimeout(timer);
    }
    this.#become({ kind: 'stopped' });
  }

  async #start(): Promise<void> {
    if (this.#disposed) return;
    this.#become({ kind: 'starting' });
    this.#lastWords = [];
    try {
      const path = vscode.workspace.getConfiguration('ctxls').get<string>('server.path', '');
      const program = await findServer(path, this.#context.extensionPath);
      this.#program = program;
      this.#log.info(`Starting ${program.path} (${program.source}), version ${program.version}`);
      const client = this.#connect(program);
      this.#client = client;
      await within(patience, client.start(), `${program.path} did not answer.`);
      const speaks = client.initializeResult?.capabilities.experimental?.ctxls?.protocolVersion;
      if (speaks !== protocolVersion) {
        throw new StartError(
          `${program.path} (version ${program.version}) speaks version ${speaks ?? 'none'} of the protocol, and this extension ` +
            `version ${protocolVersion}: update ${speaks > protocolVersion ? 'the extension' : 'ctxls'}.`,
        );
      }
      this.#become({ kind: 'running', program });
    } catch (error) {
      const ended = this.#child && isGone(this.#child);
      await this.#stop();
      const why = this.#lastWord() || (ended ? 'it ended before it answered' : String(error));
      this.#fail(error instanceof StartError ? error.message : `The server did not start: ${why}`);
    }
  }

  #connect(program: Program): LanguageClient {
    const client = new QuietClient(
      'ctxls',
      'ctxls',
      async () => {
        this.#child = await launch(program.path);
        return this.#child;
      },
      {
        documentSelector: contextFiles,
        outputChannel: this.#log,
        revealOutputChannelOn: RevealOutputChannelOn.Never,
        initializationOptions: { config: config(), sessions: setting('sessions', 'workspace') },
        initializationFailedHandler: () => false, // #start says what failed
        errorHandler: {
          error: () => ({ action: ErrorAction.Continue, handled: true }),
          closed: () => {
            if (client === this.#client && this.#state.kind === 'running') void this.#next(() => this.#revive(client));
            return { action: CloseAction.DoNotRestart, handled: true, message: 'The server is gone.' };
          },
        },
        stdioOptions: { stdout: () => {}, stderr: input => this.#listen(input) },
      },
    );
    for (const { method, listen } of this.#listeners) {
      client.onNotification(method, (params: unknown) => {
        if (client === this.#client) listen(params);
      });
    }
    return client;
  }

  /** Starts the server again after its death, unless it dies too often. */
  async #revive(client: LanguageClient): Promise<void> {
    await new Promise(resolve => setImmediate(resolve)); // the client is still busy with the end of the connection
    if (client !== this.#client || this.#disposed) return;
    const now = Date.now();
    this.#died = [...this.#died.filter(at => now - at < deaths.within), now];
    const lastWord = this.#lastWord();
    await this.#stop();
    if (this.#died.length > deaths.most) {
      this.#fail(`The server died ${this.#died.length} times in a short while${lastWord ? `: ${lastWord}` : '.'}`);
      return;
    }
    this.#log.warn('The server died and is started again');
    await this.#start();
  }

  #fail(why: string): void {
    this.#log.error(why);
    this.#become({ kind: 'failed', why });
  }

  /** What the server said of its end; "" where it said nothing. */
  #lastWord(): string {
    const words = this.#lastWords.map(line => /^(?:ctxls: |panic: |.*\blevel=ERROR msg=)(.*)/.exec(line)?.[1]);
    return words.findLast(word => word !== undefined) ?? '';
  }

  /** Takes what the server says on its standard error into the log, at the level that it says. */
  #listen(input: Readable): void {
    createInterface({ input }).on('line', line => {
      this.#lastWords = [...this.#lastWords.slice(-99), line]; // a panic has a long tail
      const text = line.replace(/^time=\S+ /, '');
      if (/\blevel=(ERROR)\b/.test(line)) this.#log.error(text);
      else if (/\blevel=WARN\b/.test(line)) this.#log.warn(text);
      else if (/\blevel=DEBUG\b/.test(line)) this.#log.debug(text);
      else this.#log.info(text);
    });
  }
}

/** A client that writes its errors to the log and leaves it to Server to show them, once and with what can be done. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

function isGone(child: ChildProcessWithoutNullStreams): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function within<T>(ms: number, work: Promise<T>, otherwise: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StartError(otherwise)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Starts the program in the window's first folder, whose settings count, and fails where it cannot be started. */
function launch(path: string): Promise<ChildProcessWithoutNullStreams> {
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file' && existsSync(uri.fsPath));
  const child = spawn(path, ['serve', '--stdio'], { ...(folder && { cwd: folder.uri.fsPath }), windowsHide: true });
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child));
    child.once('error', error => reject(new StartError(`${path} could not be run: ${error.message}`)));
  });
}

function config(): object {
  return setting('config', {});
}

function setting<T>(key: string, otherwise: T): T {
  return vscode.workspace.getConfiguration('ctxls').get<T>(key, otherwise);
}
