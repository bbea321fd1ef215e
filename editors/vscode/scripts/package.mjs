// Makes one VSIX a target, each with the server for it inside: node scripts/package.mjs [TARGET…|--all]; without any, one for
// this machine.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** GOOS and GOARCH of the targets, in the editor's words. */
const targets = {
  'linux-x64': ['linux', 'amd64'],
  'linux-arm64': ['linux', 'arm64'],
  'darwin-x64': ['darwin', 'amd64'],
  'darwin-arm64': ['darwin', 'arm64'],
  'win32-x64': ['windows', 'amd64'],
  'win32-arm64': ['windows', 'arm64'],
};
const site = 'https://github.com/ctxls/ctxls';

process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

const asked = process.argv.slice(2);
const wanted =
  asked.length === 0 ? [`${process.platform}-${process.arch}`] : asked.includes('--all') ? Object.keys(targets) : asked;
for (const target of wanted) {
  if (!targets[target]) throw new Error(`no target ${target}; there are ${Object.keys(targets).join(', ')}`);
}

copyFileSync('../../LICENSE', 'LICENSE');
execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
for (const target of wanted) {
  const [GOOS, GOARCH] = targets[target];
  rmSync('server', { recursive: true, force: true });
  mkdirSync('server');
  const program = join('server', GOOS === 'windows' ? 'ctxls.exe' : 'ctxls');
  const flags = ['-trimpath', '-ldflags', `-s -w -X main.version=${version}`];
  execFileSync('go', ['build', ...flags, '-o', join(process.cwd(), program), './cmd/ctxls'], {
    cwd: '../..',
    stdio: 'inherit',
    env: { ...process.env, GOOS, GOARCH, CGO_ENABLED: '0' },
  });
  writeFileSync('server/target', `${target}\n`);
  const vsix = `dist/ctxls-${target}.vsix`;
  const tree = `${site}/blob/main/editors/vscode`;
  const vsce = ['package', '--no-dependencies', '--target', target, '--out', vsix];
  const links = ['--baseContentUrl', tree, '--baseImagesUrl', tree.replace('/blob/', '/raw/')];
  execFileSync(process.execPath, ['node_modules/@vscode/vsce/vsce', ...vsce, ...links], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  console.log(`editors/vscode/${vsix}`);
}
rmSync('server', { recursive: true, force: true });
