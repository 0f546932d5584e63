// Colours, numbers as text, and a canvas that fits its place.
const element = id => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") node.className = value;
    else if (key === "text") node.textContent = value;
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

const palette = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  const read = name => style.getPropertyValue(`--${name}`).trim();
  for (const name of ["ground", "card", "ink", "soft", "line", "faint", "accent", "cursor", "ghost", "metal"]) palette[name] = read(name);
  palette.series = [0, 1, 2, 3, 4, 5, 6].map(i => read(`c${i}`));
  palette.modes = content.modes.map((_, i) => read(`m${i}`));
}
const series = i => palette.series[i % palette.series.length];
const bodyColour = i => i < 0 ? palette.metal : series(i);

function faded(colour, alpha) {
  const n = parseInt(colour.slice(1), 16);
  return `rgba(${n >> 16},${(n >> 8) & 255},${n & 255},${alpha})`;
}

function blend(colour, other, share) {
  const part = (hex, k) => parseInt(hex.slice(1 + 2 * k, 3 + 2 * k), 16);
  return `rgb(${[0, 1, 2].map(k => Math.round(share * part(colour, k) + (1 - share) * part(other, k))).join()})`;
}
// Thinned with the colour of the card, not transparent: parts that overlap stay even.
const tint = colour => blend(colour, palette.card, 0.3);
// Mixed with the colour of text, so that words in it can be read.
const deep = colour => blend(colour, palette.ink, 0.6);

// Four digits that do not jump about while time runs.
function shown(x, digits = 4) {
  if (!Number.isFinite(x)) return "–";
  const size = Math.abs(x);
  if (size !== 0 && (size >= 1e5 || size < 1e-3)) return x.toExponential(2).replace("e+", "e").replaceAll("-", "−");
  const whole = size < 1 ? 0 : Math.floor(Math.log10(size));
  return x.toFixed(Math.max(0, digits - 1 - whole)).replace("-", "−");
}

function length(x) {
  const size = Math.abs(x);
  if (size === 0) return "0 m";
  for (const [factor, unit] of [[1, "m"], [1e-3, "mm"], [1e-6, "µm"]]) if (size >= 0.99 * factor) return `${shown(x / factor, 3)} ${unit}`;
  return `${shown(x / 1e-9, 3)} nm`;
}

// A small angle: degrees, or minutes of arc.
function angle(x) {
  const degrees = x * 180 / Math.PI;
  return degrees !== 0 && Math.abs(degrees) < 0.1 ? `${shown(60 * degrees, 3)} arcmin` : `${shown(degrees, 3)}°`;
}

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';

// A drawing area in CSS pixels, sharp on every screen.
class Sheet {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
  }

  resize(height) {
    const width = Math.max(40, this.canvas.clientWidth), ratio = Math.min(3, window.devicePixelRatio || 1);
    this.width = width;
    this.height = height;
    this.canvas.style.height = `${height}px`;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  clear() {
    this.pen.clearRect(0, 0, this.width, this.height);
  }
}

function trace(pen, points) {
  pen.beginPath();
  points.forEach(([x, y], i) => i ? pen.lineTo(x, y) : pen.moveTo(x, y));
}

function disc(pen, x, y, radius) {
  pen.beginPath();
  pen.arc(x, y, Math.max(0, radius), 0, 2 * Math.PI);
}

function arrow(pen, x, y, dx, dy, colour) {
  const size = Math.hypot(dx, dy);
  if (!(size > 1)) return;
  const head = Math.min(11, 3 + 0.45 * size), ux = dx / size, uy = dy / size;
  const bx = x + dx - ux * head, by = y + dy - uy * head;
  pen.save();
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = 2.6;
  pen.lineCap = "round";
  trace(pen, [[x, y], [bx, by]]);
  pen.stroke();
  trace(pen, [[x + dx, y + dy], [bx - uy * head * 0.48, by + ux * head * 0.48], [bx + uy * head * 0.48, by - ux * head * 0.48]]);
  pen.fill();
  pen.restore();
}

// Round steps for an axis: 1, 2 or 5 times a power of ten; one mark alone would give no scale.
function ticks(low, high, most) {
  const raw = (high - low) / Math.max(1, most), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(k => k * power).find(s => s >= raw * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found.length < 2 && most < 9 ? ticks(low, high, most + 1) : { step, marks: found };
}

function tickText(x, step) {
  const size = Math.max(Math.abs(x), step);
  if (Math.abs(x) < 1e-9 * step) return "0";
  if (size >= 1e5 || (step < 1e-4 && size < 100 * step)) return x.toExponential(1).replace("e+", "e").replaceAll("-", "−");
  return x.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9))).replace("-", "−");
}

// A time on an axis: as many decimals as its steps need, however far it is zoomed.
function timeText(t, step) {
  return step >= 1e5 ? tickText(t, step) : t.toFixed(Math.max(0, Math.min(9, -Math.floor(Math.log10(step) + 1e-9)))).replace("-", "−");
}
