// The page of the scorecards: what followed the picks of boards, presets, strategies and decision cards.

import "./page.js";
import { address, shared } from "./api.js";
import { loadPlotly } from "./chart.js";
import { calculated, el, number, shown, t, table } from "./dom.js";
import { Panel } from "./panel.js";
import { curve, months } from "./scorecards_charts.js";
import { behindDate, behindGroup, behindMonth, behindPick } from "./scorecards_origins.js";
import { wilson } from "./wilson.js";

const [hold, group, days] = ["hold", "group", "days"].map((id) => document.getElementById(id));
const panels = Object.fromEntries(["overview", "curve", "months", "picks"].map((id) => [id, new Panel(id)]));
const FEW = 30;
const CARDS = "decision";
// Groups whose returns the API gives by date, and those of the cards, which it gives by month.
const RECORDED = new Set(["builtin", "preset"]);
const FIRST = "builtin/tactic";
const asked = new URLSearchParams(location.search);
const sources = shared({ url: address("scorecard/sources") });
let names = new Map();

const isCards = () => hold.selectedOptions[0].dataset.of === CARDS;
const isChosen = (source) => (isCards() ? source === CARDS : RECORDED.has(source));
const interval = (rate, count) => {
  const found = wilson(rate, count);
  return found ? `${shown(found[0], "", 1)}–${shown(found[1], "", 1)}` : "–";
};

/** The choices of the page stand in its address, so that a bookmark opens the same. */
function keep() {
  const here = new URL(location.href);
  for (const [name, value] of Object.entries({ hold: hold.value, group: group.value, days: days.value })) here.searchParams.set(name, value);
  history.replaceState(null, "", here);
}

/** The groups of the chosen holding time, and which of them is shown. */
function named(found) {
  names = new Map(found.items.flatMap((source) => source.groups.map((one) => [`${source.key}/${one.key}`, { source: source.label, group: one.label }])));
  const known = [...names].filter(([key]) => isChosen(key.split("/")[0]));
  const before = group.value;
  group.replaceChildren(...known.map(([key, one]) => el("option", { value: key }, `${one.source} · ${one.group}`)));
  group.disabled = !known.length;
  const after = known.some(([key]) => key === before) ? before : known[0]?.[0] ?? "";
  if (!known.length) group.append(el("option", { value: "" }, t("cards.all")));
  group.value = after;
  if (after !== before) chosen();
}

function overview(body, kinds, found, cards) {
  named(kinds);
  const rows = isCards() ? cards.items : found.items.filter((row) => row.source !== CARDS);
  if (!rows.length) return false;
  const of = (row) => names.get(`${row.source}/${row.group_key}`) ?? { source: row.source, group: row.group_key };
  const name = (row) => (isChosen(row.source)
    ? el("button", { class: "number", type: "button", title: t("cards.choose"), onclick: () => { group.value = `${row.source}/${row.group_key}`; chosen(); } }, of(row).group)
    : of(row).group);
  const cell = (text, how) => (row) => calculated(text(row), behindGroup(row, days.value, t(`how.${how}`)));
  const percent = (title, value, how) => ({ title, unit: "%", numeric: true, tone: value, cell: cell((row) => shown(value(row)), how) });
  const count = (title, value, how) => ({ title, numeric: true, cell: cell((row) => shown(value(row), "", 0), how) });
  body.append(el("p", { class: "hint" }, t("cards.about", { date: (isCards() ? cards : found).as_of ?? "–", days: (isCards() ? cards : found).hold_days })), table([
    { title: t("cards.source"), class: "date", cell: (row) => of(row).source },
    { title: t("cards.group"), class: "date", cell: name },
    count(t("cards.picks"), (row) => row.picks, "picks"),
    count(t("cards.reviewed"), (row) => row.reviewed, "reviewed"),
    { title: t("cards.rate"), unit: "%", numeric: true, cell: cell((row) => shown(row.win_rate_pct, "", 1), "rate") },
    { title: t("cards.interval"), unit: "%", numeric: true, cell: cell((row) => interval(row.win_rate_pct, row.reviewed), "interval") },
    { title: "", cell: (row) => (row.reviewed < FEW ? el("span", { class: "tag partial" }, t("cards.few")) : "") },
    percent(t("cards.profit"), (row) => row.avg_profit_pct, "profit"),
    percent(t("cards.excess"), (row) => row.avg_excess_pct, "excess"),
    { title: t("cards.ratio"), numeric: true, cell: cell((row) => shown(row.profit_loss_ratio), "ratio") },
    count(t("cards.unfillable"), (row) => row.unfillable, "unfillable"),
    { title: t("cards.rate_fillable"), unit: "%", numeric: true, cell: cell((row) => shown(row.fillable.win_rate_pct, "", 1), "rate_fillable") },
  ], rows, (row) => (`${row.source}/${row.group_key}` === group.value ? "self" : null)));
  return true;
}

