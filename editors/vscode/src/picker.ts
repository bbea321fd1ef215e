// The list of sessions, from which one is pinned to the status bar.
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import type { AgentView, SessionView } from './protocol.ts';
import type { Server } from './server.ts';
import { keyOf, type Sessions } from './sessions.ts';
import { age, bar, icon, label, left, line, name, percent, place } from './text.ts';

const dashboard: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('graph-line'), tooltip: 'Show Dashboard' };
const unpin: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('pinned'), tooltip: 'Unpin' };
const pin: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('pin'), tooltip: 'Pin to the Status Bar' };

/** The longest name in a row, in characters: figures stand before it, and the bar after it stays in sight. */
const longestName = 48;

/** How the list is ordered and grouped. The editor keeps it. */
interface Arrangement {
  sort: 'time' | 'fullness';
  group: 'state' | 'host' | 'project';
}
const arrangementKey = 'ctxls.picker';
const groups: Arrangement['group'][] = ['state', 'host', 'project'];

interface Item extends vscode.QuickPickItem {
  /** Of the session; sub-agents have their session's. */
  key?: string;
  run?: () => Thenable<unknown> | undefined;
}

/** Shows the list. It follows changes while it is open. */
export function pickSession(sessions: Sessions, server: Server, memory: vscode.Memento): void {
  let arrangement = memory.get<Arrangement>(arrangementKey, { sort: 'time', group: 'state' });
  const list = vscode.window.createQuickPick<Item>();
  list.placeholder = 'Pick a session to pin it to the status bar';
  list.matchOnDescription = list.matchOnDetail = true;
  let [sort, group] = buttons(arrangement);
  const update = () => {
    const active = list.activeItems[0];
    [sort, group] = buttons(arrangement);
    list.title = `Sessions, ${arrangement.sort === 'time' ? 'newest' : 'fullest'} first, by ${arrangement.group}`;
    list.buttons = [sort, group];
    list.busy = server.state.kind === 'starting';
    list.items = items(sessions, server, arrangement, Date.now());
    const again = list.items.find(item => item.key === active?.key && item.label === active?.label);
    if (again) list.activeItems = [again];
  };
  update();
  const following = [sessions.onDidChange(update), server.onDidChangeState(update)];
  list.onDidTriggerButton(button => {
    arrangement =
      button === sort
        ? { ...arrangement, sort: arrangement.sort === 'time' ? 'fullness' : 'time' }
        : { ...arrangement, group: after(groups, arrangement.group) };
    void memory.update(arrangementKey, arrangement);
    update();
  });
  list.onDidTriggerItemButton(({ item, button }) => {
    if (button === dashboard) {
      list.hide();
      void vscode.commands.executeCommand('ctxls.showDashboard', item.key);
    } else {
      void sessions.pin(button === pin ? item.key : undefined);
    }
  });
  list.onDidAccept(() => {
    const chosen = list.selectedItems[0];
    list.hide();
    if (chosen?.run) void chosen.run();
    else if (chosen?.key) void sessions.pin(chosen.key);
  });
  list.onDidHide(() => {
    for (const one of following) one.dispose();
    list.dispose();
  });
  list.show();
}

/** The buttons say what a click changes. */
function buttons({ sort, group }: Arrangement): [vscode.QuickInputButton, vscode.QuickInputButton] {
  return [
    {
      iconPath: new vscode.ThemeIcon(sort === 'time' ? 'flame' : 'history'),
      tooltip: sort === 'time' ? 'Fullest First' : 'Newest First',
    },
    { iconPath: new vscode.ThemeIcon('group-by-ref-type'), tooltip: `Group by ${after(groups, group)}` },
  ];
}

function after<T>(all: T[], one: T): T {
  return all[(all.indexOf(one) + 1) % all.length] as T;
}

function items(sessions: Sessions, server: Server, arrangement: Arrangement, now: number): Item[] {
  if (server.state.kind === 'failed') {
    return [
      {
        label: '$(debug-disconnect) ctxls does not run',
        detail: line(server.state.why, 200),
        alwaysShow: true,
        run: () => vscode.commands.executeCommand('ctxls.explainFailure'),
      },
    ];
  }
  const all = [...sessions.list()];
  if (all.length === 0) return nothing(server);
  if (arrangement.sort === 'fullness') {
    all.sort((a, b) => (b.usage.display.percent ?? -1) - (a.usage.display.percent ?? -1));
  }
  const pinned = sessions.pinned();
  const first: Item[] = pinned
    ? [{ label: '$(sync) Follow the newest session', description: 'unpins', run: () => sessions.pin(undefined) }]
    : [];
  const grouped = new Map<string, SessionView[]>();
  for (const s of all) {
    const title = groupOf(s, arrangement.group);
    const group = grouped.get(title);
    if (group) group.push(s);
    else grouped.set(title, [s]);
  }
  const titles = [...grouped.keys()];
  if (arrangement.group === 'state') titles.sort(); // active, then idle
  return [
    ...first,
    ...titles.flatMap(title => [
      { label: label(title), kind: vscode.QuickPickItemKind.Separator },
      ...(grouped.get(title) ?? []).flatMap(s => rows(s, pinned, now)),
    ]),
    ...(sessions.note() ? [{ label: sessions.note(), kind: vscode.QuickPickItemKind.Separator }] : []),
  ];
}

/** What can be done where no session is known. */
function nothing(server: Server): Item[] {
  if (server.state.kind !== 'running') return [{ label: '$(loading~spin) The server is starting …', alwaysShow: true }];
  const run = (command: string) => () => vscode.commands.executeCommand(command);
  return [
    { label: 'No session is known in this workspace', kind: vscode.QuickPickItemKind.Separator },
    {
      label: '$(plug) Set up an agent host …',
      detail: 'Optional: with hooks, Claude Code, Codex or another agent knows how full its window is',
      run: run('ctxls.installHooks'),
    },
    { label: '$(book) Get started', detail: 'What ctxls shows, step by step', run: run('ctxls.getStarted') },
    {
      label: '$(graph-line) Show the dashboard',
      detail: 'The figures of all recent tasks',
      run: run('ctxls.showDashboard'),
    },
  ];
}

function groupOf(s: SessionView, by: Arrangement['group']): string {
  if (by === 'host') return s.host;
  if (by === 'project') return line(place(s.cwd, homedir()), 80) || '?';
  return s.state === 'active' ? 'active' : 'idle';
}

/** Writes a share with figure spaces before it, so that names begin below each other. */
function aligned(text: string): string {
  return text.padStart(4, '\u2007');
}

function rows(s: SessionView, pinned: SessionView | undefined, now: number): Item[] {
  const isPinned = pinned !== undefined && keyOf(pinned) === keyOf(s);
  const rest = left(s.usage) ? ` ${left(s.usage)} left` : '';
  const session: Item = {
    key: keyOf(s),
    label: `$(${icon(s)}) ${aligned(percent(s.usage))}  ${label(name(s), longestName)}${isPinned ? ' $(pinned)' : ''}`,
    description: `${bar(s.usage, 10)}${rest}`,
    detail: [label(s.model) || '?', s.host, age(s.updatedAt, now), label(place(s.cwd, homedir()), 80)].join(' · '),
    buttons: [isPinned ? unpin : pin, dashboard],
  };
  return [session, ...s.agents.map(a => agent(a, s))];
}

function agent(a: AgentView, s: SessionView): Item {
  return {
    key: keyOf(s),
    label: `\u2003\u2514 ${aligned(percent(a.usage))}  ${label(a.agentType, longestName) || 'agent'}`,
    description: bar(a.usage, 10),
  };
}
