// The page of the scorecards: what followed the picks of boards, presets and strategies.

import "./page.js";
import { address, shared } from "./api.js";
import { colors, draw } from "./chart.js";
import { el, shown, t, table } from "./dom.js";
import { Panel } from "./panel.js";
import { wilson } from "./wilson.js";

const [group, days] = ["group", "days"].map((id) => document.getElementById(id));
const panels = Object.fromEntries(["overview", "curve", "months", "picks"].map((id) => [id, new Panel(id)]));
const FEW = 30;
const LEGEND = { showlegend: true, legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" }, margin: { l: 24, r: 52, t: 32, b: 28 }, hovermode: "x unified" };
const CHARTED = new Set(["builtin", "preset"]);
const sources = shared({ url: address("scorecard/sources") });
let names = new Map();

const ticks = (target, count) => (target.clientWidth < 500 ? Math.floor(count / 2) : count);
const interval = (rate, count) => {
  const found = wilson(rate, count);
  return found ? `${shown(found[0], "", 1)}–${shown(found[1], "", 1)}` : "–";
};
const percent = (title, value) => ({ title, unit: "%", numeric: true, tone: value, cell: (row) => shown(value(row)) });
const count = (title, value) => ({ title, numeric: true, cell: (row) => shown(value(row), "", 0) });

function named(found) {
  names = new Map(found.items.flatMap((source) => source.groups.map((one) => [`${source.key}/${one.key}`, { source: source.label, group: one.label }])));
  const known = [...names].filter(([key]) => CHARTED.has(key.split("/")[0]));
  if (group.options.length > 1 || !known.length) return;
  const before = group.value;
  group.replaceChildren(...known.map(([key, one]) => el("option", { value: key }, `${one.source} · ${one.group}`)));
  group.value = before;
}

function overview(body, kinds, found) {
  named(kinds);
  if (!found.items.length) return false;
  const of = (row) => names.get(`${row.source}/${row.group_key}`) ?? { source: row.source, group: row.group_key };
  const name = (row) => (CHARTED.has(row.source)
    ? el("button", { class: "number", type: "button", title: t("cards.choose"), onclick: () => { group.value = `${row.source}/${row.group_key}`; chosen(); } }, of(row).group)
    : of(row).group);
  body.append(el("p", { class: "hint" }, t("cards.about", { date: found.as_of ?? "–", days: found.hold_days })), table([
    { title: t("cards.source"), cell: (row) => of(row).source },
    { title: t("cards.group"), cell: name },
    count(t("cards.picks"), (row) => row.picks),
    count(t("cards.reviewed"), (row) => row.reviewed),
    { title: t("cards.rate"), unit: "%", numeric: true, cell: (row) => shown(row.win_rate_pct, "", 1) },
    { title: t("cards.interval"), unit: "%", numeric: true, cell: (row) => interval(row.win_rate_pct, row.reviewed) },
    { title: "", cell: (row) => (row.reviewed < FEW ? el("span", { class: "tag partial" }, t("cards.few")) : "") },
    percent(t("cards.profit"), (row) => row.avg_profit_pct),
    percent(t("cards.excess"), (row) => row.avg_excess_pct),
    { title: t("cards.ratio"), numeric: true, cell: (row) => shown(row.profit_loss_ratio) },
    count(t("cards.unfillable"), (row) => row.unfillable),
    { title: t("cards.rate_fillable"), unit: "%", numeric: true, cell: (row) => shown(row.fillable.win_rate_pct, "", 1) },
  ], found.items, (row) => (`${row.source}/${row.group_key}` === group.value ? "self" : null)));
  return true;
}

/** Equity of the picks beside the index; the number of settled picks stands in the name. */
function curve(target, found) {
  const rows = found.curve;
  if (!rows.length) return false;
  const x = rows.map((row) => row.date);
  const line = (name, key, color, dash) => ({ type: "scatter", mode: "lines", name, x, y: rows.map((row) => row[key]), line: { width: 1.8, color, dash }, hovertemplate: "%{y:.2f} %" });
  draw(target, [
    line(t("cards.equity", { count: found.stats.reviewed }), "cum_pct", colors.series[0], "solid"),
    line(t("cards.index"), "index_cum_pct", colors.faint, "dot"),
  ], { ...LEGEND, xaxis: { type: "category", nticks: ticks(target, 6) }, yaxis: { side: "right", ticksuffix: " %", nticks: 6 } });
  return true;
}

/** Hit rate of each month with its interval, and how many picks are behind it. */
function months(target, found) {
  const rows = found.months.filter((row) => row.reviewed > 0);
  if (!rows.length) return false;
  const spans = rows.map((row) => wilson(row.win_rate_pct, row.reviewed));
  const y = rows.map((row) => row.win_rate_pct);
  draw(target, [{
    type: "scatter", mode: "markers", name: t("cards.rate"), x: rows.map((row) => row.key), y, marker: { size: 8, color: colors.series[0] },
    error_y: { type: "data", symmetric: false, array: spans.map((span, at) => span[1] - y[at]), arrayminus: spans.map((span, at) => y[at] - span[0]), color: colors.series[0], thickness: 1.5 },
    customdata: rows.map((row, at) => `${shown(row.win_rate_pct, "pct", 1)} (${shown(spans[at][0], "", 1)}–${shown(spans[at][1], "", 1)} %) · n=${row.reviewed} · ${t("cards.profit")} ${shown(row.avg_profit_pct, "pct")}`),
    hovertemplate: "%{customdata}<extra></extra>",
  }], {
    margin: { l: 24, r: 52, t: 12, b: 28 }, xaxis: { type: "category", nticks: ticks(target, 10) }, yaxis: { side: "right", range: [0, 100], ticksuffix: " %", nticks: 6 },
    annotations: rows.map((row) => ({ x: row.key, y: 1, yanchor: "bottom", showarrow: false, textangle: -90, text: `n=${row.reviewed}`, font: { size: 11, color: colors.faint } })),
    shapes: [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: 50, y1: 50, line: { color: colors.faint, width: 1, dash: "dot" } }],
  });
  return true;
}

