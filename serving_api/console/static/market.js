// The page of the market: which address fills which panel, and what the event stream changes.

import "./page.js";
import { address, calling, read } from "./api.js";
import { loadPlotly } from "./chart.js";
import { calculated, el, number, renewed, root, sentence, shown, t, table } from "./dom.js";
import { breadth, emotion, limits } from "./market_charts.js";
import { behindIndex, behindIndustry, behindRule, behindStock, counted, mood } from "./market_origins.js";
import { Panel } from "./panel.js";
import { Treemap } from "./treemap.js";

const [view, industry, days, live] = ["view", "industry", "days", "live"].map((id) => document.getElementById(id));
const panels = Object.fromEntries(["pulse", "map", "breadth", "emotion", "ladder", "limits", "risk"].map((id) => [id, new Panel(id)]));
const CHILDREN = 1000;
// The server keeps its reads for 15 seconds: more often it would give the same.
const PAUSE_MS = 15000;
// The charts wait so long for the map to be drawn first.
const MAP_FIRST_MS = 3000;
const PHASES = new Set(["pre_open", "auction", "trading", "noon_break", "closed", "holiday"]);
const TREE = { url: address("realtime/sector-treemap", { children: CHILDREN }) };
const PULSE = [{ url: address("market/sentiment") }, { url: address("market/distribution") }];
const BREADTH = { url: address("market/breadth-intraday") };
let tree = null;
let map = null;
let lastRead = 0;
let drawn = 0;
let later = null;

const signed = (value, digits = 2) => (value > 0 ? "+" : "") + shown(value, "pct", digits);
const toStock = (code) => location.assign(new URL(`console/stock/${encodeURIComponent(code)}`, root));
const stockLink = (row) => el("a", { href: `stock/${encodeURIComponent(row.code)}` }, `${row.name ?? ""} ${row.code}`);
/** The API counts market caps in 100 million CNY. */
const cap = (row) => shown(row.value === null ? null : row.value * 1e8, "CNY");

function pulse(body, sentiment, spread) {
  const fact = (name, tone, ...value) => el("div", {}, el("dt", {}, name), el("dd", { class: tone > 0 ? "rise" : tone < 0 ? "fall" : null }, value));
  const stocks = (name, tone) => fact(t(`pulse.${name}`), tone, calculated(shown(spread[name], "", 0), counted(spread)));
  body.append(el("dl", { class: "facts" },
    sentiment.indices.map((one) => fact(one.name, one.change_percent,
      behindIndex(shown(one.price), "close", one, sentiment), "  ", behindIndex(signed(one.change_percent), "change_pct", one, sentiment))),
    stocks("up", 1), stocks("down", -1), stocks("flat", 0), stocks("limit_up", 1), stocks("limit_down", -1), stocks("suspended", 0),
    fact(t("pulse.score"), 0, calculated(shown(sentiment.sentiment_score, "", 1), mood(sentiment)), " / 100")));
  return Boolean(sentiment.indices.length || spread.total);
}

/** Cells of the map: what has a market cap. */
function shownGroups() {
  const chosen = industry.value ? tree.items.filter((one) => one.code === industry.value) : tree.items;
  const sized = (rows) => rows.filter((row) => row.value > 0);
  return sized(chosen).map((group) => ({ ...group, children: sized(group.children).length ? sized(group.children) : [group] }));
}

function choices() {
  const known = [...industry.options].slice(1).map((one) => one.value).join();
  if (known === tree.items.map((one) => one.code).join()) return;
  const before = industry.value;
  industry.replaceChildren(industry.options[0], ...tree.items.map((one) => el("option", { value: one.code }, one.name ?? one.code)));
  industry.value = tree.items.some((one) => one.code === before) ? before : "";
}

