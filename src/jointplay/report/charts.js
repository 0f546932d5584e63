// Curves over time, the timeline of the contacts and the impacts as stems; a cursor stands on all of them.
const ROOM = { left: 50, right: 10, top: 6, bottom: 22 };

// The stretch of time that all plots show.
const view = { from: motion.first, to: motion.last };
const inView = time => [around(time, view.from)[0], around(time, view.to)[1]];
const zoomed = () => view.to - view.from < 0.999999 * (motion.last - motion.first);

// Bottom and top of a panel: as given for the whole run; of a stretch, what is to be seen there.
function limits({ low, high, turns }, values) {
  if (!zoomed() || turns) return [low, high];
  let least = low === 0 ? 0 : Infinity, most = -Infinity; // an axis that starts at zero goes on doing so
  for (const v of values()) { if (v < least) least = v; if (v > most) most = v; }
  if (!(most >= least)) return [low, high];
  const small = 1e-4 * (high - low), lack = Math.max(0, small - (most - least)), margin = 0.05 * Math.max(small, most - least);
  return [least === 0 && low === 0 ? 0 : least - lack / 2 - margin, most + lack / 2 + margin];
}

class Plot {
  constructor(parent, label) {
    this.canvas = make("canvas", { role: "img", "aria-label": label });
    this.line = make("div", { class: "cursor", "aria-hidden": "true" });
    this.band = make("div", { class: "band", "aria-hidden": "true", hidden: "" });
    this.area = make("div", { class: "plot" }, this.canvas, this.band, this.line);
    parent.append(this.area);
    this.sheet = new Sheet(this.canvas);
    this.left = ROOM.left;
    this.right = ROOM.right;
  }

  // A drag moves through time; with Shift it chooses a stretch to zoom to. Ctrl and wheel (or two fingers on a pad) zoom.
  onPoint({ seek, choose, zoom, whole }) {
    const share = event => {
      const box = this.canvas.getBoundingClientRect();
      return Math.max(0, Math.min(1, (event.clientX - box.left - this.left) / (box.width - this.left - this.right)));
    };
    const time = event => view.from + share(event) * (view.to - view.from);
    let anchor = null;
    const mark = event => {
      const [a, b] = [anchor, time(event)].sort((x, y) => x - y);
      this.band.hidden = false;
      this.band.style.left = `${100 * this.x(a) / this.sheet.width}%`;
      this.band.style.width = `${100 * (this.x(b) - this.x(a)) / this.sheet.width}%`;
    };
    this.area.addEventListener("pointerdown", event => {
      if (event.button) return;
      this.area.setPointerCapture(event.pointerId);
      if (event.shiftKey) { anchor = time(event); mark(event); } else seek(time(event));
    });
    this.area.addEventListener("pointermove", event => {
      if (!this.area.hasPointerCapture(event.pointerId)) return;
      if (anchor !== null) mark(event); else seek(time(event));
    });
    const done = event => {
      if (anchor === null) return;
      const [a, b] = [anchor, time(event)].sort((x, y) => x - y), wide = this.x(b) - this.x(a) > 4;
      anchor = null;
      this.band.hidden = true;
      if (wide && event.type === "pointerup") choose(a, b);
    };
    this.area.addEventListener("pointerup", done);
    this.area.addEventListener("pointercancel", done);
    this.area.addEventListener("dblclick", whole);
    this.area.addEventListener("wheel", event => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 200))), time(event));
    }, { passive: false });
  }

  x(t) {
    const span = view.to - view.from || 1;
    return this.left + (t - view.from) / span * (this.sheet.width - this.left - this.right);
  }

  // Run what draws inside the panel only.
  within(pen, paint) {
    const { width, height } = this.sheet;
    pen.save();
    pen.beginPath();
    pen.rect(this.left, ROOM.top - 4, width - this.left - this.right, height - ROOM.bottom - ROOM.top + 6);
    pen.clip();
    paint();
    pen.restore();
  }

  cursor(t) {
    this.at = this.x(t);
    this.line.style.left = `${100 * this.at / this.sheet.width}%`;
    this.line.hidden = t < view.from || t > view.to;
  }

  timeAxis(pen) {
    const { height, width } = this.sheet, bottom = height - ROOM.bottom;
    const { step, marks } = ticks(view.from, view.to, Math.max(2, Math.floor((width - this.left) / 75)));
    pen.font = `11px ${FONT}`;
    pen.fillStyle = palette.soft;
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const mark of marks) {
      const x = this.x(mark);
      pen.strokeStyle = palette.faint;
      trace(pen, [[x, ROOM.top], [x, bottom]]);
      pen.stroke();
      const text = timeText(mark, step), half = pen.measureText(text).width / 2;
      pen.fillText(text, Math.min(x, width - half - 1), bottom + 5);
    }
    pen.textAlign = "left";
    pen.fillText("s", 2, bottom + 5);
  }
}

