// other.js - results that are no profiles: simulated caches, and loops at any
// number of threads.
import { h, svg, fill, section, plainTable } from "./dom.js";
import { count, percent, baseName, largest } from "./units.js";
import { curveChart } from "./curve.js";

const REASONS = ["cold", "capacity", "conflict", "coherence"];

// One bar a cache: what it answers, and why it does not.
function levelBars(levels, references) {
  const width = 900, tall = 30, gap = 12, left = 190, room = width - left - 90;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${levels.length * (tall + gap)}`, role: "img", class: "bars", id: "levels", "aria-label": "Accesses and misses of each simulated cache; the table that follows has the numbers" });
  levels.forEach((level, i) => {
    const y = i * (tall + gap), scale = room / (references || 1);
    const known = REASONS.filter((reason) => level[reason] !== undefined);
    const parts = [["hits", level.accesses - level.misses, "hit"], ...(known.length ? known.map((reason) => [reason, level[reason], "reason-" + reason]) : [["misses", level.misses, "miss"]])];
    let x = left;
    picture.append(svg("text", { x: left - 8, y: y + 13, "text-anchor": "end", class: "strong" }, level.name + (level.alternative ? ` (other ${level.alternative})` : "")), svg("text", { x: left - 8, y: y + 27, "text-anchor": "end" }, level.config));
    for (const [name, value, className] of parts) {
      if (value > 0) picture.append(svg("rect", { x, y, width: Math.max(1, value * scale), height: tall, class: className }, svg("title", {}, `${level.name} ${name}: ${count(value)}`)));
      x += value * scale;
    }
    picture.append(svg("text", { x: Math.min(x, left + room) + 6, y: y + 20 }, percent(level.accesses ? level.misses / level.accesses : 0) + " miss"));
  });
  return picture;
}

function estimateText(level) {
  const e = level.estimate;
  if (!e) return "–";
  const rate = e.rate ?? e.mpi;
  if (e.low === null || e.low === undefined || rate === null) return `${e.method} ${e.fraction}`;
  return `${rate.toPrecision(3)}${e.per === "access" ? " per access" : ""} (${e.low.toPrecision(3)} to ${e.high.toPrecision(3)}, ${e.confidence} %, ${e.method} ${e.fraction})`;
}

export function simulations(page) {
  if (!page.sims.length) return [];
  return page.sims.map((sim, i) => section("sim-" + i, "Simulated caches" + (page.sims.length > 1 ? " " + (i + 1) : ""),
    `${count(sim.references)} references` + (sim.instructions ? `, ${count(sim.instructions)} instructions` : "") + ". Each bar is what reaches a cache; its right part misses and reaches the next.",
    levelBars(sim.levels, largest(sim.levels.map((level) => level.accesses), sim.references)),
    h("ul", { class: "legend" }, h("li", {}, h("i", { class: "key hit" }), "found"), REASONS.some((reason) => sim.levels.some((level) => level[reason] !== undefined))
      ? REASONS.map((reason) => h("li", {}, h("i", { class: "key reason-" + reason }), reason)) : h("li", {}, h("i", { class: "key miss" }), "missed")),
    plainTable("Simulated caches", ["Cache", "Configuration", "Accesses", "Misses", "Miss ratio", "Write-backs", "Misses per instruction", "Estimate of misses"],
      sim.levels.map((level) => [level.name, level.config, count(level.accesses), count(level.misses), percent(level.accesses ? level.misses / level.accesses : 0), count(level.writebacks), level.mpi === null ? "–" : level.mpi.toPrecision(3), estimateText(level)]), (n) => n > 1)));
}

function loopView(page, loop, lineBytes, index) {
  const threads = loop.threads.filter((one) => one.mrc.length).sort((a, b) => a.t - b.t);
  const title = (loop.function ? loop.function + ", " : "") + baseName(loop.file || "") + ":" + loop.line;
  const about = `Predicted from the source: ${count(loop.references)} references to ${count(loop.distinct)} lines` + (loop.schedule ? `, schedule ${loop.schedule}` : "") + ".";
  if (!threads.length) return section("loop-" + index, "Loop " + title, about);
  const bytesOf = (point) => point.bytes ?? point.lines * lineBytes;
  const curves = (chosen) => threads.map((one, i) => ({ label: one.t + (one.t === 1 ? " thread" : " threads") + (one.interleave ? ", " + one.interleave : ""), colour: i, width: i === chosen ? 4 : 1.2, band: i === chosen && one.mrc.some((point) => point.high > point.low),
    points: one.mrc.map((point) => ({ ...point, bytes: bytesOf(point) })) }));
  const chart = curveChart({ curves: curves(0), levels: page.machine, height: 300, label: "Miss ratio curve of the loop for each number of threads" });
  const output = h("output", { class: "size" }), table = h("div", {});
  const sizes = page.machine.length ? page.machine.map((level) => level.bytes) : [32768, 1048576, 33554432];
  const names = page.machine.length ? page.machine.map((level) => level.name) : ["32 KiB", "1 MiB", "32 MiB"];
  const at = (one, size) => { let found = null; for (const point of one.mrc) if (bytesOf(point) <= size) found = point; return found ? found.miss_ratio : 1; };
  const show = (chosen) => {
    fill(output, curves(chosen)[chosen].label);
    fill(table, plainTable("Miss ratio by threads", ["Threads", ...names], threads.map((one, i) => [h("td", {}, (i === chosen ? "▸ " : "") + one.t), ...sizes.map((size) => percent(at(one, size)))])));
  };
  const slider = h("input", { type: "range", id: "t-" + index, min: 0, max: threads.length - 1, step: 1, value: 0, oninput: () => { show(Number(slider.value)); chart.setCurves(curves(Number(slider.value))); slider.setAttribute("aria-valuetext", output.textContent); } });
  show(0);
  page.drawLater.push(chart.draw);
  return section("loop-" + index, "Loop " + title, about, chart.box, chart.legend(), h("div", { class: "controls slider" }, h("label", { for: "t-" + index }, "Threads"), slider, output), table,
    (loop.nonaffine || []).length ? h("p", {}, `${loop.nonaffine.length} references are not affine and were bounded.`) : null);
}

export function loops(page) {
  return page.loops.flatMap((document) => document.loops.map((loop) => [loop, document.line_bytes || 64])).map(([loop, line], i) => loopView(page, loop, line, i));
}
