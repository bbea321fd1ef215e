// What could go of a window, what compactions cost, and what stands in a window before the first prompt.
import { folded, h, note, pairs, tiles } from './dom.mjs';
import { amounts, fileLink, whyNot } from './lists.mjs';
import { age, counted, exactly, hostName, line, shareOf, tokens, unknown } from './words.mjs';

/** @import { AuditItem, AuditReport, Class, Entry, Finding, HostAudit, Listing, PlanResult } from '../../../editors/vscode/src/protocol.ts' */
/** @import { Actions, Known } from './types.d.ts' */

/** As much of a list as is read at a glance. */
const most = { items: 15, compactions: 5, findings: 50, files: 100 };

/** Why items can go. @type {Record<string, string>} */
const kinds = {
  duplicate: 'duplicate: the same result stands again later',
  superseded: 'superseded: read again or written later',
  thinking: 'thinking of turns that are over',
  failed: 'inputs of calls that failed',
  binary: 'images and documents that were answered',
  stale: 'stale: results that nothing named since',
  bulky: 'bulky: single results of a large share',
};

/**
 * What could go, what that frees, and what it costs.
 * @param {Known<PlanResult>} plan
 * @param {string} dir the session's directory
 */
export function planned(plan, dir) {
  if (!plan || !('items' in plan)) return [note(whyNot(plan))];
  const advice = h('p', { class: 'advice' }, line(plan.advice, 300));
  if (plan.items.length === 0) return [advice];
  /** @type {Map<string, number>} */
  const sums = new Map();
  for (const { kind, tokens } of plan.items) sums.set(kind, (sums.get(kind) ?? 0) + tokens);
  const bars = [...sums]
    .map(([kind, tokens]) => ({ name: kinds[kind] ?? line(kind), tokens }))
    .sort((a, b) => b.tokens - a.tokens);
  /** The items of one file for one reason are told together. @type {Map<string, { text: string, why: string, tokens: number, count: number }>} */
  const groups = new Map();
  for (const { where, why, tokens } of plan.items) {
    const text = line(
      [where.tool, within(where.path ?? '', dir)].filter(Boolean).join(' ') || `turn ${where.turn}`,
      200,
    );
    const group = groups.get(`${text} ${why}`) ?? { text, why: line(why, 200), tokens: 0, count: 0 };
    groups.set(`${text} ${why}`, { ...group, tokens: group.tokens + tokens, count: group.count + 1 });
  }
  const largest = [...groups.values()].sort((a, b) => b.tokens - a.tokens).slice(0, most.items);
  const rest = groups.size - largest.length;
  const rows = largest.map(g => `~${tokens(g.tokens)} ${g.text}${g.count > 1 ? `, ${g.count} times` : ''}: ${g.why}`);
  return [
    advice,
    tiles([
      ['Could go', `~${tokens(plan.freeableTokens)}, ${shareOf(plan.freeableTokens, plan.tokens)}`],
      ['Left after a cut', `~${tokens(plan.afterTokens)}`],
      ['Sent again', `~${tokens(plan.cache.rewrittenTokens)}`],
      ['Pays for itself', pays(plan)],
    ]),
    amounts(bars, plan.tokens),
    folded(
      'items',
      counted(plan.items.length, 'item'),
      h('ul', {}, ...rows.map(row => h('li', {}, row)), rest > 0 ? h('li', {}, `and ${rest} more`) : null),
    ),
  ];
}

/** @param {PlanResult} plan */
function pays({ cache }) {
  if (cache.cold) return 'at once: the cache is cold';
  if (cache.breakEvenRequests === null) return 'never';
  if (cache.breakEvenRequests === 0) return 'at once';
  return `after ${counted(cache.breakEvenRequests, 'request')}; about ${exactly(cache.expectedRequests)} are expected`;
}

/**
 * The compactions of one session, the newest first.
 * @param {Known<Listing>} listing
 * @param {number} now
 */
