// Small helpers. Text from the model goes into the page through textContent alone: names are untrusted.
const byId = (id) => document.getElementById(id);

function element(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "text") node.textContent = value;
    else if (key === "background") node.style.background = value;
    else if (key === "width") node.style.width = value;
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

function bytes(count) {
  if (count < 1024) return count + " B";
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let unit = -1;
  do {
    count /= 1024;
    ++unit;
  } while (count >= 1024 && unit + 1 < units.length);
  return count.toFixed(count < 100 ? 2 : 1).replace(/\.?0+$/, "") + " " + units[unit];
}

const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");
const milliseconds = (value) => (value === null ? "–" : value.toFixed(value < 1 ? 4 : 3) + " ms");
const percent = (part, whole) => (whole > 0 ? ((100 * part) / whole).toFixed(1) + "%" : "–");
const plural = (count, word) => count + " " + word + (count === 1 ? "" : "s");
const clamp = (value, least, most) => Math.min(most, Math.max(least, value));
const cut = (text, length) => (text.length > length ? text.slice(0, length - 1) + "…" : text);

// Steps of 1, 2, 5 times a power of ten, or powers of two for bytes: about `wanted` ticks up to `most`.
function tickStep(most, wanted, powersOfTwo) {
  const rough = Math.max(most / wanted, 1e-9);
  if (powersOfTwo) return Math.pow(2, Math.max(0, Math.round(Math.log2(rough))));
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
}

// A list of [label, value] as <dl>.
function definitions(pairs, grouping) {
  const list = element("dl");
  for (const [label, value] of pairs) {
    const items = [element("dt", { text: label }), element("dd", { text: value })];
    if (grouping) list.append(element("div", {}, ...items));
    else list.append(...items);
  }
  return list;
}
