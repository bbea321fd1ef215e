// The view of all sessions in the side bar: a row each, with its sub-agents below it.
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import type { Details } from './details.ts';
import type { AgentView, SessionView } from './protocol.ts';
import type { Server } from './server.ts';
import { keyOf, type Sessions } from './sessions.ts';
import { icon, left, line, name, percent, place, spoken, tokens } from './text.ts';
import { sessionTooltip } from './tooltip.ts';

/** A row: a session by its key, or a sub-agent of one. Rows are the same objects as long as they stand for the same thing. */
export type Row = { key: string; agentId?: string };

const viewId = 'ctxls.sessions';

export class SessionsView implements vscode.Disposable, vscode.TreeDataProvider<Row> {
  readonly #rows = new Map<string, Row>();
  readonly #changed = new vscode.EventEmitter<Row | undefined>();
  readonly #view: vscode.TreeView<Row>;
  readonly #disposables: vscode.Disposable[];
  readonly #sessions: Sessions;
  readonly #server: Server;
  readonly #details: Details;
  /** The order of the rows and the pinned one when the tree was last drawn whole. */
  #drawn = '';

  constructor(sessions: Sessions, server: Server, details: Details) {
    this.#sessions = sessions;
    this.#server = server;
    this.#details = details;
    this.#view = vscode.window.createTreeView(viewId, { treeDataProvider: this, showCollapseAll: false });
    this.#disposables = [
      this.#view,
      this.#changed,
      sessions.onDidChange(changes => this.#update(changes.map(({ before, now }) => now ?? before))),
      server.onDidChangeState(() => this.#update([])),
    ];
    this.#update([]);
  }

  readonly onDidChangeTreeData = this.#changed.event;

  getChildren(parent?: Row): Row[] {
    if (!parent) return this.#order().map(s => this.#row(keyOf(s)));
    const session = parent.agentId === undefined ? this.#sessions.get(parent.key) : undefined;
    return (session?.agents ?? []).map(a => this.#row(parent.key, a.agentId));
  }

  getTreeItem(row: Row): vscode.TreeItem {
    const session = this.#sessions.get(row.key);
    if (!session) return new vscode.TreeItem('');
    const agent = session.agents.find(a => a.agentId === row.agentId);
    return row.agentId !== undefined && agent ? agentItem(agent) : this.#sessionItem(session);
  }

  /** The tooltip asks the server what fills the window, so it is made when a row is looked at. */
  resolveTreeItem(item: vscode.TreeItem, row: Row): vscode.TreeItem {
    const session = this.#sessions.get(row.key);
    if (session && row.agentId === undefined) {
      item.tooltip = sessionTooltip(session, this.#details.of(session), this.#isPinned(session), Date.now());
    }
    return item;
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }

  #isPinned(s: SessionView): boolean {
    const pinned = this.#sessions.pinned();
    return pinned !== undefined && keyOf(pinned) === keyOf(s);
  }

  /** Active sessions first, and the pinned one before them. Rows stay where they are while sessions work. */
  #order(): SessionView[] {
    const rank = (s: SessionView) => (this.#isPinned(s) ? 0 : s.state === 'active' ? 1 : 2);
    return [...this.#sessions.list()].sort(
      (a, b) => rank(a) - rank(b) || Date.parse(b.startedAt) - Date.parse(a.startedAt),
    );
  }

  #row(key: string, agentId?: string): Row {
    const id = JSON.stringify([key, agentId]);
    const row = this.#rows.get(id) ?? (agentId === undefined ? { key } : { key, agentId });
    this.#rows.set(id, row);
    return row;
  }

  /** Draws the rows that changed, and the whole tree only where a row came, went or moved. */
  #update(changed: (SessionView | undefined)[]): void {
    const { state } = this.#server;
    this.#view.message = state.kind === 'failed' ? `ctxls does not run: ${state.why}` : this.#sessions.note();
    void vscode.commands.executeCommand('setContext', 'ctxls.noSessions', this.#sessions.list().length === 0);
    const order = this.#order();
    const drawn = order.map(s => `${keyOf(s)} ${this.#isPinned(s)}`).join('\n');
    const critical = order.filter(s => s.usage.level === 'critical').length;
    this.#view.badge =
      critical === 0 ? undefined : { value: critical, tooltip: `Critically full: ${critical} of ${order.length}` };
    if (drawn !== this.#drawn) {
      this.#drawn = drawn;
      const known = new Set(order.map(keyOf));
      for (const [id, row] of this.#rows) if (!known.has(row.key)) this.#rows.delete(id);
      this.#changed.fire(undefined);
      return;
    }
    for (const key of new Set(changed.flatMap(s => (s ? [keyOf(s)] : [])))) this.#changed.fire(this.#row(key));
  }

  #sessionItem(s: SessionView): vscode.TreeItem {
    const pinned = this.#isPinned(s);
    const open = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(
      `${percent(s.usage)} ${line(name(s), 60)}`,
      s.agents.length > 0 ? open.Expanded : open.None,
    );
    const rest = left(s.usage) ? [`${left(s.usage)} left`] : [];
    const idle = s.state === 'active' ? [] : [s.state];
    item.id = keyOf(s);
    item.description = [...rest, ...idle, s.host, line(place(s.cwd, homedir()), 60)].join(' · ');
    item.iconPath = new vscode.ThemeIcon(pinned ? 'pinned' : icon(s), color(s.usage.level));
    item.contextValue = `session${pinned ? '.pinned' : ''}`;
    item.accessibilityInformation = { label: spoken(s) };
    item.command = { command: 'ctxls.showDashboard', title: 'Show Dashboard', arguments: [keyOf(s)] };
    return item;
  }
}

function agentItem(a: AgentView): vscode.TreeItem {
  const item = new vscode.TreeItem(`${percent(a.usage)} ${line(a.agentType, 60) || 'agent'}`);
  item.description = `${tokens(a.usage.display.tokens)}/${tokens(a.usage.display.limitTokens)}`;
  item.iconPath = new vscode.ThemeIcon('hubot', color(a.usage.level));
  item.contextValue = 'agent';
  return item;
}

function color(level: SessionView['usage']['level']): vscode.ThemeColor | undefined {
  if (level === 'critical') return new vscode.ThemeColor('list.errorForeground');
  return level === 'warning' ? new vscode.ThemeColor('list.warningForeground') : undefined;
}
