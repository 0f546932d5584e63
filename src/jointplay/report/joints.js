// A joint with play, magnified: the inner part moves in the outer one.  The outer part keeps its size; exaggeration k
// draws gap and eccentricity k times as large, and the inner part as much smaller as that needs.
const WIDEST = 0.42; // share of the outer part's half size that the exaggerated play may take

class JointCard {
  constructor(play, parent) {
    this.play = play;
    this.round = play.shape === "round";
    this.unit = play.unit === "rad" ? angle : length;
    // A part whose size is not given is drawn as a nominal one, and the card says so: play is magnified beside that.
    this.inner = play.radius || (play.length ? play.length / 8 : 20 * play.clearance);
    this.most = play.shape === "floor" ? 1 : Math.max(1, WIDEST * (this.inner + play.clearance) / play.clearance);
    this.canvas = make("canvas", { role: "img" });
    this.gap = make("dd");
    this.force = make("dd");
    this.mode = make("span", { class: "mode" });
    const list = make("dl", {}, make("dt", { text: "gap" }), this.gap, make("dt", { text: play.torque ? "torque" : "force" }), this.force);
    const between = [play.inner, play.outer].map(b => b < 0 ? "ground" : content.bodies[b].name).join(play.shape === "floor" ? " on " : " in ");
    const size = `${between}, ${play.shape === "floor" ? "gap up to" : play.unit === "rad" ? "play" : "clearance"} ${this.unit(play.clearance)}${play.radius || play.unit === "rad" || play.shape === "floor" ? "" : `, radius not given, drawn as ${this.unit(this.inner)}`}`;
    const head = make("header", {}, make("div", { class: "head" }, make("h3", { text: play.name }), this.mode), make("div", { class: "size", text: size }));
    this.node = make("article", { class: "joint card", "aria-label": `Joint ${play.name}, magnified` }, head, this.canvas, list);
    parent.append(this.node);
    this.sheet = new Sheet(this.canvas);
    this.drawn = {};
    this.canvas.setAttribute("aria-label", `${play.name}: ${play.words}`);
  }

  resize(tallest) {
    const width = this.canvas.clientWidth;
    this.sheet.resize(Math.round(Math.min(tallest, this.round ? width : 0.62 * width)));
    const { height } = this.sheet;
    this.half = this.round ? 0.39 * Math.min(width, height) : 0.27 * height; // of the outer part, px
    this.scale = this.half / (this.inner + this.play.clearance);
  }

  // Numbers at a time: offset and load in the axes of the picture, gaps, modes.
  state(t, turning) {
    const { play } = this, spot = motion.spot(t), near = Math.min(play.x.length - 1, spot.i + (spot.f >= 0.5 ? 1 : 0));
    const turn = mix(play.turn, spot), fixed = turning || !this.round ? 0 : turn;
    const load = play.loadX ? spin(mix(play.loadX, spot), mix(play.loadY, spot), fixed - turn) : [0, 0];
    return {
      spot, turn, fixed, load,
      offset: spin(mix(play.x, spot), mix(play.y, spot), fixed),
      tilt: mix(play.tilt, spot),
      gaps: play.gaps.map(gap => mix(gap, spot)),
      modes: play.modes.map(mode => Math.round(mode[near])),
      normal: play.normal ? play.normal.map(force => mix(force, spot)) : null,
    };
  }

  draw(t, options) {
    const { play, sheet } = this, { pen } = sheet, now = this.state(t, options.turning);
    const factor = this.most ** options.exaggeration;
    sheet.clear();
    this.drawn = { factor, outer: this.half, centre: [sheet.width / 2, sheet.height / 2] };
    pen.save();
    pen.translate(...this.drawn.centre);
    if (this.round) this.bearing(pen, now, factor, t, options);
    else if (play.shape === "floor") this.floor(pen, now);
    else this.channel(pen, now, factor);
    pen.restore();
    this.say(now, factor);
  }

