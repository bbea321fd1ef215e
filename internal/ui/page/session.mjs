// One session: how full its window is and was, what fills it, what could go, and what it works on.
import { folded, h, meter, note, pairs, section } from './dom.mjs';
import { amounts, fileLink, whyNot } from './lists.mjs';
import { audited, compacted, planned } from './panels.mjs';
import { history } from './plot.mjs';
import {
  compactionShare,
  counted,
  exactly,
  facts,
  leftInWords,
  line,
  name,
  namedParts,
  percent,
  tokens,
} from './words.mjs';

/** @import { FilePart, RequestShare, SessionView } from '../../../editors/vscode/src/protocol.ts' */
/** @import { Actions, Session } from './types.d.ts' */
/** @import { Part } from './dom.mjs' */

/** As many names of unused tools as are read. */
const mostUnused = 12;

/**
 * Returns the parts of the page about a session.
 * @param {Session} session
 * @param {number} now
 * @param {Actions} actions
 * @returns {Part[]}
 */
export function sessionParts(session, now, actions = {}) {
  const { key, view, points, breakdown, plan, compactions, audit } = session;
  const { usage, workingSet } = view;
  const known = breakdown && 'parts' in breakdown && breakdown.tokens !== null ? breakdown : null;
  const files = known?.files ?? [];
  const turn = known?.lastTurn;
  const all = [
    { id: 'gauge', data: [view, Math.floor(now / 60_000)], draw: () => gauge(session, now) },
    {
      id: 'history',
      data: [key, points, usage.windowTokens, usage.compactionTokens],
      draw: () =>
        section(
          'History',
          'history',
          points.length > 0 ? history({ ...usage, points, now }) : note('Nothing was reported yet.'),
        ),
    },
    {
      id: 'parts',
      data: [key, breakdown, workingSet],
      draw: () =>
        section(
          'What fills it',
          'parts',
          known ? amounts(namedParts(known)) : note(whyNot(breakdown)),
          ...(known?.request ? unused(known.request) : []),
        ),
    },
    turn
      ? {
          id: 'turn',
          data: turn,
          draw: () =>
            section(
              'What the last turn added',
              'turn',
              turn.parts.length > 0 ? amounts(namedParts(turn)) : note('Nothing.'),
            ),
        }
      : null,
    plan === null
      ? null
      : { id: 'plan', data: [key, plan], draw: () => section('What could go', 'plan', ...planned(plan, view.cwd)) },
    view.compactions === 0
      ? null
      : {
          id: 'compactions',
          data: [key, compactions, Math.floor(now / 60_000)],
          draw: () => section('Compactions', 'compactions', ...compacted(compactions, now)),
        },
    {
      id: 'files',
      data: [key, workingSet, files],
      draw: () => section('Works on', 'files', ...workedOn(workingSet, files, actions)),
    },
    audit === null
      ? null
      : {
          id: 'audit',
          data: [key, audit],
          draw: () => section('Before the first prompt', 'audit', ...audited(audit, actions)),
        },
    view.agents.length > 0
      ? { id: 'agents', data: view.agents, draw: () => section('Sub-agents', 'agents', agents(session)) }
      : null,
  ];
  return all.filter(part => part !== null);
}

/**
 * The title of a session.
 * @param {SessionView} view
 */
export function titleOf(view) {
  return line(name(view), 200);
}

/**
 * @param {Session} session
 * @param {number} now
 */
function gauge({ view }, now) {
  const { usage } = view;
  const { level } = usage;
  const alarm = level === 'warning' || level === 'critical' ? h('strong', { class: `level ${level}` }, level) : null;
  const limit = usage.display.limitTokens === usage.windowTokens ? '' : `of ${tokens(usage.display.limitTokens)}, `; // as the user has set it
  const left = limit + (view.compacting ? 'compacting now' : leftInWords(usage, exactly));
  return h(
    'section',
    { id: 'gauge', class: 'gauge', 'aria-label': 'Gauge' },
    h('p', { class: 'figure' }, percent(usage)),
    h('p', { class: 'left' }, alarm, left),
    meter(usage.display.percent, `${percent(usage)} of the window`, level ?? 'unknown', compactionShare(usage)),
    pairs(facts(view, now).map(([label, value]) => [label, line(value, 300)])),
  );
}

/**
 * The tools that were sent and never called.
 * @param {RequestShare} request
 */
function unused({ parts }) {
  const dead = parts.filter(part => part.unusedTools > 0);
  if (dead.length === 0) return [];
  const rows = dead.map(part => {
    const names = part.unused
      .slice(0, mostUnused)
      .map(tool => line(tool.name.replace(`mcp__${part.server}__`, ''), 80));
    const more = part.unusedTools - names.length;
    const of = part.kind === 'serverTools' ? `tools of ${line(part.server ?? '')}` : 'built-in tools';
    return h(
      'li',
      {},
      `${part.unusedTools} of ${part.tools} ${of}, ~${tokens(part.unusedTokens)}: ${names.join(', ')}${more > 0 ? `, and ${more} more` : ''}`,
    );
  });
  return [
    folded(
      'unused',
      `Never called in this session: ${counted(
        dead.reduce((n, part) => n + part.unusedTools, 0),
        'tool',
      )}`,
      h('ul', {}, ...rows),
    ),
  ];
}

/**
 * The files in use, and others that take room in the window.
 * @param {string[]} workingSet
 * @param {FilePart[]} files
 * @param {Actions} actions
 */
function workedOn(workingSet, files, actions) {
  const cost = new Map(files.map(file => [file.path, file.tokens]));
  const list = (/** @type {string[]} */ paths) =>
    h(
      'ul',
      { class: 'files' },
      ...paths.map(path =>
        h('li', {}, fileLink(path, actions), cost.has(path) ? ` ~${tokens(cost.get(path) ?? 0)}` : null),
      ),
    );
  const others = files.map(file => file.path).filter(path => !workingSet.includes(path));
  return [
    workingSet.length > 0 ? list(workingSet) : note('No file yet.'),
    ...(others.length > 0 ? [h('h3', {}, 'Other files in it'), list(others)] : []),
  ];
}

/** @param {Session} session */
function agents({ view }) {
  const rows = view.agents.map(agent => {
    const title = line(agent.agentType) || 'agent';
    const share = percent(agent.usage);
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, title),
      h('td', { class: 'wide' }, meter(agent.usage.display.percent, `${title}: ${share}`)),
      h('td', { class: 'number' }, share),
    );
  });
  return h('table', { class: 'amounts' }, h('tbody', {}, ...rows));
}