export function compacted(listing, now) {
  if (!listing || !('totals' in listing)) return [note(whyNot(listing))];
  const all = listing.compactions.map((entry, i) => ({ entry, number: i + 1 })).reverse();
  if (all.length === 0) return [note('The host’s record does not tell of them.')];
  const list = (/** @type {typeof all} */ some) =>
    h('ol', { class: 'ledger' }, ...some.map(({ entry, number }) => compaction(entry, number, now)));
  const older = all.slice(most.compactions);
  return [
    list(all.slice(0, most.compactions)),
    older.length > 0 ? folded('older', `${older.length} earlier`, list(older)) : null,
  ];
}

/**
 * @param {Entry} e
 * @param {number} number
 * @param {number} now
 */
function compaction(e, number, now) {
  const when = e.at === null ? `${unknown} when` : age(e.at, now);
  const how = `${e.automatic ? 'automatic' : 'manual'}, ${e.midTurn ? 'in the middle of a turn' : 'between turns'}`;
  const classes = (/** @type {(c: Class, thing: string) => string | null} */ write) =>
    /** @type {[string, Class][]} */ ([
      ['file', e.paths],
      ['command', e.commands],
      ['prompt', e.words],
    ])
      .map(([thing, c]) => write(c, thing))
      .filter(text => text !== null)
      .join(', ');
  const given = e.paths.given + e.commands.given + e.words.given;
  return h(
    'li',
    { value: String(number) },
    h('p', {}, h('strong', {}, `${amount(e.preTokens)} → ${amount(e.postTokens)}`), ` ${when}, ${how}`),
    pairs([
      ['The summary names', classes((c, thing) => `${exactly(c.named)} of ${counted(c.known, thing)}`)],
      ['Given back', given === 0 ? 'nothing' : classes((c, thing) => (c.given > 0 ? counted(c.given, thing) : null))],
      [
        'Used of that',
        given === 0
          ? '–'
          : classes((c, thing) =>
              c.given === 0 ? null : c.used === null ? `${unknown} prompts` : counted(c.used, thing),
            ),
      ],
      [
        'Files read again',
        `${exactly(e.rereads.again)} of ${exactly(e.rereads.reads)}, ~${tokens(e.rereads.tokens)} tokens`,
      ],
    ]),
  );
}

/** @param {number | null} n */
function amount(n) {
  return n === null ? unknown : tokens(n);
}

/**
 * The compactions of all sessions.
 * @param {Known<Listing>} listing
 */
export function ledger(listing) {
  if (!listing || !('totals' in listing))
    return [note(listing === undefined ? 'Reading the records …' : whyNot(listing))];
  const { compactions: all, totals } = listing;
  if (all.length === 0) return [note('No compaction is on record.')];
  const freed = all.flatMap(e => (e.preTokens === null || e.postTokens === null ? [] : [e.preTokens - e.postTokens]));
  const number = (/** @type {(e: Entry) => boolean} */ is) =>
    `${exactly(all.filter(is).length)} of ${exactly(all.length)}`;
  return [
    note(
      'Given back is what ctxls adds after a compaction because the summary does not name it. Used is what of it the agent needed in the next 20 responses.',
    ),
    tiles([
      ['Compactions', exactly(all.length)],
      ['Automatic', number(e => e.automatic)],
      ['In the middle of a turn', number(e => e.midTurn)],
      [
        'Freed by each',
        freed.length === 0 ? unknown : tokens(Math.round(freed.reduce((sum, n) => sum + n, 0) / freed.length)),
      ],
      ['Read again after each', `~${tokens(totals.rereadTokens)}`],
      ['Files given back and used', usedOf(totals.pathsUsed, totals.pathsGiven)],
      ['Commands given back and used', usedOf(totals.commandsUsed, totals.commandsGiven)],
    ]),
  ];
}

/**
 * @param {number} used
 * @param {number} given
 */
function usedOf(used, given) {
  return given === 0 ? 'none given' : `${exactly(used)} of ${exactly(given)}, ${shareOf(used, given)}`;
}

