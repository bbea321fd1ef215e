// The facts about a session in words, the same in the tooltip and on the dashboard.
import type { SessionView } from './protocol.ts';
import { age, exactly, left, mark, provenances, tokens, unknown, windowProvenances } from './text.ts';

/** Lists what is known as labels and values. Nothing in them is escaped. */
export function facts(s: SessionView, now: number): [string, string][] {
  return [
    ['Model', model(s)],
    ['Window', `${exactly(s.usage.windowTokens)} tokens: ${windowWhy(s)}`],
    ['Tokens', held(s)],
    ['Compaction', compaction(s)],
    ['Growth', growth(s)],
    ['As of', asOf(s, now)],
  ];
}

function model(s: SessionView): string {
  const via = [s.provider, s.host].filter(Boolean).join(', ');
  return `${s.model || unknown}${via && ` (${via})`}`;
}

function windowWhy({ usage }: SessionView): string {
  return usage.windowWhy || windowProvenances[usage.windowProvenance];
}

function held({ usage: u }: SessionView): string {
  if (u.tokens === null) return unknown;
  const share = u.percent === null ? '' : `, ${u.percent.toFixed(1)} % of the window`;
  const band = u.band && (u.provenance === 'estimate' ? ` (${tokens(u.band.low)}–${tokens(u.band.high)})` : '');
  const since =
    u.provenance !== 'estimate' && u.projectedTokens !== null && tokens(u.projectedTokens) !== tokens(u.tokens)
      ? `; by now about ${tokens(u.projectedTokens)}${u.band ? ` (${tokens(u.band.low)}–${tokens(u.band.high)})` : ''}`
      : '';
  return `${mark(u)}${exactly(u.tokens)}${share}${band ?? ''}${since}`;
}

function compaction(s: SessionView): string {
  const u = s.usage;
  const parts: string[] = [];
  if (s.compacting) parts.push('compacting now');
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

function growth({ usage: u }: SessionView): string {
  if (u.growthPerTurn === null) return `${unknown} (known after the first turn)`;
  const turns = u.turnsToCompaction;
  const left =
    turns === null
      ? ''
      : `; about ${turns.mid} ${turns.mid === 1 ? 'turn' : 'turns'} left (${turns.low}–${turns.high})`;
  return `${tokens(u.growthPerTurn)} a turn${left}`;
}

function asOf(s: SessionView, now: number): string {
  const u = s.usage;
  const idle = s.state === 'idle' ? '; idle' : '';
  if (u.asOf === null || u.provenance === null) return `${unknown}; last heard of ${age(s.updatedAt, now)}${idle}`;
  const behind = u.stale ? '; a newer response was missed' : '';
  return `${age(u.asOf, now)}, ${provenances[u.provenance]}${behind}${idle}`;
}
