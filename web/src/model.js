// model.js - profiles as the page uses them: rows that are one thing to a reader
// joined (the instructions of a line), and misses at any cache size.
//
// Misses in c lines are cold + invalidated + references with distance >= c; in a
// bin that c cuts, in proportion, as src/report/ranking.h has it. A bin without an
// upper end (a capped distance) counts whole.
import { unpacked } from "./pack.js";
import { baseName, smallest } from "./units.js";

// Lists of bins, each ascending, as one.
function merged(lists) {
  const bins = new Map();
  for (const list of lists) for (const bin of list) {
    const there = bins.get(bin.lo);
    if (there) there.count += bin.count;
    else bins.set(bin.lo, { lo: bin.lo, hi: bin.hi, count: bin.count });
  }
  return [...bins.values()].sort((a, b) => a.lo - b.lo);
}

class Distances {
  constructor() { this.lists = []; this.sorted = null; }

  add(list) { this.lists.push(list); this.sorted = null; }

  seal() {
    this.sorted = this.lists.length === 1 ? this.lists[0] : merged(this.lists);
    this.beyond = new Float64Array(this.sorted.length + 1); // references in this bin and all after it
    for (let i = this.sorted.length - 1; i >= 0; i--) this.beyond[i] = this.beyond[i + 1] + this.sorted[i].count;
  }

  // References at a distance of `lines` or more.
  from(lines) {
    if (!this.sorted) this.seal();
    let low = 0, high = this.sorted.length; // first bin with lo >= lines
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.sorted[middle].lo >= lines) high = middle;
      else low = middle + 1;
    }
    const cut = low > 0 ? this.sorted[low - 1] : null;
    if (!cut) return this.beyond[low];
    if (cut.hi === null) return this.beyond[low] + cut.count;
    return this.beyond[low] + (cut.hi >= lines ? cut.count * (cut.hi - lines + 1) / (cut.hi - cut.lo + 1) : 0);
  }

  median(from) {
    const half = this.from(from) / 2;
    let seen = this.from(from);
    if (!seen) return null;
    for (const bin of this.sorted) {
      if ((bin.hi ?? Infinity) < from) continue;
      seen -= bin.count;
      if (seen <= half) return bin.hi === null ? bin.lo : (bin.lo + bin.hi) / 2;
    }
    return null;
  }
}

export class Row {
  constructor(key, fields) {
    this.key = key;
    Object.assign(this, fields);
    this.references = this.cold = this.invalidated = this.error = 0;
    this.distances = new Distances();
    this.search = Object.values(fields).filter((value) => typeof value === "string" || typeof value === "number")
      .join("\n").toLowerCase();
  }

  add(row) {
    this.references += row.references;
    this.cold += row.cold || 0;
    this.invalidated += row.invalidated || 0;
    this.error += row.error || 0;
    this.distances.add(row.rd);
  }

  misses(lines) { return this.cold + this.invalidated + this.distances.from(lines); }

  // The estimated cycles that its misses cost, as src/profile/cost.h has it: each waits for the next larger cache that
  // holds the line, or for memory; what another thread wrote, for the largest. `levels`: [{ lines, cycles }, ...].
  cycles(levels, memory) {
    let sum = this.invalidated * levels[levels.length - 1].cycles;
    const beyond = levels.map((level) => this.cold + this.distances.from(level.lines));
    for (let i = 0; i < levels.length; i++)
      sum += Math.max(0, beyond[i] - (beyond[i + 1] ?? 0)) * (i + 1 < levels.length ? levels[i + 1].cycles : memory);
    return sum;
  }
}

const NOWHERE = "(unknown)";
const SMALL = "(places with few misses)"; // as src/report/page/page_rows.h sums them up
export const isPlace = (row) => row.function !== SMALL;

// Call sites from the outermost to the end itself.
export function pathOf(profile, end) {
  const contexts = profile.json.contexts, path = [];
  for (let id = end.context; id !== null && id !== undefined && contexts[id]; id = contexts[id].parent) path.push(contexts[id]);
  return path.reverse();
}

// Of one row's bins.
export function binMisses(rd, lines) {
  let misses = 0;
  for (const bin of rd) {
    if (bin.lo >= lines || bin.hi === null) misses += bin.count;
    else if (bin.hi >= lines) misses += bin.count * (bin.hi - lines + 1) / (bin.hi - bin.lo + 1);
  }
  return misses;
}

function placeKey(place) {
  if (place.file && place.line) return (place.function || "") + "|" + baseName(place.file) + ":" + place.line;
  if (place.function) return place.function;
  return (place.module ? baseName(place.module) : "") + "+" + (place.offset ?? place.pc);
}

export function placeText(place) {
  if (!isPlace(place)) return "–";
  if (place.file && place.line) return baseName(place.file) + ":" + place.line;
  return (place.module ? baseName(place.module) + "+" : "") + (place.offset ?? place.pc);
}

const moduleText = (place) => (place.module ? baseName(place.module) : NOWHERE);
export const functionText = (place) => place.function || NOWHERE;

function grouped(rows, keyOf, fieldsOf) {
  const groups = new Map();
  for (const row of rows || []) {
    const key = keyOf(row);
    let group = groups.get(key);
    if (!group) groups.set(key, group = new Row(key, fieldsOf(row)));
    group.add(row);
  }
  return [...groups.values()];
}

