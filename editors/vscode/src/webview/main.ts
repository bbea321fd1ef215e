// The page of the dashboard. It draws what the extension sends, and loads nothing.
import type { Amount, Asked, Shown, ShownSession } from '../messages.ts';
import type { ReportResult } from '../protocol.ts';
import { compactionShare, exactly, h, tokens } from './dom.ts';
import { plot } from './plot.ts';

declare function acquireVsCodeApi(): {
  postMessage(asked: Asked): void;
  getState(): unknown;
  setState(state: unknown): void;
};

const editor = acquireVsCodeApi();
const main = document.getElementById('main') as HTMLElement;

/** A part of the page, with the data that it is drawn from: it is drawn anew only where that changed. */
interface Part {
  id: string;
  data: unknown;
  draw: () => HTMLElement;
}
const drawn = new Map<string, { of: string; node: HTMLElement }>();

window.addEventListener('message', ({ data }: MessageEvent<Shown>) => {
  if (data?.type !== 'show') return;
  const kept = keep(data.session?.key);
  editor.setState({ key: data.session?.key });
  show(data.failed ? [{ id: 'failure', data: data.failed, draw: () => failure(data.failed) }] : content(data));
  main.setAttribute('aria-busy', 'false');
  kept();
  if (data.section) document.getElementById(data.section)?.scrollIntoView({ block: 'start' });
});
editor.postMessage({ type: 'ready' });

/** Makes the page show these parts. What has not changed stays the same elements, with the focus and the reader's place in it. */
function show(parts: Part[]): void {
  const wanted = new Set(parts.map(part => part.id));
  for (const [id, { node }] of drawn) {
    if (wanted.has(id)) continue;
    node.remove();
    drawn.delete(id);
  }
  let before: ChildNode | null = main.firstChild;
  for (const { id, data, draw } of parts) {
    const of = JSON.stringify(data);
    const old = drawn.get(id);
    if (old && old.of === of) {
      if (before === old.node) before = old.node.nextSibling;
      else main.insertBefore(old.node, before);
      continue;
    }
    const node = draw();
    if (old) {
      if (before === old.node) before = old.node.nextSibling;
      old.node.replaceWith(node);
    } else {
      main.insertBefore(node, before);
    }
    drawn.set(id, { of, node });
  }
}

/** Remembers where the reader is, and restores it once the parts are drawn anew. */
function keep(key: string | undefined): () => void {
  const focused = document.activeElement?.id;
  const open = document.querySelector<HTMLDetailsElement>('#history details')?.open ?? false;
  const scroll = document.documentElement.scrollTop;
  const same = key === (editor.getState() as { key?: string } | undefined)?.key;
  const old = slider();
  const { value, max } = old ?? { value: '', max: '' };
  return () => {
    const details = document.querySelector<HTMLDetailsElement>('#history details');
    if (details) details.open = open;
    const fresh = slider();
    if (fresh && fresh !== old && same && value !== max) {
      fresh.value = value; // a reader at the last point goes on with the newest one
      fresh.dispatchEvent(new Event('input'));
    }
    if (focused && document.activeElement?.id !== focused)
      document.getElementById(focused)?.focus({ preventScroll: true });
    document.documentElement.scrollTop = scroll;
  };
}

function slider(): HTMLInputElement | null {
  return document.querySelector<HTMLInputElement>('#point');
}

function failure(why: string): HTMLElement {
  return h(
    'section',
    { class: 'welcome' },
    h('p', { role: 'alert' }, `ctxls does not run: ${why}`),
    h('div', { class: 'controls' }, button('What Can Be Done', 'explainFailure')),
  );
}

function button(text: string, command: (Asked & { type: 'run' })['command'], kind = ''): HTMLElement {
  const made = h('button', { id: command, type: 'button', class: kind }, text);
  made.addEventListener('click', () => editor.postMessage({ type: 'run', command }));
  return made;
}

