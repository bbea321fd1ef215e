"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const now = new Date(data.now), report = data.report;
  const at = id => document.getElementById(id);

  // el makes an element. Whatever comes from data is set as text or as an attribute, never as markup.
  const make = ns => (name, attributes = {}, ...children) => {
    const e = ns ? document.createElementNS(ns, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) e.setAttribute(key, value === true ? "" : String(value));
    }
    e.append(...children.filter(c => c !== null && c !== undefined && c !== ""));
    return e;
  };
  const el = make(""), svg = make("http://www.w3.org/2000/svg");

  // Figures, as the terminal shows them.
  const tokens = n => {
    if (n === null || n === undefined) return "?";
    if (n < 1000) return String(Math.round(n));
    if (n < 9950) return (n / 1000).toFixed(1) + "k";
    if (n < 999500) return Math.round(n / 1000) + "k";
    return (n / 1e6).toFixed(2).replace(/\.?0+$/, "") + "M";
  };
  const full = n => n === null || n === undefined ? "?" : n.toLocaleString("en-US");
  const or = s => s || "?";
  const share = (part, whole) => {
    const percent = whole > 0 ? part / whole * 100 : 0;
    return percent > 0 && percent < 0.5 ? "<1%" : Math.round(percent) + "%";
  };
  const ago = time => {
    const minutes = (now - new Date(time)) / 60000;
    if (minutes < 1) return "just now";
    if (minutes < 60) return Math.floor(minutes) + "m ago";
    return minutes < 48 * 60 ? Math.floor(minutes / 60) + "h ago" : Math.floor(minutes / 1440) + "d ago";
  };
  const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
  const mark = u => u.provenance === "estimate" ? "~" : "";
  const percentOf = u => u.display.percent === null ? "?" : mark(u) + u.display.percent + "%";
  const pairOf = u => mark(u) + tokens(u.display.tokens) + "/" + tokens(u.display.limitTokens);
  const left = u => u.toCompaction ?? u.toRefusal; // hosts compare their own projection: marked where it hangs on an estimate
  const leftOf = u => (left(u) !== null && u.projectedTokens !== u.tokens ? "~" : mark(u)) + tokens(left(u));
  const untilOf = u => u.compactionTokens !== null ? "to compaction" : { onRefusal: "left, compacts when refused", off: "left, no auto-compaction" }[u.compactionRule] ?? "left";
  const turnsOf = u => {
    const f = u.turnsToCompaction, many = 999; // as many as are worth telling apart
    if (!f) return "?";
    if (f.low !== f.high && f.high <= many) return `~${f.mid} (${f.low}–${f.high})`;
    return f.mid > many ? `>${many}` : `~${f.mid}`;
  };
  const counted = (n, thing) => `${full(n)} ${thing}${n === 1 ? "" : "s"}`;

  // room is how wide a plot is: as wide as it is shown, so that what is written in it keeps its size.
  const room = () => Math.max(300, Math.min(1100, at("histogram").clientWidth || 900));

  // plot draws a frame with axes; draw puts what is plotted into it. stops are the places that the cursor can stand at:
  // {x, text}. The mouse and the arrow keys move it, and what it stands at is read out.
  const plot = (caption, { height = 260, top, ticks, marks, stops, draw, right }) => {
    const width = room(), left = 46, edge = right ? 46 : 12, bottom = 26, inner = width - left - edge, tall = height - bottom - 14;
    const x = v => left + v * inner, y = v => 14 + (1 - v / top) * tall;
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "img", "aria-label": caption + ". Arrow keys read the values." });
    for (let i = 0; i <= 4; i++) {
      const v = top * i / 4;
      root.append(svg("line", { class: "axis", x1: left, x2: width - edge, y1: y(v), y2: y(v) }), svg("text", { x: left - 6, y: y(v) + 4, "text-anchor": "end" }, ticks.y(v)));
      if (right) root.append(svg("text", { x: width - edge + 6, y: y(v) + 4 }, right(i / 4)));
    }
    for (const [v, text] of ticks.x) {
      const anchor = v < 0.02 ? "start" : v > 0.98 ? "end" : "middle";
      root.append(svg("text", { x: x(v), y: height - 8, "text-anchor": anchor }, text));
    }
    draw(root, x, y, inner, tall);
    for (const m of marks || []) {
      root.append(svg("line", { class: m.kind, x1: x(m.x), x2: x(m.x), y1: 14, y2: 14 + tall }));
      if (m.kind === "mark") root.append(svg("path", { class: "mark-head", d: `M${x(m.x) - 5} 5h10l-5 9z` }, svg("title", {}, m.text)));
      else root.append(svg("text", { class: "label", x: x(m.x) + (m.x > 0.7 ? -4 : 4), y: 26 + (m.row || 0) * 15, "text-anchor": m.x > 0.7 ? "end" : "start" }, m.text));
    }
    const cursor = svg("line", { class: "cursor", y1: 14, y2: 14 + tall, visibility: "hidden" });
    const reading = el("p", { class: "reading", "aria-live": "polite" });
    root.append(cursor);
    let place = -1;
    const go = i => {
      if (!stops.length) return;
      place = Math.max(0, Math.min(stops.length - 1, i));
      cursor.setAttribute("x1", x(stops[place].x));
      cursor.setAttribute("x2", x(stops[place].x));
      cursor.setAttribute("visibility", "visible");
      reading.textContent = stops[place].text;
    };
    root.addEventListener("pointermove", event => {
      const box = root.getBoundingClientRect(), v = ((event.clientX - box.left) / box.width * width - left) / inner;
      let best = 0;
      stops.forEach((s, i) => { if (Math.abs(s.x - v) < Math.abs(stops[best].x - v)) best = i; });
      go(best);
    });
    root.addEventListener("keydown", event => {
      const to = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: stops.length - 1, PageDown: place + 10, PageUp: place - 10 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      go(to);
    });
    return el("figure", {}, root, el("figcaption", {}, caption), reading);
  };

  // asTable gives the values of a plot as a table.
  const asTable = (head, rows) => el("details", {}, el("summary", {}, "as a table"), el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, ...head.map(h => el("th", { scope: "col" }, h)))), el("tbody", {}, ...rows.map(r => el("tr", {}, ...r.map(c => el("td", {}, c))))))));

  // nice returns a round number that is not below n.
  const nice = n => {
    const unit = 10 ** Math.floor(Math.log10(Math.max(n, 1)));
    return [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10].map(f => f * unit).find(v => v >= n);
  };

  const figures = () => {
    const known = n => report.tasks ? tokens(n) : "?";
    const all = [
      [`tasks, of the last ${full(report.windowTasks)}`, full(report.tasks)],
      [`over ${tokens(report.thresholdTokens)}`, report.tasks ? (report.p90ExceedanceRate * 100).toFixed(1) + "%" : "?"],
      ["half are up to (p50)", known(report.p50Tokens)], ["90% are up to (p90)", known(report.p90Tokens)], ["99% are up to (p99)", known(report.p99Tokens)],
      ["average", known(report.averageTokens)], ["largest", known(report.maxTokens)],
      ["trims", `${full(report.trimOperations)}, saving ${tokens(report.trimmedTokens)}`], ["compactions", full(report.compactions)], ["sessions", full(report.sessions)],
    ];
    at("figures").replaceChildren(...all.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
  };

  const histogram = () => {
    const bins = report.histogram;
    if (!bins.length) return at("histogram").replaceChildren(el("p", {}, "No tasks are recorded yet: one is with each turn of an agent that runs ctxls as a hook."));
    const end = bins[bins.length - 1].upTo, most = 4 * Math.ceil(nice(Math.max(4, ...bins.map(b => b.tasks))) / 4); // four steps of whole tasks
    const lines = [["p50", report.p50Tokens], ["p90", report.p90Tokens], ["p99", report.p99Tokens], ["threshold", report.thresholdTokens]].filter(l => l[1] <= end);
    const every = Math.ceil(bins.length / (room() < 600 ? 4 : 8));
    at("histogram").replaceChildren(plot(`${counted(report.tasks, "task")} by their tokens; dashed: the share of tasks that are larger`, {
      top: most, right: v => Math.round(v * 100) + "%",
      ticks: { x: [[0, "0"], ...bins.filter((b, i) => (i + 1) % every === 0).map(b => [b.upTo / end, tokens(b.upTo)])], y: full },
      marks: lines.map(([text, n], i) => ({ x: n / end, kind: "limit", text: `${text} ${tokens(n)}`, row: i })),
      stops: bins.map(b => ({ x: (b.above + b.upTo) / 2 / end, text: `${tokens(b.above)}–${tokens(b.upTo)} tokens: ${counted(b.tasks, "task")}; ${(b.rest * 100).toFixed(1)}% of all are larger` })),
      draw: (root, x, y, inner, tall) => {
        for (const b of bins) {
          const from = x(b.above / end), to = x(b.upTo / end);
          root.append(svg("rect", { class: b.upTo > report.thresholdTokens ? "over" : "bar", x: from + 1, width: Math.max(to - from - 2, 1), y: y(b.tasks), height: 14 + tall - y(b.tasks) }));
        }
        let path = `M${x(0)} ${y(most)}`;
        for (const b of bins) path += `L${x(b.upTo / end)} ${y(b.rest * most)}`;
        root.append(svg("path", { class: "rest", d: path }));
      },
    }), asTable(["tokens", "tasks", "larger"], bins.map(b => [`${full(b.above)}–${full(b.upTo)}`, full(b.tasks), (b.rest * 100).toFixed(1) + "%"])));
  };

  // steps is a curve on which each value stands until the next.
  const steps = (samples, x, y) => samples.map(([t, n], i) => (i ? `H${x(t)}V` : `M${x(t)} `) + y(n)).join("");

  const history = s => {
    if (!s.samples.length) return el("p", {}, "?");
    const first = s.samples[0][0], last = s.samples[s.samples.length - 1][0], span = Math.max(last - first, 1);
    const top = Math.max(s.usage.windowTokens, ...s.samples.map(p => p[1])), place = t => last > first ? (t - first) / span : 1;
    const name = t => (span < 600000 ? exact : clock).format(new Date(t));
    const figure = plot(`tokens in the window of ${tokens(s.usage.windowTokens)}; ▼ the host compacted the conversation`, {
      top, ticks: { x: last > first ? [[0, name(first)], [1, name(last)]] : [[1, name(last)]], y: tokens },
      marks: s.marks.map(t => ({ x: place(t), kind: "mark", text: "compacted " + name(t) })),
      stops: s.samples.map(([t, n]) => ({ x: place(t), text: `${name(t)}: ${full(n)} tokens, ${share(n, s.usage.windowTokens)} of the window${s.marks.includes(t) ? ", compacted" : ""}` })),
      draw: (root, x, y) => {
        const at = t => x(place(t)), path = steps(s.samples, at, y);
        if (s.usage.compactionTokens) root.append(svg("line", { class: "limit", x1: x(0), x2: x(1), y1: y(s.usage.compactionTokens), y2: y(s.usage.compactionTokens) }),
          svg("text", { x: x(0) + 4, y: y(s.usage.compactionTokens) - 4 }, "the host compacts here"));
        root.append(svg("path", { class: "area", d: `${path}V${y(0)}H${at(first)}Z` }), svg("path", { class: "curve", d: path }));
        if (first === last) root.append(svg("circle", { class: "bar", r: 4, cx: at(last), cy: y(s.samples[s.samples.length - 1][1]) })); // no time passed in which a curve could go
      },
    });
    const tail = s.samples.slice(-200);
    return el("div", {}, figure, asTable(["time", "tokens"], tail.map(([t, n]) => [name(t), full(n) + (s.marks.includes(t) ? " (compacted)" : "")])));
  };

  const bar = (value, most, kind, label) => svg("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", role: "img", "aria-label": label },
    svg("rect", { class: "track", width: 100, height: 8 }), svg("rect", { class: kind, width: Math.min(100, most ? value / most * 100 : 0), height: 8 }));

  const parts = (list, whole) => {
    const sums = new Map();
    for (const p of list) sums.set(p.category, (sums.get(p.category) || 0) + p.tokens);
    const most = Math.max(...sums.values()), rows = [];
    const row = (name, n, tool) => rows.push(el("tr", tool ? { class: "tool" } : {}, el("td", {}, name), el("td", {}, bar(n, most, "bar", `${tokens(n)} tokens`)),
      el("td", { class: "n" }, "~" + tokens(n)), el("td", { class: "n" }, share(n, whole))));
    for (const category of data.categories) {
      if (!sums.has(category)) continue;
      row(data.names[category], sums.get(category), false);
      if (category === "toolResult") for (const p of list.filter(p => p.category === category).sort((a, b) => b.tokens - a.tokens)) row(or((p.tool || "").trim()), p.tokens, true);
    }
    return el("table", { class: "parts" }, el("thead", {}, el("tr", {}, ...["part", "", "tokens", "share"].map((h, i) => el("th", { scope: "col", class: i > 1 ? "n" : null }, h)))), el("tbody", {}, ...rows));
  };

  const spark = s => {
    const root = svg("svg", { class: "spark", viewBox: "0 0 100 20", preserveAspectRatio: "none", role: "img", "aria-label": s.samples.length ? `history of ${s.samples.length} points` : "no history" });
    if (!s.samples.length) return root;
    const first = s.samples[0][0], span = Math.max(s.samples[s.samples.length - 1][0] - first, 1), top = Math.max(s.usage.windowTokens, ...s.samples.map(p => p[1]));
    const path = steps(s.samples, t => (t - first) / span * 100, n => 20 - n / top * 20) + "H100";
    root.append(svg("path", { class: "area", d: path + "V20H0Z" }), svg("path", { class: "curve", d: path, "vector-effect": "non-scaling-stroke" }));
    for (const t of s.marks) root.append(svg("line", { class: "mark", x1: (t - first) / span * 100, x2: (t - first) / span * 100, y1: 0, y2: 20, "vector-effect": "non-scaling-stroke" }));
    return root;
  };

  // The table of sessions: its columns, with what they sort by.
  const byText = f => (a, b) => f(a).localeCompare(f(b)), last = n => n === null || n === undefined ? Infinity : n;
  const difference = (a, b) => a === b ? 0 : a - b;
  const columns = [
    { name: "host", show: s => s.host, order: byText(s => s.host), wide: true },
    { name: "project", show: s => el("button", { type: "button", onclick: () => open(s, true) }, or(s.project)), order: byText(s => s.project), cut: true },
    { name: "model", show: s => or(s.model), order: byText(s => s.model), wide: true, cut: true },
    { name: "history", show: spark, wide: true },
    { name: "window", show: s => gauge(s.usage), agent: a => gauge(a.usage), wide: true },
    { name: "share", show: s => percentOf(s.usage), agent: a => percentOf(a.usage), order: (a, b) => difference(last(a.usage.display.percent === null ? null : -a.usage.display.percent), last(b.usage.display.percent === null ? null : -b.usage.display.percent)), n: true },
    { name: "tokens", show: s => pairOf(s.usage), agent: a => pairOf(a.usage), order: (a, b) => difference(last(a.usage.tokens === null ? null : -a.usage.tokens), last(b.usage.tokens === null ? null : -b.usage.tokens)), n: true },
    { name: "to compaction", show: s => s.compacting ? "compacting" : leftOf(s.usage), agent: a => leftOf(a.usage), order: (a, b) => difference(last(left(a.usage)), last(left(b.usage))), n: true },
    { name: "turns left", show: s => turnsOf(s.usage), order: (a, b) => difference(last(a.usage.turnsToCompaction && a.usage.turnsToCompaction.mid), last(b.usage.turnsToCompaction && b.usage.turnsToCompaction.mid)), n: true, wide: true },
    { name: "compactions", show: s => full(s.compactions), order: (a, b) => b.compactions - a.compactions, n: true, wide: true },
    { name: "state", show: s => s.compacting ? "compacting" : s.state, agent: (a, ended) => ended ? "ended" : "active", order: byText(s => s.state), wide: true },
    { name: "updated", show: s => ago(s.updatedAt), order: (a, b) => new Date(b.updatedAt) - new Date(a.updatedAt), n: true },
  ];
  const gauge = u => {
    const drawn = bar(u.display.percent || 0, 100, "level", percentOf(u) + " of the window");
    drawn.setAttribute("class", "gauge " + (u.level || ""));
    const compaction = 100 * u.compactionTokens / u.display.limitTokens;
    if (compaction > 0 && compaction < 100) drawn.append(svg("rect", { class: "compacts", x: compaction - 1, width: 2, height: 8 }, svg("title", {}, "the host compacts here")));
    return drawn;
  };
  let sorted = columns[columns.length - 1], reversed = false, opened = null, shown = [];

  const table = () => {
    const words = at("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = data.sessions.filter(s => words.every(w => [s.host, s.cwd, s.model, s.title, s.sessionId, s.state].join(" ").toLowerCase().includes(w)));
    shown.sort((a, b) => sorted.order(a, b) * (reversed ? -1 : 1));
    const classes = c => [c.n ? "n" : "", c.wide ? "wide" : "", c.cut ? "cut" : ""].join(" ").trim() || null;
    const cells = (c, value) => el("td", { class: classes(c), title: c.cut && typeof value === "string" ? value : null }, value);
    const rows = [];
    for (const s of shown) {
      rows.push(el("tr", { "aria-selected": s === opened ? "true" : "false" }, ...columns.map(c => cells(c, c.show(s)))));
      for (const [a, ended] of [...s.agents.map(a => [a, false]), ...(s.agentsEnded || []).map(a => [a, true])])
        rows.push(el("tr", { class: "agent" }, ...columns.map(c => cells(c, c.agent ? c.agent(a, ended) : c.name === "project" ? "└ " + or(a.agentType.trim()) : ""))));
    }
    at("sessions").replaceChildren(el("thead", {}, el("tr", {}, ...columns.map(c => el("th", { scope: "col", class: classes(c), "aria-sort": c === sorted ? (reversed ? "descending" : "ascending") : null },
      c.order ? el("button", { type: "button", onclick: () => { reversed = c === sorted && !reversed; sorted = c; table(); } }, c.name) : c.name)))), el("tbody", {}, ...rows));
    at("count").textContent = shown.length === data.sessions.length ? counted(shown.length, "session") : `${full(shown.length)} of ${counted(data.sessions.length, "session")}`;
  };

  const open = (s, focus) => {
    opened = s;
    table();
    const u = s.usage, b = s.breakdown;
    at("h-detail").textContent = [or(s.project), s.host, or(s.model), s.title].filter(Boolean).join(" · ");
    const body = [
      el("p", { class: u.level }, `${mark(u)}${full(u.display.tokens)} of ${full(u.display.limitTokens)} tokens · ${percentOf(u)} · ${leftOf(u)} ${untilOf(u)} · ${turnsOf(u)} turn${turnsOf(u) === "~1" ? "" : "s"} left`),
      el("p", { class: "soft" }, `session ${s.sessionId} in ${or(s.cwd)} · window: ${u.windowWhy} · updated ${ago(s.updatedAt)}`),
      el("h3", {}, "History"), history(s), el("h3", {}, "What fills it"),
    ];
    if (!b || b.tokens === null) body.push(el("p", {}, "? " + (b && b.why ? `(${b.why})` : "")));
    else {
      body.push(parts(b.parts, b.tokens));
      if (b.lastTurn && b.lastTurn.parts.length) body.push(el("h3", {}, `Since the last turn began, ${ago(b.lastTurn.since)}: +~${tokens(b.lastTurn.tokens)}`), parts(b.lastTurn.parts, b.tokens));
      if (b.files.length) {
        const most = b.files[0].tokens;
        body.push(el("h3", {}, "Files"), el("table", { class: "parts" }, el("tbody", {}, ...b.files.map(f => el("tr", {}, el("td", { class: "path" }, f.path), el("td", {}, bar(f.tokens, most, "bar", `${tokens(f.tokens)} tokens`)),
          el("td", { class: "n" }, "~" + tokens(f.tokens)), el("td", { class: "n" }, share(f.tokens, b.tokens)))))));
      }
    }
    if (s.workingSet.length) body.push(el("h3", {}, "Working set"), el("ul", {}, ...s.workingSet.map(p => el("li", {}, p))));
    at("body").replaceChildren(...body);
    at("detail").hidden = false;
    if (focus) at("h-detail").focus();
  };

  const themes = ["auto", "light", "dark"];
  let theme = 0;
  at("theme").addEventListener("click", () => {
    theme = (theme + 1) % themes.length;
    if (theme) document.documentElement.dataset.theme = themes[theme];
    else delete document.documentElement.dataset.theme;
    at("theme").textContent = "theme: " + themes[theme];
  });
  at("when").textContent = "as of " + clock.format(now);
  at("filter").addEventListener("input", table);
  let drawn = 0;
  addEventListener("resize", () => {
    if (Math.abs(room() - drawn) < 20) return;
    drawn = room();
    histogram();
    if (opened) open(opened, false);
  });
  drawn = room();
  figures();
  histogram();
  table();
  if (data.sessions.length) open(shown[0], false);
  else at("sessions").replaceWith(el("p", {}, "No sessions yet: ctxls install claude-code, then start the agent."));
  document.documentElement.dataset.drawn = "yes";
})();
