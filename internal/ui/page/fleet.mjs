// All sessions together: how large tasks are, and what compactions cost.
import { note, section, tiles } from './dom.mjs';
import { whyNot } from './lists.mjs';
import { ledger } from './panels.mjs';
import { sizes } from './plot.mjs';
import { exactly, tokens } from './words.mjs';

/** @import { Listing } from '../../../editors/vscode/src/protocol.ts' */
/** @import { FleetReport, Known } from './types.d.ts' */
/** @import { Part } from './dom.mjs' */

/**
 * Returns the parts of the page about all sessions.
 * @param {Known<FleetReport>} report
 * @param {Known<Listing>} compactions
 * @returns {Part[]}
 */
export function fleetParts(report, compactions) {
  const known = report && 'tasks' in report && report.tasks > 0 ? report : null;
  const all = [
    {
      id: 'fleet',
      data: report,
      draw: () => section('All tasks', 'fleet', explained(), known ? figures(known) : note(noTasks(report))),
    },
    known?.histogram && known.histogram.length > 0
      ? { id: 'sizes', data: report, draw: () => section('How large tasks are', 'sizes', sizes(known)) }
      : null,
    compactions === null
      ? null
      : { id: 'ledger', data: compactions, draw: () => section('All compactions', 'ledger', ...ledger(compactions)) },
  ];
  return all.filter(part => part !== null);
}

function explained() {
  return note(
    'A task is one prompt and all that the agent does for it. These are the largest contexts of the recent tasks of all sessions on this machine.',
  );
}

/** @param {Known<FleetReport>} report */
function noTasks(report) {
  return report && 'tasks' in report
    ? 'No task was recorded yet. One is recorded at the end of each turn.'
    : whyNot(report ?? { why: '' });
}

/** @param {FleetReport} report */
function figures(report) {
  return tiles([
    ['Tasks', `${exactly(report.tasks)} of the last ${exactly(report.windowTasks)}`],
    [`Over ${tokens(report.thresholdTokens)}`, `${(100 * report.p90ExceedanceRate).toFixed(1)}%`],
    ['Average', tokens(report.averageTokens)],
    ['50% are up to', tokens(report.p50Tokens)],
    ['90% are up to', tokens(report.p90Tokens)],
    ['99% are up to', tokens(report.p99Tokens)],
    ['Largest', tokens(report.maxTokens)],
    ['Trims', `${exactly(report.trimOperations)}, saving ${tokens(report.trimmedTokens)}`],
  ]);
}
