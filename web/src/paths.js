// paths.js - call paths: the tree of them by misses, and the two ends of one pair
// with the call and the loop they share.
import { h, fill, section } from "./dom.js";
import { bytes, count, percent, shortName } from "./units.js";
import { binMisses, functionText, pathOf, placeText } from "./model.js";

const CHILDREN = 20; // of one node in the tree

const same = (a, b) => a.id === b.id;
const shown = (place) => [h("span", { title: functionText(place) }, shortName(functionText(place))), h("span", { class: "place" }, placeText(place))];

// The innermost loop around both ends, as the tool found it; several pairs of one row have the first one's.
function loopAround(profile, row) {
  const loop = row.ends.ancestor ? (profile.json.loops || [])[row.ends.ancestor.loop] : null;
  return loop ? h("p", { id: "ancestor-loop" }, "Both run inside the loop at ", h("strong", {}, placeText(loop)), " in " + functionText(loop) + (loop.depth > 1 ? `, ${loop.depth} deep.` : ".")) : null;
}

function pairPaths(profile, row) {
  const use = pathOf(profile, row.ends.use), reuse = pathOf(profile, row.ends.reuse);
  let shared = 0;
  while (shared < use.length && shared < reuse.length && same(use[shared], reuse[shared])) shared++;
  const list = (title, path, end) => h("div", {}, h("h4", {}, title),
    h("ol", { class: "path" }, path.map((site, i) => h("li", { class: i < shared ? (i === shared - 1 ? "shared ancestor" : "shared") : null }, shown(site))), h("li", { class: "end" }, shown(end))));
  const ancestor = shared ? use[shared - 1] : null;
  return [h("p", { id: "ancestor" }, ancestor ? ["The lowest call that both share is in ", h("strong", {}, functionText(ancestor)), " at " + placeText(ancestor) + ": between use and reuse the data has to stay in the cache for as long as that takes."]
    : use.length || reuse.length ? "The two call paths have no call in common." : "The profile has no call paths for this pair."),
  loopAround(profile, row),
  h("div", { class: "two" }, list("Use", use, row.ends.use), list("Reuse", reuse, row.ends.reuse))];
}

// Nodes by call path, functions at the ends, misses of all below summed.
function buildTree(profile, which, lines) {
  const root = { children: new Map(), misses: 0, place: null };
  for (const pair of profile.json.pairs) {
    const misses = binMisses(pair.rd, lines);
    if (!misses) continue;
    let node = root;
    node.misses += misses;
    for (const place of [...pathOf(profile, pair[which]), pair[which]]) {
      const key = functionText(place) + "|" + placeText(place);
      if (!node.children.has(key)) node.children.set(key, { children: new Map(), misses: 0, place });
      node = node.children.get(key);
      node.misses += misses;
    }
  }
  return root;
}

function treeNode(node, all, open) {
  const label = [h("span", { class: "share" }, percent(node.misses / all)), " ", ...shown(node.place), h("span", { class: "place" }, count(node.misses) + " misses")];
  if (!node.children.size) return h("div", { class: "leaf" }, label);
  const box = h("details", {}, h("summary", {}, label));
  const expand = () => {
    if (box.childElementCount > 1) return;
    const children = [...node.children.values()].sort((a, b) => b.misses - a.misses);
    box.append(...children.slice(0, CHILDREN).map((child, i) => treeNode(child, all, open && i === 0)));
    if (children.length > CHILDREN) box.append(h("div", { class: "leaf" }, `and ${children.length - CHILDREN} more with fewer`));
  };
  box.addEventListener("toggle", () => { if (box.open) expand(); });
  if (open) { expand(); box.open = true; }
  return box;
}

export function paths(page, state) {
  if (!page.profiles.some((profile) => profile.has("pairs"))) return null;
  const details = h("div", { class: "pair", "aria-live": "polite" }), tree = h("div", { class: "tree" });
  let which = "reuse";
  const sides = h("div", { class: "controls", role: "group", "aria-label": "End of the pair" }, ["use", "reuse"].map((side) => h("button", { type: "button", "aria-pressed": String(side === which), onclick: () => {
    which = side;
    for (const button of sides.children) button.setAttribute("aria-pressed", String(button.textContent === "By " + side));
    show();
  } }, "By " + side)));
  const show = () => {
    const profile = page.profiles[state.get("first")], root = buildTree(profile, which, profile.lines(state.get("bytes")));
    if (!root.misses) { fill(tree, h("p", {}, "No reuse misses at " + bytes(state.get("bytes")) + ".")); return; }
    fill(tree, [...root.children.values()].sort((a, b) => b.misses - a.misses).slice(0, CHILDREN).map((child, i) => treeNode(child, root.misses, i === 0)));
  };
  state.onRest(["bytes", "first"], show);
  state.on(["pair", "first", "bytes"], ({ pair, first, bytes: size }) => {
    const profile = page.profiles[first], lines = profile.lines(size);
    const worst = profile.tables.pairs.reduce((best, row) => (!best || row.misses(lines) > best.misses(lines) ? row : best), null);
    const row = profile.tables.pairs.find((one) => pair && one.key === pair.key) || worst;
    fill(details, row ? [h("h3", {}, row === worst ? "The pair with most misses" : "The pair chosen above"), ...pairPaths(profile, row)] : "This profile has no pairs.");
  });
  return section("paths", "Call paths", "A reuse misses because of what ran between the use and the reuse. Choose a pair in the table above to see both of its paths.",
    details, h("h3", {}, "All reuses that miss"), sides, tree);
}
