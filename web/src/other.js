// other.js - results that are no profiles: simulated caches, and loops at any
// number of threads.
import { h, svg, fill, section, plainTable } from "./dom.js";
import { bytes, count, percent, baseName, largest } from "./units.js";
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

// TLBs of one page size; what the last of them missed is a page walk.
function tlbTable(sim, pages) {
  const each = (misses) => (sim.instructions ? (misses / sim.instructions).toPrecision(3) : "–");
  return plainTable(`TLBs, pages of ${bytes(pages.page)}`, ["TLB", "Configuration", "Lookups", "Misses", "Miss ratio", "Per instruction"],
    [...pages.tlbs.map((tlb) => [tlb.name, tlb.config, count(tlb.accesses), count(tlb.misses), percent(tlb.accesses ? tlb.misses / tlb.accesses : 0), each(tlb.misses)]),
      ["page walks", "", "", count(pages.walks), "", each(pages.walks)]], (n) => n > 1);
}

export function simulations(page) {
  if (!page.sims.length) return [];
  return page.sims.map((sim, i) => section("sim-" + i, "Simulated caches" + (page.sims.length > 1 ? " " + (i + 1) : ""),
    `${count(sim.references)} references` + (sim.instructions ? `, ${count(sim.instructions)} instructions` : "") + ". Each bar is what reaches a cache; its right part misses and reaches the next.",
    levelBars(sim.levels, largest(sim.levels.map((level) => level.accesses), sim.references)),
    h("ul", { class: "legend" }, h("li", {}, h("i", { class: "key hit" }), "found"), REASONS.some((reason) => sim.levels.some((level) => level[reason] !== undefined))
      ? REASONS.map((reason) => h("li", {}, h("i", { class: "key reason-" + reason }), reason)) : h("li", {}, h("i", { class: "key miss" }), "missed")),
    plainTable("Simulated caches", ["Cache", "Configuration", "Accesses", "Misses", "Miss ratio", "Write-backs", "Misses per instruction", "Estimate of misses"],
      sim.levels.map((level) => [level.name, level.config, count(level.accesses), count(level.misses), percent(level.accesses ? level.misses / level.accesses : 0), count(level.writebacks), level.mpi === null ? "–" : level.mpi.toPrecision(3), estimateText(level)]), (n) => n > 1),
    (sim.pages || []).map((pages) => tlbTable(sim, pages))));
}

// The source as it is, and each change that was asked for.
function variants(loop) {
  const listed = [{ what: "as written", threads: loop.threads }, ...(loop.what_if || []).filter((one) => one.threads && one.threads.length)];
  return listed.map((one) => ({ what: one.what, note: one.note, threads: one.threads.filter((t) => t.mrc.length).sort((a, b) => a.t - b.t) }));
}

const threadsText = (t) => t + (t === 1 ? " thread" : " threads");

// Misses of each reference in the source, at the size that the tool ranked at.
function referenceTable(one) {
  if (!one || !(one.references || []).length) return null;
  const all = one.references.reduce((sum, row) => sum + row.misses, 0) || 1;
  return h("div", { class: "scroll" }, plainTable(`Misses of each reference in ${bytes(one.at_bytes)}, ${threadsText(one.t)}`, ["Reference", "Line", "Kind", "References", "First touches", "Misses", "Of all"],
    one.references.slice().sort((a, b) => b.misses - a.misses).map((row) => [row.text || row.array, `${baseName(row.file || "")}:${row.line}`, row.kind, count(row.references), count(row.cold), count(row.misses), percent(row.misses / all)]), (i) => i > 2));
}

const between = (low, high, text) => (high > low ? h("span", { class: "range" }, `${text(low)}–${text(high)}`) : null);

// What the threads' own caches see: first touches and invalidations, for each number of threads.
function ownTable(variant, current) {
  const rows = variant.threads.filter((one) => one.private);
  if (!rows.length) return null;
  return plainTable("One cache per thread, of any size", ["Threads", "References", "First touches", "Invalidated", "By false sharing"], rows.map((one) => [
    (one.t === current ? "▸ " : "") + one.t, one.executed === undefined ? "–" : count(one.executed), count(one.private.cold),
    h("td", { class: "number" }, count(one.private.invalidated), between(one.private.invalidated_low, one.private.invalidated_high, count)), count(one.private.false_sharing)]));
}

function arrayTable(one) {
  if (!one || !one.private || !one.private.arrays.length) return null;
  return plainTable(`Coherence misses of each array, ${threadsText(one.t)}`, ["Array", "References", "Coherence misses", "By false sharing"],
    one.private.arrays.map((row) => [row.array, count(row.references), count(row.coherence), count(row.false_sharing)]));
}

// The caches of the machine that was named, as simulated or estimated.
function machineTable(variant, current) {
  const rows = variant.threads.filter((one) => one.machine);
  if (!rows.length) return null;
  const first = rows[0].machine;
  return h("div", { class: "scroll" }, plainTable(`${first.name}: share of references that miss`, ["Threads", ...first.levels.map((level) => `${level.name} ${bytes(level.bytes)}, ${level.ways} ways${level.per_thread ? ", per thread" : ""}`), "Made"],
    rows.map((one) => [(one.t === current ? "▸ " : "") + one.t, ...one.machine.levels.map((level) => h("td", { class: "number" }, percent(level.miss_ratio), between(level.low, level.high, percent))), one.machine.made]), (i) => i <= first.levels.length));
}