class Chart extends Plot {
  constructor(chart, parent) {
    const words = [chart.note, chart.curves.some(curve => curve.twin) ? "dashed: ideal joints" : ""].filter(Boolean);
    const note = make("span", { class: "note", text: words.join(" · ") });
    const head = make("div", { class: "head" }, make("h3", { text: `${chart.title} (${chart.unit.replaceAll(" ", "\u00a0")})` }), note);
    const keys = make("div", { class: "keys" });
    const node = make("figure", { class: "chart card" }, head, keys);
    parent.append(node);
    super(node, "");
    this.chart = chart;
    this.node = node;
    const names = [...new Set(chart.curves.map(curve => curve.name))];
    this.curves = chart.curves.map(curve => ({ ...curve, t: take(curve.t), v: take(curve.v), colour: names.indexOf(curve.name) }));
    const own = this.curves.filter(curve => !curve.twin), near = 0.005 * (chart.high - chart.low);
    own.forEach((curve, i) => { curve.over = own.slice(0, i).some(other => alike(curve, other, near)); });
    this.hidden = new Set();
    this.values = new Map();
    for (const [i, name] of names.entries()) {
      const sample = make("i"), value = make("span", { class: "value" });
      sample.style.borderTopColor = `var(--c${i % 7})`;
      const button = make("button", { type: "button", "aria-pressed": "true" }, sample, name, value);
      button.addEventListener("click", () => {
        const off = !this.hidden.delete(name) && this.hidden.add(name);
        button.setAttribute("aria-pressed", String(!off));
        this.draw();
      });
      keys.append(button);
      this.values.set(name, value);
    }
    this.canvas.setAttribute("aria-label", this.summary());
  }

  summary() {
    const parts = this.curves.filter(curve => !curve.twin).map(curve => {
      let low = Infinity, high = -Infinity;
      for (const v of curve.v) { if (v < low) low = v; if (v > high) high = v; }
      return `${curve.name} from ${shown(low, 3)} to ${shown(high, 3)}`;
    });
    return `${this.chart.title} in ${this.chart.unit} over time: ${parts.join("; ")}`;
  }

  resize() {
    this.sheet.resize(Math.round(Math.max(150, Math.min(210, 0.4 * this.canvas.clientWidth))));
    this.draw();
  }

  *inSight() {
    for (const curve of this.curves) {
      if (this.hidden.has(curve.name)) continue;
      const [first, last] = inView(curve.t);
      for (let i = first; i <= last; i++) yield curve.v[i];
    }
  }

  y(v) {
    const [low, high] = this.limits, bottom = this.sheet.height - ROOM.bottom;
    return bottom - (v - low) / (high - low) * (bottom - ROOM.top);
  }

  draw() {
    const { sheet, chart } = this, { pen } = sheet;
    this.limits = limits(chart, () => this.inSight());
    sheet.clear();
    pen.lineWidth = 1;
    this.timeAxis(pen);
    this.valueAxis(pen);
    this.within(pen, () => this.drawCurves(pen));
    for (const mark of chart.marks) this.mark(pen, mark);
  }

