const data = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);
const NS = "http://www.w3.org/2000/svg";
const NARROW = innerWidth < 600; // where a wide picture would be read with a magnifying glass
const W = NARROW ? 400 : 640, H = NARROW ? 330 : 430, TOP = 14, BOTTOM = 48;
let LEFT = 66, RIGHT = 24; // as wide as the labels there need
const STOPS = [[0, 34, 77], [53, 69, 107], [102, 104, 112], [148, 142, 119], [201, 181, 107], [254, 232, 56]]; // cividis

function make(name, attributes = {}, text = null, parent = null) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== null) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}
const shown = (x, digits = 4) => x === null || x === undefined ? "none" : typeof x !== "number" ? x
  : x && Math.abs(x) < 1e-3 ? x.toExponential(digits - 1).replace(/\.?0*e/, "e") : String(Number(x.toPrecision(digits)));
function colour(share) {
  const at = Math.min(Math.max(share, 0), 1) * (STOPS.length - 1), i = Math.min(Math.floor(at), STOPS.length - 2);
  const mixed = STOPS[i].map((x, k) => Math.round(x + (STOPS[i + 1][k] - x) * (at - i)));
  return `rgb(${mixed.join(" ")})`;
}
const numeric = (axis) => typeof axis.values[0] === "number";
const named = (axis) => axis.unit ? `${axis.name} (${axis.unit})` : axis.name;

const state = { metric: Object.keys(data.metrics)[0], fixed: data.axes.map(() => 0), limit: null };
const shape = data.axes.map((axis) => axis.count);
const strides = shape.map((_, i) => shape.slice(i + 1).reduce((a, b) => a * b, 1));
const number = (place) => place.reduce((sum, i, k) => sum + i * strides[k], 0);
const drawnAxes = data.sampled ? [] : data.axes.map((_, i) => i).filter((i) => shape[i] > 1).slice(0, 2);

// -- choices
function select(label, options, value, chosen) {
  const box = document.createElement("label");
  box.textContent = label;
  const made = document.createElement("select");
  options.forEach((text, i) => made.add(new Option(text, i)));
  made.value = value;
  made.addEventListener("change", () => chosen(Number(made.value)));
  box.append(made);
  element("choices").append(box);
}
const limitUnit = document.createElement("span");
function choices() {
  const names = Object.keys(data.metrics);
  select("Show", names.map((name) => data.metrics[name].unit ? `${name} (${data.metrics[name].unit})` : name), 0, (i) => {
    state.metric = names[i];
    state.limit = data.metrics[names[i]].limit;
    if (element("limit")) element("limit").value = state.limit === null ? "" : state.limit;
    limitUnit.textContent = data.metrics[names[i]].unit;
    draw();
  });
  data.axes.forEach((axis, k) => {
    if (!data.sampled && !drawnAxes.includes(k) && axis.count > 1)
      select(axis.name, axis.values.map((x) => shown(x)), 0, (i) => { state.fixed[k] = i; draw(); });
  });
  state.limit = data.metrics[state.metric].limit;
  if (!data.sampled) return;
  const box = document.createElement("label");
  box.textContent = "Limit";
  const input = document.createElement("input");
  Object.assign(input, { type: "number", step: "any", id: "limit", value: state.limit === null ? "" : state.limit });
  input.addEventListener("input", () => { state.limit = input.value === "" ? null : Number(input.value); draw(); });
  limitUnit.textContent = data.metrics[state.metric].unit;
  box.append(input, limitUnit);
  element("choices").append(box);
}

