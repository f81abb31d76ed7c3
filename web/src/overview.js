// overview.js - the headline, the curve and the cache size that everything below
// goes by.
import { h, fill, section, plainTable } from "./dom.js";
import { bytes, count, percent, points, shortName } from "./units.js";
import { areModels, isPlace } from "./model.js";
import { curveChart, ratioText } from "./curve.js";
import { downloads, saveCanvas, saveCsv, saveSvg } from "./download.js";

const STEPS = 16; // of the slider to an octave
const CURVES = 8; // that many can be told apart
const WORTH = 0.0005; // a change of the miss ratio that is pointed out

export function levelName(levels, size) {
  const level = levels.find((one) => one.bytes === size);
  return level ? level.name + " (" + bytes(size) + ")" : bytes(size);
}

function cacheText(profile, size, levels) {
  const where = size >= profile.footprint() && profile.limit() === Infinity ? "even in " : "in ";
  return where + (levels.some((one) => one.bytes === size) ? "" : "a cache of ") + levelName(levels, size);
}

// The lines of code with most misses, or that lose most cycles, most first.
function worstLines(profile, size, most, cost) {
  const lines = profile.lines(size);
  return profile.tables.lines.filter(isPlace).map((row) => ({ row, weight: cost ? cost.of(row) : row.misses(lines) })).filter((one) => one.weight > 0)
    .sort((a, b) => b.weight - a.weight || (a.row.key < b.row.key ? -1 : 1)).slice(0, most);
}

// One sentence or two: how much misses here, and who is most to blame; of two runs, how they differ.
export function headline(profile, size, levels, second) {
  const at = profile.at(size), all = profile.misses(size), where = cacheText(profile, size, levels);
  const what = profile.json.made.model === "requests" ? "requests" : "references";
  if (!profile.json.references) return "The profile is empty: no reference was seen.";
  if (second && second.json.references) {
    const theirs = second.misses(size);
    if (areModels(profile, second))
      return `Of ${count(profile.json.references)} ${what}, ${ratioText(at)} miss ${where} with ${profile.json.made.model} caches and ${ratioText(second.at(size))} with ${second.json.made.model} ones.`;
    const change = all ? (theirs - all) / all : 0;
    return `${second.name} has ${count(theirs)} misses ${where}, ${profile.name} ${count(all)}` +
      (Math.abs(change) < 0.001 ? ": the same." : `: ${percent(Math.abs(change))} ${change < 0 ? "fewer" : "more"}.`) +
      ` ${ratioText(second.at(size))} of ${count(second.json.references)} ${what} miss, before ${ratioText(at)} of ${count(profile.json.references)}.`;
  }
  let text = ratioText(at) + " of " + count(profile.json.references) + " " + what + " miss " + where + ".";
  const [worst] = worstLines(profile, size, 1);
  if (worst && all > 0) text += " " + percent(Math.min(1, worst.weight / all)) + " of those misses are " + shortName(worst.row.function) + "’s at " + worst.row.place + ".";
  return text;
}

// How cycles are estimated: what a load waits for.
export function latencyText(page) {
  const levels = page.machine.slice(1).map((level) => level.name + " " + Math.round(level.cycles));
  return `Estimated for ${page.machine_name}: a miss waits for the next cache that has the line, or for memory (cycles, ${page.latencies}: ${[...levels, "memory " + Math.round(page.memory_cycles)].join(", ")}). Upper bounds: processors hide a part.`;
}

// Lines are ranked by cycles until a size is chosen, and then by misses at it.
export function rankBy(page, state) {
  if (!page.profiles.some((profile) => profile.cost(page))) return null;
  const box = h("select", { id: "rank-by", title: latencyText(page), onchange: () => state.set({ by: box.value }) },
    [["cycles", "cycles lost"], ["misses", "misses at the chosen size"]].map(([value, text]) => h("option", { value }, text)));
  state.on(["by"], ({ by }) => { box.value = by; });
  return h("label", { class: "rank-by" }, "Rank by ", box);
}

