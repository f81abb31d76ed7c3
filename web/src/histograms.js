// histograms.js - reuse distances and intervals, four bins to an octave, and how
// phases and threads differ.
import { h, svg, fill, section, css } from "./dom.js";
import { bytes, count, percent, largest, smallest } from "./units.js";
import { curveChart } from "./curve.js";
import { snapped } from "./overview.js";

const PER_OCTAVE = 4;
const slot = (distance) => (distance < 1 ? 0 : 1 + Math.floor(Math.log2(distance) * PER_OCTAVE));
const slotStart = (index) => (index === 0 ? 0 : 2 ** ((index - 1) / PER_OCTAVE));

function slots(list) {
  const counts = [];
  for (const bin of list) {
    const at = slot(bin.lo);
    counts[at] = (counts[at] || 0) + bin.count;
  }
  return Array.from(counts, (value) => value || 0);
}

// Bars on a logarithmic axis; `missFrom` splits them by colour and pattern.
function bars(label, counts, total, extra, missFrom, unit) {
  const width = 900, height = 220, left = 56, foot = 34, usable = width - left - 12;
  const columns = counts.length + (extra ? 2 : 0), step = usable / Math.max(columns, 1);
  const most = largest(counts, Math.max(extra ? extra.count : 0, 1));
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "bars" });
  for (let i = 0; i <= 4; i++) {
    const y = 10 + (height - foot - 10) * (1 - i / 4);
    picture.append(svg("line", { x1: left, x2: width - 12, y1: y, y2: y, class: "grid" }),
      svg("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, percent(most * i / 4 / (total || 1))));
  }
  const bar = (index, value, className, title) => {
    const tall = (height - foot - 10) * value / most;
    if (value) picture.append(svg("rect", { x: left + index * step, y: height - foot - tall, width: Math.max(1, step - 1), height: tall, class: className }, svg("title", {}, title)));
  };
  counts.forEach((value, i) => bar(i, value, missFrom !== null && slotStart(i) >= missFrom ? "miss" : "hit",
    `${unit(slotStart(i))} to ${unit(slotStart(i + 1))}: ${count(value)} (${percent(value / (total || 1))})`));
  if (extra) {
    bar(counts.length + 1, extra.count, "cold", `${extra.name}: ${count(extra.count)} (${percent(extra.count / (total || 1))})`);
    picture.append(svg("text", { x: left + (counts.length + 1.5) * step, y: height - foot + 16, "text-anchor": "end", class: "strong" }, extra.name));
  }
  // How many of all references are at most so far apart, up to the top of the picture for all.
  let sum = 0;
  const steps = counts.map((value, i) => { sum += value; return `${(left + (i + 1) * step).toFixed(1)},${(height - foot - (height - foot - 10) * sum / (total || 1)).toFixed(1)}`; });
  if (steps.length) picture.append(svg("polyline", { points: `${left},${height - foot} ` + steps.join(" "), class: "cdf" }, svg("title", {}, `all of these: ${percent(sum / (total || 1))}`)),
    svg("text", { x: left + counts.length * step - 4, y: Math.max(20, height - foot - (height - foot - 10) * sum / (total || 1) - 5), "text-anchor": "end", class: "strong" }, percent(sum / (total || 1))));
  const every = Math.max(PER_OCTAVE, Math.ceil(counts.length / 10 / PER_OCTAVE) * PER_OCTAVE);
  const end = extra ? left + (counts.length + 1.5) * step - extra.name.length * 7 - 30 : width; // the name of the last bar stands there
  for (let i = 1; i < counts.length - every / 3 && left + i * step < end; i += every)
    picture.append(svg("text", { x: left + i * step, y: height - foot + 16, "text-anchor": "middle" }, unit(slotStart(i))));
  if (missFrom !== null) {
    const x = left + Math.min(counts.length, Math.max(0, 1 + Math.log2(missFrom) * PER_OCTAVE)) * step;
    picture.append(svg("line", { x1: x, x2: x, y1: 6, y2: height - foot, class: "chosen" }));
  }
  return picture;
}

export function histograms(page, state) {
  const distances = h("figure", {}), intervals = h("figure", {});
  let last = null;
  state.on(["bytes", "first"], ({ bytes: size, first }) => {
    const profile = page.profiles[first], json = profile.json;
    const lost = json.cold + json.invalidated;
    fill(distances, h("figcaption", {}, "Reuse distance: distinct other data between two uses of a line. Right of the line, reuses miss."),
      bars("Histogram of reuse distances; share of all references", slots(json.rd), json.references, lost ? { name: json.invalidated ? "cold, lost" : "cold", count: lost } : null,
        profile.lines(size), (lines) => bytes(lines * profile.line)),
      h("ul", { class: "legend" }, h("li", {}, h("i", { class: "key line" }), "cumulative, of all references"), h("li", {}, h("i", { class: "key hit" }), "found in the cache"), h("li", {}, h("i", { class: "key miss" }), "missed"), lost ? h("li", {}, h("i", { class: "key cold" }), "first touch" + (json.invalidated ? ", or lost to another thread" : "")) : null),
      quantiles(profile));
    if (last === profile) return;
    last = profile;
    fill(intervals, json.ri.length ? [h("figcaption", {}, "Reuse interval: references from one use of a line to the next."),
      bars("Histogram of reuse intervals; share of all references", slots(json.ri), json.references, null, null, count)] : []);
  });
  return section("histograms", "How far apart reuses are", null, distances, intervals);
}

function quantiles(profile) {
  const list = profile.json.rd, total = list.reduce((sum, bin) => sum + bin.count, 0);
  if (!total) return null;
  const wanted = [0.5, 0.7, 0.8, 0.9, 0.95, 0.99], found = [];
  let seen = 0;
  for (const bin of list) {
    seen += bin.count;
    while (found.length < wanted.length && seen >= wanted[found.length] * total) found.push(bin.hi === null ? "> " + bytes(bin.lo * profile.line) : bytes(bin.hi * profile.line));
  }
  return h("p", { class: "quantiles" }, "Reuses within: " + wanted.map((share, i) => `${Math.round(share * 100)} % ${found[i]}`).join(" · "));
}

// From blue to yellow, told apart by lightness whatever one's eyes: few lie near the paper, many far from it.
const HEAT = [[0, 34, 78], [53, 69, 109], [102, 105, 112], [148, 142, 119], [194, 178, 107], [254, 232, 56]];
function heat(share) {
  const at = Math.min(0.9999, Math.max(0, share)) * (HEAT.length - 1), low = Math.floor(at), part = at - low;
  return "rgb(" + HEAT[low].map((value, i) => Math.round(value + (HEAT[low + 1][i] - value) * part)).join(",") + ")";
}

export function phases(page, state) {
  if (!page.profiles.some((profile) => profile.json.phases.length > 1)) return null;
  const canvas = h("canvas", { width: 1800, height: 560, role: "img", class: "heat" }), strip = h("figure", {});
  const draw = ({ bytes: size, first }) => {
    const profile = page.profiles[first], list = profile.json.phases;
    if (list.length < 2) { fill(strip, "This profile has no phases."); canvas.hidden = true; return; }
    canvas.hidden = false;
    const grid = list.map((phase) => slots(phase.rd)), rows = largest(grid.map((column) => column.length), 2);
    const g = canvas.getContext("2d"), left = 120, right = 12, foot = 56, coldHeight = 40, top = coldHeight + 8;
    const width = (canvas.width - left - right) / list.length, tall = (canvas.height - top - foot) / rows;
    g.clearRect(0, 0, canvas.width, canvas.height);
    g.font = "22px system-ui, sans-serif";
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const shade = (value, all) => { // a scale of four decades
      if (!value) return css("--paper");
      const share = 1 + Math.log10(value / all) / 4;
      return heat(dark ? share : 1 - share);
    };
    list.forEach((phase, i) => {
      const x = left + i * width, all = phase.references || 1;
      for (let row = 0; row < rows; row++) {
        g.fillStyle = shade(grid[i][row] || 0, all);
        g.fillRect(x, canvas.height - foot - (row + 1) * tall, Math.ceil(width), Math.ceil(tall));
      }
      g.fillStyle = shade(phase.cold + phase.invalidated, all);
      g.fillRect(x, 0, Math.ceil(width), coldHeight);
    });
    g.fillStyle = css("--ink");
    g.textAlign = "right";
    g.fillText("cold", left - 10, 28);
    const every = Math.max(PER_OCTAVE, Math.ceil(rows / 7 / PER_OCTAVE) * PER_OCTAVE);
    for (let row = 1; row < rows; row += every) g.fillText(bytes(slotStart(row) * profile.line), left - 10, canvas.height - foot - row * tall + 8);
    g.textAlign = "left";
    g.fillText("start of the run", left, canvas.height - 20);
    g.textAlign = "right";
    g.fillText(count(profile.json.references) + " references", canvas.width - right, canvas.height - 20);
    const y = canvas.height - foot - Math.min(rows, 1 + Math.log2(profile.lines(size)) * PER_OCTAVE) * tall;
    g.strokeStyle = css("--accent-strong");
    g.lineWidth = 4;
    g.beginPath();
    g.moveTo(left, y);
    g.lineTo(canvas.width - right, y);
    g.stroke();
    const misses = list.map((phase) => ratioOf(phase, profile.lines(size)));
    canvas.setAttribute("aria-label", `Heat map of ${list.length} phases by reuse distance; the miss ratio at ${bytes(size)} goes from ${percent(smallest(misses))} to ${percent(largest(misses))}`);
    fill(strip, h("figcaption", {}, "Miss ratio of each phase at " + bytes(size)), phaseBars(misses));
  };
  state.on(["bytes", "first"], draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(state.values));
  return section("phases", "Over time", "Each column is a stretch of the run, each row a reuse distance; the farther its colour from the paper's, the more of that stretch's references (from a ten-thousandth to all). What lies above the line misses.", canvas, strip);
}

function ratioOf(row, lines) {
  let misses = row.cold + row.invalidated;
  for (const bin of row.rd) {
    if (bin.lo >= lines || bin.hi === null) misses += bin.count;
    else if (bin.hi >= lines) misses += bin.count * (bin.hi - lines + 1) / (bin.hi - bin.lo + 1);
  }
  return row.references ? misses / row.references : 0;
}

function phaseBars(ratios) {
  const width = 900, height = 70, left = 60, most = largest(ratios, 1e-9), step = (width - left - 6) / ratios.length;
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "bars", role: "img", "aria-label": "Miss ratio of each phase" },
    svg("text", { x: left - 6, y: 14, "text-anchor": "end" }, percent(most)), svg("text", { x: left - 6, y: height - 2, "text-anchor": "end" }, "0 %"),
    ratios.map((ratio, i) => svg("rect", { x: left + i * step, width: Math.max(0.5, step - 0.5), y: 4 + (height - 6) * (1 - ratio / most), height: (height - 6) * ratio / most, class: "miss" }, svg("title", {}, `phase ${i + 1}: ${percent(ratio)}`))));
}