// -- axes of a figure
function ticks(low, high, count = 6) {
  const raw = (high - low) / count || 1, size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * size).find((s) => s >= raw * 0.999);
  const found = [];
  for (let x = Math.ceil(low / step - 1e-9) * step; x <= high + 1e-9 * step; x += step) found.push(Number(x.toPrecision(10)));
  return found;
}
const exact = (marks) => marks.map((x) => shown(x, 10)); // round numbers, whole
function labels(values) { // with as many digits as tell them apart
  let digits = 3, found;
  do found = values.map((x) => shown(x, digits)); while (new Set(found).size < values.length && digits++ < 12);
  return found;
}
function wide(svg, texts) { // the widest of some labels
  const made = make("text", {}, "", svg);
  const found = texts.map((text) => { made.textContent = text; return made.getComputedTextLength(); });
  made.remove();
  return Math.max(0, ...found);
}
function cut(svg, text, room) { // a name, its end left out where it is too long
  let kept = String(text);
  while (kept.length > 2 && wide(svg, [kept]) > room) kept = `${kept.slice(0, -2)}…`;
  return kept;
}
function apart(at, room) { // which of some labels stand at least so far from the one before
  let last = -Infinity;
  return at.map((x) => Math.abs(x - last) >= room && ((last = x), true));
}
function below(svg, texts, at, room = Infinity) { // the labels under a figure, cut to their room, as many as do not touch
  const cuts = texts.map((text) => cut(svg, text, room - 8)), kept = apart(at, wide(svg, cuts) + 8);
  cuts.forEach((text, i) => { if (kept[i]) make("text", { x: at[i], y: H - BOTTOM + 16, "text-anchor": "middle", class: "soft" }, text, svg); });
}
function frame(svg, xLabel, yLabel) {
  make("text", { x: (LEFT + W - RIGHT) / 2, y: H - 8, "text-anchor": "middle" }, xLabel, svg);
  make("text", { x: 0, y: 0, transform: `translate(14 ${(TOP + H - BOTTOM) / 2}) rotate(-90)`, "text-anchor": "middle" }, yLabel, svg);
}

// -- a grid of two axes
function ordered(axis) { // the places of its values, numbers in their order: more of them may have come later
  const places = axis.values.map((_, i) => i);
  return numeric(axis) ? places.sort((i, j) => axis.values[i] - axis.values[j]) : places;
}
function edges(values, from, to) {
  const texts = typeof values[0] !== "number";
  const at = texts ? values.map((_, i) => i) : values;
  const mid = at.slice(1).map((x, i) => (x + at[i]) / 2);
  const first = at[0] - (mid.length ? mid[0] - at[0] : 0.5), last = at.at(-1) + (mid.length ? at.at(-1) - mid.at(-1) : 0.5);
  return [first, ...mid, last].map((x) => from + (to - from) * (x - first) / (last - first || 1));
}
function cells(svg) {
  const [up, along] = [data.axes[drawnAxes[0]], data.axes[drawnAxes[1]]];
  const [rows, columns] = [ordered(up), ordered(along)], [upward, rightward] = [rows.map((i) => up.values[i]), columns.map((j) => along.values[j])];
  const metric = data.metrics[state.metric];
  const place = (i, j) => { const p = [...state.fixed]; p[drawnAxes[0]] = i; p[drawnAxes[1]] = j; return number(p); };
  const all = up.values.flatMap((_, i) => along.values.map((_, j) => metric.values[place(i, j)])).filter((x) => x !== null);
  const low = Math.min(...all), high = Math.max(...all);
  const marks = all.length ? ticks(low, high, 5) : [], marked = exact(marks);
  const beside = numeric(up) ? labels(upward) : upward.map((x) => cut(svg, x, W / 4));
  [LEFT, RIGHT] = [30 + wide(svg, beside), 39 + wide(svg, marked)];
  const xs = edges(rightward, LEFT, W - RIGHT), ys = edges(upward, H - BOTTOM, TOP);
  const over = make("rect", { class: "hover", visibility: "hidden" });
  rows.forEach((i, r) => columns.forEach((j, c) => {
    const run = place(i, j), value = metric.values[run];
    const box = { x: xs[c], y: ys[r + 1], width: xs[c + 1] - xs[c], height: ys[r] - ys[r + 1] };
    const cell = make("rect", { ...box, class: "cell", fill: value === null ? "var(--m1)" : colour((value - low) / (high - low || 1)), tabindex: 0, role: "button", "aria-label": `run ${run}: ${shown(value)}` }, null, svg);
    cell.addEventListener("pointerenter", () => {
      for (const [k, x] of Object.entries(box)) over.setAttribute(k, x);
      over.setAttribute("visibility", "visible");
      element("caption").textContent = `${up.name} = ${shown(up.values[i])} ${up.unit}, ${along.name} = ${shown(along.values[j])} ${along.unit}: ${shown(value)} ${metric.unit}`;
    });
    const pick = () => { tell(run); svg.querySelectorAll(".picked").forEach((x) => x.remove()); make("rect", { ...box, class: "picked" }, null, svg); };
    cell.addEventListener("click", pick);
    cell.addEventListener("keydown", (event) => { if (event.key === "Enter") pick(); });
  }));
  svg.append(over);
  const centres = (at) => at.slice(1).map((x, i) => (x + at[i]) / 2), sides = centres(ys), kept = apart(sides, 15);
  if (numeric(along)) below(svg, labels(rightward), centres(xs));
  else below(svg, along.values, centres(xs), (W - LEFT - RIGHT) / along.count);
  beside.forEach((text, i) => { if (kept[i]) make("text", { x: LEFT - 6, y: sides[i] + 4, "text-anchor": "end", class: "soft" }, text, svg); });
  frame(svg, named(along), named(up));
  for (let k = 0; k < 60; k++) make("rect", { x: W - RIGHT + 16, y: TOP + (59 - k) * (H - TOP - BOTTOM) / 60, width: 14, height: (H - TOP - BOTTOM) / 60 + 0.6, fill: colour(k / 59) }, null, svg);
  marks.forEach((x, i) => make("text", { x: W - RIGHT + 35, y: H - BOTTOM - (x - low) / (high - low || 1) * (H - TOP - BOTTOM) + 4, class: "soft" }, marked[i], svg));
  element("caption").textContent = "Point at a cell for its value; click it for that run." + (all.length < up.count * along.count ? " Red: no value, the run failed or has none." : "");
}

