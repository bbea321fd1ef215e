// A window of the editor without the editor: as much of the API as the extension touches, and a record of what it did with it.
import assert from 'node:assert/strict';
import { EventEmitter as Emitter } from 'node:events';
import { createRequire, Module } from 'node:module';
import { pathToFileURL } from 'node:url';

type Listener = (value: unknown) => unknown;

class EventEmitter {
  #emitter = new Emitter().setMaxListeners(100);
  event = (listen: Listener) => {
    this.#emitter.on('x', listen);
    return new Disposable(() => this.#emitter.off('x', listen));
  };
  fire(value: unknown): void {
    this.#emitter.emit('x', value);
  }
  dispose(): void {
    this.#emitter.removeAllListeners();
  }
}

class Disposable {
  static from(...all: { dispose(): void }[]): Disposable {
    return new Disposable(() => {
      for (const one of all) one.dispose();
    });
  }
  dispose: () => void;
  constructor(dispose: () => void) {
    this.dispose = dispose;
  }
}

class MarkdownString {
  value = '';
  isTrusted: unknown;
  supportHtml = false;
  appendMarkdown(text: string): this {
    this.value += text;
    return this;
  }
}

class TreeItem {
  label: string;
  constructor(label: string) {
    this.label = label;
  }
}

class ThemeColor {
  id: string;
  constructor(id: string) {
    this.id = id;
  }
}

class Uri {
  scheme: string;
  fsPath: string;
  path: string;
  constructor(scheme: string, path: string) {
    this.scheme = scheme;
    this.path = this.fsPath = path;
  }
  static file(path: string): Uri {
    return new Uri('file', path);
  }
  static joinPath(base: Uri, ...parts: string[]): Uri {
    return Uri.file([base.path, ...parts].join('/'));
  }
  static parse(text: string): Uri {
    return new Uri('https', text);
  }
  toString(): string {
    return pathToFileURL(this.path).href;
  }
}

export interface Item {
  text: string;
  tooltip?: MarkdownString;
  backgroundColor?: ThemeColor;
  accessibilityInformation?: { label: string };
  command?: string;
  visible: boolean;
}

// Each bundle that is loaded has the API of its window, also for the part that it loads when it starts the server.
const apis = new WeakMap<object, object>();
let loading: object | undefined;
const loader = Module as unknown as { _load: (name: string, parent: object, ...rest: unknown[]) => unknown };
const load = loader._load;
loader._load = function (this: unknown, name, parent, ...rest) {
  if (name !== 'vscode') return load.call(this, name, parent, ...rest);
  const api = apis.get(parent) ?? loading;
  assert(api);
  apis.set(parent, api);
  return api;
};

/** One window: what a test sets, and what it sees. */
export class Window {
  settings: Record<string, unknown> = {};
  readonly folder: string;
  readonly items: Record<string, Item> = {};
  readonly messages: string[] = [];
  /** The notices that are on the screen. */
  readonly notices = new Set<{ message: string }>();
  readonly log: string[] = [];
  /** What panels were sent. */
  readonly posted: unknown[] = [];
  readonly commands: Record<string, (...args: unknown[]) => unknown> = {};
  readonly memory = new Map<string, unknown>();
  readonly configured = new EventEmitter();
  subscriptions: { dispose(): void }[] = [];
  #module: { activate(context: unknown): Promise<void>; deactivate(): Promise<void> } | undefined;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Loads the bundle that is shipped, as the editor would, from an extension directory. */
  async activate(bundle: string, extension: string): Promise<void> {
    loading = this.#api();
    const require = createRequire(import.meta.url);
    delete require.cache[require.resolve(bundle)];
    this.#module = require(bundle);
    await this.#module?.activate({
      subscriptions: this.subscriptions,
      extensionPath: extension,
      extensionUri: Uri.file(extension),
      globalStorageUri: Uri.file(`${extension}/storage`),
      workspaceState: this.#memento,
      globalState: this.#memento,
    });
  }

  readonly #memento = {
    get: (key: string, otherwise: unknown) => this.memory.get(key) ?? otherwise,
    update: async (key: string, value: unknown) => void this.memory.set(key, value),
  };

  async deactivate(): Promise<void> {
    await this.#module?.deactivate();
    for (const one of this.subscriptions.splice(0)) one.dispose();
  }

  set(settings: Record<string, unknown>): void {
    this.settings = settings;
    this.configured.fire({ affectsConfiguration: () => true });
  }

  #api(): object {
    const nothing = () => new Disposable(() => {});
    const kind = { value: '', append: () => kind };
    const item = (id: string) => {
      const made: Item & Record<string, unknown> = { text: '', visible: false };
      made.show = () => {
        made.visible = true;
      };
      made.hide = () => {
        made.visible = false;
      };
      made.dispose = () => {};
      this.items[id] = made;
      return made;
    };
    const say = async (message: string) => void this.messages.push(message);
    const write = (message: string) => void this.log.push(message);
    const channel = {
      ...Object.fromEntries(
        ['trace', 'debug', 'info', 'warn', 'error', 'append', 'appendLine'].map(name => [name, write]),
      ),
      show: nothing,
      dispose: nothing,
      onDidChangeLogLevel: nothing,
      logLevel: 3,
    };
    const defaults: Record<string, unknown> = {
      'statusBar.format': '{icon} {percent} · {until}',
      'statusBar.whenNoSession': 'quiet',
      'notices.critical': true,
    };
    const known: Record<string, unknown> = {
      EventEmitter,
      Disposable,
      MarkdownString,
      ThemeColor,
      Uri,
      StatusBarAlignment: { Left: 1, Right: 2 },
      ProgressLocation: { Notification: 15 },
      TreeItem,
      TreeItemCollapsibleState: { None: 0, Collapsed: 1, Expanded: 2 },
      ThemeIcon: ThemeColor,
      LogLevel: { Trace: 1 },
      version: '1.91.0',
      env: { language: 'en', appName: 'test' },
      window: rest({
        tabGroups: { all: [], onDidChangeTabs: nothing, onDidChangeTabGroups: nothing },
        visibleTextEditors: [],
        createOutputChannel: () => channel,
        createStatusBarItem: item,
        state: { focused: true, active: true },
        createWebviewPanel: () => {
          const postMessage = async (message: unknown) => void this.posted.push(JSON.parse(JSON.stringify(message)));
          const webview = rest({ postMessage, asWebviewUri: String, onDidReceiveMessage: nothing });
          return rest({ visible: true, webview, onDidChangeViewState: nothing, onDidDispose: nothing });
        },
        createTreeView: () => ({ dispose: () => {} }),
        // A notice of progress is on the screen until what it stands for ends.
        withProgress: async (
          _: unknown,
          task: (progress: { report(said: { message: string }): void }) => Promise<void>,
        ) => {
          const notice = { message: '' };
          this.notices.add(notice);
          await task({
            report: ({ message }) => {
              notice.message = message;
              this.messages.push(message);
            },
          });
          this.notices.delete(notice);
        },
        showErrorMessage: say,
        showWarningMessage: say,
        showInformationMessage: say,
      }),
      workspace: rest({
        isTrusted: true,
        textDocuments: [],
        notebookDocuments: [],
        workspaceFolders: [{ uri: Uri.file(this.folder), name: 'folder', index: 0 }],
        onDidChangeConfiguration: this.configured.event,
        getConfiguration: (section: string) => ({
          get: (key: string, otherwise?: unknown) => this.settings[`${section}.${key}`] ?? defaults[key] ?? otherwise,
          inspect: () => undefined,
        }),
      }),
      commands: {
        registerCommand: (name: string, run: (...args: unknown[]) => unknown) => {
          this.commands[name] = run;
          return nothing();
        },
        executeCommand: async () => undefined,
      },
      languages: rest({ createDiagnosticCollection: nothing }),
      CodeActionKind: { Empty: kind, QuickFix: kind },
    };
    // The protocol's library extends classes of the API that the extension does not use. They are inherited, since a bundle
    // copies what is the module's own and keeps what that inherits from.
    return Object.create(new Proxy(known, { get: (all, name) => all[String(name)] ?? class {} }));
  }
}

/** What is not given is an event or a registration that nothing comes of. */
function rest(given: Record<string, unknown>): object {
  return new Proxy(given, { get: (all, name) => all[String(name)] ?? (() => new Disposable(() => {})) });
}
