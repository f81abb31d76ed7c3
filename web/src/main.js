// main.js - the page, from the data that stands in it.
import { h } from "./dom.js";
import { readPage } from "./model.js";
import { State, keepInAddress, readAddress } from "./state.js";
import { overview, snapped } from "./overview.js";
import { tables } from "./tables.js";
import { histograms, phases, threads } from "./histograms.js";
import { source } from "./source.js";
import { paths } from "./paths.js";
import { flame } from "./flame.js";
import { advice } from "./advice.js";
import { sharing } from "./sharing.js";
import { simulations, loops } from "./other.js";
import { objects } from "./objects.js";
import { studies } from "./sampled.js";

// The size that the report in the terminal would rank at.
function firstSize(page) {
  if (page.at) return Math.min(page.at, page.limit);
  return page.profiles.length ? Math.max(1, Math.round(page.profiles[0].footprint() / 8)) : snapped(page, 1048576);
}

// Two files or two models are there to be compared; two line sizes are not.
function secondProfile(page) {
  const [a, b] = page.profiles;
  return b && a.line === b.line ? 1 : -1;
}

function start() {
  const page = readPage(document.getElementById("rsc-data").textContent);
  page.drawLater = []; // charts need to know how wide they are
  const state = new State({ bytes: firstSize(page), by: page.by || "misses", first: 0, second: secondProfile(page), source: null, pair: null, table: "", find: "", path: "" });
  const asked = readAddress(location.hash, { bytes: Math.min(page.limit, 2 ** 60), first: page.profiles.length - 1, second: page.profiles.length - 1 });
  if (asked.bytes && !asked.by) asked.by = "misses";
  state.set(asked);
  const main = document.getElementById("report");
  if (page.profiles.length) {
    main.append(...overview(page, state));
    for (const part of [advice, tables, flame, source, paths, histograms, threads, phases, sharing]) {
      const made = part(page, state);
      if (made) main.append(made);
    }
  }
  main.append(...simulations(page), ...objects(page), ...studies(page), ...loops(page));
  keepInAddress(state);
  const nav = document.getElementById("contents");
  for (const title of main.querySelectorAll("section > h2"))
    nav.append(h("li", {}, h("a", { href: "#" + title.parentElement.id }, title.textContent)));
  const command = page.profiles[0]?.json.made.command || [];
  document.getElementById("command").textContent = command.join(" ");
  document.title = (page.names.filter(Boolean).join(", ") || "report") + " · reusescope";
  document.getElementById("made-by").textContent = "Made by " + page.tool + ".";
  for (const draw of page.drawLater) draw();
  document.documentElement.setAttribute("data-ready", "");
}

start();
