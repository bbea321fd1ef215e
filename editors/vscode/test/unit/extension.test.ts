// The bundle that is shipped, with the real server and hooks, in a window without an editor.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type { Shown } from '../../src/messages.ts';
import type { AuditReport, Breakdown, Listing, PlanResult, ReportResult } from '../../src/protocol.ts';
import { Agent } from '../agent.ts';
import { type Item, Window } from './vscode.ts';

const repository = join(import.meta.dirname, '../../../..');
const bundle = join(import.meta.dirname, '../../dist/extension.js');
const here = `${process.platform}-${process.arch}`;
const programName = process.platform === 'win32' ? 'ctxls.exe' : 'ctxls';

/** What the dashboard was sent, where all of it is known. */
interface Known {
  session: { breakdown: Breakdown; plan: PlanResult; compactions: Listing; audit: AuditReport };
  compactions: Listing;
  report: ReportResult;
}

let root: string;
let built: string;
before(() => {
  root = mkdtempSync(join(tmpdir(), 'ctxls-unit-'));
  built = join(root, programName);
  if (process.env.CTXLS_BUILT) {
    copyFileSync(process.env.CTXLS_BUILT, built); // where there is no Go
    return;
  }
  execFileSync(
    'go',
    ['build', '-trimpath', '-buildvcs=false', '-ldflags', '-s -w -X main.version=0.1.0', '-o', built, './cmd/ctxls'],
    {
      cwd: repository,
      env: { ...process.env, CGO_ENABLED: '0' }, // as when it is packed, so that it is compiled once
    },
  );
});
after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));

let window: Window;
let agent: Agent;
let extension: string;
const environment = { ...process.env };
/** How long anything may take on a machine that is busy, in milliseconds. */
const patience = 60_000;
beforeEach(() => {
  const dir = mkdtempSync(join(root, 'case-'));
  const project = join(dir, 'project');
  mkdirSync(project);
  extension = join(dir, 'extension');
  mkdirSync(join(extension, 'server'), { recursive: true });
  copyFileSync(built, join(extension, 'server', programName));
  writeFileSync(join(extension, 'server/target'), `${here}\n`);
  const [state, config] = [join(dir, 'state'), join(dir, 'config')];
  const env = {
    ...{ HOME: dir, XDG_STATE_HOME: state, XDG_CONFIG_HOME: config },
    ...{ USERPROFILE: dir, LOCALAPPDATA: state, APPDATA: config }, // on Windows
    CTXLS_WAIT: '10000',
  };
  Object.assign(process.env, env, { PATH: environment.PATH });
  window = new Window(project);
  agent = new Agent({ ctxls: built, env: { ...env, PATH: environment.PATH ?? '' } }, 'a1b2c3d4-0000', project);
});
afterEach(async () => {
  await window.deactivate();
  Object.assign(process.env, environment);
});