  drawCurves(pen) {
    pen.lineJoin = "round";
    for (const curve of [...this.curves].sort((a, b) => Number(b.twin) - Number(a.twin))) {
      if (this.hidden.has(curve.name)) continue;
      pen.strokeStyle = curve.twin ? faded(series(curve.colour), 0.6) : series(curve.colour);
      pen.lineWidth = curve.twin ? 1 : 1.4;
      pen.setLineDash(curve.twin ? [5, 3] : curve.over ? [9, 9] : []); // upon another: half of each is seen
      pen.beginPath();
      let down = false;
      const [first, last] = inView(curve.t);
      for (let i = first; i <= last; i++) {
        const v = curve.v[i];
        if (Number.isNaN(v)) { down = false; continue; }
        const y = Math.max(-1e4, Math.min(1e4, this.y(v)));
        if (down) pen.lineTo(this.x(curve.t[i]), y); else pen.moveTo(this.x(curve.t[i]), y);
        down = true;
      }
      pen.stroke();
    }
  }

  mark(pen, { curve, t, v }) {
    const found = this.curves.find(c => c.name === curve && !c.twin);
    if (!found || this.hidden.has(curve) || t < view.from || t > view.to) return;
    const x = this.x(t), y = Math.max(ROOM.top, this.y(v));
    pen.fillStyle = series(found.colour);
    if (v <= this.limits[1]) disc(pen, x, y, 3);
    else { trace(pen, [[x - 4, ROOM.top + 6], [x + 4, ROOM.top + 6], [x, ROOM.top - 1]]); pen.closePath(); }
    pen.fill();
  }

  valueAxis(pen) {
    const { turns } = this.chart, [low, high] = this.limits, { width, height } = this.sheet;
    let { step, marks } = ticks(low, high, Math.max(2, Math.floor(height / 42)));
    if (turns) marks = [-180, -90, 0, 90, 180].filter(v => v >= low - 0.1 && v <= high + 0.1);
    pen.font = `11px ${FONT}`;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (const mark of marks) {
      const y = this.y(mark), zero = Math.abs(mark) < 1e-9 * step;
      pen.strokeStyle = zero ? palette.line : palette.faint;
      trace(pen, [[this.left, y], [width - this.right, y]]);
      pen.stroke();
      pen.fillStyle = palette.soft;
      pen.fillText(turns ? String(mark).replace("-", "−") : tickText(mark, step), this.left - 5, y);
    }
  }

  value(v, off = 0) { // round-off is not worth digits; off: how far a value between points of a thinned curve may be off
    const text = shown(Math.abs(v) < 1e-9 * (this.chart.high - this.chart.low) ? 0 : v, 3);
    if (!(off > 0.005 * Math.abs(v))) return text;
    const digits = -Math.floor(Math.log10(off));
    return `${digits > 5 ? text : v.toFixed(Math.max(0, digits)).replace("-", "−")} ± ${Number(off.toPrecision(1))}`;
  }

  cursor(t) {
    super.cursor(t);
    for (const curve of this.curves) if (!curve.twin) this.values.get(curve.name).textContent = this.value(curveAt(curve.t, curve.v, t), curve.off);
  }
}

// Whether one curve lies upon another.
function alike(a, b, near) {
  return a.t.length === b.t.length && a.t.every((t, i) => t === b.t[i])
    && a.v.every((v, i) => Math.abs(v - b.v[i]) <= near || (Number.isNaN(v) && Number.isNaN(b.v[i])));
}

// Impacts: a stem each, as high as its impulse; of contacts that are measured alike.
class Stems extends Plot {
  constructor(parent, strength) {
    const struck = content.impacts.filter(item => item.strength === strength);
    const all = struck.reduce((sum, item) => sum + item.count, 0), some = struck.reduce((sum, item) => sum + item.shown, 0);
    const head = make("div", { class: "head" }, make("h3", { text: `Impacts: ${strength}` }), make("span", { class: "note", text: some < all ? `the ${some} hardest of ${all}` : `${all} impacts` }));
    const keys = make("div", { class: "keys" });
    const node = make("figure", { class: "chart card" }, head, keys);
    parent.append(node);
    super(node, `Impacts over time: ${struck.map(item => `${item.name} ${item.count}`).join(", ")}`);
    this.items = struck.map((item, i) => ({ ...item, t: take(item.t), v: take(item.v), colour: i }));
    const high = 1.08 * Math.max(...this.items.map(item => item.v.reduce((a, b) => Math.max(a, b), 0)), 1e-12);
    this.items.forEach((item, i) => {
      const sample = make("i");
      sample.style.borderTopColor = `var(--c${i % 7})`;
      keys.append(make("span", { class: "key" }, sample, `${item.name}: ${item.count}`));
    });
    this.chart = { title: "Impacts", low: 0, high };
  }

