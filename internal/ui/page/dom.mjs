// Makes elements. What they show goes in as text, never as markup.

/** @typedef {Node | string | null} Child */

/**
 * Makes an HTML element with attributes and children; a null attribute or child is left out.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | null>} attributes
 * @param {Child[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * Makes an SVG element.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number | null>} attributes
 * @param {Child[]} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

/**
 * @template {Element} E
 * @param {E} element
 * @param {Record<string, string | number | null>} attributes
 * @param {Child[]} children
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null) element.setAttribute(name, String(value));
  }
  element.append(...children.filter(child => child !== null));
  return element;
}

/**
 * Makes a section with its title.
 * @param {string} title
 * @param {string} id
 * @param {Child[]} children
 */
export function section(title, id, ...children) {
  return h('section', { id, 'aria-labelledby': `${id}-title` }, h('h2', { id: `${id}-title` }, title), ...children);
}

/**
 * Says something that is not a figure: an explanation, or that there is nothing.
 * @param {Child[]} text
 */
export function note(...text) {
  return h('p', { class: 'soft' }, ...text);
}

/**
 * A bar of a share in percent; null is unknown. The mark is where the host compacts, 0–1.
 * @param {number | null} share
 * @param {string} label
 * @param {string} kind
 * @param {number | null} compaction
 */
export function meter(share, label, kind = '', compaction = null) {
  const full = h('div', { class: 'full' });
  full.style.width = `${Math.min(100, share ?? 0)}%`;
  const at = compaction === null ? null : h('div', { class: 'compacts', title: 'The host compacts here' });
  if (at && compaction !== null) at.style.left = `${100 * compaction}%`;
  // A meter must have a value, so an unknown share is a picture with a label.
  const value =
    share === null
      ? { role: 'img', 'aria-label': `${label}, not known` }
      : {
          role: 'meter',
          'aria-label': label,
          'aria-valuemin': '0',
          'aria-valuemax': '100',
          'aria-valuenow': String(Math.round(Math.min(100, share))),
        };
  return h('div', { class: `meter ${kind}`.trim(), ...value }, full, at);
}

/**
 * Figures side by side.
 * @param {[string, string][]} figures labels and values
 */
export function tiles(figures) {
  return h(
    'dl',
    { class: 'tiles' },
    ...figures.map(([label, value]) => h('div', {}, h('dt', {}, label), h('dd', {}, value))),
  );
}

/**
 * Labels and values, one below the other.
 * @param {[string, string][]} pairs
 */
export function pairs(pairs) {
  return h('dl', { class: 'pairs' }, ...pairs.flatMap(([label, value]) => [h('dt', {}, label), h('dd', {}, value)]));
}

/**
 * Content that stays folded until the user opens it.
 * @param {string} id
 * @param {string} summary
 * @param {Child[]} children
 */
export function folded(id, summary, ...children) {
  return h('details', { id }, h('summary', { id: `${id}-summary` }, summary), ...children);
}

/**
 * A part of the page, with the data that it is drawn from: it is drawn again only when that has changed.
 * @typedef {{ id: string, data: unknown, draw: () => HTMLElement }} Part
 */

/** What stands in an element: the data, and the node. @type {WeakMap<HTMLElement, Map<string, { of: string, node: HTMLElement }>>} */
const shown = new WeakMap();

/**
 * Makes an element show these parts. What has not changed stays the same elements. In what is drawn again, the focus, the points that
 * sliders stand at and the open lists stay as they are, unless moved says that it is about something else now.
 * @param {HTMLElement} into
 * @param {Part[]} parts
 */
export function show(into, parts, moved = false) {
  const drawn = shown.get(into) ?? new Map();
  shown.set(into, drawn);
  const focused = document.activeElement?.id;
  const scroll = document.documentElement.scrollTop;
  const wanted = new Set(parts.map(part => part.id));
  for (const [id, { node }] of drawn) {
    if (wanted.has(id)) continue;
    node.remove();
    drawn.delete(id);
  }
  /** @type {ChildNode | null} */
  let before = into.firstChild;
  for (const { id, data, draw } of parts) {
    const of = JSON.stringify(data) ?? '';
    const old = drawn.get(id);
    if (old && old.of === of) {
      if (before === old.node) before = old.node.nextSibling;
      else into.insertBefore(old.node, before);
      continue;
    }
    const node = draw();
    if (old) {
      if (before === old.node) before = old.node.nextSibling;
      old.node.replaceWith(node);
      if (!moved) keep(old.node, node);
    } else {
      into.insertBefore(node, before);
    }
    drawn.set(id, { of, node });
  }
  if (focused && document.activeElement?.id !== focused)
    document.getElementById(focused)?.focus({ preventScroll: true });
  document.documentElement.scrollTop = scroll;
}

/**
 * Takes over what a reader has opened and where sliders stand. One at the last point goes on with the newest point.
 * @param {HTMLElement} old
 * @param {HTMLElement} fresh
 */
function keep(old, fresh) {
  for (const list of old.querySelectorAll('details')) {
    const same = list.id && fresh.querySelector(`#${CSS.escape(list.id)}`);
    if (same instanceof HTMLDetailsElement) same.open = list.open;
  }
  for (const slider of old.querySelectorAll('input')) {
    const same = slider.id && fresh.querySelector(`#${CSS.escape(slider.id)}`);
    if (!(same instanceof HTMLInputElement) || slider.value === slider.max) continue;
    same.value = slider.value;
    same.dispatchEvent(new Event('input'));
  }
}
