// Elements, words and numbers. Text of upstreams goes into text nodes alone, never into markup.

export const html = document.documentElement;
export const root = new URL(html.dataset.root, location.href);
export const isAdmin = html.dataset.role === "admin";
const texts = JSON.parse(document.getElementById("texts").textContent);

/** Words of the page's language; `{name}` is replaced by a value. */
export function t(key, values = {}) {
  const text = texts[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/** An element with attributes (`onclick` and the like are listeners) and children: elements or plain text. */
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** The same as a list of text and elements: numbers in a sentence stay buttons. */
export const sentence = (key, values) =>
  (texts[key] ?? key).split(/\{(\w+)\}/).map((part, at) => (at % 2 ? values[part] ?? "–" : part));

/** Text for a chart: Plotly reads a few tags in its labels, so the marks of a tag are written out. */
export const plain = (text) =>
  String(text ?? "").replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

const language = html.lang;
const formats = new Map();
function formatted(value, digits) {
  if (!formats.has(digits)) {
    const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    formats.set(digits, new Intl.NumberFormat(language, options));
  }
  return formats.get(digits).format(value);
}

const SCALES = language.startsWith("zh")
  ? [[1e12, "万亿"], [1e8, "亿"], [1e4, "万"]]
  : [[1e12, "tn"], [1e9, "bn"], [1e6, "m"]];
const UNITS = { pct: "%", CNY: t("units.cny"), "CNY/share": t("units.cny"), shares: t("units.shares"), times: t("units.times") };

/** A value with its unit; large sums and counts in the units that people read. A dash for none. */
export function shown(value, unit = "", digits = 2) {
  if (value === null || value === undefined || Number.isNaN(Number(value))) return "–";
  const number = Number(value);
  const scale = ["CNY", "shares"].includes(unit) && SCALES.find(([size]) => Math.abs(number) >= size);
  const word = UNITS[unit] ?? unit;
  const text = formatted(scale ? number / scale[0] : number, digits);
  const gap = word === "%" || word === "" || language.startsWith("zh") ? "" : " ";
  return `${text}${scale ? (gap ? " " : "") + scale[1] : ""}${gap}${word}`;
}

/** The class of a change: colours of rise and fall follow the reader's habit. */
export const direction = (value) => (value > 0 ? "n rise" : value < 0 ? "n fall" : "n");

/** A number that opens its lineage: `from` is {table, column, key: {column: value}}. */
export function number(text, from) {
  if (!from || text === "–") return text;
  const address = JSON.stringify(from);
  return el("button", { class: "number", type: "button", "data-lineage": address, title: t("lineage.open") }, text);
}

/** Put newer content into a body: the focus and the place of its scrolled part stay where the reader has them. */
export function renewed(body, made) {
  const all = () => [...body.querySelectorAll("a, button")];
  const focused = all().indexOf(document.activeElement);
  const top = body.querySelector(".scrolled")?.scrollTop ?? 0;
  body.replaceChildren(made);
  if (focused >= 0) all()[focused]?.focus({ preventScroll: true });
  const scrolled = body.querySelector(".scrolled");
  if (scrolled) scrolled.scrollTop = top;
}

/** A number that was calculated from many rows, or read live: opens what is known about it. `about` is {how,
 * tables?: [name], where?: text, urls?: [address], rows?: [{label, table, column, key}]}: how it was made, from
 * which rows, where their JSON is, and single rows that have a lineage. */
export function calculated(text, about) {
  if (text === "–") return text;
  const made = JSON.stringify({ value: text, ...about, urls: about.urls?.map(String) });
  return el("button", { class: "number", type: "button", "data-calculated": made, title: t("lineage.open") }, text);
}

/** A table: `columns` are {title, unit?, cell(row) -> text or element, numeric?, tone?(row)}. */
export function table(columns, rows, rowClass = () => null) {
  const head = columns.map((one) =>
    el("th", { scope: "col", class: one.numeric ? "n" : null }, one.title,
      one.unit ? el("span", { class: "unit" }, ` ${one.unit}`) : null));
  const body = rows.map((row) =>
    el("tr", { class: rowClass(row) }, columns.map((one) =>
      el("td", { class: one.tone ? direction(one.tone(row)) : one.numeric ? "n" : one.class ?? null }, one.cell(row) ?? "–"))));
  return el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, body));
}
