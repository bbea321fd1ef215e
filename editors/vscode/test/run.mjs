// Runs the tests: node test/run.mjs [unit|e2e [PART]], both without a word; speed prints figures instead. Needs the VSIX of this
// platform (npm run package). Where a test cannot run it says why; in CI that is a failure.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeServer, node } from './install.mjs';

process.chdir(join(dirname(fileURLToPath(import.meta.url)), '..'));
const [wanted, part] = process.argv.slice(2);
const wants = kind => !wanted || wanted === kind;
const quiet = '--disable-warning=ExperimentalWarning';
const vsix = `dist/ctxls-${process.platform}-${process.arch}.vsix`;
if (!existsSync(vsix)) throw new Error(`${vsix} is not there: run npm run package`);

if (wanted === 'speed') execFileSync(node(), [quiet, 'test/speed.ts'], { stdio: 'inherit' });
if (wants('unit') && !test([node()], 'test/unit/*.test.ts')) process.exit(1);
if (wants('e2e')) {
  let problem = '';
  try {
    endToEnd();
  } catch (error) {
    problem = error.message;
  }
  if (problem) {
    console.error(`not run: the tests in VS Code: ${problem}`);
    process.exit(process.env.CI === 'true' ? 1 : 0); // CI must run all tests
  }
}

/** Runs the tests in the real editor, in a network namespace with nothing but loopback. */
function endToEnd() {
  if (process.platform !== 'linux') throw new Error('it needs Linux');
  const chromium = ['chromium', 'chromium-browser', 'google-chrome'].map(which).find(Boolean);
  if (!chromium) throw new Error('there is no Chromium; sh internal/tools/needs.sh installs it on Debian');
  const ways = [
    ['unshare', '-n'],
    ['unshare', '-rn'],
  ];
  const way = ways.find(([program, ...flags]) => spawnSync(program, [...flags, 'true']).status === 0);
  if (!way) throw new Error('no network namespace can be had, neither as root nor as a user');
  const inside = [...way, 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', node()];
  const env = { CTXLS_CHROMIUM: chromium, CTXLS_CODE_SERVER: codeServer(), CTXLS_VSIX: join(process.cwd(), vsix) };
  if (part) env.CTXLS_PART = part;
  if (!test(inside, 'test/e2e/*.test.ts', env)) process.exit(1);
}

/** Runs test files and reports whether all passed. */
function test([program, ...args], files, env = {}) {
  const flags = ['--test', '--test-concurrency=1', '--test-reporter=spec', quiet];
  const { status } = spawnSync(program, [...args, ...flags, files], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  return status === 0;
}

function which(name) {
  try {
    return execFileSync('which', [name], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}
