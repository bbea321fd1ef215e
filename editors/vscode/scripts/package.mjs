// Makes one VSIX a target, each with the server for it inside: node scripts/package.mjs [TARGET…|--all]; without any, one for
// this machine. With --programs DIR the servers are DIR/GOOS_GOARCH/ctxls instead of built here, with --out DIR that is where the
// packages go; $SOURCE_DATE_EPOCH gives all files that time, and two packages of one commit the same bytes.
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

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

const { values: options, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: { all: { type: 'boolean' }, programs: { type: 'string' }, out: { type: 'string' } },
});
const programs = options.programs && resolve(options.programs);
const out = options.out && resolve(options.out);
process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const vsce = ['node_modules/@vscode/vsce/vsce'];
process.env.TZ = 'UTC'; // zip files hold local time

const wanted = options.all ? Object.keys(targets) : asked.length > 0 ? asked : [`${process.platform}-${process.arch}`];
for (const target of wanted) {
  if (!targets[target]) throw new Error(`no target ${target}; there are ${Object.keys(targets).join(', ')}`);
}

copyFileSync('../../LICENSE', 'LICENSE');
execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
const licences = execFileSync('go', ['run', './internal/tools/licenses', '-texts'], {
  cwd: '../..',
  stdio: ['ignore', 'pipe', 'inherit'],
});
appendFileSync('dist/THIRD_PARTY_LICENSES.txt', licences);
for (const target of wanted) {
  const [GOOS, GOARCH] = targets[target];
  rmSync('server', { recursive: true, force: true });
  mkdirSync('server');
  const program = join('server', GOOS === 'windows' ? 'ctxls.exe' : 'ctxls');
  if (programs) {
    copyFileSync(join(programs, `${GOOS}_${GOARCH}`, GOOS === 'windows' ? 'ctxls.exe' : 'ctxls'), program);
  } else {
    const flags = ['-trimpath', '-buildvcs=false', '-ldflags', `-s -w -X main.version=${version}`];
    execFileSync('go', ['build', ...flags, '-o', join(process.cwd(), program), './cmd/ctxls'], {
      cwd: '../..',
      stdio: 'inherit',
      env: { ...process.env, GOOS, GOARCH, CGO_ENABLED: '0' },
    });
  }
  writeFileSync('server/target', `${target}\n`);
  const files = execFileSync(process.execPath, [...vsce, 'ls', '--no-dependencies'], { encoding: 'utf8' });
  for (const file of files.trim().split('\n')) chmodSync(file, file === program.replaceAll('\\', '/') ? 0o755 : 0o644);
  const vsix = join(out ?? 'dist', `ctxls-${target}.vsix`);
  const tree = `${site}/blob/main/editors/vscode`;
  const links = ['--baseContentUrl', tree, '--baseImagesUrl', tree.replace('/blob/', '/raw/')];
  execFileSync(
    process.execPath,
    [...vsce, 'package', '--no-dependencies', '--target', target, '--out', vsix, ...links],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  console.log(out ? vsix : `editors/vscode/${vsix}`);
}
rmSync('server', { recursive: true, force: true });
