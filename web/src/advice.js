// advice.js - what the tool advises, from the profile: made when the page was, for one cache size.
import { h, fill, section } from "./dom.js";
import { percent } from "./units.js";
import { levelName } from "./overview.js";

export function advice(page, state) {
  if (!(page.advice || []).some((one) => one.items.length)) return null;
  const box = h("div", { class: "advice" });
  state.on(["first"], ({ first }) => {
    const { items, size } = page.advice[first] || { items: [] };
    fill(box, items.length ? [h("p", { class: "about" }, "For " + levelName(page.machine, size) + "."), h("ol", {}, items.map((item) => h("li", {},
      h("h3", {}, item.title, h("span", { class: "place" }, percent(item.share) + (item.rule === "imbalance" ? " of the references" : " of the misses"))),
      h("p", {}, item.evidence), h("p", {}, h("strong", {}, "Try: "), item.attempt))))] : "Nothing to advise for this profile.");
  });
  return section("advice", "Advice", null, box);
}
