// tables.js - code, data, pairs and threads, ranked by their misses at the chosen
// size. At most SHOWN rows are in the document, more on demand: a table of 10,000
// is ranked in full but not drawn in full.
import { h, fill, section } from "./dom.js";
import { bytes, count, percent, shortName, signed } from "./units.js";
import { areModels } from "./model.js";
import { latencyText, rankBy } from "./overview.js";
import { downloads, saveCsv } from "./download.js";

const SHOWN = 25;

const text = (name, title, className) => ({ name, title, className, value: (row) => row[name], show: (row) => (className === "name" ? shortName(row[name]) : row[name]) });
const NAMES = {
  lines: [text("function", "Function", "name"), { name: "place", title: "Line", value: (row) => row.place, place: true }],
  functions: [text("function", "Function", "name"), text("module", "Module")],
  loops: [text("function", "Function", "name"), { name: "place", title: "Loop begins at", value: (row) => row.place, place: true }, { name: "depth", title: "Depth", number: true, value: (row) => row.depth, show: (row) => (row.depth ? String(row.depth) : "–") }],
  files: [text("file", "File", "name"), text("module", "Module")],
  modules: [text("module", "Module", "name")],
  objects: [text("name", "Object", "name"), text("kind", "Kind"), { name: "bytes", title: "Size", number: true, value: (row) => row.bytes, show: (row) => bytes(row.bytes) },
    { name: "blocks", title: "Blocks", number: true, value: (row) => row.blocks, show: (row) => count(row.blocks) }],
  pairs: [{ name: "use", title: "Use", className: "name", value: (row) => row.use, end: "use" }, { name: "reuse", title: "Reuse", className: "name", value: (row) => row.reuse, end: "reuse" },
    { name: "median", title: "Median distance", number: true, value: (row, at) => row.distances.median(at.lines) ?? -1,
      show: (row, at) => { const median = row.distances.median(at.lines); return median === null ? "–" : bytes(median * at.line); } }],
  threads: [{ name: "tid", title: "Thread", value: (row) => row.tid, show: (row) => String(row.tid) }, { name: "pid", title: "Process", value: (row) => row.pid, show: (row) => (row.pid ? String(row.pid) : "–") }],
  kinds: [text("kind", "Kind of access")],
};
const TITLES = { lines: "Lines of code", functions: "Functions", loops: "Loops", files: "Files", modules: "Modules", objects: "Data objects", pairs: "Use and reuse pairs", threads: "Threads", kinds: "Kinds of access" };

const COSTS = new Set(["lines", "functions", "loops", "files", "modules", "objects", "pairs"]); // have cycles

function bar(share) {
  return h("meter", { min: 0, max: 1, value: Math.min(1, share).toFixed(4), "aria-hidden": "true" });
}

function columns(which, first, second, cost) {
  const cycles = cost && COSTS.has(which) ? [
    { name: "cycles", title: "Cycles", number: true, value: (row, at) => at.cycles(row), show: (row, at) => count(at.cycles(row)) }] : [];
  const counts = [
    ...cycles,
    { name: "misses", title: "Misses", number: true, value: (row, at) => at.misses(row), show: (row, at) => count(at.misses(row)) + (row.error ? " ± " + count(row.error) : "") },
    { name: "share", title: "Of all misses", number: true, value: (row, at) => at.misses(row), cell: (row, at) => [bar(at.share(row)), " ", percent(at.share(row))] },
    { name: "ratio", title: "Miss ratio", number: true, value: (row, at) => at.misses(row) / (row.references || 1), show: (row, at) => percent(at.misses(row) / (row.references || 1)) },
    { name: "references", title: "References", number: true, value: (row) => row.references, show: (row) => count(row.references) },
  ];
  const compared = second ? [
    { name: "other", title: "In " + second.name, number: true, value: (row, at) => at.other(row), show: (row, at) => count(at.other(row)) },
    { name: "change", title: areModels(first, second) ? "Difference" : "Change", number: true, value: (row, at) => Math.abs(at.other(row) - at.misses(row)), change: !areModels(first, second),
      show: (row, at) => signed(at.other(row) - at.misses(row)) },
  ] : [];
  return [...NAMES[which], ...counts, ...compared];
}

// Rows of both profiles: those only the second has follow with nothing in the first.
function joined(first, second, which) {
  const rows = first.tables[which].slice();
  if (!second) return { rows, others: null };
  const others = new Map(second.tables[which].map((row) => [row.key, row]));
  const here = new Set(rows.map((row) => row.key));
  const missing = second.tables[which].filter((row) => !here.has(row.key));
  return { rows: rows.concat(missing), others, missing: new Set(missing) };
}

