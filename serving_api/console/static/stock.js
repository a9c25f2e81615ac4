// The page of one stock: controls, the as-of slider, and which address fills which panel.

import "./page.js";
import { address, calling, read, shared } from "./api.js";
import { calculated, el, number, root, sentence, shown, t, table } from "./dom.js";
import { Panel } from "./panel.js";
import { loadPlotly } from "./chart.js";
import { candles, chips, flow, limitEvents } from "./stock_charts.js";

const code = document.getElementById("stock").dataset.code;
const former = new URLSearchParams(location.search).get("former")?.match(/^\d{6}$/)?.[0];
const [adjust, days, indicator, slider, output] = ["adjust", "days", "indicator", "asof", "asof-date"].map((id) => document.getElementById(id));
const panels = Object.fromEntries(["summary", "candles", "chips", "flow", "events", "finance", "peers", "scores"].map((id) => [id, new Panel(id)]));
const WAIT_MS = 150;
const EVENTS = 30;
const LIMITS = 200;
let dates = [];
let waiting = null;

/** The chosen date, or null for the newest. */
const asOf = () => (dates.length && Number(slider.value) < dates.length - 1 ? dates[Number(slider.value)] : null);
const wide = (row, column) => ({ table: "fusion_stock_wide", column, key: { code, trade_date: row } });
const stock = (path, more = {}) => ({ url: address(`stocks/${code}${path}`, { as_of: asOf(), ...more }) });

function summary(body, detail, base, score) {
  const one = detail.results;
  if (!one) return false;
  const more = base.results ?? {};
  document.getElementById("stock-name").textContent = `${one.name ?? ""} ${code}`;
  if (former) document.getElementById("former").textContent = t("search.former", { code: former });
  document.title = `${one.name ?? ""} ${code}`;
  const at = score.date;
  const fact = (name, value, unit, column, digits = 2) => el("div", {}, el("dt", {}, t(`facts.${name}`)),
    el("dd", { class: name === "change" ? (value > 0 ? "rise" : value < 0 ? "fall" : null) : null }, number(shown(value, unit, digits), at && column ? wide(at, column) : null)));
  body.append(el("dl", { class: "facts" },
    fact("price", one.price, "CNY/share", "current_price"), fact("change", one.changePercent, "pct", "change_pct"),
    fact("turnover", one.turnoverRate, "pct", "turnover_pct"), fact("pe", one.peRatio, "times", "pe_ttm"), fact("pb", one.pbRatio, "times", "pb"),
    fact("cap", one.marketCap, "CNY", "total_market_cap"), fact("float_cap", more.floatMarketCap, "CNY", "float_market_cap"),
    fact("roe", more.roe, "pct", "roe"), fact("dividend", more.dividendYield, "pct", "dividend_yield"),
    fact("holders", more.holderNum, "", "holder_num", 0)),
    el("p", { class: "hint" }, [more.industry, ...(more.concepts ?? [])].filter(Boolean).join(" · ")));
  return true;
}

function events(body, dividends, billboard, announcements, limits) {
  const rows = [
    ...dividends.results.map((one) => ({ date: one.ex_date ?? one.ann_date, kind: "dividend", text: one.plan_text, from: { table: "fusion_dividend", column: "bonus_rmb", key: { code, report_period: one.report_period, ann_date: one.ann_date } } })),
    ...billboard.results.map((one) => ({ date: one.trade_date, kind: "billboard", text: one.reason })),
    ...announcements.results.map((one) => ({ date: one.pub_date, kind: "announcement", text: one.title })),
    ...limitEvents(limits).filter((one) => !asOf() || one.date <= asOf()),
  ].filter((one) => one.date).sort((a, b) => (a.date < b.date ? 1 : -1));
  if (!rows.length) return false;
  body.append(table([
    { title: t("events.date"), class: "date", cell: (row) => row.date },
    { title: t("events.kind"), cell: (row) => el("span", { class: "tag" }, t(`events.${row.kind}`)) },
    { title: t("events.text"), class: "long", cell: (row) => row.text ?? "–" },
  ], rows));
  return true;
}

