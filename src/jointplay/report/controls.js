// Time, its controls and the keyboard; what the parts draw follows from one state.
const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const state = { time: motion.first, playing: false, speed: 1, exaggeration: 1, trail: 0, turning: false, names: true, paths: true, ghost: true };
const span = motion.last - motion.first;
const still = motion.time.length < 2;

readColours();
element("title").textContent = content.title;
const counted = (n, one, many) => `${n} ${n === 1 ? one : many}`;
element("summary").textContent = `${shown(span, 3)} s simulated · ${counted(content.bodies.length, "body", "bodies")} · ${counted(content.joints.length, "joint", "joints")}`
  + (plays.length ? ` · ${plays.length} with play` : "") + (twin ? " · ideal joints dashed" : "") + (content.judgement[0] ? ` · audit: ${content.judgement[0]}` : "")
  + (content.numbers.some(([, text]) => text.endsWith("(not determined)")) ? " · some numbers not determined" : "");
if (content.outcome[0] && content.outcome[0] !== "done") {
  element("outcome").hidden = false;
  element("outcome").textContent = `Ended early: ${content.outcome[1]}`;
}
const [judgement, sentence] = content.judgement;
if (sentence) {
  element("outcome").hidden = false;
  element("outcome").append(element("outcome").textContent ? ". " : "", sentence);
}

const stage = new MechanismView(element("mechanism"));
const cards = plays.map(play => new JointCard(play, element("cards")));
element("joints").hidden = !cards.length;
element("stage").classList.toggle("two", cards.length > 0);
element("stage").classList.toggle("many", cards.length > 2);
element("twin-option").hidden = !twin;
for (const node of [element("turning-option"), ...document.querySelectorAll(".trail")]) node.hidden = !cards.some(card => card.round);
const plots = content.charts.map(chart => new Chart(chart, element("charts")));
if (content.impacts.length) plots.push(new Stems(element("charts")));
if (content.timeline.length) {
  element("contacts").hidden = false;
  plots.push(new Timeline(element("timeline")));
}

function rows(body, pairs) {
  for (const [name, value] of pairs) body.append(make("tr", {}, make("th", { scope: "row", text: name }), typeof value === "string" ? make("td", { text: value }) : make("td", {}, value)));
}
element("headlines").hidden = !content.numbers.length;
rows(document.querySelector("#headlines tbody"), content.numbers);
document.querySelector("#headlines .hint").textContent += ` ${content.between}`;
rows(document.querySelector("#audit tbody"), content.audit.length ? content.audit : [["audit", "this result carries none"]]);
if (judgement) rows(document.querySelector("#audit tbody"), [["judgement", sentence || judgement]]);
rows(document.querySelector("#provenance tbody"), [...content.facts, ...(content.command ? [["command", make("code", { text: content.command })]] : [])]);
element("model").textContent = content.model;

const scrub = element("scrub");
scrub.max = String(motion.time.length - 1);
state.speed = SPEEDS.reduce((best, s) => Math.abs(Math.log(s * 9 / (span || 1))) < Math.abs(Math.log(best * 9 / (span || 1))) ? s : best);
for (const speed of SPEEDS) element("speed").append(make("option", { value: speed, text: `${speed} ×` }));
element("speed").value = String(state.speed);
const digits = Math.max(0, Math.min(6, Math.ceil(-Math.log10(span / (motion.time.length - 1) || 1) - 0.01)));

// Zoom: what stretch of time the plots show. It may not be shorter than a few frames.
const shortest = Math.min(span, 6 * span / Math.max(1, motion.time.length - 1));
function look(from, to) {
  const wide = Math.max(shortest, Math.min(span, to - from)), middle = (from + to) / 2;
  view.from = Math.max(motion.first, Math.min(motion.last - wide, middle - wide / 2));
  view.to = wide >= span ? motion.last : view.from + wide;
  const fine = Math.max(digits, Math.ceil(1 - Math.log10(wide || 1)));
  element("zoom-shown").textContent = zoomed() ? `${view.from.toFixed(fine)} to ${view.to.toFixed(fine)} s` : "whole run";
  element("zoom-shown").classList.toggle("unseen", !zoomed());
  element("zoom-out").disabled = element("zoom-whole").disabled = !zoomed();
  element("zoom-in").disabled = still || wide <= 1.001 * shortest;
  for (const plot of plots) { plot.draw(); plot.cursor(state.time); }
}
function zoom(by, about = state.time) { // the time `about` keeps its place in the panels
  const at = Math.max(view.from, Math.min(view.to, about)), wide = Math.max(shortest, Math.min(span, by * (view.to - view.from)));
  const from = at - (at - view.from) / (view.to - view.from || 1) * wide;
  look(from, from + wide);
}
const whole = () => look(motion.first, motion.last);
function follow() { // the cursor never leaves the panels: they turn over like pages while it runs
  const { time } = state, wide = view.to - view.from;
  if (time >= view.from && time <= view.to) return;
  const from = state.playing ? time : time - wide / 2;
  look(from, from + wide);
}

