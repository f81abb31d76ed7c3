// source.js - source text with the misses of its lines in the margin.
import { h, fill, section } from "./dom.js";
import { baseName, bytes, count, percent } from "./units.js";

const LINES = 2000; // of a file in the document, around where misses are

export function source(page, state) {
  const files = [...page.sources.keys()];
  if (!files.length) return null;
  const box = h("div", { class: "source", tabindex: 0, role: "region", "aria-label": "Source text" });
  const select = h("select", { id: "file", onchange: () => state.set({ source: { file: select.value, line: null } }) }, files.map((file) => h("option", { value: file }, file)));
  let marked = null;
  state.onRest(["source", "bytes", "first"], ({ source: chosen, bytes: size, first }) => {
    const profile = page.profiles[first], lines = profile.lines(size), all = profile.misses(size) || 1;
    const byFile = new Map(), misses = new Map();
    for (const row of profile.tables.lines) {
      if (!row.file) continue;
      const missed = row.misses(lines);
      byFile.set(row.file, (byFile.get(row.file) || 0) + missed);
    }
    const worst = files.reduce((best, file) => ((byFile.get(file) || 0) > (byFile.get(best) || 0) ? file : best), files[0]);
    const file = chosen && page.sources.has(chosen.file) ? chosen.file : worst;
    let hot = 1;
    for (const row of profile.tables.lines) {
      if (row.file !== file || !row.line) continue;
      const there = misses.get(row.line) || { misses: 0, references: 0 };
      there.misses += row.misses(lines);
      there.references += row.references;
      misses.set(row.line, there);
      if (there.misses > (misses.get(hot)?.misses || 0)) hot = row.line;
    }
    const centre = chosen && chosen.line ? chosen.line : hot, list = page.sources.get(file).split("\n");
    if (list[list.length - 1] === "") list.pop();
    const start = list.length <= LINES ? 0 : Math.max(0, Math.min(list.length - LINES, centre - LINES / 2));
    select.value = file;
    fill(box, h("table", {}, h("caption", {}, `${baseName(file)}: misses in ${bytes(size)}`),
      h("thead", {}, h("tr", {}, ["Misses", "Of all", "References", "Line", "Source"].map((title, i) => h("th", { scope: "col", class: i < 4 ? "number" : null }, title)))),
      h("tbody", {}, list.slice(start, start + LINES).map((line, i) => {
        const number = start + i + 1, row = misses.get(number), share = row ? row.misses / all : 0;
        const level = share >= 0.2 ? "hot-3" : share >= 0.05 ? "hot-2" : share >= 0.01 ? "hot-1" : null;
        return h("tr", { class: [level, chosen && chosen.line === number && "marked"].filter(Boolean).join(" ") || null, "data-line": number },
          h("td", { class: "number" }, row ? count(row.misses) : ""), h("td", { class: "number" }, row ? percent(share) : ""), h("td", { class: "number" }, row ? count(row.references) : ""),
          h("td", { class: "number" }, String(number)), h("td", {}, h("code", {}, line)));
      }))));
    if (marked !== file + ":" + centre) {
      marked = file + ":" + centre;
      const row = box.querySelector(`[data-line="${centre}"]`);
      requestAnimationFrame(() => { if (row) box.scrollTop = row.offsetTop - box.clientHeight / 2; });
    }
  });
  return section("source", "Source", "Misses of each line in the margin. The text is what the files held when the page was made.",
    h("div", { class: "controls" }, h("label", { for: "file" }, "File "), select), box,
    page.sources_left_out ? h("p", { class: "status" }, `${page.sources_left_out} more files were too much for one page.`) : null);
}
