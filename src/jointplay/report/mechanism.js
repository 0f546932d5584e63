// The mechanism to scale: links, sliders, guides, ground, springs, and the ideal twin behind.
const GRID = 9; // squares across, about

class MechanismView {
  constructor(figure) {
    this.canvas = figure.querySelector("canvas");
    this.sheet = new Sheet(this.canvas);
    this.drawn = {};
    this.put = new Map(); // where each name stood last
    const [left, bottom, right, top] = content.box;
    this.extent = Math.max(right - left, top - bottom, 1e-9);
    this.ends = content.joints.filter(joint => joint.ends);
    // Points that carry a joint or were given: what a body's shape spans.
    this.shapes = content.bodies.map((body, b) => {
      const found = this.ends.flatMap(joint => joint.ends).filter(end => end.body === b).map(end => end.at);
      return hull([...found, ...Object.values(body.points)], 1e-9 * this.extent ** 2);
    });
    this.sliding = new Set(this.ends.filter(joint => joint.block).map(joint => joint.ends[1].body));
    this.moving = this.ends.filter(joint => joint.path && joint.ends.some(end => end.body >= 0));
  }

  // beside: the height that what stands beside it leaves to fill, 0 if nothing does.
  resize(beside) {
    const [left, bottom, right, top] = content.box;
    const width = this.canvas.clientWidth;
    const pad = 0.09 * this.extent, w = right - left + 2 * pad, h = top - bottom + 2 * pad;
    const tallest = width < 620 ? 420 : Math.max(380, Math.min(0.64 * window.innerHeight, 680));
    const fitting = Math.min(tallest, Math.max(width < 620 ? 230 : 330, width * h / w));
    const height = Math.round(Math.max(fitting, Math.min(beside, 760)));
    this.sheet.resize(height);
    this.scale = Math.min(width / w, height / h);
    this.x0 = width / 2 - this.scale * (left + right) / 2;
    this.y0 = height / 2 + this.scale * (bottom + top) / 2;
    this.link = Math.max(6, Math.min(15, 0.022 * this.scale * this.extent));
    this.paths = null;
  }

  onto([x, y]) { return [this.x0 + this.scale * x, this.y0 - this.scale * y]; }
  world([x, y]) { return [(x - this.x0) / this.scale, (this.y0 - y) / this.scale]; }
  place(end, run, spot) { return this.onto(run.point(end.body, end.at, spot)); }

  draw(t, options) {
    const { pen } = this.sheet, spot = motion.spot(t);
    this.sheet.clear();
    this.grid(pen);
    if (options.paths) this.drawPaths(pen);
    for (const joint of this.ends) if (joint.guide) this.guide(pen, joint, spot);
    for (const spring of content.springs) this.spring(pen, spring.ends.map(end => this.place(end, motion, spot)));
    for (const joint of this.ends) if (joint.link) this.rod(pen, joint, spot);
    content.bodies.forEach((body, b) => { if (body.weight) this.weight(pen, body.weight, b, spot); });
    content.bodies.forEach((body, b) => this.body(pen, b, spot));
    for (const joint of this.ends) if (joint.block) this.slider(pen, joint, spot);
    for (const joint of this.ends) if (joint.wheel) this.wheel(pen, joint, spot);
    if (twin && options.ghost && twin.knows(t)) this.ghost(pen, twin.spot(t));
    this.drawn = { time: t, points: {}, bodies: {} };
    for (const joint of this.ends) this.joint(pen, joint, spot);
    content.bodies.forEach((body, b) => {
      const at = this.onto(motion.point(b, [0, 0], spot));
      this.drawn.bodies[body.name] = at;
      this.centre(pen, at, b);
    });
    if (options.names) this.names(pen, spot);
  }

  grid(pen) {
    const { width, height } = this.sheet;
    const [x1, y1] = this.world([0, height]), [x2, y2] = this.world([width, 0]);
    const { step } = ticks(0, this.extent, GRID);
    pen.strokeStyle = palette.faint;
    pen.lineWidth = 1;
    for (let k = Math.ceil(x1 / step); k * step < x2; k++) { const [x] = this.onto([k * step, 0]); trace(pen, [[x, 0], [x, height]]); pen.stroke(); }
    for (let k = Math.ceil(y1 / step); k * step < y2; k++) { const [, y] = this.onto([0, k * step]); trace(pen, [[0, y], [width, y]]); pen.stroke(); }
    this.gridStep = step;
  }

  drawPaths(pen) {
    this.paths ??= this.moving.map(joint => {
      const path = new Path2D(), end = joint.ends.find(e => e.body >= 0), every = Math.max(1, Math.floor(motion.time.length / 1500));
      for (let i = 0; i < motion.time.length; i += every) {
        const [x, y] = this.onto(motion.point(end.body, end.at, { i, f: 0 }));
        if (i) path.lineTo(x, y); else path.moveTo(x, y);
      }
      return path;
    });
    pen.strokeStyle = palette.line;
    pen.lineWidth = 1.2;
    for (const path of this.paths) pen.stroke(path);
  }

