// Runs the tests of the extension that are about its program as Windows does: in a Node for Windows, with ctxls.exe, under Wine. Node 20 is
// what the oldest VS Code runs; newer ones want more of Windows than Debian's Wine has. Needs dist/ (npm run build).
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { nodeForWindows } from './install.mjs';

const here = dirname(fileURLToPath(import.meta.url));
process.chdir(dirname(here));
const why = lacks();
if (why) {
  console.error(`not run: the tests of the extension on Windows: ${why}`);
  process.exit(0);
}

const program = join(process.cwd(), 'out/windows/ctxls.exe');
execFileSync(
  'go',
  ['build', '-trimpath', '-buildvcs=false', '-ldflags', '-s -w -X main.version=0.1.0', '-o', program, './cmd/ctxls'],
  { cwd: '../..', env: { ...process.env, CGO_ENABLED: '0', GOOS: 'windows', GOARCH: 'amd64' }, stdio: 'inherit' },
);
const bundle = 'out/windows/extension.test.mjs'; // this Node reads no TypeScript
await build({
  entryPoints: ['test/unit/extension.test.ts'],
  outfile: bundle,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'warning',
  plugins: [{ name: 'places', setup: keepPlaces }],
});
const wine = join(process.cwd(), '../../internal/tools/wine/wine.sh');
const about = 'it starts|another platform|on the PATH|in the settings is taken|of the workspace|a copy that stays';
const flags = ['--test-reporter=spec', `--test-name-pattern=${about}`];
const { status } = spawnSync('sh', [wine, nodeForWindows(), ...flags, bundle], {
  stdio: ['ignore', 'inherit', 'inherit'],
  env: { ...process.env, CTXLS_WINE: 'vscode', CTXLS_BUILT: `Z:${program}` },
});
process.exit(status ?? 1);

/** Lets the tests find their files where their sources are: Z: is the root of this machine. */
function keepPlaces(bundler) {
  bundler.onLoad({ filter: /\/test\/.*\.ts$/ }, ({ path }) => ({
    loader: 'ts',
    contents: readFileSync(path, 'utf8').replaceAll('import.meta.dirname', JSON.stringify(`Z:${dirname(path)}`)),
  }));
}

function lacks() {
  const has = name => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'it needs Linux on x86-64';
  if (!existsSync('/usr/lib/wine/wine64') && !has('wine64')) return 'there is no wine64';
  return has('x86_64-w64-mingw32-gcc') ? '' : 'there is no x86_64-w64-mingw32-gcc';
}