// The worst lines, beside the curve.
const WORST = 6;
function worstTable(page, state, values) {
  const profile = page.profiles[values.first], cost = values.by === "cycles" ? profile.cost(page) : null;
  const all = (cost ? cost.all : profile.misses(values.bytes)) || 1, found = worstLines(profile, values.bytes, WORST, cost);
  if (!found.length) return h("p", {}, profile.json.code.length ? "No line of code misses here." : "The profile names no code: the program was built without -g, or the trace has none.");
  const widest = found[0].weight;
  const caption = cost ? "Worst lines by cycles lost" : "Worst lines in " + levelName(page.machine, values.bytes);
  return h("table", { class: "worst" }, h("caption", { title: cost ? latencyText(page) : null }, caption),
    h("tbody", {}, found.map(({ row, weight }) => h("tr", {}, h("td", { class: "number" }, percent(Math.min(1, weight / all))),
      h("td", {}, h("div", { class: "worst-place" }, page.sources.has(row.file) ? h("button", { type: "button", class: "link", onclick: () => { state.set({ source: { file: row.file, line: row.line } }); document.getElementById("source")?.scrollIntoView(); } }, row.place) : row.place,
        h("span", { class: "place", title: row.function }, shortName(row.function))),
      h("meter", { min: 0, max: 1, value: (weight / widest).toFixed(4), "aria-hidden": "true" }))))));
}

function madeText(profile) {
  const made = profile.json.made;
  const parts = [made.source && "from " + made.source, "engine " + made.by, "model " + made.model, made.line + " B lines",
    made.threads + (made.threads === 1 ? " thread" : " threads")];
  if (made.sampling) parts.push(made.sampling);
  const slowdown = made.overhead && typeof made.overhead === "object" ? made.overhead.slowdown : made.overhead;
  if (slowdown) parts.push("slowdown " + slowdown.toFixed(1) + "x");
  if (made.coverage !== null && made.coverage !== undefined) parts.push("coverage " + percent(made.coverage));
  return parts.filter(Boolean).join(" · ");
}

// The sizes that the table beside the curve lists.
function listedSizes(page, size) {
  const sizes = (page.machine.length ? page.machine.map((level) => level.bytes) : [32768, 1048576, 33554432]).filter((one) => one <= page.limit);
  if (!sizes.includes(size)) sizes.push(size);
  return sizes.sort((a, b) => a - b);
}

function readout(page, state) {
  const size = state.bytes, [first, second] = [page.profiles[state.first], page.profiles[state.second]];
  const shown = second ? [first, second] : [first];
  const rows = listedSizes(page, size).map((one) => {
    const cells = shown.map((profile) => ratioText(profile.at(one)));
    const name = h("td", {}, (one === size ? "▸ " : "") + levelName(page.machine, one));
    if (!second) return [name, ...cells];
    const a = first.at(one), b = second.at(one), change = b.miss_ratio - a.miss_ratio;
    const clear = !areModels(first, second) && Math.abs(change) >= WORTH && (b.low > a.high || b.high < a.low); // the bands do not touch
    return [name, ...cells, h("td", { class: "number " + (!clear ? "" : change > 0 ? "worse" : "better") },
      points(change) + (clear && change > 0 ? " ▲" : clear && change < 0 ? " ▼" : ""))];
  });
  return plainTable("Miss ratio by cache size", ["Cache", ...shown.map((profile) => profile.name), ...(second ? [areModels(first, second) ? "Difference" : "Change"] : [])], rows);
}