  ghost(pen, spot) {
    pen.save();
    pen.strokeStyle = palette.ghost;
    pen.lineWidth = 1.3;
    pen.setLineDash([6, 5]);
    this.shapes.forEach((shape, b) => {
      if (shape.length < 2) return;
      trace(pen, shape.map(at => this.onto(twin.point(b, at, spot))));
      if (shape.length > 2) pen.closePath();
      pen.stroke();
    });
    pen.setLineDash([]);
    for (const joint of this.ends) {
      const end = joint.ends.find(e => e.body >= 0);
      disc(pen, ...this.place(end, twin, spot), 0.3 * this.link);
      pen.stroke();
    }
    pen.restore();
  }

  body(pen, b, spot) {
    const shape = this.shapes[b], colour = bodyColour(b);
    const points = shape.map(at => this.onto(motion.point(b, at, spot)));
    pen.lineJoin = pen.lineCap = "round";
    if (points.length < 2) {
      if (this.sliding.has(b)) return; // drawn as a block on its guide
      const at = this.onto(motion.point(b, [0, 0], spot)), { angle } = motion.pose(b, spot);
      disc(pen, ...at, 1.1 * this.link);
      pen.fillStyle = tint(colour);
      pen.strokeStyle = colour;
      pen.lineWidth = 1.6;
      pen.fill();
      pen.stroke();
      trace(pen, [at, [at[0] + 1.1 * this.link * Math.cos(angle), at[1] - 1.1 * this.link * Math.sin(angle)]]);
      pen.stroke();
      return;
    }
    const outline = () => { trace(pen, points); if (points.length > 2) pen.closePath(); };
    outline();
    pen.lineWidth = this.link;
    pen.strokeStyle = colour;
    pen.stroke();
    pen.lineWidth = Math.max(1, this.link - 3.2);
    pen.strokeStyle = pen.fillStyle = tint(colour);
    pen.stroke();
    if (points.length > 2) pen.fill();
  }

  // A counterweight: a disc, the larger the heavier, on an arm from the nearest point of its body.
  weight(pen, weight, b, spot) {
    const heaviest = Math.max(...content.bodies.map(body => body.weight ? body.weight.mass : 0));
    const gap = at => Math.hypot(at[0] - weight.at[0], at[1] - weight.at[1]);
    const near = [...(this.shapes[b].length ? this.shapes[b] : [[0, 0]])].sort((one, two) => gap(one) - gap(two))[0];
    const at = this.onto(motion.point(b, weight.at, spot)), colour = bodyColour(b);
    pen.lineCap = "round";
    trace(pen, [this.onto(motion.point(b, near, spot)), at]);
    pen.lineWidth = 0.5 * this.link;
    pen.strokeStyle = colour;
    pen.stroke();
    disc(pen, ...at, this.link * (0.9 + 1.1 * Math.sqrt(weight.mass / heaviest)));
    pen.fillStyle = tint(colour);
    pen.lineWidth = 2;
    pen.fill();
    pen.stroke();
  }

  // Centre, direction (in pixels) and half sizes of what slides.
  block(joint, spot) {
    const [first, second] = joint.ends, angle = motion.pose(second.body, spot).angle - joint.angle;
    const c = Math.cos(angle), s = Math.sin(angle), [ax, ay] = joint.axis;
    const along = [c * ax - s * ay, -(s * ax + c * ay)];
    const half = Math.max(0.5 * joint.length * this.scale, 1.5 * this.link);
    return { at: this.place(second, motion, spot), along, half, wide: Math.min(half, 1.25 * this.link), first };
  }

  slider(pen, joint, spot) {
    const { at, along: [ux, uy], half, wide } = this.block(joint, spot), colour = bodyColour(joint.ends[1].body);
    pen.save();
    pen.translate(...at);
    pen.rotate(Math.atan2(uy, ux));
    pen.beginPath();
    pen.roundRect(-half, -wide, 2 * half, 2 * wide, 3);
    pen.fillStyle = tint(colour);
    pen.fill();
    pen.strokeStyle = colour;
    pen.lineWidth = 1.6;
    pen.stroke();
    pen.restore();
  }

