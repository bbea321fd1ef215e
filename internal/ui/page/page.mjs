// The page: one file with its data. It chooses a session from a table and loads nothing.
import { h, meter, show, svg } from './dom.mjs';
import { fleetParts } from './fleet.mjs';
import { sessionParts, titleOf } from './session.mjs';
import { age, compactionShare, counted, exactly, left, line, mark, percent, time, tokens, unknown } from './words.mjs';

/** @import { AgentView, SessionView, Usage } from '../../../editors/vscode/src/protocol.ts' */
/** @import { PageData, Session } from './types.d.ts' */

const at = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const filter = /** @type {HTMLInputElement} */ (at('filter'));

/** @type {PageData} */
const data = JSON.parse(at('data').textContent ?? '');
const now = Date.parse(data.now);

/** The points of a history are shorter in the file than on the wire. */
const sessions = data.sessions.map(({ detail: { breakdown, ...view }, points, audit, ...known }) => ({
  ...known,
  key: `${view.host} ${view.sessionId}`,
  view,
  breakdown,
  audit: audit === null ? null : (data.audits[audit] ?? null),
  points: points.map(([at, tokens, kind]) => ({ at, tokens, kind: kind ?? 'usage' })),
}));

/**
 * Draws a history as small as a word.
 * @param {Session} s
 */
function spark({ points, view }) {
  const root = svg('svg', {
    class: 'spark',
    viewBox: '0 0 100 20',
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': points.length > 0 ? `history of ${counted(points.length, 'point')}` : 'no history',
  });
  if (points.length === 0) return root;
  const top = Math.max(view.usage.windowTokens, ...points.map(p => p.tokens));
  const x = (/** @type {number} */ i) => (100 * i) / Math.max(points.length - 1, 1);
  const path = points
    .map((p, i) => `${i === 0 ? 'M' : 'L'}${x(i).toFixed(2)} ${(20 - (20 * p.tokens) / top).toFixed(2)}`)
    .join('');
  root.append(
    svg('path', { class: 'area', d: `${path}V20H0Z` }),
    svg('path', { class: 'curve', d: path, 'vector-effect': 'non-scaling-stroke' }),
  );
  return root;
}

/** @param {Usage} u */
function gauge(u) {
  return meter(u.display.percent, `${percent(u)} of the window`, u.level ?? 'unknown', compactionShare(u));
}

/** @param {Usage} u */
function pair(u) {
  return `${mark(u)}${tokens(u.display.tokens)}/${tokens(u.display.limitTokens)}`;
}

/** @param {Usage} u */
function turns({ turnsToCompaction: f }) {
  const many = 999; // as many as are worth telling apart
  if (f === null) return unknown;
  if (f.low !== f.high && f.high <= many) return `~${f.mid} (${f.low}–${f.high})`;
  return f.mid > many ? `>${many}` : `~${f.mid}`;
}

/**
 * A column: what it shows of a session and of a sub-agent, and what it is sorted by, the largest first. "wide" is left out of a narrow
 * page.
 * @typedef {{
 *   name: string, kind: string, show: (s: Session) => string | Element, agent?: (a: AgentView, ended: boolean) => string | Element,
 *   text?: (v: SessionView) => string, figure?: (v: SessionView) => number | null,
 * }} Column
 */

/** @type {Column[]} */
const columns = [
  {
    name: 'session',
    kind: 'cut',
    show: opener,
    agent: a => `└ ${line(a.agentType) || 'agent'}`,
    text: v => titleOf(v),
  },
  { name: 'host', kind: 'wide', show: s => line(s.view.host), text: v => v.host },
  { name: 'model', kind: 'wide cut', show: s => line(s.view.model) || unknown, text: v => v.model },
  { name: 'history', kind: 'wide rare', show: spark },
  { name: 'window', kind: 'wide', show: s => gauge(s.view.usage), agent: a => gauge(a.usage) },
  {
    name: 'share',
    kind: 'number',
    show: s => percent(s.view.usage),
    agent: a => percent(a.usage),
    figure: v => v.usage.display.percent,
  },
  {
    name: 'tokens',
    kind: 'number small',
    show: s => pair(s.view.usage),
    agent: a => pair(a.usage),
    figure: v => v.usage.tokens,
  },
  {
    name: 'to compaction',
    kind: 'number',
    show: s => (s.view.compacting ? 'compacting' : left(s.view.usage) || unknown),
    agent: a => left(a.usage) || unknown,
    figure: v => negative(v.usage.toCompaction ?? v.usage.toRefusal),
  },
  {
    name: 'turns left',
    kind: 'wide rare number',
    show: s => turns(s.view.usage),
    figure: v => negative(v.usage.turnsToCompaction?.mid ?? null),
  },
  { name: 'compactions', kind: 'wide number', show: s => exactly(s.view.compactions), figure: v => v.compactions },
  {
    name: 'state',
    kind: 'wide rare',
    show: s => (s.view.compacting ? 'compacting' : s.view.state),
    agent: (_, ended) => (ended ? 'ended' : 'active'),
    text: v => v.state,
  },
  {
    name: 'updated',
    kind: 'number small',
    show: s => age(s.view.updatedAt, now),
    figure: v => Date.parse(v.updatedAt),
  },
];