async function until(condition: () => boolean, what: string): Promise<void> {
  const end = Date.now() + patience;
  while (!condition()) {
    if (Date.now() > end) assert.fail(`in vain: ${what}\n${window.log.join('\n')}`);
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}

async function gauge(text: string): Promise<Item> {
  const item = () => window.items.gauge;
  await until(() => item()?.text === text, `“${text}”`).catch(error =>
    assert.fail(`it reads “${item()?.text}”; ${error.message}`),
  );
  return item() as Item;
}

async function failure(): Promise<string> {
  await window.activate(bundle, extension);
  await gauge('$(debug-disconnect) ctxls');
  assert.equal(window.messages.length, 1, String(window.messages));
  return window.messages[0] ?? '';
}

test('it starts by saying what to do, and follows a hook', async () => {
  await window.activate(bundle, extension);
  assert.equal((await gauge('$(pulse) ctxls: set up')).command, 'ctxls.installHooks');
  assert.match(window.log.join('\n'), /\(bundled\), version 0\.1\.0/);
  agent.turn(144_000);
  const item = await gauge('$(warning) 72% · ~23k to compaction');
  assert.equal(item.backgroundColor?.id, 'statusBarItem.warningBackground');
  assert.match(item.tooltip?.value ?? '', /\| Compaction &nbsp; \| at 167\\,000\\, \\~22\\,9\d\d left \|/);
  assert.deepEqual(window.messages, []);
});

test('a tooltip may run our own commands and no others', async () => {
  await window.activate(bundle, extension);
  agent.turn(80_000);
  const { tooltip } = await gauge('$(pulse) 40% · ~87k to compaction');
  assert(tooltip);
  const { enabledCommands } = tooltip.isTrusted as { enabledCommands: string[] };
  assert(enabledCommands.length > 0 && enabledCommands.every(name => window.commands[name]), String(enabledCommands));
  assert.equal(tooltip.supportHtml, false);
});

test('a session that was critical when it was first seen is no news; one that becomes it is, once', async () => {
  agent.turn(180_000);
  await window.activate(bundle, extension);
  await gauge('$(flame) 90% · ~0 to compaction');
  assert.deepEqual(window.messages, []);
  agent.turn(20_000);
  await gauge('$(pulse) 10% · ~147k to compaction');
  agent.turn(180_000);
  await gauge('$(flame) 90% · ~0 to compaction');
  await until(() => window.notices.size === 1, 'a notice');
  assert.match(window.messages.join('\n'), /^project: context 90% full\. \[Show\]\(command:ctxls\.showDashboard\?/);
  agent.turn(182_000);
  await gauge('$(flame) 91% · ~0 to compaction');
  assert.equal(window.notices.size, 1, 'one notice');
  await until(() => window.messages.at(-1)?.startsWith('project: context 91% full') ?? false, 'its figure follows');
});

test('many critical sessions make one notice, which goes when all have room again', async () => {
  const all = Array.from({ length: 28 }, (_, i) => agent.another(`c${i}-0000-0000`));
  for (const one of all) one.statusline(20_000);
  await window.activate(bundle, extension);
  await gauge('$(pulse) 10% · ~147k to compaction');
  for (const one of all) one.statusline(190_000);
  await until(
    () => window.messages.at(-1)?.startsWith('28 sessions are critically full.') ?? false,
    'all in one notice',
  );
  assert.equal(window.notices.size, 1);
  const [last, ...others] = all;
  for (const one of others) one.hook('SessionEnd.other');
  await until(() => window.messages.at(-1)?.startsWith('project: context 95% full') ?? false, 'one is left');
  last?.hook('PreCompact.auto');
  last?.hook('PostCompact.auto');
  await until(() => window.notices.size === 0, 'a compaction takes the notice back');
});

test('of two windows only one tells of a session', async () => {
  agent.statusline(20_000);
  await window.activate(bundle, extension);
  await gauge('$(pulse) 10% · ~147k to compaction');
  const other = new Window(window.folder);
  try {
    await other.activate(bundle, extension);
    await until(() => other.items.gauge?.text === '$(pulse) 10% · ~147k to compaction', 'the other window');
    agent.statusline(190_000);
    await until(() => other.items.gauge?.text === '$(flame) 95% · ~0 to compaction', 'the other window');
    await gauge('$(flame) 95% · ~0 to compaction');
    await until(() => window.notices.size + other.notices.size > 0, 'a notice');
    await new Promise(resolve => setTimeout(resolve, 1_500)); // longer than sessions are gathered
    assert.equal(window.notices.size + other.notices.size, 1);
  } finally {
    await other.deactivate();
  }
});

test('the dashboard is sent what could go, what compactions cost, and what stands before the first prompt', async () => {
  agent.statusline(21_000);
  agent.turn(163_000, 'a.go');
  agent.compact(20_000);
  agent.turn(31_000, 'a.go');
  agent.turn(60_000, 'b.go');
  await window.activate(bundle, extension);
  await gauge('$(pulse) 30% · ~107k to compaction');
  window.commands['ctxls.showDashboard']?.();
  const last = () => window.posted.at(-1) as Shown | undefined;
  const all = () => {
    const s = last()?.session;
    return s?.breakdown && s.plan && 'tokens' in s.plan && s.compactions && s.audit && last()?.compactions;
  };
  await until(() => Boolean(all()), 'all of it');
  const { session, compactions, report } = last() as unknown as Known;
  assert.equal(session.breakdown.tokens, 60_000);
  assert(session.plan.freeableTokens > 10_000, `${session.plan.freeableTokens} tokens could go`);
  assert.equal(session.compactions.compactions[0]?.postTokens, 20_000);
  assert.deepEqual(
    session.audit.hosts.map(({ host }) => host),
    ['claude-code'],
  );
  assert.equal(compactions.totals.compactions, 1);
  assert(report.histogram && report.histogram.length > 0);
});

test('settings of the workspace reach the server', async () => {
  window.settings = { 'ctxls.config': { levels: [10, 20, 30] } };
  agent.turn(80_000);
  await window.activate(bundle, extension);
  const item = await gauge('$(flame) 40% · ~87k to compaction');
  assert.equal(item.backgroundColor?.id, 'statusBarItem.errorBackground');
});

test('a package for another platform says so', async () => {
  writeFileSync(join(extension, 'server/target'), 'plan9-mips\n');
  process.env.PATH = join(root, 'nothing');
  assert.match(
    await failure(),
    new RegExp(`holds a server for plan9-mips, and this is ${here}, and there is no ctxls on the PATH`),
  );
});

test('without a program inside, the one on the PATH is taken, and never one from a relative directory', async () => {
  rmSync(join(extension, 'server'), { recursive: true });
  process.env.PATH = ['.', root].join(process.platform === 'win32' ? ';' : ':');
  await window.activate(bundle, extension);
  await gauge('$(pulse) ctxls: set up');
  assert(
    window.log.some(line => line.includes(`${built} (path)`)),
    window.log.join('\n'),
  );
});

test('a path in the settings is taken as it is meant, or refused with the reason', async () => {
  window.settings = { 'ctxls.server.path': 'bin/ctxls' };
  assert.match(await failure(), /wants an absolute path, and is “bin\/ctxls”/);
  window.messages.length = 0;
  window.set({ 'ctxls.server.path': extension });
  await until(() => window.messages.length > 0, 'a message');
  assert.match(window.messages.join('\n'), /which is not a file/);
  window.set({ 'ctxls.server.path': built });
  await gauge('$(pulse) ctxls: set up');
});

test('a server of another protocol is refused', {
  skip: process.platform === 'win32' && 'the stand-in is a shell script',
}, async () => {
  const future = join(root, 'future');
  const script = `#!${process.execPath}
if (process.argv[2] === 'version') { console.log('ctxls 9.0.0 x y'); process.exit(); }
process.stdin.once('data', () => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, result: { capabilities: { experimental: { ctxls: { protocolVersion: 2 } } } } });
  process.stdout.write('Content-Length: ' + body.length + '\\r\\n\\r\\n' + body);
});
process.stdin.on('end', () => process.exit());
`;
  writeFileSync(future, script);
  chmodSync(future, 0o755);
  window.settings = { 'ctxls.server.path': future };
  assert.match(
    await failure(),
    /version 9\.0\.0\) speaks version 2 of the protocol, and this extension version 1: update the extension\./,
  );
});

test('hooks are given a copy that stays, and a new version of the extension brings it up to date', async () => {
  const copy = join(extension, 'storage/bin', programName);
  mkdirSync(join(copy, '..'), { recursive: true });
  writeFileSync(copy, 'an older one');
  await window.activate(bundle, extension);
  await gauge('$(pulse) ctxls: set up');
  await until(() => readFileSync(copy).equals(readFileSync(built)), 'a copy of the new one');
  assert(!existsSync(`${copy}.new-${process.pid}`));
});
