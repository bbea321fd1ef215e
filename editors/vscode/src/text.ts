// How figures are written for people. Nothing here knows VS Code or computes a figure: that is the server's.
import type { SessionView, Usage } from './protocol.ts';

/** Stands where a figure is not known. It is never a zero. */
export const unknown = '?';

/** Writes a number of tokens: 812, 9.4k, 144k, 1.05M; as the command line does. */
export function tokens(n: number | null): string {
  if (n === null) return unknown;
  if (n < 1_000) return String(n);
  if (n < 9_950) return `${(n / 1_000).toFixed(1)}k`;
  if (n < 999_500) return `${Math.round(n / 1_000)}k`;
  return `${Number((n / 1e6).toFixed(2))}M`;
}

/** Writes a number of tokens to the last digit: 143,912. */
export function exactly(n: number): string {
  return n.toLocaleString('en-US');
}

/** Writes the share of the window: "~" before an estimate, "+" after a figure that is a response behind. */
export function percent(u: Usage): string {
  return u.display.percent === null ? unknown : `${mark(u)}${u.display.percent}%${u.stale ? '+' : ''}`;
}

/** "~" for what ctxls worked out itself. */
export function mark(u: Usage): string {
  return u.provenance === 'estimate' ? '~' : '';
}

/** Draws the share of the window in the given number of cells. */
export function bar(u: Usage, cells: number): string {
  if (u.display.percent === null) return '·'.repeat(cells);
  const full = Math.min(Math.floor((u.display.percent * cells + 50) / 100), cells);
  return '█'.repeat(full) + '░'.repeat(cells - full);
}

/** Writes how long ago a time (RFC 3339) was. */
export function age(at: string, now: number): string {
  const minutes = Math.floor((now - Date.parse(at)) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / (24 * 60))} days ago`;
}

/** Names a session for people: by its title, else by the last part of its directory, else by its id. */
export function name(s: SessionView): string {
  return s.title || s.cwd.split(/[\\/]/).findLast(part => part !== '') || s.sessionId.slice(0, 8);
}

/** A path as people write it: with ~ for their home directory. */
export function place(path: string, home: string): string {
  const rest = path.slice(home.length);
  return path.startsWith(home) && home.length > 1 && /^$|^[\\/]/.test(rest) ? `~${rest}` : path;
}

/** What provenances are called. */
export const provenances: Record<NonNullable<Usage['provenance']>, string> = {
  host: 'from the host’s status line',
  transcript: 'from the transcript',
  reported: 'reported by the host',
  estimate: 'estimated',
};

/** What windows are known by. */
export const windowProvenances: Record<Usage['windowProvenance'], string> = {
  host: 'the host says so',
  config: 'your settings',
  suffix: 'the model’s name',
  learned: 'learned from requests',
  table: 'built-in table',
  default: 'assumed: nobody knows',
};

/**
 * Fills a format of the status bar. Parts, set off by " · " or " | ", are left out when they have placeholders and none of them
 * applies; the first part always stays, so that an unknown share is shown as "?".
 */
export function fill(format: string, s: SessionView): string {
  const u = s.usage;
  const values: Record<string, string> = {
    icon: s.compacting ? '$(sync~spin)' : '$(pulse)',
    percent: percent(u),
    tokens: u.display.tokens === null ? '' : mark(u) + tokens(u.display.tokens),
    window: tokens(u.display.limitTokens),
    left: u.toCompaction === null ? '' : mark(u) + tokens(u.toCompaction),
    forecast:
      u.turnsToCompaction === null
        ? ''
        : `~${u.turnsToCompaction.mid} ${u.turnsToCompaction.mid === 1 ? 'turn' : 'turns'}`,
    bar: bar(u, 8),
    level: u.level ?? unknown,
    model: label(s.model) || unknown,
    host: s.host,
    title: label(name(s)),
    agents: s.agents.length === 0 ? '' : String(s.agents.length),
    compactions: s.compactions === 0 ? '' : String(s.compactions),
  };
  const pieces = format.split(/( [·|] )/);
  let text = '';
  for (let i = 0; i < pieces.length; i += 2) {
    const known = [...(pieces[i] ?? '').matchAll(/\{(\w+)\}/g)].map(found => values[found[1] ?? '']);
    if (i > 0 && known.length > 0 && known.every(value => !value)) continue;
    const filled = (pieces[i] ?? '').replace(/\{(\w+)\}/g, (all, key: string) =>
      Object.hasOwn(values, key) ? values[key] || unknown : all,
    );
    text += (text && i > 0 ? pieces[i - 1] : '') + filled;
  }
  return s.compacting && !format.includes('{icon}') ? `${text} $(sync~spin)` : text;
}

/** Makes text from outside one line of a bearable length. */
export function line(text: string, limit = 60): string {
  const one = text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
  return one.length > limit ? `${one.slice(0, limit - 1).trimEnd()}…` : one;
}

/** Makes text from outside fit for a label, where "$(name)" would be an icon. */
export function label(text: string, limit?: number): string {
  return line(text, limit).replaceAll('$(', '\\$(');
}

/** Makes text from outside fit for Markdown: nothing in it is markup. Any ASCII punctuation may be escaped. */
export function literal(text: string, limit?: number): string {
  return line(text, limit).replace(/[!-/:-@[-`{-~]/g, '\\$&');
}

/** Says a session's state to somebody who does not see the bar. */
export function spoken(s: SessionView): string {
  const u = s.usage;
  const parts = [`Context window of ${name(s)}`];
  if (u.display.percent === null) parts.push('how full is not known');
  else parts.push(`${u.provenance === 'estimate' ? 'about ' : ''}${u.display.percent} percent full`);
  if (u.toCompaction !== null) parts.push(`${exactly(u.toCompaction)} tokens to compaction`);
  if (u.level !== null) parts.push(`level ${u.level}`);
  if (s.compacting) parts.push('compacting now');
  return parts.join(', ');
}
