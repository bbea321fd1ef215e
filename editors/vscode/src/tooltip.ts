// The tooltip of the gauge and of the rows in the sessions view.
import * as vscode from 'vscode';
import { type Known, knownBreakdown, partName, whyUnknown } from './details.ts';
import { facts } from './facts.ts';
import { openCommand, openLink } from './files.ts';
import type { SessionView } from './protocol.ts';
import { bar, literal, middle, name, percent, shorten, tokens, unknown } from './text.ts';

/** How much of a list is shown. */
const most = { files: 6, parts: 6, agents: 4 };

/** How many items of a list stand in one row, and the longest word in characters: the tooltip is narrow, and what does not fit is cut. */
const perRow = 2;
const longestWord = 30;

/** The only commands that a tooltip may run. */
const commands = [
  'ctxls.pickSession',
  'ctxls.unpin',
  'ctxls.showDashboard',
  'ctxls.measure',
  'ctxls.installHooks',
  'ctxls.restart',
  'ctxls.showLog',
  'ctxls.openSettings',
  'ctxls.getStarted',
  openCommand,
];

/** Describes a session. What comes from outside is text, never markup. */
export function sessionTooltip(s: SessionView, breakdown: Known, pinned: boolean, now: number): vscode.MarkdownString {
  const known = facts(s, now).map(([label, value]): Row => [label, literal(shorten(value, longestWord), 300)]);
  const asOf = known.pop(); // belongs under everything
  const text = markdown();
  text.appendMarkdown(
    `**${literal(shorten(name(s), longestWord))}** &nbsp; ${bar(s.usage, 16)} &nbsp; ${percent(s.usage)}\n\n`,
  );
  table(text, [
    ...known,
    ...list('Filled by', filling(breakdown), most.parts),
    ...list(
      'Works on',
      s.workingSet.map(path => fileLink(s, path)),
      most.files,
    ),
    ...(s.agents.length > 0 ? list('Sub-agents', agents(s), most.agents) : []),
    ...(asOf ? [asOf] : []),
  ]);
  links(text, [
    ['Sessions', 'ctxls.pickSession'],
    ['Dashboard', 'ctxls.showDashboard'],
    ...(pinned ? ([['Unpin', 'ctxls.unpin']] as const) : []),
    ['Settings', 'ctxls.openSettings'],
    ['Log', 'ctxls.showLog'],
  ]);
  return text;
}

/** Says that no session is active, and what can be done. */
export function quietTooltip(isNew: boolean): vscode.MarkdownString {
  const text = markdown();
  text.appendMarkdown(
    isNew
      ? 'ctxls shows how full the context window of your coding agent is.\n\nStart a session of it in this folder. Hooks are optional: with them the agent knows it, too.\n\n'
      : 'No session is active in this workspace.\n\n',
  );
  links(text, [
    ['Set up', 'ctxls.installHooks'],
    ['Get started', 'ctxls.getStarted'],
    ['Sessions', 'ctxls.pickSession'],
  ]);
  return text;
}

/** Says why the server does not run, and what can be done. */
export function failedTooltip(why: string): vscode.MarkdownString {
  const text = markdown();
  text.appendMarkdown('**ctxls does not run**\n\n');
  text.appendMarkdown(`${literal(why, 500)}\n\n`);
  links(text, [
    ['Restart', 'ctxls.restart'],
    ['Settings', 'ctxls.openSettings'],
    ['Log', 'ctxls.showLog'],
  ]);
  return text;
}

/** A label and a value in Markdown. */
type Row = [label: string, value: string];

function markdown(): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  text.isTrusted = { enabledCommands: commands };
  text.supportHtml = false;
  return text;
}

function table(text: vscode.MarkdownString, all: Row[]): void {
  text.appendMarkdown('| | |\n|:--|:--|\n');
  for (const [label, value] of all) text.appendMarkdown(`| ${label}${label && ' &nbsp;'} | ${value} |\n`);
  text.appendMarkdown('\n');
}

function links(text: vscode.MarkdownString, all: (readonly [string, string])[]): void {
  text.appendMarkdown(all.map(([label, command]) => `[${label}](command:${command})`).join(' &nbsp;·&nbsp; '));
}

/** Spreads a list over rows, of which only the first has the label. */
function list(label: string, items: string[], limit: number): Row[] {
  if (items.length === 0) return [[label, unknown]];
  const shown = items.slice(0, limit);
  const rows: Row[] = [];
  for (let i = 0; i < shown.length; i += perRow)
    rows.push([i === 0 ? label : '', shown.slice(i, i + perRow).join(', ')]);
  const last = rows.at(-1);
  if (last && items.length > limit) last[1] += ` and ${items.length - limit} more`;
  return rows;
}

function fileLink(s: SessionView, path: string): string {
  return `[${literal(middle(path, longestWord))}](${openLink(s, path)})`;
}

function filling(known: Known): string[] {
  const breakdown = knownBreakdown(known);
  if (!breakdown) return [literal(whyUnknown(known), 200)];
  return [...breakdown.parts]
    .sort((a, b) => b.tokens - a.tokens)
    .map(part => `${literal(shorten(partName(part), longestWord))} ~${tokens(part.tokens)}`);
}

function agents(s: SessionView): string[] {
  return s.agents.map(a => `${literal(a.agentType || 'agent', longestWord)} ${percent(a.usage)}`);
}