  bearing(pen, now, k, t, options) {
    const { play, half, scale } = this, size = half * 1.22, ring = bodyColour(play.outer), pin = bodyColour(play.inner);
    const outer = now.fixed, inner = outer + now.tilt; // angles of both bodies in the picture
    disc(pen, 0, 0, size);
    pen.fillStyle = faded(ring, 0.28);
    pen.fill();
    pen.strokeStyle = ring;
    pen.lineWidth = 1.4;
    pen.stroke();
    for (let n = 0; n < 8; n++) { // notches show how the bearing turns
      const a = outer + n * Math.PI / 4, c = Math.cos(a), s = -Math.sin(a);
      trace(pen, [[c * size, s * size], [c * (n ? size - 5 : half + 3), s * (n ? size - 5 : half + 3)]]);
      pen.lineWidth = n ? 1.2 : 2.6;
      pen.stroke();
    }
    disc(pen, 0, 0, half);
    pen.fillStyle = palette.card;
    pen.fill();
    pen.strokeStyle = ring;
    pen.lineWidth = 1.6;
    pen.stroke();
    const [ex, ey] = now.offset.map(x => k * scale * x), x = ex, y = -ey, radius = half - k * scale * play.clearance;
    disc(pen, x, y, radius);
    pen.fillStyle = faded(pin, 0.34);
    pen.fill();
    pen.strokeStyle = pin;
    pen.lineWidth = 1.6;
    pen.stroke();
    trace(pen, [[x + 0.55 * radius * Math.cos(inner), y - 0.55 * radius * Math.sin(inner)], [x + radius * Math.cos(inner), y - radius * Math.sin(inner)]]);
    pen.lineWidth = 2.6;
    pen.stroke();
    disc(pen, 0, 0, k * scale * play.clearance); // where the centre may be
    pen.setLineDash([3, 3]);
    pen.strokeStyle = palette.soft;
    pen.lineWidth = 1;
    pen.stroke();
    pen.setLineDash([]);
    this.trail(pen, t, k, now, options);
    disc(pen, x, y, 3);
    pen.fillStyle = palette.ink;
    pen.fill();
    const [cx, cy] = this.drawn.centre;
    Object.assign(this.drawn, { journal: radius, at: [cx + x, cy + y], contact: null });
    if (now.modes[0] > 0) {
      const away = Math.hypot(x, y) || 1, rim = [x / away * half, y / away * half];
      this.drawn.contact = [cx + rim[0], cy + rim[1]];
      this.push(pen, rim, now.load, now.modes[0]);
    }
  }

  push(pen, at, [fx, fy], mode) {
    const size = Math.hypot(fx, fy), longest = 0.85 * this.half;
    if (size > 0 && this.play.force > 0) {
      const long = Math.sqrt(Math.min(1, size / this.play.force)) * longest;
      arrow(pen, ...at, fx / size * long, -fy / size * long, palette.accent);
    }
    disc(pen, ...at, 4.6);
    pen.fillStyle = mode === 1 ? palette.modes[1] : palette.accent;
    pen.fill();
    pen.strokeStyle = palette.card;
    pen.lineWidth = 1.5;
    pen.stroke();
  }

  trail(pen, t, k, now, { trail, turning }) {
    if (!(trail > 0)) return;
    const { play, scale } = this, { time } = motion, last = now.spot.i;
    let first = last;
    while (first > 0 && time[first] > t - trail) first--;
    const every = Math.max(1, Math.ceil((last - first) / 500)), points = [];
    for (let i = last - Math.floor((last - first) / every) * every; i <= last; i += every) {
      const [x, y] = spin(play.x[i], play.y[i], turning ? 0 : play.turn[i]);
      points.push([k * scale * x, -k * scale * y, play.modes[0][i] > 0]);
    }
    points.push([k * scale * now.offset[0], -k * scale * now.offset[1], now.modes[0] > 0]);
    const rim = 0.99 * k * scale * play.clearance; // of two points in contact far apart it is not known how it went
    const leap = ([x, y, shut], [u, v, before]) => shut && before && Math.hypot(x + u, y + v) / 2 < rim;
    pen.lineWidth = 1.4;
    pen.lineJoin = pen.lineCap = "round";
    for (let part = 0; part < 12; part++) { // older is paler
      const a = Math.floor(part * (points.length - 1) / 12), b = Math.floor((part + 1) * (points.length - 1) / 12);
      if (b <= a) continue;
      pen.beginPath();
      for (let i = a; i <= b; i++) {
        const [x, y] = points[i];
        if (i === a || leap(points[i], points[i - 1])) pen.moveTo(x - 0.01, y);
        pen.lineTo(x, y);
      }
      pen.strokeStyle = faded(palette.accent, 0.08 + 0.92 * (part + 1) / 12);
      pen.stroke();
    }
  }

