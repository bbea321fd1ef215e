// Chooses the format of the status bar, which shows each one while it is looked at.
import * as vscode from 'vscode';
import type { StatusBar } from './statusbar.ts';

/** Formats to begin with. */
const samples: [format: string, what: string][] = [
  ['{icon} {percent} · {until}', 'the share, and what is left to compaction'],
  ['{icon} {percent} · {left} left', 'the same in fewer letters'],
  ['{icon} {percent}', 'the share'],
  ['{icon} {bar} {percent}', 'a bar with a mark where the host compacts'],
  ['{icon} {tokens}/{window} · {forecast}', 'tokens, and turns left'],
  ['{icon} {title}: {percent} · {model}', 'which session, and its model'],
  ['{icon} {percent} · {until} · {agents} agents | {compactions}x', 'sub-agents and compactions, where there are any'],
];

interface Item extends vscode.QuickPickItem {
  format: string;
}

/** Asks for a format. What is typed is one, too. */
export function chooseFormat(bar: StatusBar): void {
  const settings = vscode.workspace.getConfiguration('ctxls');
  const current = settings.get('statusBar.format', '');
  const list = vscode.window.createQuickPick<Item>();
  list.title = 'Format of the Status Bar';
  list.placeholder = 'Choose a format or write one: the status bar shows it at once';
  const update = () => {
    const known = samples.map(([format, what]): Item => ({ label: what, description: format, format }));
    const own: Item[] = list.value
      ? [{ label: list.value, description: 'what you wrote', format: list.value, alwaysShow: true }]
      : [{ label: 'as it is', description: current, format: current }];
    list.items = [...own, ...known.filter(item => item.format !== current)];
  };
  list.matchOnDescription = true;
  list.onDidChangeValue(update);
  list.onDidChangeActive(([item]) => bar.preview(item?.format));
  list.onDidAccept(async () => {
    const [item] = list.selectedItems;
    if (item) await settings.update('statusBar.format', item.format, vscode.ConfigurationTarget.Global);
    list.hide();
  });
  list.onDidHide(() => {
    bar.preview();
    list.dispose();
  });
  update();
  list.show();
}
