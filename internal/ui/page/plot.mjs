// Plots: a picture as wide as its place, a slider that reads single points out, and the same as a table.
import { h, svg } from './dom.mjs';
import { exactly, shareOf, time, tokens } from './words.mjs';

/** @import { FleetReport, Point } from './types.d.ts' */

const height = 240;
const margin = { top: 18, right: 12, bottom: 24, left: 52 };

/** The least width of a picture, in pixels: below it the page would scroll sideways in a narrow panel. */
const narrowest = 160;

/** With more points than this they run into each other, and the line alone is drawn. */
const mostDots = 80;

/** As many rows of a table as are read; what is older is in the picture. */
const mostRows = 200;

/**
 * A picture of a width: x and y place shares (0–1) in it.
 * @typedef {{ root: SVGSVGElement, width: number, x: (share: number) => number, y: (share: number) => number }} Frame
 */

/**
 * A place that the slider can stand at: where it is in the picture, 0–1, and what is said there.
 * @typedef {{ x: number, y: number | null, text: string }} Stop
 */

/**
 * What a plot is made of. The slider stands at the stop "start" first, else at the last. label describes it to those who do not see it; y and right write the share (0–1) of the height as a figure.
 * @typedef {{
 *   id: string, name: string, label: string, caption: string, stops: Stop[], start?: number,
 *   y: (share: number) => string, right?: (share: number) => string, draw: (frame: Frame) => void,
 *   head: string[], rows: string[][],
 * }} Plot
 */

/**
 * Draws a plot, again whenever its width changes.
 * @param {Plot} p
 */
function plot(p) {
  const reading = h('output', { class: 'reading', for: p.id });
  const attributes = {
    id: p.id,
    type: 'range',
    min: '0',
    max: String(p.stops.length - 1),
    step: '1',
    'aria-label': p.name,
  };
  const slider = h('input', attributes);
  slider.value = String(p.start ?? p.stops.length - 1);
  slider.hidden = p.stops.length < 2;
  const canvas = h('div', { class: 'canvas' });
  const rule = svg('line', { class: 'rule' });
  const mark = svg('circle', { class: 'mark', r: 4.5 });
  /** @type {Frame | undefined} */
  let frame;

  const point = () => {
    const stop = p.stops[Number(slider.value)];
    if (!stop) return;
    reading.textContent = stop.text;
    slider.setAttribute('aria-valuetext', stop.text);
    if (!frame) return;
    const [x, y] = [frame.x(stop.x), frame.y(stop.y ?? 0)];
    for (const [name, value] of Object.entries({ x1: x, x2: x, y1: frame.y(0), y2: frame.y(1) }))
      rule.setAttribute(name, String(value));
    mark.setAttribute('cx', String(x));
    mark.setAttribute('cy', String(y));
    mark.setAttribute('visibility', stop.y === null ? 'hidden' : 'visible');
  };
  const draw = () => {
    const width = Math.max(narrowest, Math.floor(canvas.clientWidth));
    if (frame?.width === width) return;
    frame = framed(width, p);
    p.draw(frame);
    frame.root.append(rule, mark);
    canvas.replaceChildren(frame.root);
    point();
  };
  slider.addEventListener('input', point);
  canvas.addEventListener('pointermove', event => {
    if (!frame) return;
    const at = event.clientX - canvas.getBoundingClientRect().left;
    let nearest = 0;
    p.stops.forEach((stop, i) => {
      const best = p.stops[nearest];
      if (frame && best && Math.abs(frame.x(stop.x) - at) < Math.abs(frame.x(best.x) - at)) nearest = i;
    });
    slider.value = String(nearest);
    point();
  });
  draw();
  new ResizeObserver(draw).observe(canvas);
  const table = h(
    'details',
    { id: `${p.id}-list` },
    h('summary', { id: `${p.id}-table` }, 'As a table'),
    tableOf(p.head, p.rows),
  );
  return h('figure', { class: 'plot' }, canvas, slider, reading, h('figcaption', {}, p.caption), table);
}

/**
 * @param {string[]} head
 * @param {string[][]} rows
 */
function tableOf(head, rows) {
  const cells = rows.map(row =>
    h('tr', {}, ...row.map((text, i) => h('td', { class: i > 0 ? 'number' : null }, text))),
  );
  const titles = head.map((text, i) => h('th', { scope: 'col', class: i > 0 ? 'number' : null }, text));
  return h('table', {}, h('thead', {}, h('tr', {}, ...titles)), h('tbody', {}, ...cells));
}