const COME_FROM = { lines: "code", functions: "code", files: "code", modules: "code" };
const TABLES = {
  lines: (json) => grouped(json.code, placeKey, (row) => ({ function: functionText(row), place: placeText(row), file: row.file, line: row.line })),
  functions: (json) => grouped(json.code, (row) => row.function || moduleText(row), (row) => ({ function: functionText(row), module: row.module ? moduleText(row) : "" })),
  files: (json) => grouped(json.code, (row) => (row.file ? baseName(row.file) : "in " + moduleText(row)), (row) => ({ file: row.file || NOWHERE, module: moduleText(row) })),
  modules: (json) => grouped(json.code, moduleText, (row) => ({ module: moduleText(row) })),
  loops: (json) => grouped(json.code, (row) => (row.loop === undefined ? "" : placeKey(json.loops[row.loop]) + " " + json.loops[row.loop].depth), (row) => {
    const loop = json.loops[row.loop];
    return { function: loop ? functionText(loop) : "in no loop, or not known", place: loop ? placeText(loop) : "–", file: loop ? loop.file : null, line: loop ? loop.line : null, depth: loop ? loop.depth : 0 };
  }),
  objects: (json) => grouped(json.objects, (row) => row.kind + "|" + row.name,
    (row) => ({ name: row.name || NOWHERE, kind: row.kind, bytes: row.bytes, blocks: row.blocks || 0 })),
  pairs: (json) => grouped(json.pairs, (row) => placeKey(row.use) + " > " + placeKey(row.reuse), (row) => ({
    use: functionText(row.use), usePlace: placeText(row.use), reuse: functionText(row.reuse), reusePlace: placeText(row.reuse), ends: row,
  })),
  threads: (json) => (json.threads || []).map((row, index) => {
    const made = new Row("thread " + index, { tid: row.tid, pid: row.pid });
    made.add(row);
    return made;
  }),
  kinds: (json) => grouped(json.kinds, (row) => row.kind, (row) => ({ kind: row.kind })),
};

export class Profile {
  constructor(json, name) {
    this.json = json;
    this.name = name;
    this.line = json.made.line;
    this.tables = {};
    for (const [name, make] of Object.entries(TABLES)) { // each when it is first looked at
      let made = null;
      Object.defineProperty(this.tables, name, { get: () => (made ??= make(json)) });
    }
  }

  has(table) { return (this.json[COME_FROM[table] || table] || []).length > 0; }

  lines(bytes) { return Math.max(1, Math.floor(bytes / this.line)); }

  // The curve at a size: the last point that is not larger; below the first, everything misses.
  at(bytes) {
    const curve = this.json.mrc, lines = bytes / this.line;
    if (!curve.length || lines < curve[0].lines) return { miss_ratio: this.json.references ? 1 : 0, low: 1, high: 1 };
    let low = 0, high = curve.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (curve[middle].lines <= lines) low = middle;
      else high = middle;
    }
    return curve[low];
  }

  misses(bytes) { return this.at(bytes).miss_ratio * this.json.references; }

  // How cycles of its rows are estimated; null: they are not known.
  cost(page) { return (this.costs ??= [this.makeCost(page)])[0]; }

  makeCost(page) {
    const levels = page.machine.map((level) => ({ lines: this.lines(level.bytes), cycles: level.cycles }));
    if (!levels.length || !page.memory_cycles || page.machine[levels.length - 1].bytes > this.limit()) return null;
    const all = new Row("", {});
    all.add({ references: this.json.references, cold: this.json.cold + (this.json.last_touch || 0), invalidated: this.json.invalidated, rd: this.json.rd });
    return { of: (row) => row.cycles(levels, page.memory_cycles), all: all.cycles(levels, page.memory_cycles) };
  }

  footprint() { return this.json.mrc.length ? this.json.mrc[this.json.mrc.length - 1].bytes : this.line; }

  // Where larger caches are not known: distances from a cap on are one bin. Infinity without.
  limit() { return this.json.max_distance && this.json.rd.some((bin) => bin.hi === null) ? this.footprint() : Infinity; }

  sampled() { return Boolean(this.json.made.sampling) || this.json.mrc.some((point) => point.high > point.low); }
}

// Two profiles of one run under two models differ in what they model: neither is better.
export const areModels = (a, b) => Boolean(a && b && a.json.made.model !== b.json.made.model && a.json.references === b.json.references);

// What `report` wrote into the page.
export function readPage(text) {
  const page = JSON.parse(text);
  const names = page.names || [];
  if (page.shapes) page.profiles = unpacked(page.profiles, page.shapes, page.strings);
  page.sources = new Map(Object.entries(page.sources));
  page.sims = page.documents.filter((document) => document.schema === "reusescope-sim/1");
  page.objects = page.documents.filter((document) => document.schema === "reusescope-objects/1");
  page.studies = page.documents.filter((document) => document.schema === "reusescope-sampling-study/1");
  page.loops = page.documents.filter((document) => document.schema === "reusescope-loops/1");
  page.profiles = page.profiles.map((json, i) => new Profile(json, names[i] || ""));
  const same = new Set(page.profiles.map((profile) => profile.name)).size < page.profiles.length;
  const lineSizes = new Set(page.profiles.map((profile) => profile.line)).size;
  for (const profile of page.profiles) {
    const made = profile.json.made;
    if (same || !profile.name) profile.name = [profile.name, made.model, lineSizes > 1 ? bytesOfLine(made) : ""].filter(Boolean).join(", ");
  }
  if (page.profiles.length && page.profiles.every((profile) => profile.json.made.model === "requests")) page.machine = [];
  page.limit = smallest(page.profiles.map((profile) => profile.limit()));
  const seen = new Map();
  for (const profile of page.profiles) { // still the same: number them
    const times = (seen.get(profile.name) || 0) + 1;
    seen.set(profile.name, times);
    if (times > 1) profile.name += " (" + times + ")";
  }
  return page;
}

const bytesOfLine = (made) => (made.model === "requests" ? "" : made.line + " B lines");
