// sharing.js - which threads share lines, and which only by accident of layout.
import { h, svg, fill, section, plainTable } from "./dom.js";
import { count, largest } from "./units.js";

const ROWS = 50;
const THREADS = 64; // of the matrix

// Invalidations (where there are none: references) of lines that both threads touch.
function matrix(list) {
  const tids = [...new Set(list.flatMap((line) => line.threads))].sort((a, b) => a - b).slice(0, THREADS);
  const index = new Map(tids.map((tid, i) => [tid, i])), cells = tids.map(() => tids.map(() => 0));
  const lost = list.some((line) => line.invalidations);
  for (const line of list)
    for (const a of line.threads) for (const b of line.threads)
      if (a !== b && index.has(a) && index.has(b)) cells[index.get(a)][index.get(b)] += lost ? line.invalidations : line.references;
  return { tids, cells, what: lost ? "invalidations" : "references" };
}

function matrixTable(list) {
  const { tids, cells, what } = matrix(list), most = largest(cells.flat(), 1);
  const level = (value) => "level-" + (value ? 1 + Math.min(4, Math.floor(value / most * 4.999)) : 0);
  return h("div", { class: "scroll" }, h("table", { class: "matrix", id: "sharing-matrix" }, h("caption", {}, `${what} of lines that two threads share`),
    h("thead", {}, h("tr", {}, h("td", {}), tids.map((tid) => h("th", { scope: "col" }, String(tid))))),
    h("tbody", {}, tids.map((tid, i) => h("tr", {}, h("th", { scope: "row" }, String(tid)), cells[i].map((value, j) => h("td", { class: i === j ? "self" : level(value) }, i === j ? "" : count(value))))))));
}

// The bytes of a line, a row a thread.
function layout(line, users) {
  const tall = 10, picture = svg("svg", { viewBox: `0 0 ${line * 2} ${users.length * tall}`, width: line * 2, height: users.length * tall, role: "img", class: "layout",
    "aria-label": users.map((user) => `thread ${user.tid} bytes ${user.first} to ${user.last}`).join("; ") });
  picture.append(svg("rect", { x: 0, y: 0, width: line * 2, height: users.length * tall, class: "back" }));
  users.forEach((user, i) => picture.append(svg("rect", { x: user.first * 2, y: i * tall + 1, width: (user.last - user.first + 1) * 2, height: tall - 2, class: "fill-" + (i % 8) }, svg("title", {}, `thread ${user.tid}: bytes ${user.first} to ${user.last}, ${user.writes} writes`))));
  return picture;
}

export function sharing(page, state) {
  const has = (name) => page.profiles.some((profile) => (profile.json[name] || []).length);
  if (!has("sharing") && !has("false_sharing")) return null;
  const box = h("div", {});
  state.on(["first"], ({ first }) => {
    const profile = page.profiles[first], shared = profile.json.sharing || [], by_accident = profile.json.false_sharing || [];
    const worst = (list) => list.slice().sort((a, b) => b.invalidations - a.invalidations).slice(0, ROWS);
    fill(box, shared.length ? [matrixTable(shared), plainTable("Lines that threads share", ["Line", "Object", "Threads", "References", "Writes", "Invalidations"],
      worst(shared).map((line) => [line.address, line.object || "(unknown)", line.threads.join(", "), count(line.references), count(line.writes), count(line.invalidations)]), (i) => i > 2)] : null,
    by_accident.length ? plainTable("False sharing: different bytes, the same line", ["Line", "Object", "Who touches which bytes", "References", "Invalidations"],
      worst(by_accident).map((line) => [line.address, line.object || "(unknown)", h("td", {}, layout(profile.line, line.users), h("span", { class: "place" }, line.users.map((user) => `${user.tid}: ${user.first}–${user.last}`).join(", "))), count(line.references), count(line.invalidations)]), (i) => i > 2) : null,
    shared.length || by_accident.length ? null : "This profile has no shared lines.");
  });
  return section("sharing", "Sharing between threads", "Darker cells: more traffic between the two threads. Data that only lies in one line by accident can be moved apart.", box);
}