function content({ session, sessions, report }: Shown): Part[] {
  const figures = { id: 'fleet', data: report, draw: () => fleet(report) };
  if (!session) return [{ id: 'welcome', data: '', draw: welcome }, figures];
  const { key, name, pinned, view, facts, percent, left, samples, parts, whyUnknown, lastTurn, files, agents } =
    session;
  const { usage, workingSet, compacting } = view;
  const others = sessions.filter(s => s.key !== key);
  const all: (Part | null)[] = [
    { id: 'header', data: [key, name, pinned, others], draw: () => header(session, others) },
    { id: 'gauge', data: [percent, left, facts, compacting, usage.level], draw: () => gauge(session) },
    {
      id: 'history',
      data: [key, samples, usage.windowTokens, usage.compactionTokens],
      draw: () => section('History', 'history', ...history(session)),
    },
    {
      id: 'parts',
      data: [parts, whyUnknown, key, files],
      draw: () => section('What fills it', 'parts', ...amounts(parts, whyUnknown), ...largestFiles(session)),
    },
    lastTurn && {
      id: 'turn',
      data: lastTurn,
      draw: () => section('What the last turn added', 'turn', ...amounts(lastTurn, 'Nothing.')),
    },
    {
      id: 'files',
      data: [key, workingSet, files],
      draw: () => section('Works on', 'files', ...workedOn(session)),
    },
    agents.length > 0
      ? { id: 'agents', data: agents, draw: () => section('Sub-agents', 'agents', agentTable(session)) }
      : null,
    figures,
  ];
  return all.filter(part => part !== null);
}

/** The page before the first session. */
function welcome(): HTMLElement {
  return h(
    'section',
    { class: 'welcome' },
    h('h1', {}, 'No session yet'),
    h(
      'p',
      {},
      'This page shows how full the context window of your coding agent is, when it will compact, and what fills it.',
    ),
    h(
      'ol',
      {},
      h('li', {}, 'Let your agent host, for example Claude Code or Codex, tell ctxls of its sessions.'),
      h('li', {}, 'Start a session in a folder of this window. It appears here by itself.'),
    ),
    h(
      'div',
      { class: 'controls' },
      button('Set Up an Agent Host', 'installHooks', 'primary'),
      button('Get Started', 'getStarted'),
    ),
  );
}

function header(session: ShownSession, others: Shown['sessions']): HTMLElement {
  const select = h(
    'select',
    { id: 'session', 'aria-label': 'Show another session' },
    h('option', { value: '' }, 'Other sessions …'),
    ...others.map(({ key, name, detail }) => h('option', { value: key }, `${name} (${detail})`)),
  );
  select.addEventListener('change', () => select.value && editor.postMessage({ type: 'select', key: select.value }));
  const pin = h(
    'button',
    { id: 'pin', type: 'button', 'aria-pressed': String(session.pinned) },
    session.pinned ? 'Unpin' : 'Pin to Status Bar',
  );
  pin.addEventListener('click', () => editor.postMessage({ type: 'pin', key: session.pinned ? null : session.key }));
  const controls = h('div', { class: 'controls' }, others.length > 0 ? select : null, pin);
  return h('header', {}, h('h1', {}, session.name), controls);
}

function gauge({ view, percent, left, facts }: ShownSession): HTMLElement {
  const { level } = view.usage;
  const share = view.usage.display.percent;
  return h(
    'section',
    { class: 'gauge', 'aria-label': 'Gauge' },
    h('p', { class: 'figure' }, percent),
    h(
      'p',
      { class: 'left' },
      level === 'warning' || level === 'critical' ? h('strong', { class: `level ${level}` }, level) : null,
      view.compacting ? 'compacting now' : left,
    ),
    meter(share, `${percent} of the window`, level ?? 'unknown', compactionShare(view.usage)),
    h('dl', {}, ...facts.flatMap(([label, value]) => [h('dt', {}, label), h('dd', {}, value)])),
  );
}

/** A bar of a share in percent; null is unknown. The mark is where the host compacts, 0–1. */
function meter(share: number | null, label: string, kind = '', compaction: number | null = null): HTMLElement {
  const full = h('div', { class: 'full' });
  full.style.width = `${share ?? 0}%`;
  const mark = compaction === null ? null : h('div', { class: 'compacts', title: 'The host compacts here' });
  if (mark && compaction !== null) mark.style.left = `${100 * compaction}%`;
  return h(
    'div',
    {
      class: `meter ${kind}`,
      role: 'meter',
      'aria-label': label,
      'aria-valuemin': '0',
      'aria-valuemax': '100',
      'aria-valuenow': share === null ? null : String(share),
      'aria-valuetext': share === null ? 'not known' : null,
    },
    full,
    mark,
  );
}