  resize() {
    this.sheet.resize(Math.round(Math.max(150, Math.min(210, 0.4 * this.canvas.clientWidth))));
    this.draw();
  }

  *inSight() {
    for (const { t, v } of this.items) for (let i = 0; i < t.length; i++) if (t[i] >= view.from && t[i] <= view.to) yield v[i];
  }

  draw() {
    const { pen } = this.sheet;
    this.limits = limits(this.chart, () => this.inSight());
    this.sheet.clear();
    pen.lineWidth = 1;
    this.timeAxis(pen);
    Chart.prototype.valueAxis.call(this, pen);
    this.within(pen, () => this.drawStems(pen));
  }

  drawStems(pen) {
    for (const item of this.items) {
      pen.strokeStyle = pen.fillStyle = series(item.colour);
      const many = item.shown > 150;
      pen.lineWidth = many ? 0.8 : 1.4;
      item.t.forEach((t, i) => {
        if (t < view.from || t > view.to) return;
        const x = this.x(t), y = this.y(item.v[i]);
        trace(pen, [[x, this.y(0)], [x, y]]);
        pen.stroke();
        disc(pen, x, y, many ? 1.6 : 2.6);
        pen.fill();
      });
    }
  }

  y(v) { return Chart.prototype.y.call(this, v); }
}

// When each contact is free, sliding, sticking.
class Timeline extends Plot {
  constructor(parent) {
    const used = new Set(content.timeline.flatMap(row => row.bars.map(bar => bar[0])));
    if (content.impacts.length) used.add(1);
    const legend = make("ul", { class: "legend" });
    for (const code of [...used].sort()) {
      const chip = make("span", { class: "chip", "aria-hidden": "true" });
      chip.style.background = `var(--m${code})`;
      legend.append(make("li", {}, chip, content.modes[code]));
    }
    parent.append(legend);
    const words = content.timeline.map(row => `${row.name} in contact ${shown(100 * row.touching, 3)} percent of the time`);
    super(parent, `Contact modes over time: ${words.join("; ")}`);
    const struck = content.impacts.flatMap(item => [...take(item.v)]);
    this.faint = 0.02 * struck.reduce((a, b) => Math.max(a, b), 0);
  }

  resize() {
    const rows = content.timeline, { pen } = this.sheet, row = this.canvas.clientWidth < 620 ? 24 : 26;
    pen.font = `12px ${FONT}`;
    const widest = Math.max(...rows.map(item => pen.measureText(item.name).width));
    this.left = Math.min(140, widest + 12);
    this.right = 58;
    this.row = row;
    this.sheet.resize(ROOM.top + row * rows.length + ROOM.bottom);
    this.draw();
  }

  draw() {
    const rows = content.timeline, { pen } = this.sheet, { row } = this;
    this.sheet.clear();
    this.timeAxis(pen);
    rows.forEach((item, i) => {
      const y = ROOM.top + i * row + 4, high = row - 8;
      pen.font = `12px ${FONT}`;
      pen.textBaseline = "middle";
      pen.textAlign = "right";
      pen.fillStyle = palette.ink;
      pen.fillText(item.name, this.left - 8, y + high / 2);
      this.within(pen, () => this.drawBars(pen, item, y, high));
      pen.textAlign = "left";
      pen.fillStyle = palette.soft;
      pen.fillText(`${(100 * item.touching).toFixed(1)} %`, this.sheet.width - this.right + 8, y + high / 2);
    });
  }

  drawBars(pen, item, y, high) {
    for (const [code, start, long] of item.bars) {
      if (start > view.to || start + long < view.from) continue;
      pen.fillStyle = palette.modes[code];
      const x = this.x(start);
      pen.fillRect(x, y, Math.max(this.x(start + long) - x, 0.6), high);
    }
    const struck = content.impacts.find(impacts => impacts.name === item.name);
    if (!struck) return;
    const strength = take(struck.v);
    pen.fillStyle = palette.modes[1];
    take(struck.t).forEach((t, k) => { if (strength[k] >= this.faint) pen.fillRect(this.x(t) - 0.6, y - 3, 1.2, high + 6); });
  }
}
