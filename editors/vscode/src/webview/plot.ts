// The curve of a session: how full its window was, report by report, with its compactions.
import type { Sample } from '../protocol.ts';
import { exactly, h, svg, tokens } from './dom.ts';

const height = 240;
const margin = { top: 18, right: 12, bottom: 24, left: 52 };

/** The least width of the picture, in pixels: below it the page would scroll sideways in a narrow panel. */
const narrowest = 160;

/** With more points than this they run into each other, and the line alone is drawn. */
const mostDots = 80;

export interface Curve {
  samples: Sample[];
  windowTokens: number;
  compactionTokens: number | null;
}

/** Draws a curve into an element, again whenever its width changes, with a slider that reads single points out. */
export function plot(into: HTMLElement, curve: Curve): void {
  const { samples } = curve;
  const last = samples.length - 1;
  const reading = h('output', { class: 'reading' });
  const slider = h('input', {
    id: 'point',
    type: 'range',
    min: '0',
    max: String(last),
    step: '1',
    'aria-label': 'Point of the history',
  });
  slider.value = String(last);
  const canvas = h('div', { class: 'canvas' });
  let picture: Picture | undefined;

  const point = () => {
    const at = Number(slider.value);
    const sample = samples[at];
    if (!sample) return;
    const text = describe(sample);
    reading.textContent = text;
    slider.setAttribute('aria-valuetext', text);
    picture?.point(at);
  };
  const draw = () => {
    const width = Math.max(narrowest, Math.floor(canvas.clientWidth));
    if (picture?.width === width) return;
    picture = drawn(curve, width);
    canvas.replaceChildren(picture.element);
    point();
  };
  slider.addEventListener('input', point);
  canvas.addEventListener('pointermove', event => {
    const at = picture?.nearest(event.clientX - canvas.getBoundingClientRect().left);
    if (at === undefined) return;
    slider.value = String(at);
    point();
  });
  into.append(canvas, slider, reading, table(samples));
  slider.hidden = last < 1;
  draw();
  new ResizeObserver(draw).observe(canvas);
}

interface Picture {
  element: SVGSVGElement;
  width: number;
  /** Moves the mark to a sample. */
  point: (at: number) => void;
  /** Returns the sample nearest to a place. */
  nearest: (x: number) => number;
}

function drawn({ samples, windowTokens, compactionTokens }: Curve, width: number): Picture {
  const top = Math.max(windowTokens, ...samples.map(s => s.tokens));
  const right = width - margin.right;
  const bottom = height - margin.bottom;
  const step = samples.length > 1 ? (right - margin.left) / (samples.length - 1) : 0;
  const x = (at: number) => margin.left + at * step;
  const y = (n: number) => bottom - (n / top) * (bottom - margin.top);

  const element = svg('svg', {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: 'img',
    'aria-label': summary(samples, windowTokens),
  });
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const n = share * windowTokens;
    element.append(
      svg('line', { class: 'grid', x1: margin.left, x2: right, y1: y(n), y2: y(n) }),
      svg('text', { class: 'tick', x: margin.left - 6, y: y(n) + 4, 'text-anchor': 'end' }, tokens(Math.round(n))),
    );
  }
  if (compactionTokens !== null) {
    const at = y(compactionTokens);
    element.append(
      svg('line', { class: 'limit', x1: margin.left, x2: right, y1: at, y2: at }),
      svg('text', { class: 'note', x: margin.left + 4, y: at - 4 }, `compacts at ${tokens(compactionTokens)}`),
    );
  }
  const line = samples.map((s, at) => `${at === 0 ? 'M' : 'L'}${x(at).toFixed(1)},${y(s.tokens).toFixed(1)}`).join('');
  if (samples.length > 1) {
    element.append(
      svg('path', { class: 'area', d: `${line}L${x(samples.length - 1).toFixed(1)},${bottom}L${x(0)},${bottom}Z` }),
      svg('path', { class: 'curve', d: line }),
    );
  }
  samples.forEach((s, at) => {
    if (s.kind === 'compaction') element.append(compaction(x(at), bottom));
    else if (samples.length <= mostDots) {
      element.append(svg('circle', { class: `dot ${s.kind}`, cx: x(at), cy: y(s.tokens), r: 2.5 }));
    }
  });
  const [first, final] = [samples[0], samples.at(-1)];
  if (first) element.append(svg('text', { class: 'tick', x: margin.left, y: height - 6 }, time(first.at)));
  if (final && samples.length > 1) {
    element.append(svg('text', { class: 'tick', x: right, y: height - 6, 'text-anchor': 'end' }, time(final.at)));
  }
  const rule = svg('line', { class: 'rule', y1: margin.top, y2: bottom });
  const mark = svg('circle', { class: 'mark', r: 4.5 });
  element.append(rule, mark);
  return {
    element,
    width,
    point: at => {
      const sample = samples[at];
      if (!sample) return;
      mark.setAttribute('cx', String(x(at)));
      mark.setAttribute('cy', String(y(sample.tokens)));
      rule.setAttribute('x1', String(x(at)));
      rule.setAttribute('x2', String(x(at)));
    },
    nearest: place =>
      Math.min(samples.length - 1, Math.max(0, step === 0 ? 0 : Math.round((place - margin.left) / step))),
  };
}

function compaction(x: number, bottom: number): SVGElement {
  return svg(
    'g',
    { class: 'compaction' },
    svg('title', {}, 'compacted'),
    svg('line', { x1: x, x2: x, y1: margin.top, y2: bottom }),
    svg('path', { d: `M${x - 5},${margin.top - 8}L${x + 5},${margin.top - 8}L${x},${margin.top}Z` }),
  );
}

function summary(samples: Sample[], windowTokens: number): string {
  const last = samples.at(-1);
  const compactions = samples.filter(s => s.kind === 'compaction').length;
  const times = compactions === 1 ? 'once' : `${compactions} times`;
  return `History of ${samples.length} points. ${last ? `The last: ${exactly(last.tokens)} of ${exactly(windowTokens)} tokens.` : ''} Compacted ${compactions === 0 ? 'never' : times}.`;
}

const kinds: Record<Sample['kind'], string> = { usage: 'reported', estimate: 'estimated', compaction: 'compacted to' };

function describe(s: Sample): string {
  const share = s.windowTokens > 0 ? `, ${Math.round((100 * s.tokens) / s.windowTokens)} % of the window` : '';
  return `${time(s.at)}: ${kinds[s.kind]} ${exactly(s.tokens)} tokens${share}`;
}

function time(at: string): string {
  const date = new Date(at);
  const today = date.toDateString() === new Date().toDateString();
  return date.toLocaleString(undefined, today ? { timeStyle: 'medium' } : { dateStyle: 'medium', timeStyle: 'short' });
}

/** The same as a table, for those whom a picture does not serve. */
function table(samples: Sample[]): HTMLElement {
  const rows = [...samples]
    .reverse()
    .map(s =>
      h('tr', {}, h('td', {}, time(s.at)), h('td', {}, kinds[s.kind]), h('td', { class: 'number' }, exactly(s.tokens))),
    );
  const head = h('tr', {}, ...['Time', 'Kind', 'Tokens'].map(text => h('th', { scope: 'col' }, text)));
  return h(
    'details',
    {},
    h('summary', { id: 'table' }, 'As a table'),
    h('table', {}, h('thead', {}, head), h('tbody', {}, ...rows)),
  );
}
