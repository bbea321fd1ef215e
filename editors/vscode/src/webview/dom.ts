// Makes elements. What they show goes in as text.

type Child = Node | string | null;

/** Makes an HTML element with attributes and children; a null attribute or child is left out. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | null> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

/** Makes an SVG element. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number | null> = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function fill<E extends Element>(element: E, attributes: Record<string, string | number | null>, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null) element.setAttribute(name, String(value));
  }
  element.append(...children.filter(child => child !== null));
  return element;
}

/** Writes a number of tokens to the last digit. */
export function exactly(n: number): string {
  return n.toLocaleString('en-US');
}

/** Figures are written as everywhere else. */
export { compactionShare, tokens } from '../text.ts';
