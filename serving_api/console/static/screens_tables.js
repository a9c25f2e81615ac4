// What a screen found: the funnel of its conditions, its stocks, the values of a formula.

import { address } from "./api.js";
import { calculated, direction, el, html, number, root, shown, t, table } from "./dom.js";

const WIDE = "fusion_stock_wide";
const BARS = "fusion_kline_daily";
// Columns that every screen shows: field of the answer -> column of the wide row, and how it is shown.
const ALWAYS = [
  ["price", "current_price", "CNY/share"], ["change_pct", "change_pct", "pct"], ["turnover_pct", "turnover_pct", "pct"],
  ["pe_ttm", "pe_ttm", "times"], ["pb", "pb", "times"], ["total_market_cap", "total_market_cap", "wan"],
];
const NAMED = new Set(["code", "name", "industry", "market", ...ALWAYS.map(([name]) => name)]);
const PER = { wan: [1e4, "CNY"], lot: [100, "shares"] };
const HEADS = { pct: "%", "CNY/share": t("units.cny"), times: t("units.times"), days: t("units.days") };

/** A stored value in the unit that people read. */
function said(value, unit) {
  if (typeof value === "boolean") return t(value ? "screens.yes" : "screens.no");
  if (typeof value === "string") return value;
  const [factor, of] = PER[unit] ?? [1, unit];
  const isWhole = Number.isInteger(value) && !["pct", "CNY/share"].includes(unit);
  return shown(value === null || value === undefined ? null : value * factor, HEADS[of] ? "" : of, isWhole && !PER[unit] ? 0 : 2);
}

const stockLink = (code, name) => el("a", { href: new URL(`console/stock/${encodeURIComponent(code)}`, root) }, `${name ?? ""} ${code}`);
const count = (value) => shown(value, "", 0);

/** How many stocks each condition left, from all of the date. */
export function funnel(body, answer, total) {
  if (!answer.explain.length) return false;
  const all = Math.max(total, ...answer.explain.map((one) => one.remaining), 1);
  const of = (row, name) => calculated(count(row[name]), { how: t(`how.${name}`), tables: [WIDE], where: [`trade_date=${answer.date}`, row.condition].join(", ") });
  const steps = [{ condition: t("funnel.all"), remaining: total }, ...answer.explain];
  const bar = (left) => {
    const made = el("span", { class: "bar", "aria-hidden": "true" }, el("i"));
    made.firstChild.style.width = `${(100 * left) / all}%`;
    return made;
  };
  body.append(table([
    { title: t("funnel.condition"), class: "long mono", cell: (row) => el("span", {}, row.condition, row.note ? el("span", { class: "hint" }, ` ${row.note}`) : "") },
    { title: t("funnel.matched"), numeric: true, cell: (row) => of(row, "matched") },
    { title: t("funnel.unknown"), numeric: true, cell: (row) => of(row, "unknown") },
    { title: t("funnel.left"), numeric: true, cell: (row) => el("b", {}, of(row, "remaining")) },
    { title: "", class: "bars", cell: (row) => bar(row.remaining) },
  ], steps));
  return true;
}

/** One page of the stocks; `turned` is called with the number of another page. */
export function rows(body, answer, catalogue, turned) {
  if (!answer.items.length) return false;
  const known = new Map(catalogue.groups.flatMap((group) => group.fields).map((one) => [one.field, one]));
  const more = Object.keys(Object.values(answer.matched)[0] ?? {}).filter((name) => !NAMED.has(name));
  const stored = (value, unit, at, column, code) => {
    const text = said(value, unit);
    const isValue = column && typeof value === "number" && at;
    return isValue ? number(text, { table: at, column, key: { code, trade_date: answer.date } }) : text;
  };
  const pages = Math.ceil(answer.total / answer.pageSize);
  const turn = (to, text, label) => el("button", { type: "button", "aria-label": label, disabled: to < 1 || to > pages, onclick: () => turned(to) }, text);
  body.append(
    el("div", { class: "line" }, el("span", {}, t("rows.found", { total: count(answer.total), date: answer.date ?? "–" })),
      ...(pages > 1 ? [turn(answer.page - 1, "‹", t("rows.before")), el("span", {}, `${answer.page} / ${pages}`), turn(answer.page + 1, "›", t("rows.after"))] : []),
      el("span", { class: "hint" }, answer.note ?? "")),
    table([
      { title: t("rows.stock"), class: "date", cell: (row) => stockLink(row.code, row.name) },
      { title: t("rows.industry"), class: "date", cell: (row) => row.industry ?? "–" },
      ...ALWAYS.map(([name, column, unit]) => ({
        title: t(`rows.${name}`), unit: HEADS[unit], numeric: true,
        cell: (row) => el("span", { class: name === "change_pct" ? direction(row[name]) : null }, stored(row[name], unit, WIDE, column, row.code)),
      })),
      ...more.map((name) => {
        const field = known.get(name) ?? { label: name, unit: "", type: "number" };
        const isNumber = field.type === "number";
        return {
          title: html.lang.startsWith("zh") ? field.label : name, unit: HEADS[field.unit], numeric: isNumber,
          cell: (row) => stored(answer.matched[row.code]?.[name], field.unit, field.unit === "days" ? null : field.table, field.column, row.code),
        };
      }),
    ], answer.items));
  return true;
}

/** The values of a formula, or the stocks for which it holds. */
export function values(body, answer) {
  if (!answer.items.length) return false;
  const isSelection = typeof answer.items[0].value === "boolean";
  const shownOnes = answer.items.length < answer.total ? t("values.first", { count: answer.items.length }) : "";
  body.append(el("p", { class: "hint" }, `${t(isSelection ? "values.holds" : "values.values", { total: count(answer.total), date: answer.date })} ${shownOnes}`),
    table([
      { title: t("rows.stock"), class: "date", cell: (row) => stockLink(row.code, row.name) },
      { title: t("values.value"), numeric: true, cell: (row) => (isSelection ? t(row.value ? "screens.yes" : "screens.no") : calculated(shown(row.value, "", 4), {
        how: t("how.formula"), tables: [BARS], where: `code=${row.code}, date<=${answer.date}`,
        urls: [address(`stocks/${row.code}/kline`, { days: 250, adjust: "qfq", as_of: answer.date })], rows: [{ label: t("how.bar"), table: BARS, column: "close", key: { code: row.code, date: answer.date } }],
      })) },
    ], answer.items));
  return true;
}
