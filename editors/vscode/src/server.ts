// Starts, restarts and stops the server. A window runs at most one.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { contextFiles } from './contextfiles.ts';
import { findServer, type Program, StartError } from './locator.ts';
import { type Notifications, protocolVersion, type Requests } from './protocol.ts';

/** What the window knows of its server. */
export type ServerState =
  | { kind: 'starting' }
  | { kind: 'running'; program: Program }
  | { kind: 'failed'; why: string }
  | { kind: 'stopped' };

/** A server that dies more often than `most` within `within` milliseconds is not restarted. */
const restarts = { most: 4, within: 180_000 };

/** The longest wait for the answer to initialize, and for the end of the process before it is killed, in milliseconds. */
const timeout = { start: 20_000, stop: 2_000 };

type Listener = { method: keyof Notifications; listen: (params: unknown) => void };

export class Server implements vscode.Disposable {
  #client: LanguageClient | undefined;
  #child: ChildProcessWithoutNullStreams | undefined;
  #state: ServerState = { kind: 'stopped' };
  #program: Program | undefined;
  /** Starts and stops run one after another. */
  #queue: Promise<void> = Promise.resolve();
  /** When servers died, in milliseconds since 1970. */
  #deaths: number[] = [];
  /** The last lines of the standard error. */
  #lastLines: string[] = [];
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
   * Calls a function for each notification of a method, of all servers that are started from now on. Several functions may listen
   * to one method: the library itself would call the last one only.
   */
  on<M extends keyof Notifications>(method: M, listen: (params: Notifications[M]) => void): void {
    this.#listeners.push({ method, listen: params => listen(params as Notifications[M]) });
  }

  /** Sends a request. Fails without a running server. */
  async request<M extends keyof Requests>(method: M, params: Requests[M]['params']): Promise<Requests[M]['result']> {
    if (this.#state.kind !== 'running' || !this.#client) {
      throw new StartError(this.#state.kind === 'failed' ? this.#state.why : 'The server is not running.');
    }
    return this.#client.sendRequest(method, params);
  }

  /** Starts the server, in place of the one that runs. Earlier deaths no longer count. */
  async restart(): Promise<void> {
    this.#deaths = [];
    await this.#enqueue(async () => {
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
    await this.#enqueue(() => this.#stop());
  }

  dispose(): void {
    void this.stop();
    this.#changed.dispose();
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    this.#queue = this.#queue.then(work, work);
    return this.#queue;
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
      await client.dispose(timeout.stop).catch(error => this.#log.debug(`The server did not stop by itself: ${error}`));
    }
    if (child && !isGone(child)) {
      const gone = new Promise(resolve => child.once('exit', resolve));
      child.stdin.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), timeout.stop);
      await gone;
      clearTimeout(timer);
    }
    this.#become({ kind: 'stopped' });
  }

  async #start(): Promise<void> {
    if (this.#disposed) return;
    this.#become({ kind: 'starting' });
    this.#lastLines = [];
    try {
      const path = vscode.workspace.getConfiguration('ctxls').get<string>('server.path', '');
      const program = await findServer(path, this.#context.extensionPath);
      this.#program = program;
      this.#log.info(`Starting ${program.path} (${program.source}), version ${program.version}`);
      const client = this.#connect(program, await import('./client.ts'));
      this.#client = client;
      await within(timeout.start, client.start(), `${program.path} did not answer.`);
      const theirs = client.initializeResult?.capabilities.experimental?.ctxls?.protocolVersion;
      if (theirs !== protocolVersion) {
        throw new StartError(
          `${program.path} (version ${program.version}) speaks version ${theirs ?? 'none'} of the protocol, and this extension ` +
            `version ${protocolVersion}: update ${theirs > protocolVersion ? 'the extension' : 'ctxls'}.`,
        );
      }
      this.#become({ kind: 'running', program });
    } catch (error) {
      const ended = this.#child && isGone(this.#child);
      await this.#stop();
      const why = this.#lastError() || (ended ? 'it ended before it answered' : String(error));
      this.#fail(error instanceof StartError ? error.message : `The server did not start: ${why}`);
    }
  }

  #connect(program: Program, library: typeof import('./client.ts')): LanguageClient {
    const { CloseAction, ErrorAction, QuietClient, RevealOutputChannelOn } = library;
    const client: LanguageClient = new QuietClient(
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
            if (client === this.#client && this.#state.kind === 'running')
              void this.#enqueue(() => this.#revive(client));
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

  /** Restarts the server after its death, unless it dies too often. */
  async #revive(client: LanguageClient): Promise<void> {
    await new Promise(resolve => setImmediate(resolve)); // the client is still busy with the end of the connection
    if (client !== this.#client || this.#disposed) return;
    const now = Date.now();
    this.#deaths = [...this.#deaths.filter(at => now - at < restarts.within), now];
    const lastWord = this.#lastError();
    await this.#stop();
    if (this.#deaths.length > restarts.most) {
      this.#fail(`The server died ${this.#deaths.length} times in a short while${lastWord ? `: ${lastWord}` : '.'}`);
      return;
    }
    this.#log.warn('The server died and is started again');
    await this.#start();
  }

  #fail(why: string): void {
    this.#log.error(why);
    this.#become({ kind: 'failed', why });
  }

  /** Returns the last error that the server printed; "" if there is none. */
  #lastError(): string {
    const words = this.#lastLines.map(line => /^(?:ctxls: |panic: |.*\blevel=ERROR msg=)(.*)/.exec(line)?.[1]);
    return words.findLast(word => word !== undefined) ?? '';
  }

  /** Copies the standard error of the server to the log, each line at its own level. */
  #listen(input: Readable): void {
    createInterface({ input }).on('line', line => {
      this.#lastLines = [...this.#lastLines.slice(-99), line]; // a panic has a long tail
      const text = line.replace(/^time=\S+ /, '');
      if (/\blevel=(ERROR)\b/.test(line)) this.#log.error(text);
      else if (/\blevel=WARN\b/.test(line)) this.#log.warn(text);
      else if (/\blevel=DEBUG\b/.test(line)) this.#log.debug(text);
      else this.#log.info(text);
    });
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
