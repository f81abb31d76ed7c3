// curve.js - miss ratio curves on logarithmic axes, with what goes on every one:
// error bands, the machine's caches, and the cache size to drag.
import uPlot from "uplot";
import { h, svg, css, seriesColour, DASHES } from "./dom.js";
import { bytes, percent, largest, smallest } from "./units.js";

// Powers of two, few enough to be read.
function sizeTicks(min, max, room) {
  const first = Math.ceil(Math.log2(min) - 1e-9), last = Math.floor(Math.log2(max) + 1e-9);
  const step = [1, 2, 5, 10, 20].find((octaves) => (last - first) / octaves <= room) || 40;
  const ticks = [];
  for (let power = Math.ceil(first / step) * step; power <= last; power += step) ticks.push(2 ** power);
  return ticks.length > 1 ? ticks : [min, max];
}

function ratioTicks(min, max, logarithmic) {
  const ticks = [];
  if (logarithmic) for (let power = Math.round(Math.log10(min)); 10 ** power <= max * 1.001; power++) ticks.push(10 ** power);
  else {
    const step = [0.01, 0.02, 0.05, 0.1, 0.2].find((size) => max / size <= 6) || 0.2;
    for (let at = 0; at <= max + 1e-9; at += step) ticks.push(at);
  }
  return ticks;
}

const shortPercent = (ratio) => (ratio ? Number((ratio * 100).toPrecision(2)) : 0) + " %";

// Draws caches and the chosen size over the plot; drags the latter.
function sizePlugin(levels, chosen, choose) {
  const vertical = (u, value, colour, width, dash) => {
    const x = Math.round(u.valToPos(value, "x", true));
    if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return null;
    u.ctx.strokeStyle = colour;
    u.ctx.lineWidth = width * devicePixelRatio;
    u.ctx.setLineDash(dash.map((length) => length * devicePixelRatio));
    u.ctx.beginPath();
    u.ctx.moveTo(x, u.bbox.top);
    u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
    u.ctx.stroke();
    u.ctx.setLineDash([]);
    return x;
  };
  const draw = (u) => {
    u.ctx.save();
    u.ctx.font = 11 * devicePixelRatio + "px system-ui, sans-serif";
    u.ctx.textAlign = "left";
    u.ctx.textBaseline = "top";
    for (const level of levels) {
      const x = vertical(u, level.bytes, css("--level"), 1, [4, 3]);
      if (x === null) continue;
      u.ctx.fillStyle = css("--muted");
      u.ctx.fillText(level.name, x + 4 * devicePixelRatio, u.bbox.top + 3 * devicePixelRatio);
    }
    if (chosen) {
      const x = vertical(u, chosen(), css("--accent"), 2, []);
      if (x !== null) {
        const size = 7 * devicePixelRatio, foot = u.bbox.top + u.bbox.height;
        u.ctx.fillStyle = css("--accent");
        u.ctx.beginPath();
        u.ctx.moveTo(x, foot - size);
        u.ctx.lineTo(x - size, foot + size / 2);
        u.ctx.lineTo(x + size, foot + size / 2);
        u.ctx.fill();
      }
    }
    u.ctx.restore();
  };
  const ready = (u) => {
    if (!choose) return;
    let dragging = false;
    const take = (event) => choose(u.posToVal(event.clientX - u.over.getBoundingClientRect().left, "x"));
    u.over.classList.add("draggable");
    u.over.addEventListener("pointerdown", (event) => { dragging = true; u.over.setPointerCapture(event.pointerId); take(event); });
    u.over.addEventListener("pointermove", (event) => { if (dragging) take(event); });
    u.over.addEventListener("pointerup", () => { dragging = false; });
    u.over.addEventListener("pointercancel", () => { dragging = false; });
  };
  return { hooks: { draw, ready } };
}

// Curves: {label, points: [{bytes, miss_ratio, low, high}], band, colour index, width}.
// Points are carried on to `until`: beyond its footprint a larger cache changes nothing.
function aligned(curves, until, floor) {
  const clamp = (ratio) => (ratio === null ? null : Math.max(ratio, floor));
  const tables = curves.map((curve) => {
    const points = curve.points.slice();
    const last = points[points.length - 1];
    if (last && last.bytes < until) points.push({ ...last, bytes: until });
    return [points.map((p) => p.bytes), points.map((p) => clamp(p.miss_ratio)), points.map((p) => clamp(p.low ?? p.miss_ratio)),
      points.map((p) => clamp(p.high ?? p.miss_ratio))];
  });
  return uPlot.join(tables);
}