/**
 * Draws the axes.
 * @param {number} width
 * @param {Plot} p
 * @returns {Frame}
 */
function framed(width, { label, y: write, right }) {
  const edge = width - (right ? 44 : margin.right);
  const bottom = height - margin.bottom;
  const x = (/** @type {number} */ share) => margin.left + share * (edge - margin.left);
  const y = (/** @type {number} */ share) => bottom - share * (bottom - margin.top);
  const root = svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': label });
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    root.append(
      svg('line', { class: 'grid', x1: margin.left, x2: edge, y1: y(share), y2: y(share) }),
      svg('text', { class: 'tick', x: margin.left - 6, y: y(share) + 4, 'text-anchor': 'end' }, write(share)),
    );
    if (right) root.append(svg('text', { class: 'tick', x: edge + 6, y: y(share) + 4 }, right(share)));
  }
  return { root, width, x, y };
}

/**
 * Writes below the picture.
 * @param {Frame} frame
 * @param {number} share
 * @param {string} text
 */
function below({ root, x }, share, text) {
  const anchor = share < 0.02 ? 'start' : share > 0.98 ? 'end' : 'middle';
  root.append(svg('text', { class: 'tick', x: x(share), y: height - 6, 'text-anchor': anchor }, text));
}

/**
 * The curve of a session: how full its window was, response by response, with its compactions.
 * @param {{ points: Point[], windowTokens: number, compactionTokens: number | null, now: number }} curve
 */
export function history({ points, windowTokens, compactionTokens, now }) {
  const top = Math.max(windowTokens, ...points.map(p => p.tokens));
  const last = points.length - 1;
  const place = (/** @type {number} */ i) => (last > 0 ? i / last : 1);
  return plot({
    id: 'point',
    name: 'Point of the history',
    label: summary(points, windowTokens),
    caption: `Tokens in the window of ${tokens(windowTokens)}, response by response; ▼ the host compacted the conversation.`,
    y: share => tokens(Math.round(share * top)),
    stops: points.map((p, i) => ({ x: place(i), y: p.tokens / top, text: describe(p, windowTokens, now) })),
    head: ['Time', 'Kind', 'Tokens'],
    rows: points
      .slice(-mostRows)
      .reverse()
      .map(p => [time(p.at, now), kinds[p.kind], exactly(p.tokens)]),
    draw: frame => {
      const { root, x, y } = frame;
      if (compactionTokens !== null) {
        const at = y(compactionTokens / top);
        root.append(
          svg('line', { class: 'limit', x1: x(0), x2: x(1), y1: at, y2: at }),
          svg('text', { class: 'label', x: x(0) + 4, y: at - 4 }, `compacts at ${tokens(compactionTokens)}`),
        );
      }
      const at = (/** @type {Point} */ p, /** @type {number} */ i) =>
        `${x(place(i)).toFixed(1)},${y(p.tokens / top).toFixed(1)}`;
      if (last > 0) {
        const line = `M${points.map(at).join('L')}`;
        root.append(
          svg('path', { class: 'area', d: `${line}L${x(1)},${y(0)}L${x(0)},${y(0)}Z` }),
          svg('path', { class: 'curve', d: line }),
        );
      }
      points.forEach((p, i) => {
        if (p.kind === 'compaction') root.append(compacted(x(place(i)), y(0)));
        else if (points.length <= mostDots) {
          root.append(svg('circle', { class: `dot ${p.kind}`, cx: x(place(i)), cy: y(p.tokens / top), r: 2.5 }));
        }
      });
      const [first, final] = [points[0], points[last]];
      if (first && last > 0) below(frame, 0, time(first.at, now));
      if (final && (last === 0 || frame.width > 320)) below(frame, 1, time(final.at, now));
    },
  });
}

/**
 * @param {number} x
 * @param {number} bottom
 */
function compacted(x, bottom) {
  const { top } = margin;
  return svg(
    'g',
    { class: 'compaction' },
    svg('title', {}, 'compacted'),
    svg('line', { x1: x, x2: x, y1: top, y2: bottom }),
    svg('path', { d: `M${x - 5},${top - 9}h10l-5,9z` }),
  );
}

/**
 * @param {Point[]} points
 * @param {number} windowTokens
 */
