// What lists have in common: bars, paths, and the reason where something is not known.
import { h, meter } from './dom.mjs';
import { line, shareOf, tokens } from './words.mjs';

/** @import { Actions, Known } from './types.d.ts' */

/**
 * Says why something is not known.
 * @param {Known<object>} known
 */
export function whyNot(known) {
  if (known === undefined) return 'Reading the conversation …';
  const why = known && 'why' in known && typeof known.why === 'string' ? line(known.why, 300).replace(/\.$/, '') : '';
  return why ? `Not known: ${why}.` : 'Not known.';
}

/**
 * Amounts as bars, the largest of them at full length.
 * @param {{ name: string, tokens: number }[]} all
 * @param {number} whole the sum, where it is more than these
 */
export function amounts(all, whole = all.reduce((sum, a) => sum + a.tokens, 0)) {
  const largest = Math.max(...all.map(a => a.tokens));
  const rows = all.map(a => {
    const share = shareOf(a.tokens, whole);
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, a.name),
      h('td', { class: 'wide' }, meter(largest > 0 ? (100 * a.tokens) / largest : 0, `${a.name}: ${share}`)),
      h('td', { class: 'number' }, `~${tokens(a.tokens)}`),
      h('td', { class: 'number' }, share),
    );
  });
  return h('table', { class: 'amounts' }, h('tbody', {}, ...rows));
}

/**
 * A path; a button where it can be opened.
 * @param {string} path
 * @param {Actions} actions
 */
export function fileLink(path, { open }) {
  const text = line(path, 300);
  if (!open) return h('span', { class: 'path' }, text);
  const link = h('button', { type: 'button', class: 'link', title: 'Open the file' }, text);
  link.addEventListener('click', () => open(path));
  return link;
}