/** @param {number | null} n */
function negative(n) {
  return n === null ? null : -n;
}

/** @type {Column | undefined} */
let sorted = columns.at(-1);
let reversed = false;
/** @type {Session | undefined} */
let opened;

/** @param {Session} s */
function opener(s) {
  const button = h('button', { type: 'button', class: 'link' }, titleOf(s.view));
  button.addEventListener('click', () => {
    open(s);
    at('detail-title').focus();
  });
  return button;
}

/**
 * Compares by a column; what is not known comes last.
 * @param {Column} column
 */
function order({ text, figure }) {
  const last = (/** @type {number | null | undefined} */ n) => n ?? Number.NEGATIVE_INFINITY;
  return (/** @type {Session} */ { view: a }, /** @type {Session} */ { view: b }) =>
    text
      ? text(a).localeCompare(text(b))
      : last(figure?.(b)) === last(figure?.(a))
        ? 0
        : last(figure?.(b)) - last(figure?.(a));
}

function matching() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const all = sessions.filter(({ view: v }) =>
    words.every(word => [v.host, v.cwd, v.model, v.title, v.sessionId, v.state].join(' ').toLowerCase().includes(word)),
  );
  if (sorted) all.sort(order(sorted));
  return reversed ? all.reverse() : all;
}

function table() {
  const found = matching();
  const rows = found.flatMap(s => {
    const { agents, agentsEnded = [] } = s.view;
    const all = [...agents.map(a => ({ a, ended: false })), ...agentsEnded.map(a => ({ a, ended: true }))];
    return [
      h('tr', { class: s === opened ? 'open' : null }, ...columns.map(c => h('td', { class: c.kind }, c.show(s)))),
      ...all.map(({ a, ended }) =>
        h('tr', { class: 'agent' }, ...columns.map(c => h('td', { class: c.kind }, c.agent?.(a, ended) ?? ''))),
      ),
    ];
  });
  const titles = columns.map(c => {
    const sort = c !== sorted ? null : reversed ? 'ascending' : 'descending';
    return h('th', { scope: 'col', class: c.kind, 'aria-sort': sort }, c.text || c.figure ? sorter(c) : c.name);
  });
  at('sessions').replaceChildren(h('thead', {}, h('tr', {}, ...titles)), h('tbody', {}, ...rows));
  const all = counted(sessions.length, 'session');
  at('count').textContent = found.length === sessions.length ? all : `${exactly(found.length)} of ${all}`;
}

/** @param {Column} c */
function sorter(c) {
  const button = h('button', { type: 'button', id: `by-${c.name.replaceAll(' ', '-')}` }, c.name);
  button.addEventListener('click', () => {
    reversed = c === sorted && !reversed;
    sorted = c;
    table();
    document.getElementById(button.id)?.focus();
  });
  return button;
}

/** @param {Session} s */
function open(s) {
  opened = s;
  table();
  at('detail-title').textContent = titleOf(s.view);
  at('detail').hidden = false;
  show(at('session'), sessionParts(s, now), true);
}

const themes = ['auto', 'light', 'dark'];
at('theme').addEventListener('click', event => {
  const button = /** @type {HTMLElement} */ (event.currentTarget);
  const { dataset } = document.documentElement;
  const next = themes[(themes.indexOf(dataset.theme ?? 'auto') + 1) % themes.length] ?? 'auto';
  if (next === 'auto') delete dataset.theme;
  else dataset.theme = next;
  button.textContent = `theme: ${next}`;
});
filter.addEventListener('input', table);
at('when').textContent = `as of ${time(now, 0)}`;
show(at('all'), fleetParts(data.report, data.compactions));
table();
const first = matching()[0];
if (first) open(first);
else at('sessions').replaceWith(h('p', {}, 'No sessions yet: run ctxls setup, then start the agent.'));
document.documentElement.dataset.drawn = 'yes';