const THREAD_CURVES = 8; // that many can be told apart

export function threads(page, state) {
  if (!page.profiles.some((profile) => profile.tables.threads.length > 1)) return null;
  const holder = h("div", {});
  let chart = null;
  state.on(["first"], ({ first }) => {
    const profile = page.profiles[first], rows = profile.tables.threads.slice().sort((a, b) => b.references - a.references).slice(0, THREAD_CURVES);
    const sizes = [];
    for (let power = Math.log2(profile.line); 2 ** power <= profile.footprint() * 1.2; power += 0.25) sizes.push(Math.round(2 ** power));
    const curves = rows.filter((row) => row.references).map((row, i) => ({ label: "thread " + row.tid, colour: i, points: sizes.map((size) => ({ bytes: size, miss_ratio: row.misses(profile.lines(size)) / row.references })) }));
    if (curves.length < 2 || sizes.length < 2) { fill(holder, "This profile has one thread."); chart = null; return; }
    chart = curveChart({ curves, levels: page.machine, chosen: () => state.get("bytes"), choose: (size) => state.set({ bytes: snapped(page, size) }), height: 260, label: "Miss ratio curve of each thread; the table of threads has the numbers" });
    fill(holder, chart.box, chart.legend());
    if (document.body.contains(holder)) chart.draw();
    else page.drawLater.push(chart.draw);
  });
  state.on(["bytes"], () => chart && chart.redraw());
  return section("threads", "Thread by thread", `The miss ratio curve of each thread${page.profiles.some((p) => p.tables.threads.length > THREAD_CURVES) ? ` (the ${THREAD_CURVES} busiest)` : ""}: where they part, the work is not the same.`, holder);
}