function finance(body, detail) {
  const found = detail.results ?? {};
  if (!found.periods?.length) return false;
  const periods = found.periods.slice(0, 6);
  const column = { revenue: "revenue", netProfit: "net_profit", deductedNetProfit: "deducted_net_profit", grossMargin: "gross_margin", netMargin: "net_margin", roe: "roe", ocf: "operating_cash_flow", debtRatio: "debt_ratio" };
  const cell = (row, at) => {
    const value = number(shown(row.values[at], row.unit), { table: "fusion_finance_indicator", column: column[row.key] ?? row.key, key: { code, report_period: periods[at] } });
    const growth = row.yoy?.[at];
    return growth === null || growth === undefined ? value
      : [value, " ", el("span", { class: growth > 0 ? "rise" : growth < 0 ? "fall" : null, title: t("finance.yoy") }, `${growth > 0 ? "+" : ""}${shown(growth, "pct", 1)}`)];
  };
  body.append(el("p", { class: "hint" }, t("finance.growth")), table([
    { title: t("finance.item"), cell: (row) => t(`finance.${row.key}`) },
    ...periods.map((period, at) => ({ title: period, numeric: true, cell: (row) => el("span", {}, cell(row, at)) })),
  ], found.series));
  return true;
}

function peers(body, found, score) {
  if (!found.results?.length) return false;
  // Peers are the wide rows of the stock's newest date, as its scores are.
  const of = (row, column, text) => number(text, score.date ? { table: "fusion_stock_wide", column, key: { code: row.code, trade_date: score.date } } : null);
  body.append(table([
    { title: t("peers.rank"), numeric: true, cell: (row) => String(row.rank ?? "–") },
    { title: t("peers.name"), class: "date", cell: (row) => el("a", { href: row.code }, `${row.name ?? ""} ${row.code}`) },
    { title: t("facts.change"), unit: "%", tone: (row) => row.changePercent, cell: (row) => of(row, "change_pct", shown(row.changePercent)) },
    { title: t("facts.pe"), numeric: true, cell: (row) => of(row, "pe_ttm", shown(row.peTtm)) },
    { title: t("facts.pb"), numeric: true, cell: (row) => of(row, "pb", shown(row.pb)) },
    { title: t("facts.roe"), unit: "%", numeric: true, cell: (row) => of(row, "roe", shown(row.roe)) },
    { title: t("facts.cap"), numeric: true, cell: (row) => of(row, "total_market_cap", shown(row.marketCap, "CNY")) },
  ], found.results, (row) => (row.isSelf ? "self" : null)));
  return true;
}

const input = (one) => (one.table && one.date ? { table: one.table, column: one.field, key: { code, trade_date: one.date } } : null);

/** The score of a factor: calculated from the ranks of its inputs among all stocks of the date. */
function scored(row, found) {
  const rows = row.inputs.filter(input).map((one) => ({ label: one.label ?? one.field, ...input(one) }));
  const tables = [...new Set(rows.map((one) => one.table))];
  return calculated(shown(row.score, "", 1), {
    how: t("scores.how", { count: found.universe_size }), tables, where: `trade_date=${found.date}`, rows, urls: [address(`factor/breakdown/${code}`, { as_of: asOf() })],
  });
}