function hardest() { // the time of the hardest impact; the start where there is none
  let most = 0, at = motion.first;
  for (const item of content.impacts) take(item.v).forEach((v, k) => { if (v > most) { most = v; at = take(item.t)[k]; } });
  return at;
}

let due = false;
function render() {
  due = false;
  follow();
  stage.draw(state.time, state);
  for (const card of cards) card.draw(state.time, state);
  for (const plot of plots) plot.cursor(state.time);
  const spot = motion.spot(state.time);
  scrub.value = String(Math.round(spot.i + spot.f));
  scrub.setAttribute("aria-valuetext", `${state.time.toFixed(digits)} seconds`);
  element("clock").textContent = `${state.time.toFixed(digits)} / ${motion.last.toFixed(digits)} s`;
}
function ask() {
  if (!due) { due = true; requestAnimationFrame(render); }
}

function seek(t) {
  state.time = Math.max(motion.first, Math.min(motion.last, t));
  before = null;
  ask();
}

let before = null;
function tick(now) {
  if (!state.playing) return;
  if (before !== null) {
    const t = state.time + (now - before) / 1000 * state.speed;
    state.time = t > motion.last ? motion.first + (t - motion.last) % (span || 1) : t; // round and round
  }
  before = now;
  render();
  requestAnimationFrame(tick);
}

function run(on) {
  state.playing = on && !still;
  before = null;
  const button = element("play");
  button.classList.toggle("playing", state.playing);
  button.setAttribute("aria-label", state.playing ? "Pause (space)" : "Play (space)");
  if (state.playing) requestAnimationFrame(tick); else say();
}

// For those who do not see it: where things stand when they stand still.
let telling = 0;
function say() {
  clearTimeout(telling);
  telling = setTimeout(() => {
    element("said").textContent = [`t = ${state.time.toFixed(digits)} s`, ...cards.map(card => card.words)].join("; ");
  }, 300);
}

function step(frames) {
  run(false);
  const spot = motion.spot(state.time + 1e-9 * span), here = spot.i + spot.f;
  const next = frames > 0 ? Math.floor(here + 1e-3) + frames : Math.ceil(here - 1e-3) + frames;
  seek(motion.time[Math.max(0, Math.min(motion.time.length - 1, next))]);
  say();
}

function faster(by) {
  const at = Math.max(0, Math.min(SPEEDS.length - 1, SPEEDS.indexOf(state.speed) + by));
  state.speed = SPEEDS[at];
  element("speed").value = String(state.speed);
}

function exaggerate(share) {
  state.exaggeration = Math.max(0, Math.min(1, share));
  element("exaggeration").value = String(state.exaggeration);
  const factors = cards.map(card => card.most ** state.exaggeration), most = Math.max(...factors);
  const text = state.exaggeration === 0 ? "none: true scale" : `${Math.min(...factors) < 0.99 * most ? "up to " : ""}× ${shown(most, 3)}`;
  element("exaggeration-shown").textContent = text;
  element("exaggeration").setAttribute("aria-valuetext", text);
  ask();
}

function lengthen(share) { // of the trail: from nothing to the whole run, finer at the short end
  state.trail = span * share ** 3;
  const text = share === 0 ? "none" : share >= 1 ? "whole run" : `${shown(state.trail, 2)} s`;
  element("trail-shown").textContent = text;
  element("trail").setAttribute("aria-valuetext", text);
  ask();
}

element("play").addEventListener("click", () => run(!state.playing));
element("first").addEventListener("click", () => { seek(motion.first); say(); });
element("back").addEventListener("click", () => step(-1));
element("forth").addEventListener("click", () => step(1));
scrub.addEventListener("input", () => { seek(motion.time[Number(scrub.value)]); say(); });
element("speed").addEventListener("change", event => { state.speed = Number(event.target.value); });
element("exaggeration").addEventListener("input", event => exaggerate(Number(event.target.value)));
element("trail").addEventListener("input", event => lengthen(Number(event.target.value)));
for (const name of ["turning", "names", "paths", "ghost"]) element(name).addEventListener("change", event => { state[name] = event.target.checked; ask(); });
element("help").addEventListener("click", () => {
  element("keys").hidden = !element("keys").hidden;
  element("help").setAttribute("aria-expanded", String(!element("keys").hidden));
});
element("zoom-in").addEventListener("click", () => zoom(0.5));
element("zoom-out").addEventListener("click", () => zoom(2));
element("zoom-whole").addEventListener("click", whole);
for (const plot of plots) plot.onPoint({ seek: t => { seek(t); say(); }, choose: look, zoom, whole });

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target, slider = target.matches('input[type="range"]'), own = target === scrub;
  if (target.matches("select, textarea") || (slider && !own && !["[", "]", " ", "z", "x", "0"].includes(event.key))) return;
  if (event.key === " " && target.matches('button, summary, input[type="checkbox"], a')) return; // their own key
  const many = event.shiftKey ? 10 : 1;
  const actions = {
    " ": () => run(!state.playing), ArrowLeft: () => step(-many), ArrowRight: () => step(many),
    Home: () => { seek(motion.first); say(); }, End: () => { seek(motion.last); say(); },
    "+": () => faster(1), "=": () => faster(1), "-": () => faster(-1),
    z: () => zoom(0.5), Z: () => zoom(0.5), x: () => zoom(2), X: () => zoom(2), 0: whole,
    h: () => { run(false); seek(hardest()); say(); }, H: () => { run(false); seek(hardest()); say(); },
    "[": () => exaggerate(state.exaggeration - 0.05), "]": () => exaggerate(state.exaggeration + 0.05),
    Escape: () => { element("keys").hidden = true; element("help").setAttribute("aria-expanded", "false"); },
  };
  if (!actions[event.key] || ((event.key === "Home" || event.key === "End") && target.matches("pre"))) return;
  actions[event.key]();
  if (event.key !== "Escape") event.preventDefault();
});