/**
 * What a session would hold before its first prompt, for each host.
 * @param {Known<AuditReport>} audit
 * @param {Actions} actions
 */
export function audited(audit, actions) {
  if (!audit || !('hosts' in audit)) return [note(audit === undefined ? 'Reading the context files …' : whyNot(audit))];
  const findings = audit.findings.slice(0, most.findings);
  const more = audit.findings.length - findings.length;
  return [
    ...audit.hosts.flatMap(host => hostAudit(host, audit.dir, actions)),
    findings.length === 0
      ? note('No defects were found in the context files.')
      : h(
          'div',
          {},
          h('h3', {}, counted(audit.findings.length, 'finding')),
          h(
            'ul',
            {},
            ...findings.map(f => finding(f, audit.dir, actions)),
            more > 0 ? h('li', {}, `and ${more} more`) : null,
          ),
        ),
  ];
}

/**
 * @param {HostAudit} host
 * @param {string} dir
 * @param {Actions} actions
 */
function hostAudit(host, dir, actions) {
  const exact = host.exact ? '' : '~';
  const share = host.windowTokens === null ? '' : ` of ${tokens(host.windowTokens)}, ${host.percent}%`;
  const rest = host.complete ? '' : ', and what is not known';
  const known = host.parts.flatMap(part =>
    part.tokens === null ? [] : [{ name: line(part.name, 80), tokens: part.tokens }],
  );
  const missing = host.parts.filter(part => part.tokens === null);
  const files = host.parts.flatMap(part => part.items);
  return [
    h(
      'p',
      { class: 'advice' },
      `A session of ${hostName(host.host)} that starts in `,
      h('span', { class: 'path' }, line(dir, 300)),
      ` holds ${exact}${tokens(host.tokens)} tokens${share}${rest}.`,
    ),
    known.length > 0 ? amounts(known, host.tokens) : null,
    missing.length > 0
      ? note(
          `Not known: ${missing.map(part => line(part.name, 80) + (part.why ? ` (${line(part.why, 200)})` : '')).join('; ')}.`,
        )
      : null,
    files.length > 0
      ? folded(`files-of-${host.host}`, 'Files and entries, the most expensive first', tree(files, exact, dir, actions))
      : null,
  ];
}

/**
 * Files with what they import.
 * @param {AuditItem[]} items
 * @param {string} exact
 * @param {string} dir
 * @param {Actions} actions
 * @returns {HTMLElement}
 */
function tree(items, exact, dir, actions) {
  const rows = items.slice(0, most.files).map(item => {
    const figure =
      item.when === 'never'
        ? 'not loaded'
        : item.when === 'onRead'
          ? `later ${exact}${tokens(item.tokens)}`
          : `${exact}${tokens(item.tokens)}`;
    const notes = [item.cut ? 'cut' : '', item.inlined ? 'put into the text above' : '', line(item.why ?? '', 200)]
      .filter(Boolean)
      .join(', ');
    return h(
      'li',
      {},
      `${figure} `,
      item.name ? line(item.name, 80) : fileLink(within(item.path ?? '', dir), actions),
      notes ? h('span', { class: 'soft' }, ` ${notes}`) : null,
      item.items && item.items.length > 0 ? tree(item.items, exact, dir, actions) : null,
    );
  });
  const more = items.length - rows.length;
  return h('ul', {}, ...rows, more > 0 ? h('li', {}, `and ${more} more`) : null);
}

/**
 * @param {Finding} f
 * @param {string} dir
 * @param {Actions} actions
 */
function finding(f, dir, actions) {
  return h(
    'li',
    {},
    fileLink(within(f.path, dir), actions),
    `:${f.start.line}:${f.start.column} ${line(f.code)}: ${line(f.message, 500)}`,
  );
}

/**
 * Returns a path as seen from a directory.
 * @param {string} path
 * @param {string} dir
 */
function within(path, dir) {
  const rest = path.slice(dir.length);
  return dir && path.startsWith(dir) && /^[\\/]/.test(rest) ? rest.slice(1) : path;
}