  guide(pen, joint, spot) {
    const [first] = joint.ends, body = first.body, colour = body < 0 ? palette.soft : bodyColour(body);
    const groove = joint.guide === "groove", half = groove ? 0.8 * this.link : Math.max(0.5 * joint.length * this.scale, 1.5 * this.link);
    const [low, high] = joint.range, more = (half + (groove ? 0 : this.link)) / this.scale;
    const [ax, ay] = joint.axis, [px, py] = first.at;
    const from = this.onto(motion.point(body, [px + (low - more) * ax, py + (low - more) * ay], spot));
    const to = this.onto(motion.point(body, [px + (high + more) * ax, py + (high + more) * ay], spot));
    const size = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1, ux = (to[0] - from[0]) / size, uy = (to[1] - from[1]) / size;
    pen.save();
    pen.strokeStyle = colour;
    pen.lineWidth = 1.5;
    if (groove) {
      pen.lineCap = "round";
      pen.lineWidth = 1.7 * this.link;
      trace(pen, [from, to]);
      pen.stroke();
      pen.strokeStyle = palette.card;
      pen.lineWidth = 1.7 * this.link - 3;
      pen.stroke();
    } else if (body < 0) {
      const off = joint.guide === "line" ? 0 : 1.25 * this.link + 2, [nx, ny] = uy * ux <= 0 && ux > 0 ? [-uy, ux] : [-uy, ux];
      const a = [from[0] + nx * off, from[1] + ny * off], b = [to[0] + nx * off, to[1] + ny * off];
      trace(pen, [a, b]);
      pen.stroke();
      hatch(pen, a, b, [nx, ny]);
    } else {
      trace(pen, [from, to]);
      pen.lineWidth = Math.max(2, 0.45 * this.link);
      pen.strokeStyle = faded(colour, 0.75);
      pen.stroke();
    }
    pen.restore();
  }

  rod(pen, joint, spot) {
    trace(pen, joint.ends.map(end => this.place(end, motion, spot)));
    pen.strokeStyle = palette.ink;
    pen.lineWidth = 2;
    pen.stroke();
  }

  // A circle about the second point, with a spoke that turns with its body.
  wheel(pen, joint, spot) {
    const end = joint.ends[1], at = this.place(end, motion, spot), radius = joint.wheel * this.scale, colour = bodyColour(end.body);
    const { angle } = motion.pose(end.body, spot);
    disc(pen, ...at, radius);
    pen.fillStyle = faded(colour, 0.18);
    pen.fill();
    pen.strokeStyle = colour;
    pen.lineWidth = 1.6;
    pen.stroke();
    trace(pen, [at, [at[0] + radius * Math.cos(angle), at[1] - radius * Math.sin(angle)]]);
    pen.stroke();
  }

  spring(pen, [a, b]) {
    const size = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1, ux = (b[0] - a[0]) / size, uy = (b[1] - a[1]) / size, wide = 0.55 * this.link;
    const points = [a];
    for (let k = 0; k <= 12; k++) {
      const along = size * (0.15 + 0.7 * k / 12), off = k === 0 || k === 12 ? 0 : (k % 2 ? wide : -wide);
      points.push([a[0] + ux * along - uy * off, a[1] + uy * along + ux * off]);
    }
    trace(pen, [...points, b]);
    pen.strokeStyle = palette.soft;
    pen.lineWidth = 1.4;
    pen.stroke();
  }

  joint(pen, joint, spot) {
    const [first, second] = joint.ends, at = this.place(second, motion, spot);
    this.drawn.points[joint.name] = at;
    if (!joint.pins.length) return;
    const grounded = joint.ends.some(end => end.body < 0);
    const radius = 0.44 * this.link, loose = plays.some(play => play.name === joint.name);
    if (grounded && joint.support) this.support(pen, this.place(first.body < 0 ? first : second, motion, spot));
    for (const end of joint.pins.map(pin => this.place(joint.ends[pin], motion, spot))) {
      disc(pen, ...end, loose ? radius + 1 : radius);
      pen.fillStyle = palette.card;
      pen.fill();
      pen.strokeStyle = loose ? palette.accent : palette.ink;
      pen.lineWidth = loose ? 2.6 : 1.6;
      pen.stroke();
    }
  }

  support(pen, [x, y]) {
    const size = 1.5 * this.link;
    pen.strokeStyle = palette.soft;
    pen.fillStyle = palette.card;
    pen.lineWidth = 1.5;
    trace(pen, [[x, y], [x - 0.75 * size, y + size], [x + 0.75 * size, y + size]]);
    pen.closePath();
    pen.fill();
    pen.stroke();
    const a = [x - 1.1 * size, y + size], b = [x + 1.1 * size, y + size];
    trace(pen, [a, b]);
    pen.stroke();
    hatch(pen, a, b, [0, 1]);
  }

