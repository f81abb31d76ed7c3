// state.js - what the reader has chosen. Whoever shows it subscribes; changes of
// one frame are shown together, so that dragging stays smooth.
const REST_MS = 120;

export class State {
  constructor(values) {
    this.values = values;
    this.listeners = [];
    this.changed = new Set();
    this.waiting = false;
  }

  get(name) { return this.values[name]; }

  set(changes) {
    for (const [name, value] of Object.entries(changes)) {
      if (this.values[name] === value) continue;
      this.values[name] = value;
      this.changed.add(name);
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
    this.moving = changed.size === 1 && changed.has("bytes");
    for (const { names, listener } of this.listeners) if (names.some((name) => changed.has(name))) listener(this.values);
  }
}