// -- one axis
function line(svg) {
  const k = drawnAxes[0] ?? 0, axis = data.axes[k], metric = data.metrics[state.metric], places = ordered(axis);
  const texts = !numeric(axis), xs = texts ? places : places.map((i) => axis.values[i]);
  const runs = places.map((i) => { const p = [...state.fixed]; p[k] = i; return number(p); });
  const ys = runs.map((run) => metric.values[run]), known = ys.filter((y) => y !== null);
  const low = Math.min(...known), high = Math.max(...known), a = Math.min(...xs), b = Math.max(...xs);
  const marks = known.length ? ticks(low, high) : [], marked = exact(marks);
  LEFT = 30 + wide(svg, marked);
  const span = W - LEFT - RIGHT, Y = (y) => H - BOTTOM - 8 - (y - low) / (high - low || 1) * (H - TOP - BOTTOM - 8);
  const X = texts ? (i) => LEFT + (i + 0.5) / xs.length * span : (x) => LEFT + (x - a) / (b - a || 1) * span;
  marks.forEach((y, i) => {
    make("line", { x1: LEFT, x2: W - RIGHT, y1: Y(y), y2: Y(y), stroke: "var(--line)" }, null, svg);
    make("text", { x: LEFT - 6, y: Y(y) + 4, "text-anchor": "end", class: "soft" }, marked[i], svg);
  });
  const along = ticks(a, b);
  if (texts) below(svg, axis.values, xs.map(X), span / xs.length);
  else below(svg, exact(along), along.map(X));
  make("polyline", { points: xs.map((x, i) => ys[i] === null ? "" : `${X(x)},${Y(ys[i])}`).join(" "), fill: "none", stroke: "var(--c0)", "stroke-width": 1.6 }, null, svg);
  xs.forEach((x, i) => {
    if (ys[i] === null) return;
    const dot = make("circle", { cx: X(x), cy: Y(ys[i]), r: 5, fill: "var(--c0)", class: "cell", tabindex: 0 }, null, svg);
    dot.addEventListener("click", () => tell(runs[i]));
  });
  frame(svg, named(axis), metric.unit ? `${state.metric} (${metric.unit})` : state.metric);
  element("caption").textContent = "Click a point for that run.";
}

