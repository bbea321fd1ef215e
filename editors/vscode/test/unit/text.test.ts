// How figures are written.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionView, Usage } from '../../src/protocol.ts';
import {
  age,
  bar,
  fill,
  label,
  leftInWords,
  line,
  literal,
  percent,
  place,
  shorten,
  spoken,
  tokens,
} from '../../src/text.ts';

function session(changes: Partial<SessionView> = {}, usage: Partial<Usage> = {}): SessionView {
  return {
    host: 'claude-code',
    sessionId: '33e50cf9-0000',
    cwd: '/home/me/project',
    title: 'tidy up',
    model: 'claude-sonnet-4-6',
    provider: 'anthropic',
    usage: {
      tokens: 143_912,
      projectedTokens: null,
      band: null,
      windowTokens: 200_000,
      windowProvenance: 'host',
      windowWhy: 'the host says so',
      percent: 71.96,
      level: 'warning',
      provenance: 'host',
      exact: true,
      asOf: '2026-11-21T12:00:00Z',
      stale: false,
      compactionRule: 'threshold',
      compactionTokens: 167_000,
      toCompaction: 23_088,
      refusalTokens: null,
      toRefusal: null,
      display: { tokens: 143_912, limitTokens: 200_000, percent: 72 },
      growthPerTurn: null,
      turnsToCompaction: null,
      ...usage,
    },
    agents: [],
    compactions: 0,
    compacting: false,
    workingSet: [],
    state: 'active',
    source: 'hooks',
    startedAt: '2026-11-21T12:00:00Z',
    updatedAt: '2026-11-21T12:00:00Z',
    endedAt: null,
    ...changes,
  };
}
/** A session whose level says nothing. */
function calm(changes: Partial<SessionView> = {}, usage: Partial<Usage> = {}): SessionView {
  return session(changes, { level: 'normal', ...usage });
}
const unknown: Partial<Usage> = {
  tokens: null,
  percent: null,
  level: null,
  provenance: null,
  asOf: null,
  toCompaction: null,
  display: { tokens: null, limitTokens: 200_000, percent: null },
};

test('numbers of tokens read as on the command line', () => {
  const written = [0, 812, 999, 1_000, 9_449, 9_950, 143_912, 999_499, 999_500, 1_048_576, 2_000_000].map(tokens);
  assert.deepEqual(written, ['0', '812', '999', '1.0k', '9.4k', '10k', '144k', '999k', '1M', '1.05M', '2M']);
  assert.equal(tokens(null), '?');
});

test('a share is marked by what it is', () => {
  assert.equal(percent(session().usage), '72%');
  assert.equal(percent(session({}, { provenance: 'estimate' }).usage), '~72%');
  assert.equal(percent(session({}, { stale: true }).usage), '72%+');
  assert.equal(percent(session({}, unknown).usage), '?');
});

test('the format leaves out what does not apply, and says “?” for what is not known', () => {
  const format = '{icon} {percent} · {until}';
  assert.equal(fill(format, calm()), '$(pulse) 72% · 23k to compaction');
  assert.equal(fill(format, calm({}, { provenance: 'estimate' })), '$(pulse) ~72% · ~23k to compaction');
  assert.equal(fill(format, calm({}, unknown)), '$(pulse) ?');
  assert.equal(fill(format, calm({}, { compactionTokens: null, toCompaction: null })), '$(pulse) 72%');
  assert.equal(fill('{tokens}/{window} | {model} · fixed', calm()), '144k/200k | claude-sonnet-4-6 · fixed');
  assert.equal(fill('{left} left · {percent}', calm({}, unknown)), '? left · ?');
  assert.equal(fill('{nonsense} {percent}', calm()), '{nonsense} 72%');
  assert.equal(fill('{constructor} {percent}', calm()), '{constructor} 72%');
  assert.equal(fill('{bar}', calm()), '██████│░');
  assert.equal(fill('{bar}', calm({}, unknown)), '······│·');
  assert.equal(fill('', calm()), '');
});

