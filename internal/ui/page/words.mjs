// How figures are written for people, on the page and in VS Code. No figure is computed here: ctxls does that.
/** @import { Breakdown, Part, RequestPart, SessionView, Usage } from '../../../editors/vscode/src/protocol.ts' */

/** Stands where a figure is not known. It is never a zero. */
export const unknown = '?';

/**
 * Writes a number of tokens: 812, 9.4k, 144k, 1.05M; as the command line does.
 * @param {number | null} n
 */
export function tokens(n) {
  if (n === null) return unknown;
  if (n < 1_000) return String(n);
  if (n < 9_950) return `${(n / 1_000).toFixed(1)}k`;
  if (n < 999_500) return `${Math.round(n / 1_000)}k`;
  return `${Number((n / 1e6).toFixed(2))}M`;
}

/**
 * Writes a number to the last digit: 143,912.
 * @param {number} n
 */
export function exactly(n) {
  return n.toLocaleString('en-US');
}

/**
 * Counts things: 1 task, 2 tasks.
 * @param {number} n
 * @param {string} thing
 */
export function counted(n, thing) {
  return `${exactly(n)} ${thing}${n === 1 ? '' : 's'}`;
}

/**
 * Writes a part of a whole in percent.
 * @param {number} part
 * @param {number} whole
 */
export function shareOf(part, whole) {
  if (whole <= 0) return unknown;
  const percent = (100 * part) / whole;
  return percent > 0 && percent < 0.5 ? '<1%' : `${Math.round(percent)}%`;
}

/**
 * Writes the share of the window: "~" before an estimate, "+" after a figure that is a response behind.
 * @param {Usage} u
 */
export function percent(u) {
  return u.display.percent === null ? unknown : `${mark(u)}${u.display.percent}%${u.stale ? '+' : ''}`;
}

/**
 * "~" for what ctxls worked out itself.
 * @param {Usage} u
 */
export function mark(u) {
  return u.provenance === 'estimate' ? '~' : '';
}

/**
 * Writes what is left until the host compacts, or until a request is refused; "" where that is not known.
 * @param {Usage} u
 * @param {(n: number) => string} write
 */
export function left(u, write = tokens) {
  const n = u.toCompaction ?? u.toRefusal;
  if (n === null) return '';
  const estimated = u.provenance === 'estimate' || (u.projectedTokens !== null && u.projectedTokens !== u.tokens);
  return `${estimated ? '~' : ''}${write(n)}`;
}

/**
 * Writes the same for people, with what comes when nothing is left.
 * @param {Usage} u
 * @param {(n: number) => string} write
 */
export function leftInWords(u, write = tokens) {
  const n = left(u, write) || unknown;
  switch (u.compactionRule) {
    case 'threshold':
      return `${n} tokens to compaction`;
    case 'onRefusal':
      return `${n} tokens left, compacts when refused`;
    case 'off':
      return `${n} tokens left, no auto-compaction`;
    case 'unknown':
      return `${n} tokens left`;
  }
}

/**
 * Returns where in the window the host compacts, 0–1 of what a bar shows; null where no bar has that place.
 * @param {Usage} u
 */
export function compactionShare(u) {
  if (u.compactionTokens === null) return null;
  const share = u.compactionTokens / u.display.limitTokens;
  return share < 1 ? share : null;
}

/**
 * Writes how long ago a time (RFC 3339) was.
 * @param {string} at
 * @param {number} now
 */
