// sharing.js - which threads share lines, and which only by accident of layout.
import { h, svg, fill, section, plainTable } from "./dom.js";
import { count, largest } from "./units.js";

const ROWS = 50;
const THREADS = 64; // of the matrix

const EMPTY = { taken: 0, false_taken: 0, misses: 0, false_misses: 0 };

// A number of a row: its bar, or the number itself where it is exact.
const low = (row, key) => row.bars ? row.bars[key + "_low"] : row[key] || 0;
const high = (row, key) => row.bars ? row.bars[key + "_high"] : row[key] || 0;
const range = (row, key) => row.bars ? `${count(low(row, key))}–${count(high(row, key))}` : "";
const withRange = (row, key) => count(row[key] || 0) + (row.bars ? ` (${range(row, key)})` : "");
// The number in a cell of a table, and its bar in small below.
const stacked = (row, key) => [count(row[key] || 0), row.bars ? h("span", { class: "range" }, range(row, key)) : null];

// Sums of rows; the bar of a sum has the sums of the bars' ends.
function add(to, row) {
  if (to.bars || row.bars) to.bars = Object.fromEntries(Object.keys(EMPTY).flatMap((key) => [[key + "_low", low(to, key) + low(row, key)], [key + "_high", high(to, key) + high(row, key)]]));
  for (const key of Object.keys(EMPTY)) to[key] += row[key] || 0;
  return to;
}

// Rows are cells of the matrix; or, as the schema allows too, lines that threads share, whose invalidations any of them may have had.
const asCells = (list) => list.flatMap((row) => !row.threads ? [row] : row.threads.flatMap((by) => row.threads.filter((from) => from !== by).map((from) => ({ ...EMPTY, by, from, misses: row.invalidations || row.references }))));

// A row for each thread that lost lines, a column for each that took them.
function matrix(list) {
  const tids = [...new Set(list.flatMap((cell) => [cell.by, cell.from]))].sort((a, b) => a - b).slice(0, THREADS);
  const index = new Map(tids.map((tid, i) => [tid, i])), cells = tids.map(() => tids.map(() => ({ ...EMPTY })));
  for (const cell of list)
    if (index.has(cell.by) && index.has(cell.from)) add(cells[index.get(cell.from)][index.get(cell.by)], cell);
  return { tids, cells };
}

function matrixTable(list) {
  const { tids, cells } = matrix(list), most = largest(cells.flat().map((cell) => cell.misses), 1);
  const level = (value) => "level-" + (value ? 1 + Math.min(4, Math.floor(value / most * 4.999)) : 0);
  const says = (cell, from, by) => `thread ${by} took ${withRange(cell, "taken")} lines from ${from}, ${withRange(cell, "false_taken")} of them falsely; ${withRange(cell, "misses")} misses, ${withRange(cell, "false_misses")} of them by false sharing`;
  return h("div", { class: "scroll" }, h("table", { class: "matrix", id: "sharing-matrix" }, h("caption", {}, "Misses of each thread (down) on lines that another's write took away (across)"),
    h("thead", {}, h("tr", {}, h("td", {}), tids.map((tid) => h("th", { scope: "col" }, String(tid))))),
    h("tbody", {}, tids.map((tid, i) => h("tr", {}, h("th", { scope: "row" }, String(tid)), cells[i].map((cell, j) => h("td", { class: i === j ? "self" : level(cell.misses), title: i === j ? "" : says(cell, tid, tids[j]) }, i === j ? "" : stacked(cell, "misses"))))))));
}

const placeName = (place) => place.file ? `${place.file.split("/").pop()}:${place.line}` : place.function || "(unknown)";

// Memory without a name is called by its address, which says nothing to anybody.
const objectName = (name) => (!name ? "(unknown)" : name.startsWith("0x") ? "memory without a name" : name);

// The bytes of a line, a row a thread.
function layout(line, users) {
  const tall = 10, picture = svg("svg", { viewBox: `0 0 ${line * 2} ${users.length * tall}`, width: line * 2, height: users.length * tall, role: "img", class: "layout",
    "aria-label": users.map((user) => `thread ${user.tid} bytes ${user.first} to ${user.last}`).join("; ") });
  picture.append(svg("rect", { x: 0, y: 0, width: line * 2, height: users.length * tall, class: "back" }));
  users.forEach((user, i) => picture.append(svg("rect", { x: user.first * 2, y: i * tall + 1, width: (user.last - user.first + 1) * 2, height: tall - 2, class: "fill-" + (i % 8) }, svg("title", {}, `thread ${user.tid}: bytes ${user.first} to ${user.last}, took the line ${user.taken || 0} times`))));
  return picture;
}

export function sharing(page, state) {
  const has = (name) => page.profiles.some((profile) => (profile.json[name] || []).length);
  if (!has("sharing") && !has("false_sharing")) return null;
  const box = h("div", {});
  state.on(["first"], ({ first }) => {
    const profile = page.profiles[first], shared = asCells(profile.json.sharing || []), by_accident = profile.json.false_sharing || [];
    const all = shared.reduce(add, { ...EMPTY }), whole = profile.json.bars?.invalidated;
    const misses = whole ? `${count(all.misses)} (${count(whole.low)}–${count(whole.high)})` : withRange(all, "misses");
    fill(box, shared.length ? [matrixTable(shared), h("p", {}, `${misses} misses on lines that another thread's write took away, ${withRange(all, "false_misses")} of them by false sharing.`)] : null,
    by_accident.length ? plainTable("False sharing: different bytes, the same line", ["Object", "Who uses which bytes", "Written at, used at", "Taken", "Misses"],
      by_accident.slice(0, ROWS).map((line) => [h("td", { title: "line at " + line.address }, objectName(line.object)), h("td", {}, layout(profile.line, line.users), h("span", { class: "place" }, line.users.map((user) => `${user.tid}: ${user.first}–${user.last}`).join(", "))),
        (line.places || []).map((pair) => `${placeName(pair.writer)}, ${placeName(pair.victim)}`).join("; ") || "(unknown)", h("td", { class: "number" }, stacked(line, "taken")), h("td", { class: "number" }, stacked({ misses: line.invalidations, ...line }, "misses"))]), (i) => i > 2) : null,
    shared.length || by_accident.length ? null : "This profile has no shared lines: it is of one stack, or no thread took a line from another.");
  });
  return section("sharing", "Sharing between threads", "The stronger a cell's colour, the more traffic between the two threads. Data that only lies in one line by accident can be moved apart.", box);
}
