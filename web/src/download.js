// download.js - a table as CSV, a picture as SVG or PNG, handed to the browser as a file.
import { h } from "./dom.js";

function save(name, blob) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// A field that a spreadsheet would take for a formula begins with an apostrophe, as in the tool's own CSV.
function field(value) {
  let text = value === null || value === undefined ? "" : String(value);
  if (typeof value !== "number" && /^[=+\-@\t\r]/.test(text)) text = "'" + text;
  return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}
export const csvText = (rows) => rows.map((row) => row.map(field).join(",")).join("\n") + "\n";
export const saveCsv = (name, rows) => save(name + ".csv", new Blob([csvText(rows)], { type: "text/csv" }));

export const saveCanvas = (name, canvas) => canvas.toBlob((blob) => save(name + ".png", blob), "image/png");

// With the colours that the style sheet gives it here, so that it looks the same alone.
export function svgText(picture) {
  const copy = picture.cloneNode(true), from = [picture, ...picture.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    for (const name of ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family", "opacity"]) to[i].setAttribute(name, style.getPropertyValue(name));
    to[i].removeAttribute("class");
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(copy);
}
export const saveSvg = (name, picture) => save(name + ".svg", new Blob([svgText(picture)], { type: "image/svg+xml" }));

export function downloads(...choices) {
  return h("span", { class: "downloads" }, "Download ", choices.map(([name, make]) => h("button", { type: "button", class: "link", "data-download": name, onclick: make }, name)));
}