function scores(body, found) {
  if (!found.factors?.length) return false;
  const composite = calculated(shown(found.composite, "", 1), {
    how: t("scores.mean"), tables: ["fusion_stock_wide"], where: `trade_date=${found.date}`, urls: [address(`factor/breakdown/${code}`, { as_of: asOf() })],
  });
  body.append(el("p", {}, sentence("scores.composite", { score: composite, count: found.universe_size, date: found.date })),
    table([
      { title: t("scores.factor"), class: "date", cell: (row) => row.label ?? row.key },
      { title: t("scores.mark"), cell: (row) => el("span", { class: `tag ${row.mark}` }, row.mark) },
      { title: t("scores.score"), unit: "0–100", numeric: true, cell: (row) => scored(row, found) },
      { title: t("scores.weight"), unit: "%", numeric: true, cell: (row) => shown(row.effective_weight * 100, "", 0) },
      { title: t("scores.inputs"), class: "long", cell: (row) => el("span", {}, row.inputs.flatMap((one, at) => [
        at ? "; " : "", `${one.label ?? one.field} `,
        number(shown(one.value), input(one))])) },
    ], found.factors));
  return true;
}

/** Fill every panel for the chosen date. */
function fill() {
  const date = asOf();
  output.textContent = date ?? t("stock.newest");
  slider.setAttribute("aria-valuetext", output.textContent);
  const score = shared({ url: address(`factor/breakdown/${code}`, { as_of: date }) });
  const span = { days: days.value };
  const listed = (name) => shared(calling(name, { code, limit: EVENTS }, date));
  const dividends = listed("get_dividend_history");
  const announcements = listed("get_announcements");
  const billboard = listed("get_dragon_tiger_history");
  // Limit pools keep no versions: those of later dates are left out here.
  const limits = shared(calling("get_limit_history", { code, limit: LIMITS }));
  panels.summary.load([stock(""), stock("/base-info"), score], summary, t("empty.summary"));
  panels.candles.load([
    stock("/kline", { ...span, adjust: adjust.value, lines: true }),
    { url: address(`quant/patterns/${code}`, { days: Math.min(750, Number(days.value)), date }) },
    dividends, billboard, announcements, limits,
  ], (body, ...answers) => candles(body, answers, indicator.value), t("empty.candles"));
  panels.chips.load([{ url: address(`quant/cyq/${code}`, { date }) }], chips, t("empty.calculated"));
  panels.flow.load([calling("get_fund_flow_history", { code, limit: 60 }, date)], flow, t("empty.flow"));
  panels.events.load([dividends, billboard, announcements, limits], events, t("empty.events"));
  panels.finance.load([stock("/finance-detail")], finance, t("empty.finance"));
  panels.peers.load([stock("/industry-compare"), score], peers, t("empty.peers"));
  panels.scores.load([score], scores, t("empty.calculated"));
}

function moved(by = 0) {
  if (!dates.length) return;
  slider.value = String(Number(slider.value) + by);
  output.textContent = asOf() ?? t("stock.newest");
  clearTimeout(waiting);
  waiting = setTimeout(fill, WAIT_MS);
}

// A line leads to the close of its day: it is computed from the candles.
panels.candles.leads(({ x: date, meta }) => ({ table: "fusion_kline_daily", column: meta === "volume" ? meta : "close", key: { code, date } }));
panels.flow.leads(({ x: date }) => ({ table: "fusion_fund_flow", column: "main_net", key: { code, date } }));
panels.chips.leads(({ meta: date }) => ({ table: "calc_chip_daily", column: "distribution", key: { code, date } }));

for (const one of [adjust, days, indicator]) one.addEventListener("change", fill);
slider.addEventListener("input", () => moved());
document.addEventListener("console:date", (event) => moved(event.detail));
fill();
loadPlotly();

// The dates of the slider are those of the newest bars; without them it stays off.
try {
  const found = await read({ url: address(`stocks/${code}/kline`, { days: 120, adjust: "none" }) });
  // Every number leads to a row of the code of today.
  const [change] = found.renumbered ?? [];
  if (change) location.replace(new URL(`console/stock/${change.to}?former=${code}`, root));
  dates = found.results.map((bar) => bar.date);
  slider.max = String(Math.max(0, dates.length - 1));
  slider.value = slider.max;
  slider.disabled = dates.length < 2;
} catch {
  slider.disabled = true;
}