export function tables(page, state) {
  const available = Object.keys(TITLES).filter((which) => page.profiles.some((profile) => profile.has(which)));
  if (!available.length) return null;
  let which = available.includes(state.get("table")) ? state.get("table") : available[0], sort = null, limit = SHOWN, query = (state.get("find") || "").toLowerCase();
  const table = h("table", { class: "ranking", id: "ranking" });
  const status = h("p", { class: "status", role: "status", id: "ranking-status" });
  const search = h("input", { type: "search", id: "search", placeholder: "function, file, object …", value: state.get("find") || null, oninput: () => { query = search.value.toLowerCase(); limit = SHOWN; state.set({ find: search.value }); show(); } });
  const more = h("button", { type: "button", class: "more", onclick: () => { limit *= 4; show(); } });
  const tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "What is ranked" }, available.map((name) => h("button", {
    type: "button", role: "tab", "data-table": name, "aria-controls": "ranking", onclick: () => choose(name),
    onkeydown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = available[(available.indexOf(name) + step + available.length) % available.length];
      choose(next);
      tabs.querySelector(`[data-table=${next}]`).focus();
    },
  }, TITLES[name])));
  let listed = () => [];
  const choose = (name) => { which = name; state.set({ table: name }); sort = null; limit = SHOWN; show(); };
  const cell = (column, row, at) => {
    if (column.cell) return column.cell(row, at);
    if (column.place && page.sources.has(row.file))
      return h("button", { type: "button", class: "link", onclick: () => { state.set({ source: { file: row.file, line: row.line } }); document.getElementById("source").scrollIntoView(); } }, row.place);
    if (column.place) return row.place;
    if (column.end === "use") return [shortName(row.use), h("span", { class: "place" }, row.usePlace)];
    if (column.end) return h("button", { type: "button", class: "link", title: "Show both call paths", onclick: () => { state.set({ pair: row }); document.getElementById("paths")?.scrollIntoView(); } }, shortName(row.reuse), h("span", { class: "place" }, row.reusePlace));
    return column.show(row, at);
  };
  const show = () => {
    const size = state.get("bytes"), first = page.profiles[state.get("first")], second = page.profiles[state.get("second")];
    const cost = first.cost(page), byCycles = Boolean(cost) && COSTS.has(which) && state.get("by") === "cycles";
    const { rows, others, missing } = joined(first, second, which), list = columns(which, first, second, cost);
    const chosen = sort || { name: byCycles ? "cycles" : "misses", down: true };
    const all = first.misses(size), lines = first.lines(size), theirs = second ? second.lines(size) : 0;
    const cache = new Map(rows.map((row) => [row, missing && missing.has(row) ? 0 : row.misses(lines)]));
    const at = { lines, line: first.line, misses: (row) => cache.get(row), share: (row) => (all ? cache.get(row) / all : 0),
      cycles: (row) => (missing && missing.has(row) ? 0 : cost.of(row)),
      other: (row) => { const other = others.get(row.key); return other ? other.misses(theirs) : 0; } };
    const found = query ? rows.filter((row) => row.search.includes(query)) : rows;
    const by = list.find((column) => column.name === chosen.name) || list.find((column) => column.name === "misses");
    const keys = new Map(found.map((row) => [row, by.value(row, at)]));
    found.sort((a, b) => {
      const x = keys.get(a), y = keys.get(b), order = typeof x === "string" ? x.localeCompare(y) : x - y;
      return (chosen.down ? -order : order) || (a.key < b.key ? -1 : 1);
    });
    for (const tab of tabs.children) {
      const on = tab.getAttribute("data-table") === which;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
    }
    fill(table, h("caption", {}, TITLES[which] + (byCycles ? " by cycles lost; misses in " : " by misses in ") + bytes(size)),
      h("thead", {}, h("tr", {}, list.map((column) => h("th", { scope: "col", class: column.number ? "number" : null,
        "aria-sort": chosen.name === column.name ? (chosen.down ? "descending" : "ascending") : "none", title: column.name === "cycles" ? latencyText(page) : null },
      h("button", { type: "button", "data-sort": column.name, onclick: () => {
        sort = { name: column.name, down: chosen.name === column.name ? !chosen.down : Boolean(column.number) };
        show();
        table.querySelector(`[data-sort=${column.name}]`).focus();
      } }, column.title, h("span", { "aria-hidden": "true" }, chosen.name === column.name ? (chosen.down ? " ▾" : " ▴") : "")))))),
      h("tbody", {}, found.slice(0, limit).map((row) => h("tr", {}, list.map((column) => h("td", {
        "data-column": column.name,
        class: [column.number && "number", column.className, column.change && changeClass(at.other(row) - at.misses(row), all)].filter(Boolean).join(" ") || null,
        title: column.name === "misses" ? Math.round(at.misses(row)) : column.name === "cycles" ? Math.round(at.cycles(row)) : column.className === "name" ? (column.end ? row[column.end] : row.function || row.file || row.name) || null : null,
      }, cell(column, row, at)))))));
    listed = () => [list.map((column) => column.title), ...found.map((row) => list.map((column) => { const value = column.name === "share" ? at.share(row) : column.name === "change" ? at.other(row) - at.misses(row) : column.value(row, at); return typeof value === "number" ? Number(value.toPrecision(12)) : value; }))];
    fill(status, found.length > limit ? `${limit} of ${found.length} rows shown` : `${found.length} ${found.length === 1 ? "row" : "rows"}`, query ? ` of ${rows.length} match` : "",
      page.rows_left_out ? `. Rows with less than 0.05 % of the misses at every size are summed up by function or left out: ${page.rows_left_out} of them.` : "");
    more.hidden = found.length <= limit;
    fill(more, "Show more");
  };
  state.on(["bytes", "first", "second", "by"], show);
  return section("ranking-section", "Where the misses are",
    "Misses at the chosen cache size: first touches, lines taken away by other threads, and reuses from farther than the cache reaches.",
    h("div", { class: "controls" }, tabs, rankBy(page, state), h("span", { class: "search" }, h("label", { for: "search" }, "Search"), search), downloads(["CSV", () => saveCsv("misses-by-" + which, listed())])), h("div", { class: "scroll" }, table), status, more);
}

// A change is marked from a thousandth of all misses on.
function changeClass(change, all) {
  if (Math.abs(change) <= all / 1000) return null;
  return change > 0 ? "worse" : "better";
}