  centre(pen, [x, y], b) {
    const r = 3.2;
    for (const quarter of [0, 2]) {
      pen.beginPath();
      pen.moveTo(x, y);
      pen.arc(x, y, r, quarter * Math.PI / 2, (quarter + 1) * Math.PI / 2);
      pen.fillStyle = bodyColour(b);
      pen.fill();
    }
    disc(pen, x, y, r);
    pen.strokeStyle = bodyColour(b);
    pen.lineWidth = 1;
    pen.stroke();
  }

  // The middle lines of what is drawn, which names had better leave free.
  segments(spot) {
    return this.shapes.flatMap((shape, b) => {
      const points = shape.map(at => this.onto(motion.point(b, at, spot)));
      return points.slice(1).map((point, i) => [points[i], point]);
    });
  }

  names(pen, spot) {
    const taken = [], inked = this.segments(spot), blocks = this.ends.filter(joint => joint.block).map(joint => this.block(joint, spot));
    const put = (text, at, colour, weight) => {
      pen.font = `${weight} 12px ${FONT}`;
      const onBlock = blocks.some(block => Math.hypot(block.at[0] - at[0], block.at[1] - at[1]) < block.half);
      const wide = pen.measureText(text).width, gap = (onBlock ? 1.5 : 0.6) * this.link + 5;
      const places = [[gap, -gap], [-gap - wide, -gap], [gap, gap + 9], [-gap - wide, gap + 9]];
      const free = ([dx, dy]) => {
        const box = [at[0] + dx, at[1] + dy - 11, wide, 14];
        const inside = box[0] > 2 && box[0] + wide < this.sheet.width - 2 && box[1] > 2 && box[1] + 14 < this.sheet.height - 2;
        return inside && !taken.some(o => box[0] < o[0] + o[2] && o[0] < box[0] + box[2] && box[1] < o[1] + o[3] && o[1] < box[1] + box[3]);
      };
      // Beside the links if there is room, and where it was before as long as that will do.
      const clear = ([dx, dy]) => !inked.some(([a, b]) => crosses(a, b, at[0] + dx, at[1] + dy - 10, wide, 12));
      const before = places[this.put.get(text)], order = before ? [before, ...places] : places;
      const found = order.find(place => free(place) && clear(place)) ?? order.find(free);
      if (!found) return;
      this.put.set(text, places.indexOf(found));
      const [x, y] = [at[0] + found[0], at[1] + found[1]];
      taken.push([x, y - 11, wide, 14]);
      pen.lineWidth = 3;
      pen.strokeStyle = palette.card;
      pen.lineJoin = "round";
      pen.strokeText(text, x, y);
      pen.fillStyle = colour;
      pen.fillText(text, x, y);
    };
    for (const joint of this.ends) {
      const loose = plays.some(play => play.name === joint.name);
      put(joint.name, this.drawn.points[joint.name], loose ? palette.accent : palette.soft, 600);
    }
    content.bodies.forEach((body, b) => put(body.name, this.drawn.bodies[body.name], deep(bodyColour(b)), 500));
  }
}

// Whether a line from a to b passes a box, with room for half a link.
function crosses(a, b, left, top, wide, high) {
  const steps = Math.ceil(Math.hypot(b[0] - a[0], b[1] - a[1]) / 4), room = 3;
  for (let k = 0; k <= steps; k++) {
    const x = a[0] + (b[0] - a[0]) * k / (steps || 1), y = a[1] + (b[1] - a[1]) * k / (steps || 1);
    if (x > left - room && x < left + wide + room && y > top - room && y < top + high + room) return true;
  }
  return false;
}

function hatch(pen, a, b, [nx, ny]) {
  const size = Math.hypot(b[0] - a[0], b[1] - a[1]), count = Math.max(2, Math.round(size / 7));
  pen.save();
  pen.lineWidth = 1;
  pen.beginPath();
  for (let k = 0; k <= count; k++) {
    const x = a[0] + (b[0] - a[0]) * k / count, y = a[1] + (b[1] - a[1]) * k / count;
    pen.moveTo(x, y);
    pen.lineTo(x + 6 * nx - 5 * Math.abs(ny), y + 6 * ny - 5 * nx);
  }
  pen.stroke();
  pen.restore();
}

// The convex outline of points (monotone chain); those on a line, up to an area, become its two ends.
function hull(points, thin) {
  const sorted = [...new Map(points.map(p => [p.map(x => x.toFixed(9)).join(), p])).values()].sort((p, q) => p[0] - q[0] || p[1] - q[1]);
  if (sorted.length < 3) return sorted;
  const cross = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const half = list => {
    const made = [];
    for (const p of list) {
      while (made.length > 1 && cross(made[made.length - 2], made[made.length - 1], p) <= thin) made.pop();
      made.push(p);
    }
    return made.slice(0, -1);
  };
  const found = [...half(sorted), ...half(sorted.reverse())];
  return found.length > 1 ? found : [sorted[0], sorted[sorted.length - 1]];
}