function history({ samples, view }: ShownSession): Node[] {
  if (samples.length === 0) return [h('p', { class: 'empty' }, 'Nothing was reported yet.')];
  const into = h('div', { class: 'plot' });
  const { windowTokens, compactionTokens } = view.usage;
  plot(into, { samples, windowTokens, compactionTokens }); // which draws it again when it has a width
  return [into];
}

function amounts(all: Amount[], otherwise: string): Node[] {
  if (all.length === 0) return [h('p', { class: 'empty' }, otherwise)];
  const largest = Math.max(...all.map(a => a.tokens));
  const sum = all.reduce((n, a) => n + a.tokens, 0);
  const rows = all.map(a => {
    const rounded = sum > 0 ? Math.round((100 * a.tokens) / sum) : 0;
    const share = rounded === 0 && a.tokens > 0 ? 'below 1' : String(rounded);
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, a.name),
      h('td', { class: 'wide' }, meter(largest > 0 ? (100 * a.tokens) / largest : 0, `${a.name}: ${share} %`)),
      h('td', { class: 'number' }, `~${tokens(a.tokens)}`),
      h('td', { class: 'number' }, `${share} %`),
    );
  });
  return [h('table', { class: 'amounts' }, h('tbody', {}, ...rows))];
}

/** The files that take the most room, where the session no longer works on them. */
function largestFiles(session: ShownSession): Node[] {
  const others = session.files.filter(file => !session.view.workingSet.includes(file.name));
  if (others.length === 0) return [];
  const rows = others.map(file => h('li', {}, fileLink(session.key, file.name), ` ~${tokens(file.tokens)}`));
  return [h('h3', {}, 'Other files in it'), h('ul', { class: 'files' }, ...rows)];
}

function workedOn(session: ShownSession): Node[] {
  const { workingSet } = session.view;
  if (workingSet.length === 0) return [h('p', { class: 'empty' }, 'No file yet.')];
  const cost = new Map(session.files.map(file => [file.name, file.tokens]));
  const rows = workingSet.map(path => {
    const known = cost.get(path);
    return h('li', {}, fileLink(session.key, path), known === undefined ? null : ` ~${tokens(known)}`);
  });
  return [h('ul', { class: 'files' }, ...rows)];
}

/** A path that opens the file in the editor. */
function fileLink(key: string, path: string): HTMLElement {
  const link = h('button', { type: 'button', class: 'link', title: 'Open the file' }, path);
  link.addEventListener('click', () => editor.postMessage({ type: 'open', key, path }));
  return link;
}

function agentTable({ agents: all }: ShownSession): HTMLElement {
  const rows = all.map(a =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, a.name),
      h('td', { class: 'wide' }, meter(a.share, `${a.name}: ${a.percent}`)),
      h('td', { class: 'number' }, a.percent),
    ),
  );
  return h('table', { class: 'amounts' }, h('tbody', {}, ...rows));
}

function fleet(report: ReportResult | null): HTMLElement {
  if (!report || report.tasks === 0) {
    return section(
      'All tasks',
      'fleet',
      explained(),
      h('p', { class: 'empty' }, report ? 'No task was recorded yet.' : 'Not known.'),
    );
  }
  const facts: [string, string][] = [
    ['Tasks', `${exactly(report.tasks)} of the last ${exactly(report.windowTasks)}`],
    [`Over ${tokens(report.thresholdTokens)}`, `${(100 * report.p90ExceedanceRate).toFixed(1)} %`],
    ['Average', tokens(report.averageTokens)],
    ['Half are below', tokens(report.p50Tokens)],
    ['90 % are below', tokens(report.p90Tokens)],
    ['99 % are below', tokens(report.p99Tokens)],
    ['Largest', tokens(report.maxTokens)],
    ['Trims', `${exactly(report.trimOperations)}, saving ${tokens(report.trimmedTokens)}`],
  ];
  return section(
    'All tasks',
    'fleet',
    explained(),
    h('dl', { class: 'tiles' }, ...facts.map(([label, value]) => h('div', {}, h('dt', {}, label), h('dd', {}, value)))),
  );
}

function explained(): HTMLElement {
  return h(
    'p',
    { class: 'empty' },
    'A task is one prompt and all that the agent does for it. These are the largest contexts of the recent tasks of all sessions on this machine.',
  );
}

function section(title: string, id: string, ...children: Node[]): HTMLElement {
  return h('section', { id, 'aria-labelledby': `${id}-title` }, h('h2', { id: `${id}-title` }, title), ...children);
}
