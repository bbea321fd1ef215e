// The page of the dashboard. It draws what the extension sends, with the components of the page of `ctxls report --html`, and loads nothing.
import { h, type Part, section, show } from '../../../../internal/ui/page/dom.mjs';
import { fleetParts } from '../../../../internal/ui/page/fleet.mjs';
import { audited } from '../../../../internal/ui/page/panels.mjs';
import { sessionParts, titleOf } from '../../../../internal/ui/page/session.mjs';
import type { Session } from '../../../../internal/ui/page/types.d.ts';
import type { Asked, Shown } from '../messages.ts';

declare function acquireVsCodeApi(): {
  postMessage(asked: Asked): void;
  getState(): unknown;
  setState(state: unknown): void;
};

const editor = acquireVsCodeApi();
const main = document.getElementById('main') as HTMLElement;

window.addEventListener('message', ({ data }: MessageEvent<Shown>) => {
  if (data?.type !== 'show') return;
  const before = (editor.getState() as { key?: string } | undefined)?.key;
  editor.setState({ key: data.session?.key });
  show(main, content(data), before !== data.session?.key);
  main.setAttribute('aria-busy', 'false');
  if (data.section) document.getElementById(data.section)?.scrollIntoView({ block: 'start' });
});
editor.postMessage({ type: 'ready' });

function content({ session, pinned, sessions, audit, report, compactions, now, failed }: Shown): Part[] {
  if (failed) return [{ id: 'failure', data: failed, draw: () => failure(failed) }];
  const all = fleetParts(report, compactions);
  if (!session) {
    const before = {
      id: 'audit',
      data: audit,
      draw: () => section('Before the first prompt', 'audit', ...audited(audit, {})),
    };
    return [{ id: 'welcome', data: '', draw: welcome }, ...(audit === null ? [] : [before]), ...all];
  }
  const { key } = session;
  const others = sessions.filter(s => s.key !== key);
  return [
    { id: 'header', data: [key, session.view.title, pinned, others], draw: () => header(session, pinned, others) },
    ...sessionParts(session, now, { open: path => editor.postMessage({ type: 'open', key, path }) }),
    ...all,
  ];
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

function header({ key, view }: Session, pinned: boolean, others: Shown['sessions']): HTMLElement {
  const select = h(
    'select',
    { id: 'session', 'aria-label': 'Show another session' },
    h('option', { value: '' }, 'Other sessions …'),
    ...others.map(({ key, name, detail }) => h('option', { value: key }, `${name} (${detail})`)),
  );
  select.addEventListener('change', () => select.value && editor.postMessage({ type: 'select', key: select.value }));
  const pin = h(
    'button',
    { id: 'pin', type: 'button', 'aria-pressed': String(pinned) },
    pinned ? 'Unpin' : 'Pin to Status Bar',
  );
  pin.addEventListener('click', () => editor.postMessage({ type: 'pin', key: pinned ? null : key }));
  const controls = h('div', { class: 'controls' }, others.length > 0 ? select : null, pin);
  return h('header', {}, h('h1', {}, titleOf(view)), controls);
}