  // A bar in a bore, a block in a guide, a pin in a slot, a tooth between flanks: lying, in the outer part's frame.
  channel(pen, now, k) {
    const { play, half, scale, sheet } = this, wide = sheet.width / 2, out = bodyColour(play.outer), into = bodyColour(play.inner);
    const long = 0.62 * wide, end = play.longInner ? long : wide + 4, wall = 0.5 * half;
    for (const up of [-1, 1]) {
      const [y, high] = up > 0 ? [-half - wall, wall] : [half, wall];
      pen.fillStyle = faded(out, 0.28);
      pen.fillRect(-end, y, 2 * end, high);
      pen.strokeStyle = out;
      pen.lineWidth = 1.6;
      pen.strokeRect(-end, y, 2 * end, high);
    }
    const [cx, cy] = this.drawn.centre, gap = i => k * scale * now.gaps[i];
    pen.fillStyle = faded(into, 0.34);
    pen.strokeStyle = into;
    pen.lineWidth = 1.6;
    let corners;
    if (play.shape === "block") { // gaps: front upper, front lower, rear upper, rear lower
      corners = [[long, -(half - gap(0))], [long, half - gap(1)], [-long, -(half - gap(2))], [-long, half - gap(3)]];
      const reach = play.longInner ? wide + 6 : long, at = (a, b, x) => b[1] + (x + long) / (2 * long) * (a[1] - b[1]);
      trace(pen, [
        [reach, at(corners[0], corners[2], reach)], [reach, at(corners[1], corners[3], reach)],
        [-reach, at(corners[1], corners[3], -reach)], [-reach, at(corners[0], corners[2], -reach)],
      ]);
      pen.closePath();
      this.drawn.at = [cx, cy + (corners[0][1] + corners[1][1] + corners[2][1] + corners[3][1]) / 4];
    } else {
      const y = (gap(0) - gap(1)) / 2, radius = half - (gap(0) + gap(1)) / 2;
      corners = [[0, y - radius], [0, y + radius]];
      if (play.shape === "pin") disc(pen, 0, y, radius);
      else trace(pen, [[-0.5 * radius, y - radius], [0.5 * radius, y - radius], [1.1 * radius, y + radius], [-1.1 * radius, y + radius]]);
      pen.closePath();
      this.drawn.at = [cx, cy + y];
    }
    pen.fill();
    pen.stroke();
    this.drawn.corners = corners.map(([x, y]) => [cx + x, cy + y]);
    this.drawn.lit = now.modes.map(mode => mode > 0);
    pen.setLineDash([8, 4, 2, 4]);
    trace(pen, [[-wide, 0], [wide, 0]]);
    pen.strokeStyle = palette.soft;
    pen.lineWidth = 0.8;
    pen.stroke();
    pen.setLineDash([]);
    corners.forEach(([x, y], i) => {
      const down = i % 2 === 0 ? -1 : 1; // an upper contact pushes the inner part down
      if (now.modes[i] > 0) {
        const force = now.normal ? now.normal[i] : Math.abs(now.load[1]);
        this.push(pen, [x, down * half], [0, force * down], now.modes[i]);
      } else {
        disc(pen, x, y, 3.2);
        pen.fillStyle = palette.card;
        pen.fill();
        pen.strokeStyle = palette.soft;
        pen.lineWidth = 1.2;
        pen.stroke();
      }
    });
  }

  // Something over a floor: the nearest gap, from 0 to the largest that the run has.
  floor(pen, now) {
    const { play, half, sheet } = this, wide = sheet.width / 2, ground = bodyColour(play.outer), body = bodyColour(play.inner);
    const gap = Math.min(...now.gaps), lift = 0.8 * half * Math.max(-0.1, gap / play.clearance), radius = 0.8 * half, y = half - lift - radius;
    pen.fillStyle = faded(ground, 0.28);
    pen.fillRect(-wide, half, 2 * wide, half);
    trace(pen, [[-wide, half], [wide, half]]);
    pen.strokeStyle = ground;
    pen.lineWidth = 1.6;
    pen.stroke();
    disc(pen, 0, y, radius);
    pen.fillStyle = faded(body, 0.34);
    pen.fill();
    pen.strokeStyle = body;
    pen.stroke();
    trace(pen, [[0, y], [radius * Math.cos(now.tilt), y - radius * Math.sin(now.tilt)]]);
    pen.stroke();
    const [cx, cy] = this.drawn.centre;
    Object.assign(this.drawn, { at: [cx, cy + y], corners: [[cx, cy + y + radius]], lit: [now.modes.some(mode => mode > 0)] });
    const closed = now.modes.filter(mode => mode > 0);
    if (closed.length) this.push(pen, [0, half], now.load, Math.min(...closed));
  }

  say(now, factor) {
    const { play, sheet } = this, { pen } = sheet, closed = now.modes.filter(mode => mode > 0);
    pen.font = `12px ${FONT}`;
    pen.textAlign = "left";
    pen.textBaseline = "top";
    pen.fillStyle = palette.soft;
    const small = sheet.width < 230, times = `× ${shown(factor, 3)}`;
    if (play.shape !== "floor") pen.fillText(factor < 1.005 ? (small ? "× 1" : "true scale") : small ? times : `play ${times}`, 2, 2);
    const gap = Math.min(...now.gaps);
    this.gap.textContent = Math.abs(gap) > 1e-6 * play.clearance ? this.unit(gap) : "0";
    const torque = play.torque ? mix(play.torque, now.spot) : 0;
    this.force.textContent = play.torque ? `${shown(torque, 4)} N m` : play.loadX ? `${shown(Math.hypot(...now.load), 4)} N` : "–";
    const mode = closed.length ? Math.min(...closed) : 0;
    const words = content.modes[mode] + (play.shape === "block" && closed.length ? `, ${corners(now.modes)}` : "");
    const chip = make("span", { class: "chip", "aria-hidden": "true" });
    chip.style.background = palette.modes[mode];
    this.mode.replaceChildren(chip, words);
    this.words = `${play.name} ${words}, ${this.force.textContent}`;
  }
}

function corners(modes) {
  const lit = modes.map(mode => mode > 0), count = lit.filter(Boolean).length;
  if (count === 1) return "1 corner";
  if (count === 2) return (lit[0] && lit[2]) || (lit[1] && lit[3]) ? "one side" : lit[0] && lit[1] || lit[2] && lit[3] ? "one end" : "opposite corners";
  return `${count} corners`;
}

function spin(x, y, angle) {
  const c = Math.cos(angle), s = Math.sin(angle);
  return [c * x - s * y, s * x + c * y];
}