export function age(at, now) {
  const minutes = Math.floor((now - Date.parse(at)) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / (24 * 60))} days ago`;
}

/**
 * Writes a time: today without the date.
 * @param {number} at milliseconds since 1970
 * @param {number} now
 */
export function time(at, now) {
  const date = new Date(at);
  const today = date.toDateString() === new Date(now).toDateString();
  return date.toLocaleString(undefined, today ? { timeStyle: 'medium' } : { dateStyle: 'medium', timeStyle: 'short' });
}

/**
 * Makes one line, at most limit characters long, of text from outside.
 * @param {string} text
 */
export function line(text, limit = 60) {
  const one = text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
  return one.length > limit ? `${one.slice(0, limit - 1).trimEnd()}…` : one;
}

/**
 * Names a session for people: by its title, else by the last part of its directory, else by its id.
 * @param {SessionView} s
 */
export function name(s) {
  return s.title || s.cwd.split(/[\\/]/).findLast(part => part !== '') || s.sessionId.slice(0, 8);
}

/** What hosts are called. @type {Record<string, string>} */
const hostNames = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  'gemini-cli': 'Gemini CLI',
  opencode: 'OpenCode',
  'qwen-code': 'Qwen Code',
};

/**
 * Names a host.
 * @param {string} host
 */
export function hostName(host) {
  return hostNames[host] ?? host;
}

/** What provenances are called. @type {Record<NonNullable<Usage['provenance']>, string>} */
export const provenances = {
  host: 'from the host’s status line',
  transcript: 'from the transcript',
  reported: 'reported by the host',
  estimate: 'estimated',
};

/** What windows are known by. @type {Record<Usage['windowProvenance'], string>} */
export const windowProvenances = {
  host: 'the host says so',
  config: 'your settings',
  workspace: 'the workspace’s settings',
  suffix: 'the model’s name',
  learned: 'learned from requests',
  table: 'built-in table',
  default: 'assumed: the model is not known',
};

/** What the categories of a breakdown are called. @type {Record<Part['category'], string>} */
const categories = {
  system: 'system prompt and tools',
  unaccounted: 'not accounted for',
  memory: 'memory files',
  summary: 'summary of what was compacted',
  injected: 'added by the host',
  user: 'you',
  assistant: 'answers',
  thinking: 'thinking',
  calls: 'tool calls',
  toolResult: 'results',
  image: 'images and documents',
};

/**
 * Names a part of a window for people.
 * @param {Part} part
 */
export function partName({ category, tool }) {
  if (category === 'toolResult' && tool) return `results of ${tool}`;
  return categories[category] ?? category; // a newer server may know more of them
}

/**
 * Names a part of the recorded request.
 * @param {RequestPart} part
 */
export function requestPartName({ kind, server }) {
  if (kind === 'systemPrompt') return 'system prompt';
  return kind === 'builtinTools' ? 'built-in tools' : `tools of ${server}`;
}

/**
 * Lists the parts of a breakdown with their names, the largest first. The parts of the recorded request take the place of the share that
 * they explain.
 * @param {Pick<Breakdown, 'parts' | 'request'>} breakdown
 */
export function namedParts({ parts, request }) {
  const all = parts.flatMap(part => {
    if (!request || (part.category !== 'system' && part.category !== 'unaccounted')) {
      return [{ name: line(partName(part)), tokens: part.tokens }];
    }
    const explained = request.parts.map(p => ({ name: line(requestPartName(p)), tokens: p.tokens }));
    const rest = part.tokens - explained.reduce((sum, p) => sum + p.tokens, 0);
    return [...explained, { name: categories.unaccounted, tokens: rest }];
  });
  return all.filter(part => part.tokens > 0).sort((a, b) => b.tokens - a.tokens);
}

/**
 * Lists the facts about a session as labels and values. Nothing in them is escaped.
 * @param {SessionView} s
 * @param {number} now
 * @returns {[string, string][]}
 */
export function facts(s, now) {
  return [
    ['Model', model(s)],
    [
      'Window',
      `${exactly(s.usage.windowTokens)} tokens: ${s.usage.windowWhy || windowProvenances[s.usage.windowProvenance]}`,
    ],
    ['Tokens', held(s)],
    ['Compaction', compaction(s)],
    ['Growth', growth(s)],
    ['As of', asOf(s, now)],
  ];
}

/** @param {SessionView} s */
function model(s) {
  const via = [s.provider, s.host].filter(Boolean).join(', ');
  return `${s.model || unknown}${via && ` (${via})`}`;
}

/** @param {SessionView} s */
function held({ usage: u }) {
  if (u.tokens === null) return unknown;
  const share = u.percent === null ? '' : `, ${u.percent.toFixed(1)}% of the window`;
  const band = u.band && (u.provenance === 'estimate' ? ` (${tokens(u.band.low)}–${tokens(u.band.high)})` : '');
  const since =
    u.provenance !== 'estimate' && u.projectedTokens !== null && tokens(u.projectedTokens) !== tokens(u.tokens)
      ? `; by now about ${tokens(u.projectedTokens)}${u.band ? ` (${tokens(u.band.low)}–${tokens(u.band.high)})` : ''}`
      : '';
  return `${mark(u)}${exactly(u.tokens)}${share}${band ?? ''}${since}`;
}

/** @param {SessionView} s */
function compaction(s) {
  const u = s.usage;
  const parts = s.compacting ? ['compacting now'] : [];
  const when = {
    threshold: `at ${u.compactionTokens === null ? unknown : exactly(u.compactionTokens)}`,
    onRefusal: 'when a request is refused',
    off: 'off',
    unknown: 'not known',
  };
  parts.push(`${when[u.compactionRule]}, ${left(u, exactly) || unknown} left`);
  if (s.compactions > 0) parts.push(`${s.compactions} so far`);
  return parts.join('; ');
}

/** @param {SessionView} s */
function growth({ usage: u }) {
  if (u.growthPerTurn === null) return `${unknown} (known after the first turn)`;
  const turns = u.turnsToCompaction;
  const left =
    turns === null
      ? ''
      : `; about ${turns.mid} ${turns.mid === 1 ? 'turn' : 'turns'} left (${turns.low}–${turns.high})`;
  return `${tokens(u.growthPerTurn)} a turn${left}`;
}

/**
 * @param {SessionView} s
 * @param {number} now
 */
function asOf(s, now) {
  const u = s.usage;
  const idle = s.state === 'idle' ? '; idle' : '';
  if (u.asOf === null || u.provenance === null) return `${unknown}; last heard of ${age(s.updatedAt, now)}${idle}`;
  const behind = u.stale ? '; a newer response was missed' : '';
  return `${age(u.asOf, now)}, ${provenances[u.provenance]}${behind}${idle}`;
}
