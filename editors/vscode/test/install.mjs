// Gets what the tests run in: a Node of the version that VS Code wants, and VS Code itself, as code-server packs it, from the npm
// registry into the cache. Returns their places. Runs on any Node.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** These go together: another code-server may want another Node. */
const versions = { node: '24.21.0', codeServer: '4.139.1' };

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'ctxls-dev');

/** Returns the path of a Node that runs the tests; this one where there is none to be had for the platform. */
export function node() {
  if (process.platform !== 'linux') return process.execPath;
  const name = `node-linux-${process.arch}`;
  const dir = once(`${name}-${versions.node}`, dir => npm(dir, 'install', '--prefix', dir, `${name}@${versions.node}`));
  return join(dir, 'node_modules', name, 'bin', 'node');
}

/** Returns the path of code-server's program. */
export function codeServer() {
  const dir = once(`code-server-${versions.codeServer}`, dir => {
    npm(dir, 'install', '--prefix', dir, `code-server@${versions.codeServer}`);
    npm(join(dir, 'node_modules/code-server/lib/vscode'), 'install', '--omit=dev'); // its postinstall script would do it
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
      if (!existsSync(dir)) throw error; // somebody else was faster
    }
  }
  return dir;
}

function npm(cwd, ...args) {
  console.log(`npm ${args.join(' ')}`);
  execFileSync('npm', [...args, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    stdio: 'inherit',
  });
}
