// sampled.js - a study of samples (sim --study): what samples of more and more intervals say of each cache, as cones
// around the truth, and the bias of each way to begin an interval.
import { h, svg, section, plainTable } from "./dom.js";
import { count, percent } from "./units.js";

const STATES = [["initmr", "estimated initial state (initmr)", "fill-1"], ["true_state", "true initial state", "fill-0"]];
const signed = (bias) => (Math.abs(bias) < 0.00005 ? "0 %" : (bias > 0 ? "+" : "−") + percent(Math.abs(bias)));
const known = (number) => number !== null && number !== undefined && isFinite(number);

// One cone: the middle 90 % of the estimates over the truth, by the share of the trace in a sample.
function cone(cache, time) {
  const width = 440, height = 240, left = 48, right = 12, top = 14, foot = 40;
  const slices = time.cone.filter((slice) => STATES.some(([state]) => known(slice[state].low) && known(slice[state].high)));
  if (slices.length < 2) return null;
  const ends = slices.flatMap((slice) => STATES.flatMap(([state]) => [slice[state].low, slice[state].high])).filter(known);
  const low = Math.max(0, Math.min(0.85, ...ends)), high = Math.min(3, Math.max(1.15, ...ends));
  const first = Math.log10(slices[0].fraction), last = Math.log10(slices[slices.length - 1].fraction);
  const x = (fraction) => left + (width - left - right) * (last > first ? (Math.log10(fraction) - first) / (last - first) : 0);
  const y = (ratio) => top + (height - top - foot) * (1 - (Math.min(Math.max(ratio, low), high) - low) / (high - low));
  const text = `${cache.name} ${cache.config}, intervals of ${count(time.interval)} instructions`;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "bars cone", "aria-label": `Estimates over the truth, ${text}; the table that follows has the numbers` });
  for (const ratio of [0.9, 1, 1.1])
    picture.append(svg("line", { x1: left, x2: width - right, y1: y(ratio), y2: y(ratio), class: ratio === 1 ? "chosen" : "grid" }), svg("text", { x: left - 6, y: y(ratio) + 4, "text-anchor": "end" }, ratio.toFixed(1)));
  for (const ratio of [low, high])
    if (Math.abs(y(ratio) - y(1)) > 30 && Math.min(Math.abs(y(ratio) - y(0.9)), Math.abs(y(ratio) - y(1.1))) > 12) picture.append(svg("text", { x: left - 6, y: y(ratio) + 4, "text-anchor": "end" }, ratio.toFixed(2)));
  for (const [state, name, className] of STATES) {
    const shown = slices.filter((slice) => known(slice[state].low) && known(slice[state].high));
    if (shown.length < 2) continue;
    const points = [...shown.map((slice) => [slice.fraction, slice[state].high]), ...shown.slice().reverse().map((slice) => [slice.fraction, slice[state].low])];
    picture.append(svg("polygon", { points: points.map(([at, ratio]) => `${x(at).toFixed(1)},${y(ratio).toFixed(1)}`).join(" "), class: className, "fill-opacity": 0.35 }, svg("title", {}, `${text}: ${name}`)));
  }
  for (const slice of [slices[0], slices[slices.length - 1]])
    picture.append(svg("text", { x: x(slice.fraction), y: height - foot + 16, "text-anchor": slice === slices[0] ? "start" : "end" }, `${percent(slice.fraction)} (${count(slice.intervals)})`));
  picture.append(svg("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, "share of the trace sampled (intervals)"));
  return h("figure", {}, h("figcaption", {}, text), picture);
}

function timeTable(cache) {
  const rows = cache.time.flatMap((time) => time.cone.map((slice) => [count(time.interval), count(slice.intervals), percent(slice.fraction),
    ...STATES.flatMap(([state]) => known(slice[state].low) ? [`${slice[state].low.toFixed(3)} to ${slice[state].high.toFixed(3)}`, percent(slice[state].within)] : ["–", "–"])]));
  return rows.length ? h("div", { class: "scroll" }, plainTable(`${cache.name} ${cache.config}: the middle 90 % of estimates over the truth`, ["Instructions", "Intervals", "Of the trace", "initmr", "Within 10 %", "True state", "Within 10 %"], rows)) : null;
}

function biasTable(cache) {
  const methods = cache.time.length ? Object.keys(cache.time[0].bias) : [];
  return methods.length ? plainTable(`${cache.name} ${cache.config}: bias by cold-start method`, ["Instructions", ...methods],
    cache.time.map((time) => [count(time.interval), ...methods.map((method) => known(time.bias[method]) ? signed(time.bias[method]) : "–")])) : null;
}

function setsTable(cache) {
  const rows = cache.sets.map((one) => [percent(one.fraction), one.constant_bits ? `${one.constant_bits.low}-${one.constant_bits.high}` : "–",
    one.constant_bits && known(one.constant_bits.cv) ? percent(one.constant_bits.cv) : "–", known(one.random.cv) ? percent(one.random.cv) : "–"]);
  return rows.length ? plainTable(`${cache.name} ${cache.config}: variation of samples of sets`, ["Of the sets", "Constant bits", "Their variation", "Random sets"], rows) : null;
}

export function studies(page) {
  return page.studies.map((study, i) => section("study-" + i, "Samples of " + (study.trace || "a trace"),
    `${count(study.instructions)} instructions, ${count(study.accesses)} accesses. A cone is what 90 % of the samples of a size estimate, over the truth: it should close in on 1.`,
    h("ul", { class: "legend" }, STATES.map(([, name, className]) => h("li", {}, svg("svg", { width: 14, height: 14 }, svg("rect", { width: 14, height: 14, class: className, "fill-opacity": 0.35 })), name))),
    study.caches.map((cache) => [h("div", { class: "cones" }, cache.time.map((time) => cone(cache, time))), biasTable(cache), setsTable(cache), timeTable(cache)])));
}
