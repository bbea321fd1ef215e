// A machine of the tests' own: a home, a project, a real VS Code with the extension from the VSIX, and a browser in front of it.
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { Agent, type Machine } from '../agent.ts';

/** How long anything may take on a machine that is busy, in milliseconds. */
const patience = Number(process.env.CTXLS_PATIENCE ?? 60_000);

export const screenshots = join(import.meta.dirname, '../../out/screenshots');

/** What makes every window of the tests look the same. */
const always = {
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.tips.enabled': false,
  'workbench.editor.useModal': 'off',
  'workbench.hover.delay': 200,
  'workbench.reduceMotion': 'on',
  'window.commandCenter': false,
  'security.workspace.trust.startupPrompt': 'never',
  'chat.disableAIFeatures': true,
  'extensions.ignoreRecommendations': true,
  'telemetry.telemetryLevel': 'off',
  'terminal.integrated.shellIntegration.enabled': false,
};

export interface Options {
  /** Whether the editor asks whom to trust. */
  trust?: boolean;
  /** What the project's folder is called. */
  folder?: string;
}

export class World {
  readonly root = mkdtempSync(join(tmpdir(), 'ctxls-vscode-'));
  readonly project: string;
  readonly machine: Machine;
  #server: ChildProcess | undefined;
  #browser: Browser | undefined;
  #url = '';
  #said = '';
  page!: Page;

  private constructor({ folder = 'project' }: Options) {
    this.project = join(this.root, 'home/dev', folder);
    const home = join(this.root, 'home');
    mkdirSync(this.project, { recursive: true });
    mkdirSync(join(home, 'dev/other'));
    mkdirSync(join(home, 'dev/empty'));
    mkdirSync(screenshots, { recursive: true });
    this.machine = {
      ctxls: '',
      env: {
        HOME: home,
        PATH: process.env.PATH ?? '',
        XDG_STATE_HOME: join(home, 'state'),
        XDG_CONFIG_HOME: join(home, 'config'),
        SHELL: '/bin/sh',
        LANG: 'C.UTF-8',
        CTXLS_WAIT: '10000', // no hook gives up while the machine is busy
      },
    };
  }

  /** Installs the VSIX into a fresh editor, and opens the project in it. */
  static async start(options: Options = {}): Promise<World> {
    const world = new World(options);
    write(world.#userSettings, always);
    world.set({});
    world.#editor('--install-extension', process.env.CTXLS_VSIX ?? '');
    const extensions = join(world.root, 'extensions');
    const ours = readdirSync(extensions).find(name => name.startsWith('ctxls.ctxls'));
    assert(ours, 'the extension was not installed');
    world.machine.ctxls = join(extensions, ours, 'server/ctxls');
    await world.#serve(options.trust ?? false);
    world.#browser = await chromium.launch({
      executablePath: process.env.CTXLS_CHROMIUM ?? '',
      env: { ...process.env, ...fonts(world.root) },
      timeout: patience,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    });
    world.page = await world.open();
    return world;
  }

  /** Opens a window: on the project, or on another folder; null is none. */
  async open(folder: string | null = this.project, page?: Page): Promise<Page> {
    const opened = page ?? (await this.#browser?.newPage({ viewport: { width: 1280, height: 800 } }));
    assert(opened);
    opened.setDefaultTimeout(patience);
    await opened.goto(`${this.#url}/?${folder === null ? 'ew=true' : `folder=${encodeURIComponent(folder)}`}`);
    await opened.locator('.statusbar').waitFor();
    return opened;
  }

  agent(id: string, cwd = this.project): Agent {
    return new Agent(this.machine, id, cwd);
  }

  /** Sets the settings of the workspace, whose file this editor follows; that of the user it reads at start only. */
  set(settings: Record<string, unknown>): void {
    write(join(this.project, '.vscode/settings.json'), settings);
  }

  /** What the editor itself has written into the user's settings, or the workspace's. */
  settings(file: 'user' | 'workspace'): Record<string, unknown> {
    const path = file === 'user' ? this.#userSettings : join(this.project, '.vscode/settings.json');
    try {
      return JSON.parse(readFileSync(path, 'utf8'));
    } catch {
      return {}; // it is being written
    }
  }

  get #userSettings(): string {
    return join(this.root, 'data/User/settings.json');
  }

  /** Changes the user's settings of ctxls itself. */
  configure(settings: object): void {
    write(join(this.machine.env.XDG_CONFIG_HOME ?? '', 'ctxls/config.json'), settings);
  }

  /** Keeps a picture of the window among what the tests leave behind. */
  async picture(name: string, page = this.page): Promise<void> {
    await page.screenshot({ path: join(screenshots, `${name}.png`), animations: 'disabled' });
  }

  /** How many shells run in the editor's terminals, and not in others of the machine. */
  shells(): number {
    return commandLines().filter(({ pid, line }) => line === '/bin/sh' && environment(pid).includes(this.root)).length;
  }

  /** The processes of `ctxls serve` that this machine's editors run. */
  servers(): number[] {
    return commandLines()
      .filter(({ line }) => line.startsWith(this.root) && / serve( |$)/.test(line))
      .map(({ pid }) => pid);
  }

  /** Runs a command of the editor by its name in the palette. */
  async command(name: string, page = this.page): Promise<void> {
    const input = page.locator('.quick-input-widget input.input');
    // The one that Enter runs: what is listed before the text was looked for may have the command, too, further down.
    const row = page.locator('.quick-input-list .monaco-list-row.focused').filter({ hasText: name });
    // The key is lost, or the palette closed again, while a panel or a page that takes the focus is being loaded.
    await until(async () => {
      await page.keyboard.press('F1');
      const timeout = 2_000;
      return input
        .fill(`>${name}`, { timeout })
        .then(() => row.waitFor({ timeout }))
        .then(
          () => true,
          () => false,
        );
    }, `${name} in the palette`);
    await page.keyboard.press('Enter');
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
    const server = this.#server;
    if (server?.pid && server.exitCode === null) {
      const gone = new Promise(resolve => server.once('exit', resolve));
      process.kill(-server.pid, 'SIGTERM');
      await gone;
    }
    await until(() => this.servers().length === 0, 'no server outlives its editor');
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  /** What the editor said, for a test that fails. */
  said(): string {
    return this.#said;
  }

  #arguments(): string[] {
    const config = join(this.root, 'code-server.yaml');
    writeFileSync(config, 'auth: none\n');
    const at = (name: string) => join(this.root, name);
    return [
      process.env.CTXLS_CODE_SERVER ?? '',
      '--config',
      config,
      '--user-data-dir',
      at('data'),
      '--extensions-dir',
      at('extensions'),
    ];
  }

  #editor(...args: string[]): string {
    return execFileSync(process.execPath, [...this.#arguments(), ...args], { env: this.machine.env, encoding: 'utf8' });
  }

  async #serve(trust: boolean): Promise<void> {
    const port = await freePort();
    const flags = [
      '--auth',
      'none',
      '--bind-addr',
      `127.0.0.1:${port}`,
      '--disable-telemetry',
      '--disable-update-check',
    ];
    if (!trust) flags.push('--disable-workspace-trust');
    const server = spawn(process.execPath, [...this.#arguments(), ...flags], { env: this.machine.env, detached: true });
    this.#server = server;
    for (const stream of [server.stdout, server.stderr]) {
      stream.on('data', data => {
        this.#said = (this.#said + data).slice(-20_000);
      });
    }
    this.#url = `http://127.0.0.1:${port}`;
    await until(
      async () => (await fetch(`${this.#url}/healthz`).catch(() => undefined))?.ok ?? false,
      'the editor is up',
    );
  }
}

function write(path: string, value: object): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(value));
}