test('from “warning” on the icon is another one, whatever the format', () => {
  const at = (level: Usage['level'], format = '{icon} {percent}') => fill(format, session({}, { level }));
  assert.deepEqual(
    (['normal', 'notice', 'warning', 'critical', null] as const).map(level => at(level)),
    ['$(pulse) 72%', '$(pulse) 72%', '$(warning) 72%', '$(flame) 72%', '$(pulse) 72%'],
  );
  assert.deepEqual(
    (['normal', 'warning', 'critical'] as const).map(level => at(level, '{percent}')),
    ['72%', '$(warning) 72%', '$(flame) 72%'],
  );
  assert.equal(fill('{icon} {percent}', session({ compacting: true })), '$(sync~spin) 72%');
  assert.equal(fill('{percent}', session({ compacting: true })), '$(sync~spin) 72%');
});

test('what is left is said with what comes then', () => {
  const said = (changes: Partial<Usage>) => leftInWords(session({}, changes).usage);
  const refusal = { compactionTokens: null, toCompaction: null, refusalTokens: 200_000, toRefusal: 56_088 };
  assert.equal(said({}), '23k tokens to compaction');
  assert.equal(said({ projectedTokens: 150_000, toCompaction: 17_000 }), '~17k tokens to compaction');
  assert.equal(said({ ...refusal, compactionRule: 'onRefusal' }), '56k tokens left, compacts when refused');
  assert.equal(said({ ...refusal, compactionRule: 'off' }), '56k tokens left, no auto-compaction');
  assert.equal(said({ ...refusal, compactionRule: 'unknown' }), '56k tokens left');
  assert.equal(fill('{percent} · {until}', calm({}, { ...refusal, compactionRule: 'off' })), '72% · 56k left');
  assert.equal(fill('{percent} · {left} left', calm()), '72% · 23k left');
});

test('a bar is marked where the host compacts', () => {
  const drawn = (changes: Partial<Usage>, cells = 10) => bar(session({}, changes).usage, cells);
  assert.equal(drawn({}), '███████░│░');
  assert.equal(drawn({ display: { tokens: 190_000, limitTokens: 200_000, percent: 95 } }), '████████│█');
  assert.equal(drawn({ compactionTokens: null }), '███████░░░');
  assert.equal(drawn({ compactionTokens: 199_999 }), '███████░░│');
  // A bar against a limit below the compaction point has no place for it.
  assert.equal(drawn({ display: { tokens: 100_000, limitTokens: 100_000, percent: 100 } }), '██████████');
});

test('what is too long is cut in the middle, since the end of a path names the file', () => {
  assert.equal(shorten('src/a.go', 20), 'src/a.go');
  assert.equal(shorten('src/very/long/directory/token.go', 20), 'src/ve…tory/token.go');
  assert.equal([...shorten('é'.repeat(50), 20)].length, 20);
  assert.equal(shorten('two words that are short', 10), 'two words that are short');
});

test('what comes from outside is one line, and no icon and no markup', () => {
  assert.equal(line('a\u202eb\n\tc\u0000d\u200b'), 'a b c d');
  assert.equal(line('x'.repeat(100)).length, 60);
  assert.equal(label('$(bug) x'), '\\$(bug) x');
  assert.equal(literal('*a* | [b](c) <d> &lt; `e`'), '\\*a\\* \\| \\[b\\]\\(c\\) \\<d\\> \\&lt\\; \\`e\\`');
  assert.equal(fill('{title} {percent}', calm({ title: '$(bug) {percent}' })), '\\$(bug) {percent} 72%');
});

test('a screen reader hears all of it', () => {
  const said = 'Context window of tidy up, 72 percent full, 23,088 tokens to compaction, level warning';
  assert.equal(spoken(session()), said);
  assert.equal(spoken(session({ title: '' }, unknown)), 'Context window of project, how full is not known');
});

test('a home directory is ~, and what only begins like it is not', () => {
  assert.equal(place('/home/dev/shop', '/home/dev'), '~/shop');
  assert.equal(place('/home/dev', '/home/dev'), '~');
  assert.equal(place('/home/developer', '/home/dev'), '/home/developer');
  assert.equal(place('C:\\Users\\dev\\shop', 'C:\\Users\\dev'), '~\\shop');
  assert.equal(place('/srv/shop', '/'), '/srv/shop');
});

test('ages', () => {
  const at = '2026-11-21T12:00:00Z';
  const after = (minutes: number) => age(at, Date.parse(at) + minutes * 60_000);
  assert.deepEqual([0, 5, 90, 3000].map(after), ['just now', '5 min ago', '1 h ago', '2 days ago']);
  assert.equal(after(-5), 'just now');
});
