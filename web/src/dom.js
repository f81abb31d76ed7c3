// dom.js - elements, made without markup: text from a profile only ever becomes
// text nodes and attributes of a fixed list, so no name in it can be code.

function build(element, properties, children) {
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function h(tag, properties, ...children) {
  return build(document.createElement(tag), properties, children);
}

export function svg(tag, properties, ...children) {
  return build(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

// Replaces what an element holds.
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function section(id, title, about, ...children) {
  return h("section", { id, "aria-labelledby": id + "-title" },
    h("h2", { id: id + "-title" }, title), about ? h("p", { class: "about" }, about) : null, ...children);
}

// A colour or other value of the style sheet, which knows whether it is dark.
export function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Series are told apart by colour (Okabe and Ito's, safe for the colour blind) and by dashes.
export const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 2], [1, 2], [12, 4, 4, 4], [3, 6]];
export function seriesColour(index) {
  return css("--series-" + (index % 8));
}

// A simple table: headings, rows of strings, numbers right.
export function plainTable(caption, headings, rows, numeric = () => true) {
  return h("table", { class: "plain" }, h("caption", {}, caption),
    h("thead", {}, h("tr", {}, headings.map((text, i) => h("th", { scope: "col", class: i && numeric(i) ? "number" : null }, text)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, i) =>
      cell instanceof Node && cell.tagName === "TD" ? cell : h("td", { class: i && numeric(i) ? "number" : null }, cell))))));
}