/** Has the browser draw in one font, whatever others the machine has; in its own where it lacks that one. */
function fonts(root: string): Record<string, string> {
  const dejavu = '/usr/share/fonts/truetype/dejavu';
  if (!existsSync(dejavu)) return {};
  const file = join(root, 'fonts.conf');
  writeFileSync(
    file,
    `<fontconfig>
  <dir>${dejavu}</dir>
  <cachedir>${join(root, 'fonts')}</cachedir>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
  <match><edit name="family" mode="append_last"><string>DejaVu Sans</string></edit></match>
</fontconfig>`,
  );
  return { FONTCONFIG_FILE: file };
}

function commandLines(): { pid: number; line: string }[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(name => {
      try {
        const line = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').join(' ').trim();
        return { pid: Number(name), line };
      } catch {
        return { pid: 0, line: '' }; // gone by now
      }
    });
}

function environment(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return ''; // gone by now
  }
}

/** Moves the pointer to where it points at nothing: an item that it rests on shows another colour. */
export async function away(page: Page): Promise<void> {
  await page.mouse.move(640, 20);
}

/** Takes the pointer and the focus away, both of which show a hover, and waits until that is gone. */
export async function noHover(page: Page): Promise<void> {
  const hovers = page.locator('.workbench-hover-container .monaco-hover').filter({ visible: true });
  await until(async () => {
    await page.mouse.click(640, 20);
    return (await hovers.count()) === 0;
  }, 'the hover goes');
}

/** The gauge in the status bar. */
export function gauge(page: Page): Locator {
  return page.locator('.statusbar-item[id="ctxls.ctxls.gauge"]');
}

/** Waits until something is true. */
export async function until(condition: () => boolean | Promise<boolean>, what: string, ms = patience): Promise<void> {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) assert.fail(`in vain: ${what}`);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

/** Waits until an element has a text, and returns how long that took in milliseconds. */
export async function reads(element: Locator, text: string | RegExp): Promise<number> {
  const began = performance.now();
  let last = '';
  const matches = async () => {
    last = ((await element.textContent({ timeout: 1_000 }).catch(() => null)) ?? '(not there)')
      .replace(/\u00a0/g, ' ')
      .trim();
    return typeof text === 'string' ? last === text : text.test(last);
  };
  await until(matches, `“${text}”`).catch(() => assert.fail(`expected ${text}, and it reads “${last}”`));
  return performance.now() - began;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