export function overview(page, state) {
  const drawn = page.profiles.filter((profile) => profile.json.mrc.length);
  const curves = drawn.slice(0, CURVES).flatMap((profile, i) => {
    const made = [{ label: profile.name, points: profile.json.mrc, band: profile.sampled(), colour: i }];
    if (profile.json.mrc[0].byte_miss_ratio !== undefined)
      made.push({ label: profile.name + ", by bytes", points: profile.json.mrc.map((p) => ({ bytes: p.bytes, miss_ratio: p.byte_miss_ratio })), colour: i + 1 });
    return made;
  });
  const head = h("p", { id: "headline", class: page.profiles.some((profile) => profile.json.code.length) ? "headline two-lines" : "headline", "aria-live": "polite" });
  const made = h("p", { class: "made" });
  const nodes = [head, made];
  const update = [];
  if (page.profiles.length > 1) nodes.push(chooser(page, state));
  if (curves.length) {
    const limit = page.limit;
    const choose = (size) => state.set({ bytes: snapped(page, size), by: "misses" });
    const chart = curveChart({
      curves, levels: page.machine, until: isFinite(limit) ? limit : 0, chosen: () => state.get("bytes"), choose,
      label: "Miss ratio against cache size, both on logarithmic axes; the table that follows has the numbers",
    });
    const slider = sizeSlider(page, state, chart);
    const table = h("div", { class: "readout scroll" }), worst = h("div", { class: "worst-box" });
    const zoom = h("span", { class: "zoom", role: "group", "aria-label": "Zoom" }, [["−", 2, "Show more sizes"], ["+", 0.5, "Show fewer sizes, around the chosen one"], ["Whole", 0, "Show all sizes"]].map(([name, by, title]) =>
      h("button", { type: "button", title, "data-zoom": name, onclick: () => chart.zoom(by) }, name)));
    const csvRows = () => [["profile", "bytes", "miss_ratio", "low", "high"], ...drawn.flatMap((profile) => profile.json.mrc.map((p) => [profile.name, p.bytes, p.miss_ratio, p.low, p.high]))];
    const scale = h("button", { type: "button", "aria-pressed": "true", onclick: () => {
      const on = scale.getAttribute("aria-pressed") !== "true";
      scale.setAttribute("aria-pressed", String(on));
      chart.setLogarithmic(on);
    } }, "Logarithmic ratio");
    nodes.push(section("curve", "Miss ratio curve",
      "How many references miss in a fully associative LRU cache of each size. Drag the line, or use the slider: everything is ranked at that size. Turn the wheel to zoom.",
      h("div", { class: page.profiles.some((profile) => profile.has("lines")) ? "first-view" : null },
        h("div", {}, chart.box, curves.length > 1 ? chart.legend() : null,
          drawn.length > CURVES ? h("p", { class: "status" }, `The first ${CURVES} of ${drawn.length} curves.`) : null,
          isFinite(limit) ? h("p", { class: "status" }, `Distances from ${bytes(limit)} on were not told apart: nothing is known of larger caches.`) : null,
          h("div", { class: "controls" }, slider)),
        page.profiles.some((profile) => profile.has("lines")) ? worst : null),
      h("div", { class: "controls" }, scale, zoom, downloads(["PNG", () => saveCanvas("miss-ratio-curve", chart.box.querySelector("canvas"))], ["SVG", () => saveSvg("miss-ratio-curve", chart.picture())], ["CSV", () => saveCsv("miss-ratio-curve", csvRows())])), table));
    update.push((values) => fill(worst, worstTable(page, state, values)));
    update.push(() => chart.redraw(), (values) => fill(table, readout(page, values)));
    page.drawLater.push(chart.draw);
  }
  state.on(["bytes", "first", "second", "by"], (values) => {
    const profile = page.profiles[values.first];
    fill(head, headline(profile, values.bytes, page.machine, page.profiles[values.second]));
    fill(made, madeText(profile));
    for (const one of update) one(values);
  });
  return nodes;
}

// A size a hair from one of the machine's is that one; none is larger than is known.
export function snapped(page, size) {
  size = Math.min(size, page.limit);
  const near = page.machine.find((level) => Math.abs(Math.log2(size / level.bytes)) < 1 / STEPS);
  return near ? near.bytes : Math.max(1, Math.round(size));
}

function sizeSlider(page, state, chart) {
  const output = h("output", { for: "size", class: "size" });
  const input = h("input", {
    type: "range", id: "size", step: 1, min: Math.floor(Math.log2(chart.least) * STEPS), max: Math.ceil(Math.log2(chart.until) * STEPS),
    oninput: () => state.set({ bytes: snapped(page, 2 ** (Number(input.value) / STEPS)), by: "misses" }),
  });
  state.on(["bytes"], ({ bytes: size, first }) => {
    const wanted = Math.round(Math.log2(size) * STEPS);
    if (Math.abs(Number(input.value) - wanted) > 1 || !input.getAttribute("aria-valuetext")) input.value = String(wanted);
    input.setAttribute("aria-valuetext", levelName(page.machine, size) + ", " + percent(page.profiles[first].at(size).miss_ratio) + " miss");
    fill(output, levelName(page.machine, size));
  });
  return h("div", { class: "slider" }, h("label", { for: "size" }, "Cache size"), input, output,
    page.machine.map((level) => h("button", { type: "button", onclick: () => state.set({ bytes: snapped(page, level.bytes), by: "misses" }) }, level.name)));
}

function chooser(page, state) {
  const select = (name, label, none) => {
    const box = h("select", { onchange: () => state.set({ [name]: Number(box.value) }) },
      none ? h("option", { value: -1 }, none) : null,
      page.profiles.map((profile, i) => h("option", { value: i, selected: state.get(name) === i }, profile.name)));
    return h("label", {}, label + " ", box);
  };
  return h("div", { class: "controls choose" }, select("first", "Profile"), select("second", "compared with", "nothing"));
}