function rows(target) {
  const of = industry.value ? behindStock : behindIndustry;
  const change = { title: t("market.change"), unit: "%", tone: (row) => row.change_percent, cell: (row) => of(shown(row.change_percent), "change_pct", row, tree) };
  const size = { title: t("market.cap"), numeric: true, cell: (row) => of(cap(row), "market_cap_yi", row, tree) };
  const group = tree.items.find((one) => one.code === industry.value);
  const link = (row) => el("button", { class: "number", type: "button", onclick: () => choose(row.code) }, row.name ?? row.code);
  const made = group
    ? table([{ title: t("market.stock"), cell: stockLink }, change, size], group.children)
    : table([
      { title: t("market.industry"), cell: link }, change, size,
      { title: t("market.amount"), numeric: true, cell: (row) => of(shown(row.amount, "CNY"), "amount_yi", row, tree) },
      { title: t("market.main_net"), numeric: true, cell: (row) => of(shown(row.main_net, "CNY"), "main_net", row, tree) },
      { title: t("market.stocks"), numeric: true, cell: (row) => shown(row.children.length, "", 0) },
      { title: t("market.largest"), cell: (row) => (row.children.length ? stockLink(row.children[0]) : "–") },
    ], tree.items);
  renewed(target, el("div", { class: "scrolled", tabindex: "0", role: "group", "aria-label": t("panels.map") }, made));
  map = null;
}

function choose(code) {
  industry.value = code;
  showTree(panels.map.plot);
}

function showTree(target, answer = tree) {
  if (!answer?.items.length) return false;
  tree = answer;
  choices();
  if (view.value === "table") {
    rows(target);
    return true;
  }
  const describe = (cell, group) => [group && group !== cell ? group.name : null, cell.name, group && group !== cell ? cell.code : null,
    signed(cell.change_percent), cap(cell)].filter(Boolean).join(" · ");
  const opened = (cell, group) => {
    if (cell && cell !== group) toStock(cell.code);
    else if (industry.value || !group.children.length) choose("");
    else choose(group.code);
  };
  map ??= new Treemap(target, { label: t("market.label"), describe, change: (cell) => signed(cell.change_percent) }, opened);
  map.show(shownGroups());
  return true;
}

function ladder(body, found) {
  const levels = found.results?.levels ?? [];
  if (!levels.length) return false;
  const stocks = levels.flatMap((level) => level.stocks.map((stock) => ({ ...stock, limit_days: level.limit_days })));
  const of = (text, column, row) => number(text ?? "–", { table: "raw_limit_pool", column, key: { trade_date: found.results.trade_date, pool: "up", code: row.code } });
  const pool = { tables: ["raw_limit_pool"], where: `trade_date=${found.results.trade_date}, pool=up` };
  body.append(el("p", { class: "hint" }, sentence("ladder.total", {
    date: found.results.trade_date, total: calculated(shown(found.results.total, "", 0), { how: t("how.rows"), ...pool }),
    highest: calculated(shown(found.results.highest, "", 0), { how: t("how.highest"), ...pool }),
  })), table([
    { title: t("ladder.days"), numeric: true, cell: (row) => of(shown(row.limit_days, "", 0), "limit_days", row) },
    { title: t("market.stock"), class: "date", cell: stockLink },
    { title: t("market.industry"), class: "date", cell: (row) => row.industry },
    { title: t("ladder.sealed"), numeric: true, cell: (row) => of(row.first_seal_time, "first_seal_time", row) },
    { title: t("ladder.fund"), numeric: true, cell: (row) => of(shown(row.seal_fund, "CNY"), "seal_fund", row) },
    { title: t("ladder.breaks"), numeric: true, cell: (row) => of(shown(row.break_times, "", 0), "break_times", row) },
  ], stocks));
  return true;
}

function risk(body, found) {
  if (!found.rules?.length) return false;
  const rules = (how) => ({ how, urls: [address("market/cross-market-risk")] });
  body.append(el("p", {}, sentence("risk.total", {
    temperature: calculated(shown(found.temperature, "", 1), rules(t("how.temperature"))),
    level: found.level ? t(`levels.${found.level}`) : "–", used: found.coverage.used, total: found.coverage.total,
    confidence: calculated(shown(found.confidence * 100, "pct", 0), rules(t("how.confidence"))),
  }), found.reason ? ` ${found.reason}` : ""), table([
    { title: t("risk.rule"), cell: (row) => t(`rules.${row.key}`) },
    { title: t("risk.group"), cell: (row) => el("span", { class: "tag" }, t(`groups.${row.group}`)) },
    { title: t("risk.value"), unit: "%", numeric: true, cell: (row) => calculated(shown(row.value), behindRule(row)) },
    { title: t("risk.calm"), unit: "%", numeric: true, cell: (row) => shown(row.calm) },
    { title: t("risk.threshold"), unit: "%", numeric: true, cell: (row) => shown(row.threshold) },
    { title: t("risk.score"), unit: "0–100", numeric: true, cell: (row) => calculated(shown(row.score, "", 1), behindRule(row, true)) },
    { title: "", cell: (row) => el("meter", { min: 0, max: 100, value: row.score ?? 0, "aria-label": t(`rules.${row.key}`) }) },
    { title: t("risk.status"), cell: (row) => el("span", { class: row.status === "ok" ? "tag" : "tag partial" }, t(`statuses.${row.status}`)) },
    { title: t("risk.as_of"), class: "date", cell: (row) => row.as_of },
  ], found.rules));
  return true;
}

