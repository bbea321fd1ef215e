// The page of the dashboard. It draws what it is told and asks for nothing from anywhere else.
import type { Amount, Asked, Shown, ShownSession } from '../messages.ts';
import type { ContextOptimizationReport } from '../protocol.ts';
import { exactly, h, tokens } from './dom.ts';
import { plot } from './plot.ts';

declare function acquireVsCodeApi(): {
  postMessage(asked: Asked): void;
  getState(): unknown;
  setState(state: unknown): void;
};

const editor = acquireVsCodeApi();
const main = document.getElementById('main') as HTMLElement;
let last = '';

window.addEventListener('message', ({ data }: MessageEvent<Shown>) => {
  if (data?.type !== 'show') return;
  const text = JSON.stringify(data);
  if (text === last) return; // drawing again would take the focus and the reading away
  last = text;
  const kept = keep(data.session?.key);
  editor.setState({ key: data.session?.key });
  main.replaceChildren(...(data.failed ? [failure(data.failed)] : content(data)));
  main.setAttribute('aria-busy', 'false');
  kept();
});
editor.postMessage({ type: 'ready' });

/** Remembers what a person is at, and puts it back once the session, maybe another one, is drawn anew. */
function keep(key: string | undefined): () => void {
  const focused = document.activeElement?.id;
  const open = [...document.querySelectorAll('details')].map(details => details.open);
  const scroll = document.documentElement.scrollTop;
  const same = key === (editor.getState() as { key?: string } | undefined)?.key;
  const { value, max } = slider() ?? { value: '', max: '' };
  return () => {
    document.querySelectorAll('details').forEach((details, i) => {
      details.open = open[i] ?? false;
    });
    const fresh = slider();
    if (fresh && same && value !== max) {
      fresh.value = value; // who was at the last point goes on with it
      fresh.dispatchEvent(new Event('input'));
    }
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    document.documentElement.scrollTop = scroll;
  };
}

function slider(): HTMLInputElement | null {
  return document.querySelector<HTMLInputElement>('#point');
}

function failure(why: string): HTMLElement {
  return h('p', { class: 'empty', role: 'alert' }, `ctxls does not run: ${why}`);
}

function content({ session, sessions, report }: Shown): Node[] {
  if (!session) {
    return [h('p', { class: 'empty' }, 'No session is known in this workspace.'), fleet(report)];
  }
  return [
    header(session, sessions),
    gauge(session),
    section('History', 'history', ...history(session)),
    section('What fills it', 'parts', ...amounts(session.parts, 'Not known.')),
    session.lastTurn && section('What the last turn added', 'turn', ...amounts(session.lastTurn, 'Nothing.')),
    section('Works on', 'files', ...workingSet(session)),
    session.agents.length > 0 ? section('Sub-agents', 'agents', agents(session)) : null,
    fleet(report),
  ].filter(node => node !== null);
}

function header(session: ShownSession, sessions: Shown['sessions']): HTMLElement {
  const select = h(
    'select',
    { id: 'session', 'aria-label': 'Session' },
    ...sessions.map(({ key, name, detail }) => h('option', { value: key }, `${name} (${detail})`)),
  );
  select.value = session.key;
  select.addEventListener('change', () => editor.postMessage({ type: 'select', key: select.value }));
  const pin = h(
    'button',
    { id: 'pin', type: 'button', 'aria-pressed': String(session.pinned) },
    session.pinned ? 'Unpin' : 'Pin to Status Bar',
  );
  pin.addEventListener('click', () => editor.postMessage({ type: 'pin', key: session.pinned ? null : session.key }));
  return h('header', {}, h('h1', {}, session.name), h('div', { class: 'controls' }, select, pin));
}

function gauge({ view, percent, left, facts }: ShownSession): HTMLElement {
  const share = view.usage.display.percent;
  return h(
    'section',
    { class: 'gauge', 'aria-label': 'Gauge' },
    h('p', { class: `figure ${view.usage.level ?? 'unknown'}` }, percent),
    h('p', { class: 'left' }, view.compacting ? 'compacting now' : left),
    meter(share, `${percent} of the window`, view.usage.level ?? 'unknown'),
    h('dl', {}, ...facts.flatMap(([label, value]) => [h('dt', {}, label), h('dd', {}, value)])),
  );
}

/** A bar of a share in percent; null is unknown. */
function meter(share: number | null, label: string, kind = ''): HTMLElement {
  const full = h('div', { class: 'full' });
  full.style.width = `${share ?? 0}%`;
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
  );
}

function history({ samples, view }: ShownSession): Node[] {
  if (samples.length === 0) return [h('p', { class: 'empty' }, 'Nothing was reported yet.')];
  const into = h('div', { class: 'plot' });
  const { windowTokens, compactionTokens } = view.usage;
  plot(into, { samples, windowTokens, compactionTokens }); // which draws it again when it has a width
  return [into];
}

function amounts(all: Amount[] | null, otherwise: string): Node[] {
  if (!all || all.length === 0) return [h('p', { class: 'empty' }, otherwise)];
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

function workingSet({ view, files }: ShownSession): Node[] {
  if (view.workingSet.length === 0) return [h('p', { class: 'empty' }, 'No file yet.')];
  const cost = new Map(files.map(file => [file.name, file.tokens]));
  const rows = view.workingSet.map(path => {
    const known = cost.get(path);
    return h('li', {}, h('code', {}, path), known === undefined ? null : ` ~${tokens(known)}`);
  });
  return [h('ul', { class: 'files' }, ...rows)];
}

function agents({ agents: all }: ShownSession): HTMLElement {
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

function fleet(report: ContextOptimizationReport | null): HTMLElement {
  if (!report || report.tasks === 0) {
    return section(
      'All tasks',
      'fleet',
      h('p', { class: 'empty' }, report ? 'No task was recorded yet.' : 'Not known.'),
    );
  }
  const facts: [string, string][] = [
    ['Tasks', `${exactly(report.tasks)} of the last ${exactly(report.windowTasks)}`],
    [`Over ${tokens(report.thresholdTokens)}`, `${(100 * report.p90ExceedanceRate).toFixed(1)} %`],
    ['Average', tokens(report.averageTokens)],
    ['p50, p90, p99', [report.p50Tokens, report.p90Tokens, report.p99Tokens].map(tokens).join(', ')],
    ['Largest', tokens(report.maxTokens)],
    ['Trims', `${exactly(report.trimOperations)}, saving ${tokens(report.trimmedTokens)}`],
  ];
  return section(
    'All tasks',
    'fleet',
    h('dl', { class: 'tiles' }, ...facts.map(([label, value]) => h('div', {}, h('dt', {}, label), h('dd', {}, value)))),
  );
}

function section(title: string, id: string, ...children: Node[]): HTMLElement {
  return h('section', { id, 'aria-labelledby': `${id}-title` }, h('h2', { id: `${id}-title` }, title), ...children);
}
