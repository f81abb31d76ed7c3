// objects.js - caches of whole objects (sim --requests): miss ratio by size for each policy.
import { h, fill, section, plainTable } from "./dom.js";
import { bytes, count, percent } from "./units.js";
import { curveChart } from "./curve.js";

const ratioText = (ratio) => (ratio === null ? "–" : percent(ratio));

function view(page, result, index) {
  const policies = [...new Set(result.caches.map((row) => row.policy))], sizes = new Set(result.caches.map((row) => row.bytes));
  let key = "miss_ratio";
  const curves = () => policies.map((policy, i) => ({ label: policy, colour: i, width: 2,
    points: result.caches.filter((row) => row.policy === policy && row[key] !== null).map((row) => ({ bytes: row.bytes, miss_ratio: row[key] })).sort((a, b) => a.bytes - b.bytes) })).filter((curve) => curve.points.length);
  let plot = null;
  if (sizes.size > 1 && curves().length) {
    const chart = curveChart({ curves: curves(), levels: [], height: 300, until: Math.max(...sizes), label: "Miss ratio of each policy by cache size; the table that follows has the numbers" });
    const legend = h("div", {});
    const which = h("select", { id: "objects-of-" + index, onchange: () => { key = which.value; chart.setCurves(curves()); fill(legend, chart.legend()); } },
      h("option", { value: "miss_ratio" }, "requests"), h("option", { value: "byte_miss_ratio" }, "bytes"));
    fill(legend, chart.legend());
    page.drawLater.push(chart.draw);
    plot = [chart.box, legend, h("div", { class: "controls" }, h("label", { for: "objects-of-" + index }, "Misses of"), which)];
  }
  return section("objects-" + index, "Caches of objects" + (page.objects.length > 1 ? " " + (index + 1) : ""),
    `${count(result.requests)} requests of ${bytes(result.requested_bytes)}, ${count(result.objects)} objects of ${bytes(result.objects_bytes)}` + (result.warm_requests ? `, after ${count(result.warm_requests)} that warm up` : "") + ".",
    plot, h("div", { class: "scroll" }, plainTable("Caches of objects", ["Policy", "Size", "Misses", "Miss ratio", "Missed bytes", "Byte miss ratio", "Evictions", "Too large"],
      result.caches.map((row) => [row.policy, bytes(row.bytes), count(row.misses), ratioText(row.miss_ratio), bytes(row.missed_bytes), ratioText(row.byte_miss_ratio), count(row.evictions), count(row.too_large)]))));
}

export function objects(page) {
  return page.objects.map((result, i) => view(page, result, i));
}