function picks(body, found) {
  if (!found.items.length) return false;
  const of = (column, text) => (row) => number(text(row), behindPick(row, column));
  const percent = (title, column) => ({ title, unit: "%", numeric: true, tone: (row) => row[column], cell: of(column, (row) => shown(row[column])) });
  body.append(el("p", { class: "hint" }, t("cards.shown", { shown: found.items.length, total: found.total })), table([
    { title: t("cards.date"), class: "date", cell: (row) => row.trade_date },
    { title: t("cards.rank"), numeric: true, cell: of("rank_no", (row) => shown(row.rank, "", 0)) },
    { title: t("cards.stock"), class: "date", cell: (row) => el("a", { href: `stock/${encodeURIComponent(row.code)}` }, `${row.name ?? ""} ${row.code}`) },
    { title: t("cards.industry"), class: "date", cell: (row) => row.industry },
    { title: t("cards.bought"), class: "date", cell: (row) => row.buy_date },
    { title: t("cards.sold"), class: "date", cell: (row) => row.sell_date },
    { title: t("cards.buy_price"), unit: t("units.cny"), numeric: true, cell: of("buy_price", (row) => shown(row.buy_price)) },
    percent(t("cards.return"), "profit_pct"), percent(t("cards.excess"), "excess_pct"),
    percent(t("cards.best"), "max_gain_pct"), percent(t("cards.worst"), "max_drawdown_pct"),
  ], found.items));
  return true;
}

/** Read what belongs to the chosen group. */
function chosen() {
  keep();
  const [from, key] = group.value.split("/");
  const source = from || CARDS;
  if (isCards()) {
    panels.curve.source.replaceChildren();
    panels.curve.say(t("empty.no_curve"));
    panels.curve.body.setAttribute("aria-busy", "false");
    panels.months.load([{ url: address("scorecard/breakdown", { source, by: "month", days: days.value }) }], (target, found) => months(target, found.items), t("empty.curve"));
  } else {
    const record = shared({ url: address("scorecard/record", { source, group: key, days: days.value }) });
    panels.curve.load([record], curve, t("empty.curve"));
    panels.months.load([record], (target, found) => months(target, found.months), t("empty.curve"));
  }
  panels.picks.load([{ url: address("scorecard/picks", { source, group: key, status: "reviewed", pageSize: 50 }) }], picks, t("empty.picks"));
  for (const row of panels.overview.body.querySelectorAll("tr.self")) row.classList.remove("self");
}

function fill() {
  const span = { days: days.value };
  const requests = [sources, ...[null, CARDS].map((source) => ({ url: address("scorecard/overview", { ...span, source }) }))];
  panels.overview.load(requests, overview, t(isCards() ? "empty.cards" : "empty.overview"));
  chosen();
}

/** A group before the list of them is read. */
function begin(name) {
  const isFitting = /^[a-z]+\/\w+$/i.test(name ?? "") && isChosen(name.split("/")[0]);
  const value = isFitting ? name : isCards() ? "" : FIRST;
  group.replaceChildren(el("option", { value }, value.split("/")[1] || t("cards.all")));
}

for (const one of [hold, days]) {
  const wanted = asked.get(one.id);
  if ([...one.options].some((option) => option.value === wanted)) one.value = wanted;
}
begin(asked.get("group"));
panels.curve.leads(({ x }) => (isCards() ? null : behindDate(group.value, x)));
panels.months.leads(({ x }) => behindMonth(group.value || CARDS, days.value, x));
hold.addEventListener("change", () => {
  begin(null);
  fill();
});
group.addEventListener("change", chosen);
days.addEventListener("change", fill);
fill();
loadPlotly();