function shownBreadth(target, found) {
  drawn = found.total;
  return breadth(target, found);
}

function history() {
  panels.emotion.load([{ url: address("market/emotion-cycle", { days: days.value }) }], emotion, t("empty.emotion"));
  panels.limits.load([{ url: address("market/limit-count-history", { days: days.value }) }], limits, t("empty.limits"));
}

/** Read again what moves with the market; a read that fails leaves what is shown, and the time says how old it is. */
async function renew() {
  if (Date.now() - lastRead < PAUSE_MS) return;
  lastRead = Date.now();
  try {
    const [newer, samples, ...moods] = await Promise.all([TREE, BREADTH, ...PULSE].map((one) => read(one)));
    if (panels.map.plot?.isConnected) showTree(panels.map.plot, newer);
    const made = document.createDocumentFragment();
    if (pulse(made, ...moods)) renewed(panels.pulse.body, made);
    if (samples.total > drawn) panels.breadth.load([{ ...BREADTH, isShared: true, answer: Promise.resolve(samples) }], shownBreadth, t("empty.breadth"));
  } catch (problem) {
    if (!problem.kind) throw problem;
  }
}

let stream = null;
function listen() {
  // One stream for each page, and none while nobody looks: a browser keeps six connections to a host.
  if (document.hidden) {
    stream?.close();
    stream = null;
    return;
  }
  if (stream) return;
  stream = new EventSource(address("realtime/stream"));
  stream.addEventListener("open", () => { live.textContent = t("live.open"); });
  stream.addEventListener("error", () => { live.textContent = t("live.lost"); });
  stream.addEventListener("quotes_updated", ({ data }) => {
    const event = JSON.parse(data);
    const phase = PHASES.has(event.trade_state) ? t(`live.${event.trade_state}`) : "";
    live.textContent = t("live.at", { time: event.ts.slice(11, 19), phase });
    renew();
    // What the server keeps may be older than the event: read once more when that is over.
    later ??= setTimeout(() => {
      later = null;
      renew();
    }, PAUSE_MS);
  });
}

const waited = (ms) => new Promise((done) => setTimeout(done, ms));
const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

function fill() {
  lastRead = Date.now();
  panels.pulse.load(PULSE, pulse, t("empty.pulse"));
  // The map draws by itself. Plotly occupies the browser for a second: it comes when the map stands, or cannot.
  loadPlotly(Promise.race([panels.map.load([TREE], showTree, t("empty.map")).then(painted), waited(MAP_FIRST_MS)]));
  panels.breadth.load([BREADTH], shownBreadth, t("empty.breadth"));
  panels.ladder.load([calling("get_limit_ladder", {})], ladder, t("empty.ladder"));
  panels.risk.load([{ url: address("market/cross-market-risk") }], risk, t("empty.risk"));
  history();
}

panels.breadth.leads(({ about, meta }) => ({ table: "calc_breadth_sample", column: meta, key: { sample_time: about } }));
panels.emotion.leads(({ x }) => ({ table: "calc_market_phase", column: "score", key: { trade_date: x } }));
panels.limits.leads(({ x, meta }) => ({ table: "calc_limit_count", column: meta, key: { trade_date: x } }));
for (const one of [view, industry]) one.addEventListener("change", () => tree && showTree(panels.map.plot));
days.addEventListener("change", history);
document.addEventListener("visibilitychange", listen);
fill();
listen();
