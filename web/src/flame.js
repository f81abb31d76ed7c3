// flame.js - misses at the chosen size by call path: the whole width is all misses, a
// box under another is what it calls. Click to look closer, search to find, and the
// source beside it follows.
import { hierarchy, partition } from "d3-hierarchy";
import { h, svg, fill, section } from "./dom.js";
import { baseName, bytes, count, percent, shortName } from "./units.js";
import { binMisses, functionText, pathOf, placeText } from "./model.js";
import { downloads, saveCsv, saveSvg } from "./download.js";

const TALL = 20, WIDE = 1200; // of a row, of the picture, in its own units
const LEAST = 1.2; // narrower boxes are not drawn
const LETTER = 6.6; // the width of one, about

class Node {
  constructor(name, place) { this.name = name; this.place = place; this.own = 0; this.below = new Map(); }

  child(name, place) {
    let node = this.below.get(name);
    if (!node) this.below.set(name, node = new Node(name, place));
    return node;
  }

  get children() { return [...this.below.values()]; }
}

// Reuses have a path; first touches and lines lost to others only the place itself.
export function missTree(profile, size) {
  const lines = profile.lines(size), root = new Node("all misses", null), seen = new Map();
  for (const pair of profile.json.pairs || []) {
    const misses = binMisses(pair.rd, lines);
    if (!misses) continue;
    let node = root;
    for (const site of pathOf(profile, pair.reuse)) node = node.child(functionText(site), site);
    node = node.child(functionText(pair.reuse), pair.reuse).child(placeText(pair.reuse), pair.reuse);
    node.own += misses;
    const key = functionText(pair.reuse) + "|" + placeText(pair.reuse);
    seen.set(key, (seen.get(key) || 0) + misses);
  }
  const without = new Node("first touches and others without a path", null);
  for (const row of profile.tables.lines) {
    const left = row.misses(lines) - (seen.get(row.function + "|" + row.place) || 0);
    if (left > 0.5) without.child(row.function, row).child(row.place, row).own += left;
  }
  if (without.below.size) root.below.set(without.name, without);
  return root;
}

function laidOut(profile, size) {
  const tree = hierarchy(missTree(profile, size), (node) => node.children).sum((node) => node.own).sort((a, b) => b.value - a.value);
  return partition()(tree);
}

export function flame(page, state) {
  if (!page.profiles.some((profile) => profile.has("pairs") || profile.has("lines"))) return null;
  const picture = h("div", { class: "flame", id: "flame-picture" }), about = h("p", { class: "status", id: "flame-about", role: "status" });
  const trail = h("p", { class: "trail" });
  let root = null, shown = null, query = "";
  const pathTo = (node) => node.ancestors().reverse().map((one) => one.data.name);
  const say = (node) => fill(about, `${node.data.name}: ${count(node.value)} misses, ${percent(node.value / (root.value || 1))} of all`, node.data.place && node.data.place.file ? ` · ${baseName(node.data.place.file)}:${node.data.place.line}` : "");
  const choose = (node) => {
    shown = node;
    state.set({ path: pathTo(node).slice(1).join(" > ") });
    const place = node.data.place;
    if (place && page.sources.has(place.file)) state.set({ source: { file: place.file, line: place.line } });
    draw();
    say(node);
  };
  const draw = () => {
    const scale = WIDE / (shown.x1 - shown.x0 || 1), depth = shown.depth;
    const boxes = root.descendants().filter((node) => node.x1 > shown.x0 && node.x0 < shown.x1 && node.value > 0 && (node.x1 - node.x0) * scale >= LEAST);
    const deepest = boxes.reduce((most, node) => Math.max(most, node.depth), 0);
    const found = query ? new Set(boxes.filter((node) => node.data.name.toLowerCase().includes(query))) : null;
    const drawn = svg("svg", { viewBox: `0 0 ${WIDE} ${(deepest + 1) * TALL}`, role: "img", "aria-label": "Misses by call path; the tree of call paths below has the same" }, boxes.map((node) => {
      const x = Math.max(0, (node.x0 - shown.x0) * scale), right = Math.min(WIDE, (node.x1 - shown.x0) * scale), wide = right - x, name = shortName(node.data.name);
      const room = Math.floor((wide - 8) / LETTER);
      const box = svg("g", { class: "frame" + (node.depth < depth ? " above" : "") + (found ? (found.has(node) ? " found" : " other") : ""), "data-name": node.data.name, tabindex: node.depth >= depth && wide > 30 ? 0 : null,
        onclick: () => choose(node), onkeydown: (event) => { if (event.key === "Enter") choose(node); }, onfocus: () => say(node), onpointerenter: () => say(node) },
      svg("title", {}, `${node.data.name}\n${count(node.value)} misses, ${percent(node.value / (root.value || 1))} of all`),
      svg("rect", { x: x + 0.5, y: node.depth * TALL + 0.5, width: Math.max(0.5, wide - 1), height: TALL - 1, class: "heat-" + (node.depth % 3) }),
      room > 2 ? svg("text", { x: x + 5, y: node.depth * TALL + 14 }, name.length > room ? name.slice(0, room - 1) + "…" : name) : null);
      return box;
    }));
    fill(picture, root.value ? drawn : h("p", {}, "Nothing misses in " + bytes(state.get("bytes")) + "."));
    fill(trail, pathTo(shown).map((name, i) => [i ? " › " : "", h("button", { type: "button", class: "link", onclick: () => choose(shown.ancestors().reverse()[i]) }, shortName(name))]));
    if (found) fill(about, `${percent([...found].reduce((sum, node) => sum + (node.ancestors().slice(1).some((one) => found.has(one)) ? 0 : node.value), 0) / (root.value || 1))} of all misses are in or below "${query}"`);
  };
  const make = () => {
    root = laidOut(page.profiles[state.get("first")], state.get("bytes"));
    shown = root;
    for (const name of (state.get("path") || "").split(" > ")) shown = (shown.children || []).find((node) => node.data.name === name) || shown;
    draw();
    if (!query) say(shown);
  };
  const search = h("input", { type: "search", id: "flame-search", placeholder: "function or line …", oninput: () => { query = search.value.toLowerCase(); draw(); if (!query) say(shown); } });
  state.onRest(["bytes", "first"], make);
  const rows = () => [["path", "misses"], ...root.leaves().filter((node) => node.value > 0).map((node) => [pathTo(node).join(";"), Math.round(node.value)])];
  return section("flame", "Misses by call path", "The width of a box is its share of the misses at the chosen size; boxes below one are what it calls. Click to look closer, the names above to go back.",
    h("div", { class: "controls" }, trail, h("span", { class: "search" }, h("label", { for: "flame-search" }, "Search"), search),
      downloads(["SVG", () => saveSvg("misses-by-path", picture.querySelector("svg"))], ["CSV", () => saveCsv("misses-by-path", rows())])),
    picture, about);
}
