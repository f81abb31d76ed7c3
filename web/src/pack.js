// pack.js - profiles as src/report/page/page_pack.h packs them, unpacked.
export function unpacked(value, shapes, strings) {
  if (!Array.isArray(value)) return value;
  const shape = value[0];
  if (shape === -2) return strings[value[1]];
  if (shape === -1) return value.slice(1).map((item) => unpacked(item, shapes, strings));
  const object = {};
  shapes[shape].forEach((key, i) => { object[key] = unpacked(value[i + 1], shapes, strings); });
  return object;
}