// -- samples
function histogram(svg) {
  const metric = data.metrics[state.metric];
  const good = metric.values.map((y, i) => [y, i]).filter(([y, i]) => y !== null && data.status[i] === 1);
  const one = new Set(data.independent);
  const counted = metric.values.map((y, i) => [y, i]).filter(([, i]) => data.status[i] === 1 && one.has(i));
  const n = counted.length, lost = counted.filter(([y]) => y === null).length;
  const lack = lost ? `${lost} of ${n} runs ${metric.lacking}` : "";
  if (!good.length) { element("caption").textContent = lack || "No run has a value."; return; }
  const sorted = [...good].sort((p, q) => p[0] - q[0]), low = sorted[0][0], high = sorted.at(-1)[0];
  const limit = state.limit, many = Math.min(40, Math.max(5, Math.ceil(Math.sqrt(good.length)))); // as plots.histogram
  const size = (high - low) / many || 1;
  const start = limit !== null && limit > low && limit < high ? limit - Math.ceil((limit - low) / size) * size : low; // an edge at the limit
  const count = Math.max(1, Math.ceil((high - start) / size - 1e-9)), bins = Array.from({ length: count }, () => []);
  for (const pair of sorted) bins[Math.min(count - 1, Math.max(0, Math.floor((pair[0] - start) / size)))].push(pair);
  const most = Math.max(...bins.map((bin) => bin.length));
  const a = limit === null ? start : Math.min(start, limit), end = start + count * size, b = limit === null ? end : Math.max(end, limit);
  const counts = ticks(0, most, 5).filter(Number.isInteger), along = ticks(a, b);
  LEFT = 30 + wide(svg, counts);
  const X = (x) => LEFT + (x - a) / (b - a || 1) * (W - LEFT - RIGHT), Y = (n) => H - BOTTOM - n / most * (H - TOP - BOTTOM - 30);
  for (const n of counts) {
    make("line", { x1: LEFT, x2: W - RIGHT, y1: Y(n), y2: Y(n), stroke: "var(--line)" }, null, svg);
    make("text", { x: LEFT - 6, y: Y(n) + 4, "text-anchor": "end", class: "soft" }, n, svg);
  }
  bins.forEach((bin, i) => {
    if (!bin.length) return;
    const from = start + i * size, beyond = limit !== null && from + size / 2 > limit;
    const bar = make("rect", { x: X(from) + 0.5, width: Math.max(1, X(from + size) - X(from) - 1), y: Y(bin.length), height: H - BOTTOM - Y(bin.length), fill: beyond ? "var(--c1)" : "var(--c0)", class: "cell", tabindex: 0 }, null, svg);
    bar.addEventListener("click", () => tell(bin[Math.floor(bin.length / 2)][1]));
    bar.addEventListener("pointerenter", () => { element("caption").textContent = `${bin.length} runs from ${shown(from)} to ${shown(from + size)} ${metric.unit}; click for one of them`; });
  });
  const parts = Object.entries(metric.percentiles), told = labels(parts.map(([, y]) => y));
  parts.forEach(([p, y], i) => {
    make("line", { x1: X(y), x2: X(y), y1: TOP + 24, y2: H - BOTTOM, stroke: "var(--ink)", "stroke-dasharray": "4 3" }, null, svg);
    make("text", { x: X(y), y: TOP + 8, "text-anchor": "middle" }, `P${p}`, svg);
    make("text", { x: X(y), y: TOP + 21, "text-anchor": "middle", class: "soft" }, told[i], svg);
  });
  below(svg, exact(along), along.map(X));
  frame(svg, metric.unit ? `${state.metric} (${metric.unit})` : state.metric, "runs");
  if (limit !== null) {
    make("line", { x1: X(limit), x2: X(limit), y1: TOP + 24, y2: H - BOTTOM, stroke: "var(--c1)", "stroke-width": 2 }, null, svg);
    const k = counted.filter(([y, i]) => y === null ? metric.always.includes(i) : y > limit).length, z = 1.959963984540054;
    const centre = (k + z * z / 2) / (n + z * z), half = z / (n + z * z) * Math.sqrt(k * (n - k) / n + z * z / 4);
    const percent = (x) => `${shown(100 * Math.min(Math.max(x, 0), 1), 3)} %`;
    element("caption").textContent = `${k} of ${n} runs exceed ${`${shown(limit, 10)} ${metric.unit}`.trim()}: ${percent(k / n)} (${percent(centre - half)} to ${percent(centre + half)} with 95 % confidence)` + (lack && `; ${lack}`);
  } else element("caption").textContent = (lack && `${lack}. `) + "Give a limit to see the share of runs beyond it; click a bar for one of its runs.";
  if (element("run").dataset.run === undefined) tell(sorted.at(-1)[1], "the run with the greatest value");
}