function loopView(page, loop, lineBytes, index) {
  const all = variants(loop), counts = all[0].threads.map((one) => one.t);
  const title = (loop.function ? loop.function + ", " : "") + baseName(loop.file || "") + ":" + loop.line;
  const about = `Predicted from the source: ${count(loop.references)} references to ${count(loop.distinct)} lines` + (loop.schedule ? `, schedule ${loop.schedule}` : "") + ".";
  if (!counts.length) return section("loop-" + index, "Loop " + title, about);
  let at = 0, which = 0; // the number of threads and the change that are shown
  let own = false; // one cache per thread; of one thread that is the shared one
  const mrcOf = (one) => (own && one.private ? one.private.mrc : one.mrc);
  const bytesOf = (point) => point.bytes ?? point.lines * lineBytes;
  const of = (variant) => variant.threads.find((one) => one.t === counts[at]);
  const curve = (one, label, colour, strong) => ({ label, colour, width: strong ? 4 : 1.2, band: strong && mrcOf(one).some((point) => point.high > point.low), points: mrcOf(one).map((point) => ({ ...point, bytes: bytesOf(point) })) });
  const label = (one) => threadsText(one.t) + (one.interleave ? ", " + one.interleave : "");
  const curves = () => {
    const listed = all[0].threads.map((one, i) => curve(one, label(one), i, i === at && !which));
    const changed = which ? of(all[which]) : null;
    return changed ? [...listed, curve(changed, `${threadsText(changed.t)}, ${all[which].what}`, listed.length, true)] : listed;
  };
  const chart = curveChart({ curves: curves(), levels: page.machine, height: 300, label: "Miss ratio curve of the loop for each number of threads" });
  const output = h("output", { class: "size" }), table = h("div", {}), references = h("div", {}), legend = h("div", {}), coherence = h("div", {}), levels = h("div", {});
  const sizes = page.machine.length ? page.machine.map((level) => level.bytes) : [32768, 1048576, 33554432];
  const names = page.machine.length ? page.machine.map((level) => level.name) : ["32 KiB", "1 MiB", "32 MiB"];
  const ratio = (one, size) => { let found = null; for (const point of mrcOf(one)) if (bytesOf(point) <= size) found = point; return found ? found.miss_ratio : 1; };
  const show = (first) => {
    fill(output, label(all[0].threads[at]));
    fill(table, plainTable(`Miss ratio by threads${own ? ", one cache per thread" : ""}` + (which ? ", " + all[which].what : ""), ["Threads", ...names], all[which].threads.map((one) => [h("td", {}, (one.t === counts[at] ? "▸ " : "") + one.t), ...sizes.map((size) => percent(ratio(one, size)))])),
      all[which].note ? h("p", { class: "status" }, all[which].note) : null);
    fill(coherence, ownTable(all[which], counts[at]), arrayTable(of(all[which])));
    fill(levels, machineTable(all[which], counts[at]));
    fill(references, referenceTable(of(all[which])));
    if (!first) chart.setCurves(curves());
    fill(legend, chart.legend());
  };
  const slider = h("input", { type: "range", id: "t-" + index, min: 0, max: counts.length - 1, step: 1, value: 0, oninput: () => { at = Number(slider.value); show(); slider.setAttribute("aria-valuetext", output.textContent); } });
  const change = all.length > 1 ? h("select", { id: "change-" + index, onchange: () => { which = Number(change.value); show(); } }, all.map((one, i) => h("option", { value: i }, one.what))) : null;
  const caches = all.some((variant) => variant.threads.some((one) => one.private)) ? h("select", { id: "caches-" + index, onchange: () => { own = caches.value === "private"; show(); } },
    h("option", { value: "shared" }, "one, shared by all threads"), h("option", { value: "private" }, "one per thread")) : null;
  show(true);
  page.drawLater.push(chart.draw);
  return section("loop-" + index, "Loop " + title, about, chart.box, legend, h("div", { class: "controls slider" }, h("label", { for: "t-" + index }, "Threads"), slider, output,
    change ? [h("label", { for: "change-" + index }, "What if"), change] : null, caches ? [h("label", { for: "caches-" + index }, "Cache"), caches] : null), table, coherence, levels, references,
    (loop.nonaffine || []).length ? h("p", {}, `${loop.nonaffine.length} parts that are not affine are left out.`) : null,
    (loop.assumptions || []).length ? h("p", {}, "Assumed: ", loop.assumptions.map((one) => `${baseName(one.file || loop.file || "")}:${one.line} ${one.reason}`).join("; ")) : null);
}

export function loops(page) {
  return page.loops.flatMap((document) => document.loops.map((loop) => [loop, document.line_bytes || 64])).map(([loop, line], i) => loopView(page, loop, line, i));
}
