// The list of sessions, from which one is pinned to the status bar.
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import type { Server } from './client.ts';
import type { AgentView, SessionView } from './protocol.ts';
import { keyOf, type Sessions } from './sessions.ts';
import { age, bar, label, mark, name, percent, place, tokens } from './text.ts';

const dashboard: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('graph-line'), tooltip: 'Show Dashboard' };
const unpin: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('pinned'), tooltip: 'Unpin' };
const pin: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('pin'), tooltip: 'Pin to the Status Bar' };

interface Item extends vscode.QuickPickItem {
  /** Of the session; sub-agents have their session's. */
  key?: string;
  run?: () => Thenable<unknown> | undefined;
}

/** Shows the list, which follows what happens while it is open. */
export function pickSession(sessions: Sessions, server: Server): void {
  if (server.state.kind === 'failed') {
    void vscode.commands.executeCommand('ctxls.explainFailure');
    return;
  }
  const list = vscode.window.createQuickPick<Item>();
  list.title = 'Sessions';
  list.placeholder = 'Pick a session to pin it to the status bar';
  list.matchOnDescription = list.matchOnDetail = true;
  const update = () => {
    const active = list.activeItems[0];
    list.items = items(sessions, Date.now());
    const again = list.items.find(item => item.key === active?.key && item.label === active?.label);
    if (again) list.activeItems = [again];
  };
  update();
  const following = sessions.onDidChange(update);
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
    following.dispose();
    list.dispose();
  });
  list.show();
}

function items(sessions: Sessions, now: number): Item[] {
  const all = sessions.list();
  const pinned = sessions.pinned();
  const first: Item[] = pinned
    ? [{ label: '$(sync) Follow the newest session', description: 'unpins', run: () => sessions.pin(undefined) }]
    : [];
  if (all.length === 0) {
    return [
      {
        label: '$(plug) Install hooks for a host…',
        description: 'no session is known in this workspace',
        run: () => vscode.commands.executeCommand('ctxls.installHooks'),
      },
    ];
  }
  const group = (title: string, some: SessionView[]): Item[] =>
    some.length === 0
      ? []
      : [{ label: title, kind: vscode.QuickPickItemKind.Separator }, ...some.flatMap(s => rows(s, pinned, now))];
  return [
    ...first,
    ...group(
      'active',
      all.filter(s => s.state === 'active'),
    ),
    ...group(
      'idle',
      all.filter(s => s.state !== 'active'),
    ),
  ];
}

function rows(s: SessionView, pinned: SessionView | undefined, now: number): Item[] {
  const isPinned = pinned !== undefined && keyOf(pinned) === keyOf(s);
  const left = s.usage.toCompaction === null ? '' : ` · ${mark(s.usage)}${tokens(s.usage.toCompaction)} left`;
  const session: Item = {
    key: keyOf(s),
    label: `${isPinned ? '$(pinned)' : s.compacting ? '$(sync~spin)' : '$(pulse)'} ${label(name(s))}`,
    description: `${bar(s.usage, 10)} ${percent(s.usage)}${left}`,
    detail: [label(s.model) || '?', s.host, age(s.updatedAt, now), label(place(s.cwd, homedir()), 80)].join(' · '),
    buttons: [isPinned ? unpin : pin, dashboard],
  };
  return [session, ...s.agents.map(a => agent(a, s))];
}

function agent(a: AgentView, s: SessionView): Item {
  return {
    key: keyOf(s),
    label: `\u2003\u2514 ${label(a.agentType) || 'agent'}`,
    description: `${bar(a.usage, 10)} ${percent(a.usage)}`,
  };
}
