// state.js - what the reader has chosen. Whoever shows it subscribes; changes of
// one frame are shown together, so that dragging stays smooth.
const REST_MS = 120;

export class State {
  constructor(values) {
    this.values = values;
    this.listeners = [];
    this.changed = new Set();
    this.waiting = false;
    this.touched = new Set(); // whatever was ever changed
  }

  get(name) { return this.values[name]; }

  set(changes) {
    for (const [name, value] of Object.entries(changes)) {
      if (this.values[name] === value) continue;
      this.values[name] = value;
      this.changed.add(name);
      this.touched.add(name);
    }
    if (!this.changed.size || this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => this.show());
  }

  // Calls back with the values now, and whenever one of `names` has changed.
  on(names, listener) {
    this.listeners.push({ names, listener });
    listener(this.values);
  }

  // The same for what is slow to draw: where only the size changes, as when it is dragged, not before it rests.
  onRest(names, listener) {
    let timer = 0;
    this.on(names, (values) => {
      clearTimeout(timer);
      if (this.moving) timer = setTimeout(() => listener(this.values), REST_MS);
      else listener(values);
    });
  }

  show() {
    const changed = this.changed;
    this.changed = new Set();
    this.waiting = false;
    this.moving = changed.has("bytes") && (changed.size === 1 || (changed.size === 2 && changed.has("by")));
    for (const { names, listener } of this.listeners) if (names.some((name) => changed.has(name))) listener(this.values);
  }
}

// What the reader has chosen, in the page's address: a link to it shows the same. Numbers and short texts only.
const KEPT = { at: "bytes", by: "by", first: "first", second: "second", table: "table", find: "find", path: "path" };

export function readAddress(hash, limits) {
  const found = {};
  if (!hash.includes("=")) return found;
  for (const [key, value] of new URLSearchParams(hash.slice(1))) {
    const name = KEPT[key];
    if (!name) continue;
    if (typeof limits[name] === "number") {
      const number = Number(value);
      if (Number.isInteger(number) && number <= limits[name] && number >= (name === "bytes" ? 1 : name === "second" ? -1 : 0)) found[name] = number;
    } else found[name] = value.slice(0, 200);
  }
  return found;
}

export function keepInAddress(state) {
  let timer = 0;
  state.on(Object.values(KEPT), () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const words = new URLSearchParams();
      for (const [key, name] of Object.entries(KEPT)) if (state.touched.has(name) && state.get(name) !== "" && state.get(name) !== null) words.set(key, state.get(name));
      if (String(words)) history.replaceState(null, "", "#" + words);
    }, REST_MS);
  });
}