// What stands under the mouse: the size, and each curve there.
function tooltipPlugin(curves) {
  const box = h("div", { class: "tooltip", hidden: true });
  return { hooks: {
    ready: (u) => {
      u.over.append(box);
      u.over.addEventListener("pointerleave", () => { box.hidden = true; });
    },
    setCursor: (u) => {
      const { left, top } = u.cursor;
      if (left === undefined || left < 0) { box.hidden = true; return; }
      const size = u.posToVal(left, "x");
      const rows = curves().map((curve, i) => {
        let found = null;
        for (const point of curve.points) { if (point.bytes > size) break; found = point; }
        return found ? h("div", {}, swatch(curve.colour ?? i), " ", curve.label ? curve.label + ": " : "", ratioText(found)) : null;
      });
      box.replaceChildren(h("strong", {}, bytes(size)), ...rows.filter(Boolean));
      box.hidden = false;
      const right = left > u.over.clientWidth / 2;
      box.classList.toggle("to-left", right);
      u.over.style.setProperty("--tip-x", left + "px");
      u.over.style.setProperty("--tip-y", Math.min(top, u.over.clientHeight - 40) + "px");
    },
  } };
}

const ZOOM_LEAST = 2; // octaves

export function curveChart(options) {
  const { curves, levels, label } = options;
  const box = h("div", { class: "chart", role: "img", "aria-label": label });
  let plot = null, logarithmic = true, view = null; // the sizes shown, if not all
  const all = curves.flatMap((curve) => curve.points);
  const least = smallest(all.map((p) => p.bytes)), most = largest(all.map((p) => p.bytes));
  const until = options.until || largest(levels.map((level) => level.bytes), most) * 1.5;
  const positive = all.map((p) => p.miss_ratio).filter((ratio) => ratio > 0);
  const lowest = positive.length ? smallest(positive) : 0.01;
  const highest = all.reduce((a, p) => Math.max(a, p.high ?? p.miss_ratio), 0);
  const draw = () => {
    const width = Math.max(240, box.clientWidth || 900), height = options.height || 340;
    const bottom = logarithmic ? Math.max(1e-7, 10 ** Math.floor(Math.log10(lowest) + 1e-9)) : 0;
    const top = logarithmic ? 10 ** Math.ceil(Math.log10(highest || 1) - 1e-9) : Math.min(1, highest * 1.05 || 1);
    const series = [{}], bands = [];
    curves.forEach((curve, i) => {
      const colour = () => seriesColour(curve.colour ?? i), at = series.length;
      const line = { label: curve.label, stroke: colour, width: curve.width || 2, dash: DASHES[(curve.colour ?? i) % 8], spanGaps: true, points: { show: false } };
      const edge = { stroke: curve.band ? colour : "transparent", width: curve.band ? 0.5 : 0, spanGaps: true, points: { show: false }, show: Boolean(curve.band) };
      series.push(line, { ...edge }, { ...edge });
      if (curve.band) bands.push({ series: [at + 2, at + 1], fill: () => colour() + "33" });
    });
    const ink = () => css("--muted"), grid = { stroke: () => css("--grid"), width: 1 };
    if (plot) plot.destroy();
    plot = new uPlot({
      width, height, series, bands, legend: { show: false },
      padding: [8, 16, 0, 0],
      cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
      scales: {
        x: { time: false, distr: 3, log: 2, range: () => view || [least, until] },
        y: logarithmic ? { distr: 3, log: 10, range: [bottom, Math.max(top, bottom * 10)] } : { range: [0, top] },
      },
      axes: [
        { stroke: ink, grid, ticks: grid, splits: (u, axis, min, max) => sizeTicks(min, max, width / 80), values: (u, list) => list.map(bytes), filter: (u, list) => list },
        { stroke: ink, grid, ticks: grid, size: 64, splits: (u, axis, min, max) => ratioTicks(min, max, logarithmic), values: (u, list) => list.map(shortPercent), filter: (u, list) => list },
      ],
      plugins: [sizePlugin(levels, options.chosen, options.choose), tooltipPlugin(() => curves)],
    }, aligned(curves, until, bottom), box);
  };
  // `by` octaves of those shown now, around a size; 0: all.
  const zoom = (by, around = options.chosen ? options.chosen() : Math.sqrt(least * until)) => {
    const [from, to] = (view || [least, until]).map(Math.log2), whole = [least, until].map(Math.log2), middle = Math.min(to, Math.max(from, Math.log2(around)));
    const span = Math.max(ZOOM_LEAST, (to - from) * by), share = (middle - from) / (to - from || 1);
    let start = middle - share * span;
    start = Math.max(whole[0], Math.min(start, whole[1] - span));
    view = !by || span >= whole[1] - whole[0] ? null : [2 ** start, 2 ** (start + span)];
    if (plot) draw();
  };
  box.addEventListener("wheel", (event) => {
    if (!plot || !plot.over.contains(event.target)) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, "x"));
  }, { passive: false });
  // The same picture without a browser's canvas.
  const picture = () => {
    const wide = 900, tall = 400, left = 60, foot = 30, [from, to] = (view || [least, until]).map(Math.log2);
    const floor = Math.max(1e-7, lowest), top = Math.max(highest, floor * 10);
    const x = (size) => left + (Math.log2(size) - from) / (to - from || 1) * (wide - left - 10);
    const y = (ratio) => 10 + (tall - foot - 10) * (logarithmic ? 1 - (Math.log10(Math.max(ratio, floor)) - Math.log10(floor)) / (Math.log10(top) - Math.log10(floor)) : 1 - ratio / top);
    return svg("svg", { viewBox: `0 0 ${wide} ${tall}`, width: wide, height: tall },
      svg("rect", { x: 0, y: 0, width: wide, height: tall, fill: css("--paper") }),
      sizeTicks(2 ** from, 2 ** to, 12).map((size) => [svg("line", { x1: x(size), x2: x(size), y1: 10, y2: tall - foot, stroke: css("--grid") }), svg("text", { x: x(size), y: tall - 10, "text-anchor": "middle", fill: css("--muted"), "font-size": 12 }, bytes(size))]),
      ratioTicks(logarithmic ? 10 ** Math.ceil(Math.log10(floor)) : 0, top, logarithmic).map((ratio) => [svg("line", { x1: left, x2: wide - 10, y1: y(ratio), y2: y(ratio), stroke: css("--grid") }), svg("text", { x: left - 6, y: y(ratio) + 4, "text-anchor": "end", fill: css("--muted"), "font-size": 12 }, shortPercent(ratio))]),
      curves.map((curve, i) => svg("polyline", { fill: "none", stroke: seriesColour(curve.colour ?? i), "stroke-width": 2, "stroke-dasharray": DASHES[(curve.colour ?? i) % 8].join(" ") || null,
        points: curve.points.filter((p) => p.bytes >= 2 ** from - 1 && p.bytes <= 2 ** to).map((p) => `${x(p.bytes).toFixed(1)},${y(p.miss_ratio).toFixed(1)}`).join(" ") })));
  };
  new ResizeObserver(() => { if (plot && Math.abs(plot.width - box.clientWidth) > 1 && box.clientWidth > 0) plot.setSize({ width: box.clientWidth, height: plot.height }); }).observe(box);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plot && plot.redraw());
  return {
    box, draw, least, until, zoom, picture,
    redraw: () => plot && plot.redraw(false),
    setCurves: (changed) => { curves.splice(0, curves.length, ...changed); draw(); },
    setLogarithmic: (on) => { logarithmic = on; draw(); },
    legend: () => h("ul", { class: "legend" }, curves.map((curve, i) => h("li", {}, swatch(curve.colour ?? i), curve.label))),
  };
}

export function swatch(index) {
  const ns = "http://www.w3.org/2000/svg", picture = document.createElementNS(ns, "svg"), line = document.createElementNS(ns, "line");
  for (const [name, value] of Object.entries({ width: 28, height: 8, "aria-hidden": "true", class: "swatch" })) picture.setAttribute(name, value);
  for (const [name, value] of Object.entries({ x1: 0, x2: 28, y1: 4, y2: 4, class: "stroke-" + (index % 8), "stroke-dasharray": DASHES[index % 8].join(" ") })) line.setAttribute(name, value);
  picture.append(line);
  return picture;
}

export function ratioText(point) {
  const low = percent(point.low), high = percent(point.high);
  return percent(point.miss_ratio) + (point.high > point.low && low !== high ? ` (${low} to ${high})` : "");
}
