// The page of the market: which address fills which panel, and what the event stream changes.

import "./page.js";
import { address, calling, read } from "./api.js";
import { el, root, shown, t, table } from "./dom.js";
import { Panel } from "./panel.js";
import { breadth, emotion, limits } from "./market_charts.js";
import { Treemap } from "./treemap.js";

const [view, industry, days, live] = ["view", "industry", "days", "live"].map((id) => document.getElementById(id));
const panels = Object.fromEntries(["pulse", "map", "breadth", "emotion", "ladder", "limits", "risk"].map((id) => [id, new Panel(id)]));
const CHILDREN = 1000;
// The server keeps its reads for 15 seconds: more often it would give the same.
const PAUSE_MS = 15000;
const PHASES = new Set(["pre_open", "auction", "trading", "noon_break", "closed", "holiday"]);
const TREE = { url: address("realtime/sector-treemap", { children: CHILDREN }) };
const PULSE = [{ url: address("market/sentiment") }, { url: address("market/distribution") }];
let tree = null;
let map = null;
let lastRead = 0;

const signed = (value, digits = 2) => (value > 0 ? "+" : "") + shown(value, "pct", digits);
const toStock = (code) => location.assign(new URL(`console/stock/${encodeURIComponent(code)}`, root));
const stockLink = (row) => el("a", { href: `stock/${encodeURIComponent(row.code)}` }, `${row.name ?? ""} ${row.code}`);
/** The API counts market caps in 100 million CNY. */
const cap = (row) => shown(row.value === null ? null : row.value * 1e8, "CNY");

function pulse(body, mood, spread) {
  const fact = (name, value, tone) => el("div", {}, el("dt", {}, name), el("dd", { class: tone > 0 ? "rise" : tone < 0 ? "fall" : null }, value));
  const known = (value) => shown(value, "", 0);
  body.append(el("dl", { class: "facts" },
    mood.indices.map((one) => fact(one.name, `${shown(one.price)}  ${signed(one.change_percent)}`, one.change_percent)),
    fact(t("pulse.up"), known(spread.up), 1), fact(t("pulse.down"), known(spread.down), -1), fact(t("pulse.flat"), known(spread.flat)),
    fact(t("pulse.limit_up"), known(spread.limit_up), 1), fact(t("pulse.limit_down"), known(spread.limit_down), -1),
    fact(t("pulse.suspended"), known(spread.suspended)), fact(t("pulse.score"), `${shown(mood.sentiment_score, "", 1)} / 100`)));
  return Boolean(mood.indices.length || spread.total);
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
  const change = { title: t("market.change"), unit: "%", tone: (row) => row.change_percent, cell: (row) => shown(row.change_percent) };
  const size = { title: t("market.cap"), numeric: true, cell: cap };
  const group = tree.items.find((one) => one.code === industry.value);
  const link = (row) => el("button", { class: "number", type: "button", onclick: () => choose(row.code) }, row.name ?? row.code);
  const made = group
    ? table([{ title: t("market.stock"), cell: stockLink }, change, size], group.children)
    : table([
      { title: t("market.industry"), cell: link }, change, size,
      { title: t("market.amount"), numeric: true, cell: (row) => shown(row.amount, "CNY") },
      { title: t("market.main_net"), numeric: true, cell: (row) => shown(row.main_net, "CNY") },
      { title: t("market.stocks"), numeric: true, cell: (row) => shown(row.children.length, "", 0) },
      { title: t("market.largest"), cell: (row) => (row.children.length ? stockLink(row.children[0]) : "–") },
    ], tree.items);
  target.replaceChildren(el("div", { class: "scrolled", tabindex: "0", role: "group", "aria-label": t("panels.map") }, made));
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
  body.append(el("p", { class: "hint" }, t("ladder.total", { date: found.results.trade_date, total: found.results.total, highest: found.results.highest })), table([
    { title: t("ladder.days"), numeric: true, cell: (row) => shown(row.limit_days, "", 0) },
    { title: t("market.stock"), cell: stockLink },
    { title: t("market.industry"), cell: (row) => row.industry },
    { title: t("ladder.sealed"), numeric: true, cell: (row) => row.first_seal_time },
    { title: t("ladder.fund"), numeric: true, cell: (row) => shown(row.seal_fund, "CNY") },
    { title: t("ladder.breaks"), numeric: true, cell: (row) => shown(row.break_times, "", 0) },
  ], stocks));
  return true;
}

function risk(body, found) {
  if (!found.rules?.length) return false;
  body.append(el("p", {}, t("risk.total", {
    temperature: shown(found.temperature, "", 1), level: found.level ? t(`levels.${found.level}`) : "–",
    used: found.coverage.used, total: found.coverage.total, confidence: shown(found.confidence * 100, "pct", 0),
  }), found.reason ? ` ${found.reason}` : ""), table([
    { title: t("risk.rule"), cell: (row) => t(`rules.${row.key}`) },
    { title: t("risk.group"), cell: (row) => el("span", { class: "tag" }, t(`groups.${row.group}`)) },
    { title: t("risk.value"), unit: "%", numeric: true, cell: (row) => shown(row.value) },
    { title: t("risk.calm"), unit: "%", numeric: true, cell: (row) => shown(row.calm) },
    { title: t("risk.threshold"), unit: "%", numeric: true, cell: (row) => shown(row.threshold) },
    { title: t("risk.score"), unit: "0–100", numeric: true, cell: (row) => shown(row.score, "", 1) },
    { title: "", cell: (row) => el("meter", { min: 0, max: 100, value: row.score ?? 0, "aria-label": t(`rules.${row.key}`) }) },
    { title: t("risk.status"), cell: (row) => el("span", { class: row.status === "ok" ? "tag" : "tag partial" }, t(`statuses.${row.status}`)) },
    { title: t("risk.as_of"), class: "date", cell: (row) => row.as_of },
  ], found.rules));
  return true;
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
    const [newer, ...moods] = await Promise.all([TREE, ...PULSE].map((one) => read(one)));
    if (panels.map.plot?.isConnected) showTree(panels.map.plot, newer);
    const made = document.createDocumentFragment();
    if (pulse(made, ...moods)) panels.pulse.body.replaceChildren(made);
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
  });
}

function fill() {
  lastRead = Date.now();
  panels.pulse.load(PULSE, pulse, t("empty.pulse"));
  panels.map.load([TREE], showTree, t("empty.map"));
  panels.breadth.load([{ url: address("market/breadth-intraday") }], breadth, t("empty.breadth"));
  panels.ladder.load([calling("get_limit_ladder", {})], ladder, t("empty.ladder"));
  panels.risk.load([{ url: address("market/cross-market-risk") }], risk, t("empty.risk"));
  history();
}

for (const one of [view, industry]) one.addEventListener("change", () => tree && showTree(panels.map.plot));
days.addEventListener("change", history);
document.addEventListener("visibilitychange", listen);
fill();
listen();
