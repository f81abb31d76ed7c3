// overview.js - the headline, the curve and the cache size that everything below
// goes by.
import { h, fill, section, plainTable } from "./dom.js";
import { bytes, count, percent, points } from "./units.js";
import { curveChart, ratioText } from "./curve.js";

const STEPS = 16; // of the slider to an octave
const CURVES = 8; // that many can be told apart
const WORTH = 0.0005; // a change of the miss ratio that is pointed out

export function levelName(levels, size) {
  const level = levels.find((one) => one.bytes === size);
  return level ? level.name + " (" + bytes(size) + ")" : bytes(size);
}

// One sentence: how much misses here, and who is most to blame.
export function headline(profile, size, levels) {
  const at = profile.at(size), all = profile.misses(size);
  const level = levels.some((one) => one.bytes === size);
  const where = (size >= profile.footprint() && profile.limit() === Infinity ? "even in " : "in ") + (level ? "" : "a cache of ");
  const what = profile.json.made.model === "requests" ? "requests" : "references";
  if (!profile.json.references) return "The profile is empty: no reference was seen.";
  let text = ratioText(at) + " of " + count(profile.json.references) + " " + what + " miss " + where + levelName(levels, size) + ".";
  const lines = profile.lines(size);
  const worst = profile.tables.lines.reduce((best, row) => (!best || row.misses(lines) > best.misses(lines) ? row : best), null);
  if (worst && worst.misses(lines) > 0 && all > 0)
    text += " " + percent(Math.min(1, worst.misses(lines) / all)) + " of those misses are " + worst.function + "’s at " + worst.place + ".";
  return text;
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
    const clear = Math.abs(change) >= WORTH && (b.low > a.high || b.high < a.low); // the bands do not touch
    return [name, ...cells, h("td", { class: "number " + (!clear ? "" : change > 0 ? "worse" : "better") },
      points(change) + (clear && change > 0 ? " ▲" : clear && change < 0 ? " ▼" : ""))];
  });
  return plainTable("Miss ratio by cache size", ["Cache", ...shown.map((profile) => profile.name), ...(second ? ["Change"] : [])], rows);
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
    const choose = (size) => state.set({ bytes: snapped(page, size) });
    const chart = curveChart({
      curves, levels: page.machine, until: isFinite(limit) ? limit : 0, chosen: () => state.get("bytes"), choose,
      label: "Miss ratio against cache size, both on logarithmic axes; the table that follows has the numbers",
    });
    const slider = sizeSlider(page, state, chart);
    const table = h("div", { class: "readout" });
    const scale = h("button", { type: "button", "aria-pressed": "true", onclick: () => {
      const on = scale.getAttribute("aria-pressed") !== "true";
      scale.setAttribute("aria-pressed", String(on));
      chart.setLogarithmic(on);
    } }, "Logarithmic ratio");
    nodes.push(section("curve", "Miss ratio curve",
      "How many references miss in a fully associative LRU cache of each size. Drag the line, or use the slider: everything below is ranked at that size.",
      chart.box, curves.length > 1 ? chart.legend() : null,
      drawn.length > CURVES ? h("p", { class: "status" }, `The first ${CURVES} of ${drawn.length} curves.`) : null,
      isFinite(limit) ? h("p", { class: "status" }, `Distances from ${bytes(limit)} on were not told apart: nothing is known of larger caches.`) : null,
      h("div", { class: "controls" }, slider, scale), table));
    update.push(() => chart.redraw(), (values) => fill(table, readout(page, values)));
    page.drawLater.push(chart.draw);
  }
  state.on(["bytes", "first", "second"], (values) => {
    const profile = page.profiles[values.first];
    fill(head, headline(profile, values.bytes, page.machine));
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
    oninput: () => state.set({ bytes: snapped(page, 2 ** (Number(input.value) / STEPS)) }),
  });
  state.on(["bytes"], ({ bytes: size, first }) => {
    const wanted = Math.round(Math.log2(size) * STEPS);
    if (Math.abs(Number(input.value) - wanted) > 1 || !input.getAttribute("aria-valuetext")) input.value = String(wanted);
    input.setAttribute("aria-valuetext", levelName(page.machine, size) + ", " + percent(page.profiles[first].at(size).miss_ratio) + " miss");
    fill(output, levelName(page.machine, size));
  });
  return h("div", { class: "slider" }, h("label", { for: "size" }, "Cache size"), input, output,
    page.machine.map((level) => h("button", { type: "button", onclick: () => state.set({ bytes: snapped(page, level.bytes) }) }, level.name)));
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
