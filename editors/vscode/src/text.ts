// How figures are written for people. Nothing here knows VS Code, and no figure is computed: the server does that.
import {
  compactionShare,
  exactly,
  left,
  leftInWords,
  line,
  mark,
  name,
  percent,
  tokens,
  unknown,
} from '../../../internal/ui/page/words.mjs';
import type { SessionView, Usage } from './protocol.ts';

export * from '../../../internal/ui/page/words.mjs';

/** Marks in a bar where the host compacts. */
export const compactionMark = '│';

/** Draws the share of the window in the given number of cells, with a mark where the host compacts. */
export function bar(u: Usage, cells: number): string {
  const { percent } = u.display;
  const full = percent === null ? 0 : Math.min(Math.floor((percent * cells + 50) / 100), cells);
  const drawn = percent === null ? Array(cells).fill('·') : [...'█'.repeat(full), ...'░'.repeat(cells - full)];
  const at = compactionShare(u);
  if (at !== null) drawn[Math.min(Math.floor(at * cells), cells - 1)] = compactionMark;
  return drawn.join('');
}

/** Cuts a text that is longer than the limit in its middle: the end of a path names the file. */
export function middle(text: string, limit: number): string {
  const characters = [...text];
  if (characters.length <= limit) return text;
  const head = Math.floor((limit - 1) / 3);
  return `${characters.slice(0, head).join('')}…${characters.slice(head + 1 - limit).join('')}`;
}

/** Cuts every word that is longer than the limit in its middle. */
export function shorten(text: string, limit: number): string {
  return text.replace(/\S+/g, word => middle(word, limit));
}

/** A path as people write it: with ~ for their home directory. */
export function place(path: string, home: string): string {
  const rest = path.slice(home.length);
  return path.startsWith(home) && home.length > 1 && /^$|^[\\/]/.test(rest) ? `~${rest}` : path;
}

/** The icon of each level. Color alone must not tell one from another: some themes show none. */
const levelIcons: Record<NonNullable<Usage['level']>, string> = {
  normal: 'pulse',
  notice: 'pulse',
  warning: 'warning',
  critical: 'flame',
};

/** Returns the name of the icon that stands for a session's level, or for a compaction that runs. */
export function icon(s: Pick<SessionView, 'compacting' | 'usage'>): string {
  return s.compacting ? 'sync~spin' : levelIcons[s.usage.level ?? 'normal'];
}

/** Whether the icon says something that the figures do not. */
function isTelling(name: string): boolean {
  return name !== levelIcons.normal;
}

/**
 * Fills a format of the status bar. Parts, set off by " · " or " | ", are left out when they have placeholders and none of them
 * applies; the first part always stays, so that an unknown share is shown as "?". From the level "warning" on the icon stands
 * before a format that does not place it.
 */
export function fill(format: string, s: SessionView): string {
  const u = s.usage;
  const values: Record<string, string> = {
    icon: `$(${icon(s)})`,
    percent: percent(u),
    tokens: u.display.tokens === null ? '' : mark(u) + tokens(u.display.tokens),
    window: tokens(u.display.limitTokens),
    left: left(u),
    until: until(u),
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
  return text && isTelling(icon(s)) && !format.includes('{icon}') ? `${values.icon} ${text}` : text;
}

/** Says what is left and until when, as short as a status bar wants it; "" where that is not known. */
function until(u: Usage): string {
  return left(u) && `${left(u)} ${u.compactionRule === 'threshold' ? 'to compaction' : 'left'}`;
}

/** Escapes text from outside for a label, where "$(name)" would be an icon. */
export function label(text: string, limit?: number): string {
  return line(text, limit).replaceAll('$(', '\\$(');
}

/** Escapes text from outside for Markdown: every ASCII punctuation mark, so that nothing is markup. */
export function literal(text: string, limit?: number): string {
  return line(text, limit).replace(/[!-/:-@[-`{-~]/g, '\\$&');
}

/** Describes a session for a screen reader. */
export function spoken(s: SessionView): string {
  const u = s.usage;
  const parts = [`Context window of ${line(name(s), 40)}`];
  if (u.display.percent === null) parts.push('how full is not known');
  else parts.push(`${u.provenance === 'estimate' ? 'about ' : ''}${u.display.percent} percent full`);
  if (left(u)) parts.push(leftInWords(u, exactly).replace('~', 'about '));
  if (u.level !== null) parts.push(`level ${u.level}`);
  if (s.compacting) parts.push('compacting now');
  return parts.join(', ');
}
