// What the page knows: the content as an object, its arrays as views of one block of 32-bit floats.
const content = JSON.parse(document.getElementById("data").textContent);

const block = (() => {
  const raw = atob(document.getElementById("numbers").textContent.trim());
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Float32Array(bytes.buffer);
})();

const take = ([start, count]) => block.subarray(start, start + count);

// The frames of a run: where time stands between two of them, and what is there.
class Motion {
  constructor(time, poses) {
    this.time = take(time);
    this.poses = poses.map(pose => ({ x: take(pose.x), y: take(pose.y), angle: take(pose.angle) }));
  }

  get first() { return this.time[0]; }
  get last() { return this.time[this.time.length - 1]; }

  // Whether something is known of a time; a record may end a sample before another.
  knows(t) {
    const near = 0.01 * (this.last - this.first);
    return t >= this.first - near && t <= this.last + near;
  }

  // The frame at or before t, and the share of the way to the next one.
  spot(t) {
    const { time } = this;
    const end = time.length - 1;
    if (end === 0 || t <= time[0]) return { i: 0, f: 0 };
    if (t >= time[end]) return { i: end, f: 0 };
    const [low, high] = around(time, t);
    return { i: low, f: (t - time[low]) / (time[high] - time[low]) };
  }

  pose(body, spot) {
    if (body < 0) return { x: 0, y: 0, angle: 0 };
    const p = this.poses[body];
    return { x: mix(p.x, spot), y: mix(p.y, spot), angle: mix(p.angle, spot) };
  }

  // A point given in a body's axes from its mass centre.
  point(body, [x, y], spot) {
    const p = this.pose(body, spot), c = Math.cos(p.angle), s = Math.sin(p.angle);
    return [p.x + c * x - s * y, p.y + s * x + c * y];
  }
}

function mix(array, { i, f }) {
  return f === 0 || i + 1 >= array.length ? array[i] : array[i] + f * (array[i + 1] - array[i]);
}

// The neighbours of t among increasing times.
function around(time, t) {
  let low = 0, high = time.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (time[middle] <= t) low = middle; else high = middle;
  }
  return [low, high];
}

// The value of a curve at a time: between its points, or nothing in a gap.
function curveAt(time, values, t) {
  if (!time.length || t < time[0] || t > time[time.length - 1]) return NaN;
  const [low, high] = around(time, t);
  const span = time[high] - time[low];
  return span > 0 ? values[low] + (t - time[low]) / span * (values[high] - values[low]) : values[low];
}

const motion = new Motion(content.time, content.poses);
const twin = content.twin ? new Motion(content.twin.time, content.twin.poses) : null;

// Joints with play: arrays in place of places.
const plays = content.plays.map(play => ({
  ...play,
  ...Object.fromEntries(["x", "y", "turn", "tilt", "loadX", "loadY", "torque"].filter(k => play[k]).map(k => [k, take(play[k])])),
  gaps: play.gaps.map(take),
  modes: play.modes.map(take),
  normal: play.normal ? play.normal.map(take) : null,
}));