function picks(body, found) {
  if (!found.items.length) return false;
  body.append(el("p", { class: "hint" }, t("cards.shown", { shown: found.items.length, total: found.total })), table([
    { title: t("cards.date"), class: "date", cell: (row) => row.trade_date },
    count(t("cards.rank"), (row) => row.rank),
    { title: t("cards.stock"), cell: (row) => el("a", { href: `stock/${encodeURIComponent(row.code)}` }, `${row.name ?? ""} ${row.code}`) },
    { title: t("cards.industry"), cell: (row) => row.industry },
    { title: t("cards.bought"), class: "date", cell: (row) => row.buy_date },
    { title: t("cards.sold"), class: "date", cell: (row) => row.sell_date },
    { title: t("cards.buy_price"), unit: t("units.cny"), numeric: true, cell: (row) => shown(row.buy_price) },
    percent(t("cards.return"), (row) => row.profit_pct),
    percent(t("cards.excess"), (row) => row.excess_pct),
    percent(t("cards.best"), (row) => row.max_gain_pct),
    percent(t("cards.worst"), (row) => row.max_drawdown_pct),
  ], found.items));
  return true;
}

function chosen() {
  const [source, key] = group.value.split("/");
  const record = shared({ url: address("scorecard/record", { source, group: key, days: days.value }) });
  panels.curve.load([record], curve, t("empty.curve"));
  panels.months.load([record], months, t("empty.curve"));
  panels.picks.load([{ url: address("scorecard/picks", { source, group: key, status: "reviewed", pageSize: 50 }) }], picks, t("empty.picks"));
  for (const row of panels.overview.body.querySelectorAll("tr.self")) row.classList.remove("self");
}

function fill() {
  panels.overview.load([sources, { url: address("scorecard/overview", { days: days.value }) }], overview, t("empty.overview"));
  chosen();
}

group.addEventListener("change", chosen);
days.addEventListener("change", fill);
fill();