// -- one run
function tell(run, why = "") {
  const box = element("run");
  box.dataset.run = run;
  box.replaceChildren();
  const heading = document.createElement("h2");
  heading.textContent = `Run ${run}` + (why ? `, ${why}` : "");
  const table = document.createElement("table");
  const add = (name, value) => {
    const row = table.insertRow(), head = document.createElement("th");
    head.textContent = name;
    row.append(head);
    row.insertCell().textContent = value;
  };
  for (const axis of data.axes) {
    const i = Math.floor(run / strides[data.axes.indexOf(axis)]) % axis.count;
    for (const [name, [values, unit]] of Object.entries(axis.columns)) add(name, `${shown(values[i], 6)} ${unit}`);
  }
  for (const [name, metric] of Object.entries(data.metrics)) add(name, `${shown(metric.values[run], 6)} ${metric.unit}`);
  add("outcome", data.outcomes[run] ?? (data.status[run] === 1 ? "done" : "not computed yet"));
  const command = document.createElement("pre");
  command.textContent = data.replay.replace("RUN", run);
  const hint = document.createElement("p");
  hint.className = "hint";
  hint.textContent = data.replay ? "This command computes the run again, bit for bit, with its full result and its animated page:" : "";
  box.append(heading, table, hint, ...(data.replay ? [command] : []));
}

// -- ranking and facts
function rows(target, listed) {
  const table = document.createElement("table");
  listed.forEach((cellsOf, i) => {
    const row = table.insertRow();
    for (const text of cellsOf) {
      const cell = document.createElement(i ? "td" : "th");
      if (!i) cell.scope = "col";
      cell.textContent = text;
      row.append(cell);
    }
  });
  target.replaceChildren(table);
}
function ranked() {
  const found = data.metrics[state.metric].ranking;
  element("ranking").hidden = !found;
  if (!found) return;
  rows(element("ranked"), found.rows);
  const note = document.createElement("p");
  note.className = "hint";
  note.textContent = found.note;
  element("ranked").append(note);
}
function draw() {
  const svg = make("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${state.metric} of all runs` });
  element("drawn").replaceChildren(svg);
  if (data.sampled) histogram(svg);
  else if (drawnAxes.length === 2) cells(svg);
  else line(svg);
  ranked();
}

// -- colours
const dark = matchMedia("(prefers-color-scheme: dark)");
let theme = "auto";
function paint() {
  document.documentElement.dataset.theme = theme === "dark" || (theme === "auto" && dark.matches) ? "dark" : "light";
  element("theme").textContent = `Colours: ${theme}`;
}
element("theme").addEventListener("click", () => { theme = { auto: "light", light: "dark", dark: "auto" }[theme]; paint(); });
dark.addEventListener("change", paint);

paint();
element("title").textContent = data.title;
element("summary").textContent = data.summary;
for (const [name, text] of data.facts) {
  const row = element("facts").insertRow(), head = document.createElement("th");
  head.textContent = name;
  row.append(head);
  row.insertCell().textContent = text;
}
if (data.runs.length) {
  element("few").hidden = false;
  rows(element("runs"), data.runs);
}
if (data.model) {
  element("model").hidden = false;
  element("model").querySelector("pre").textContent = data.model;
}
const note = document.createElement("p");
note.className = "hint";
note.textContent = "Click a run to see it.";
element("run").append(note);
choices();
draw();
window.jointplay = { ready: true };
