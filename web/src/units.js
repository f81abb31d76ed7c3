// units.js - numbers for people, as the terminal's report writes them.

const trimmed = (value) => (value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2)).replace(/\.0+$/, "");

export function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) { value /= 1024; unit++; }
  return trimmed(value) + " " + units[unit];
}

export function count(value) {
  if (value < 1000) return String(Math.round(value));
  const units = ["", " k", " M", " G", " T", " P"];
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) { value /= 1000; unit++; }
  return trimmed(value) + units[unit];
}

export function percent(ratio) {
  if (ratio === null || !isFinite(ratio)) return "–";
  const value = ratio * 100;
  if (value > 0 && value < 0.01) return "<0.01 %";
  return (value >= 99.95 || value === 0 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)) + " %";
}

// A change in points of a percent, with its sign.
export function points(difference) {
  const value = difference * 100;
  if (Math.abs(value) < 0.005) return "±0";
  return (value > 0 ? "+" : "−") + Math.abs(value).toFixed(2) + " pp";
}

export function signed(difference) {
  if (Math.round(difference) === 0) return "±0";
  return (difference > 0 ? "+" : "−") + count(Math.abs(difference));
}

// Of lists of any length, as Math.max(...list) is not.
export const largest = (list, least = -Infinity) => list.reduce((a, b) => (b > a ? b : a), least);
export const smallest = (list) => list.reduce((a, b) => (b < a ? b : a), Infinity);

export const baseName = (path) => path.slice(path.lastIndexOf("/") + 1);

// A C++ name without its template arguments: std::vector<…>::at.
export function shortName(name) {
  let out = "", depth = 0;
  for (let i = 0; i < name.length; i++) {
    const c = name[i], before = name.slice(Math.max(0, i - 9), i), opens = c === "<" && (depth > 0 || (/\w$/.test(before) && !/operator$/.test(before)));
    if (opens && depth++ === 0) out += "<…>";
    else if (c === ">" && depth > 0 && name[i - 1] !== "-") depth--;
    else if (depth === 0) out += c;
  }
  return depth ? name : out;
}