// Colours: as the system says, or as chosen.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
let theme = "auto";
function colour(printing = false) {
  const on = !printing && (theme === "dark" || (theme === "auto" && dark.matches));
  document.documentElement.dataset.theme = on ? "dark" : "light";
  element("theme").textContent = `Colours: ${theme}`;
  readColours();
  resize();
}
element("theme").addEventListener("click", () => {
  theme = { auto: dark.matches ? "light" : "dark", light: dark.matches ? "dark" : "auto", dark: dark.matches ? "auto" : "light" }[theme];
  colour();
});
dark.addEventListener("change", () => colour());
window.addEventListener("beforeprint", () => {
  document.querySelector("details").open = true;
  document.documentElement.dataset.print = "";
  colour(true);
  render();
});
window.addEventListener("afterprint", () => {
  delete document.documentElement.dataset.print;
  colour();
});

function resize() {
  for (const plot of plots) plot.resize();
  const wide = window.innerWidth >= 900, ranks = Math.ceil(cards.length / (cards.length > 2 ? 2 : 1));
  const room = (window.innerHeight - 270) / Math.max(1, ranks) - 105; // of each picture, so that all are in sight
  for (const card of cards) card.resize(wide ? Math.max(160, Math.min(330, room)) : 280);
  const beneath = element("contacts").hidden ? 0 : element("contacts").offsetHeight + 12;
  stage.resize(wide && cards.length ? element("joints").offsetHeight - beneath - 50 : 0);
  element("scale-note").textContent = `One square is ${length(ticks(0, stage.extent, GRID).step).replace(/\.0+(?= )/, "")}`;
  ask();
}
let width = 0;
new ResizeObserver(() => {
  if (document.body.clientWidth !== width) { width = document.body.clientWidth; resize(); }
}).observe(document.body);

// For tests and the curious: what is shown, and where it was drawn.
window.jointplay = {
  content, motion, twin, plays, state, seek, step, exaggerate, look, hardest,
  play: () => run(true),
  pause: () => run(false),
  position(body, t = state.time) {
    return motion.pose(content.bodies.findIndex(b => b.name === body), motion.spot(t));
  },
  // Places (m) read back from the pixels that were drawn last.
  drawn() {
    const back = points => Object.fromEntries(Object.entries(points).map(([name, at]) => [name, stage.world(at)]));
    return {
      time: stage.drawn.time, points: back(stage.drawn.points), bodies: back(stage.drawn.bodies),
      joints: Object.fromEntries(cards.map(card => [card.play.name, { ...card.drawn, scale: card.scale }])),
      cursors: plots.map(plot => view.from + (plot.at - plot.left) / (plot.sheet.width - plot.left - plot.right) * (view.to - view.from)),
      view: [view.from, view.to],
      limits: Object.fromEntries(plots.filter(plot => plot.limits).map(plot => [plot.chart.title, plot.limits])),
    };
  },
};

exaggerate(1);
lengthen(0.5);
colour();
whole();
const asked = /^#t=([0-9.eE+-]+)(%|%25)?$/.exec(window.location.hash); // seconds, or a share of the run
if (asked && Number.isFinite(Number(asked[1]))) { // whoever asks for a time wants to see it stand still
  const t = asked[2] ? motion.first + span * Number(asked[1]) / 100 : Number(asked[1]);
  state.time = Math.max(motion.first, Math.min(motion.last, t));
  render();
} else { // half a second before the hardest impact, moving unless the system asks for calm
  state.time = Math.max(motion.first, hardest() - 0.5 * state.speed);
  render();
  run(!window.matchMedia("(prefers-reduced-motion: reduce)").matches);
}
window.jointplay.ready = true;