function summary(points, windowTokens) {
  const last = points.at(-1);
  const compactions = points.filter(p => p.kind === 'compaction').length;
  const times = compactions === 1 ? 'once' : compactions === 0 ? 'never' : `${compactions} times`;
  return `History of ${points.length} points. ${last ? `The last: ${exactly(last.tokens)} of ${exactly(windowTokens)} tokens.` : ''} Compacted ${times}.`;
}

/** @type {Record<Point['kind'], string>} */
const kinds = { usage: 'reported', estimate: 'estimated', compaction: 'compacted to' };

/**
 * @param {Point} p
 * @param {number} windowTokens
 * @param {number} now
 */
function describe(p, windowTokens, now) {
  const share = windowTokens > 0 ? `, ${shareOf(p.tokens, windowTokens)} of the window` : '';
  return `${time(p.at, now)}: ${kinds[p.kind]} ${exactly(p.tokens)} tokens${share}`;
}

/**
 * How large tasks are: how many of each size, and which share of all is larger.
 * @param {FleetReport} report
 */
export function sizes(report) {
  const bins = report.histogram ?? [];
  const end = bins.at(-1)?.upTo ?? 1;
  const most = 4 * Math.ceil(round(Math.max(4, ...bins.map(b => b.tasks))) / 4); // four steps of whole tasks
  const range = (/** @type {typeof bins[number]} */ b) => `${exactly(b.above)}–${exactly(b.upTo)}`;
  const larger = (/** @type {number} */ rest) => `${(100 * rest).toFixed(1)}%`;
  return plot({
    id: 'size',
    name: 'Range of the sizes',
    label: `${exactly(report.tasks)} tasks by their tokens. Half are up to ${exactly(report.p50Tokens)}, 90% up to ${exactly(report.p90Tokens)}, the largest has ${exactly(report.maxTokens)}.`,
    caption: 'Tasks by the tokens of their largest context; dashed: the share of tasks that are larger.',
    y: share => exactly(share * most),
    right: share => `${100 * share}%`,
    start: bins.findIndex(b => report.p50Tokens <= b.upTo),
    stops: bins.map(b => ({
      x: (b.above + b.upTo) / 2 / end,
      y: null,
      text: `${range(b)} tokens: ${exactly(b.tasks)} ${b.tasks === 1 ? 'task' : 'tasks'}; ${larger(b.rest)} of all are larger`,
    })),
    head: ['Tokens', 'Tasks', 'Larger'],
    rows: bins.map(b => [range(b), exactly(b.tasks), larger(b.rest)]),
    draw: frame => {
      const { root, x, y, width } = frame;
      for (const b of bins) {
        const from = x(b.above / end);
        const kind = b.upTo > report.thresholdTokens ? 'over' : 'bar';
        root.append(
          svg('rect', {
            class: kind,
            x: from + 1,
            width: Math.max(x(b.upTo / end) - from - 2, 1),
            y: y(b.tasks / most),
            height: y(0) - y(b.tasks / most),
          }),
        );
      }
      root.append(
        svg('path', {
          class: 'rest',
          d: `M${x(0)} ${y(1)}${bins.map(b => `L${x(b.upTo / end)} ${y(b.rest)}`).join('')}`,
        }),
      );
      /** @type {[string, number][]} */
      const limits = [
        ['50%', report.p50Tokens],
        ['90%', report.p90Tokens],
        ['99%', report.p99Tokens],
        ['threshold', report.thresholdTokens],
      ];
      limits
        .filter(([, n]) => n <= end)
        .forEach(([name, n], row) => {
          const at = x(n / end);
          const before = n / end > 0.6;
          root.append(
            svg('line', { class: 'limit', x1: at, x2: at, y1: y(0), y2: y(1) }),
            svg(
              'text',
              {
                class: 'label',
                x: at + (before ? -4 : 4),
                y: margin.top + 11 + row * 15,
                'text-anchor': before ? 'end' : 'start',
              },
              `${name} ${tokens(n)}`,
            ),
          );
        });
      const every = Math.ceil(bins.length / (width < 600 ? 4 : 8));
      below(frame, 0, '0');
      bins.forEach((b, i) => {
        if ((i + 1) % every === 0) below(frame, b.upTo / end, tokens(b.upTo));
      });
    },
  });
}

/**
 * Returns a round number that is not below n.
 * @param {number} n
 */
function round(n) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(n, 1)));
  return [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10].map(f => f * unit).find(v => v >= n) ?? n;
}
