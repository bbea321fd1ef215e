// What the gauge says when the pointer rests on it.
import * as vscode from 'vscode';
import { type Known, partName } from './details.ts';
import { facts } from './facts.ts';
import type { SessionView } from './protocol.ts';
import { bar, literal, name, percent, tokens, unknown } from './text.ts';

/** How much of a list is shown. */
const most = { files: 5, parts: 5, agents: 4 };

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
];

/** Describes a session. What comes from outside is text, never markup. */
export function sessionTooltip(s: SessionView, breakdown: Known, pinned: boolean, now: number): vscode.MarkdownString {
  const known = facts(s, now);
  const asOf = known.pop(); // belongs under everything
  const text = markdown();
  text.appendMarkdown(`**${literal(name(s))}** &nbsp; ${bar(s.usage, 16)} &nbsp; ${percent(s.usage)}\n\n`);
  rows(text, [
    ...known,
    ['Filled by', filling(breakdown)],
    ['Works on', list(s.workingSet, most.files) || unknown],
    ...agents(s),
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

export function quietTooltip(): vscode.MarkdownString {
  const text = markdown();
  text.appendMarkdown('No session is active in this workspace.\n\n');
  links(text, [
    ['Sessions', 'ctxls.pickSession'],
    ['Install hooks', 'ctxls.installHooks'],
    ['Get started', 'ctxls.getStarted'],
  ]);
  return text;
}

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

function markdown(): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  text.isTrusted = { enabledCommands: commands };
  text.supportHtml = false;
  return text;
}

function rows(text: vscode.MarkdownString, all: [string, string][]): void {
  text.appendMarkdown('| | |\n|:--|:--|\n');
  for (const [label, value] of all) {
    text.appendMarkdown(`| ${label} | ${literal(value, 300)} |\n`);
  }
  text.appendMarkdown('\n');
}

function links(text: vscode.MarkdownString, all: (readonly [string, string])[]): void {
  text.appendMarkdown(all.map(([label, command]) => `[${label}](command:${command})`).join(' &nbsp;·&nbsp; '));
}

function filling(breakdown: Known): string {
  if (!breakdown) return unknown;
  const largest = [...breakdown.parts].sort((a, b) => b.tokens - a.tokens);
  return list(
    largest.map(part => `${partName(part)} ~${tokens(part.tokens)}`),
    most.parts,
  );
}

function agents(s: SessionView): [string, string][] {
  if (s.agents.length === 0) return [];
  const all = s.agents.map(a => `${a.agentType || 'agent'} ${percent(a.usage)}`);
  return [['Sub-agents', list(all, most.agents)]];
}

function list(all: string[], limit: number): string {
  const more = all.length - limit;
  return all.slice(0, limit).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
