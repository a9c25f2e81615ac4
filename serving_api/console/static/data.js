// Every dataset: contract, sources, checks, reconciliation, gaps, and what a backfill would cost.

import "./page.js";
import { address, read, shared } from "./api.js";
import { colors, draw, loadPlotly } from "./chart.js";
import { calculated, el, number, shown, t, table } from "./dom.js";
import { Panel } from "./panel.js";

const FIRST = "kline_daily";
const BATCHES = 500;
const SHOWN_BATCHES = 120;
const HOUR_MIN = 60;
const panels = Object.fromEntries(["datasets", "contract", "feeds", "rates", "rules", "agreement", "gaps", "plan"].map((id) => [id, new Panel(id)]));
const [output, form, from, to] = ["dataset", "plan-form", "plan-from", "plan-to"].map((id) => document.getElementById(id));
const datamgr = (path, parameters = {}) => ({ url: address(`datamgr/${path}`, parameters) });
const count = (value) => shown(value, "", 0);
let chosen = new URLSearchParams(location.search).get("dataset") ?? FIRST;

function datasets(body, answer) {
  if (!answer.results.length) return false;
  body.append(table([
    { title: t("data.dataset"), cell: (row) => el("button", { type: "button", class: "choice", "data-dataset": row.dataset, "aria-pressed": String(row.dataset === chosen), onclick: () => choose(row.dataset) }, row.dataset) },
    { title: t("data.status"), cell: (row) => el("span", { class: `tag ${row.status === "ok" ? "complete" : "partial"}` }, row.status) },
    { title: t("data.last"), cell: (row) => row.last_success?.at?.slice(5, 10), class: "date" },
  ], answer.results));
  return true;
}

const named = (tables) => Object.values(tables).flat().filter(Boolean).join(", ");

function contract(body, { results: one }) {
  const fact = (name, ...value) => el("div", {}, el("dt", {}, t(`data.${name}`)), el("dd", {}, value));
  body.append(
    el("p", {}, one.description),
    el("dl", { class: "facts" },
      fact("key", one.key.join(", ")), fact("tables", named(one.tables)),
      fact("task", [one.cadence.task, one.cadence.time].filter(Boolean).join(" ")),
      one.freshness ? fact("fresh", t("data.lag", { kind: one.freshness.kind, days: one.freshness.max_lag })) : null,
      fact("kept", one.retention), one.interfaces.length ? fact("interfaces", one.interfaces.join(", ")) : null),
    table([
      { title: t("data.column"), cell: (row) => row.name, class: "date" },
      { title: t("data.unit"), cell: (row) => row.unit },
      { title: t("data.type"), cell: (row) => row.type, class: "date" },
      { title: t("data.description"), cell: (row) => row.description ?? row.no_source, class: "long" },
      { title: t("data.checks"), cell: (row) => row.checks.join(", "), class: "long" },
    ], one.columns));
  return true;
}

function feeds(body, { results: one }) {
  if (!one.sources.length) return false;
  body.append(
    one.fusion ? el("p", { class: "hint" }, t("data.fused", { mode: one.fusion.mode, order: one.fusion.order.join(" → ") })) : "",
    table([
      { title: t("data.order"), numeric: true, cell: (row) => row.priority },
      { title: t("data.source"), cell: (row) => row.name, class: "date" },
      { title: t("data.table"), cell: (row) => row.table, class: "date" },
      { title: t("data.call"), cell: (row) => row.call, class: "long" },
    ], one.sources));
  return true;
}

/** Rejected and warned rows of each batch of the dataset's tables, in percent of what came. */
function rates(target, answer) {
  const rows = answer.results.filter((one) => one.rows_in).slice(0, SHOWN_BATCHES).reverse();
  if (!rows.length) return false;
  const share = (name) => rows.map((one) => ((one[name] ?? 0) / one.rows_in) * 100);
  const text = rows.map((one) => `${one.table_name} ${one.partition_key ?? ""}`);
  const bars = (name, label, color) => ({
    type: "bar", name: label, meta: name, customdata: rows.map((one) => [one.batch_id, one[name] ?? 0, one.rows_in]), x: rows.map((one, at) => at), y: share(name), text, textposition: "none", marker: { color },
    hovertemplate: `%{text}<br>${label} %{y:.2f} %<extra></extra>`,
  });
  return draw(target, [bars("rows_rejected", t("data.rejected"), colors.rise), bars("rows_warning", t("data.warned"), colors.series[1])], {
    barmode: "stack", showlegend: true, legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" }, margin: { l: 8, r: 56, t: 32, b: 28 },
    xaxis: { tickmode: "array", tickvals: [0, rows.length - 1], ticktext: [rows[0], rows.at(-1)].map((one) => one.started_at.slice(5, 16).replace("T", " ")) },
    yaxis: { side: "right", ticksuffix: " %", rangemode: "tozero", nticks: 5 },
  });
}

function rules(body, { results: one }, ...answers) {
  const failed = new Map();
  for (const row of answers.flatMap((answer) => answer.results)) {
    const [bad, all] = failed.get(row.check_name) ?? [0, 0];
    failed.set(row.check_name, [bad + (row.failed_count ?? 0), all + (row.total_count ?? 0)]);
  }
  const names = [...new Set([...failed.keys(), ...Object.keys(one.checks)])];
  if (!names.length) return false;
  body.append(table([
    { title: t("data.rule"), cell: (name) => name, class: "date" },
    { title: t("data.failures"), numeric: true, cell: (name) => calculated(failed.has(name) ? failed.get(name).map(count).join(" / ") : "0", {
      how: t("how.failures", { count: BATCHES }), tables: ["sys_quality_record"], where: `${named(one.tables)}: ${name}`,
      urls: Object.values(one.tables).flat().filter(Boolean).map((name) => address("datamgr/quality-records", { table: name, limit: BATCHES })),
    }) },
    { title: t("data.says"), cell: (name) => one.checks[name], class: "long" },
  ], names));
  return true;
}

function agreement(body, answer) {
  if (!answer.results.length) return false;
  const of = (text, column) => (row) => number(text(row), {
    table: "calc_reconcile", column, key: { trade_date: answer.date, dataset: row.dataset, field_name: row.field, source_a: row.source_a, source_b: row.source_b },
  });
  body.append(table([
    { title: t("data.field"), cell: (row) => row.field, class: "date" },
    { title: t("data.pair"), cell: (row) => `${row.source_a} – ${row.source_b}` },
    { title: t("data.within"), numeric: true, cell: of((row) => shown(row.within_pct, "pct", 1), "within_pct") },
    { title: t("data.compared"), numeric: true, cell: of((row) => count(row.compared), "compared") },
    { title: t("data.median"), numeric: true, cell: of((row) => shown(row.median_diff, "", 4), "median_diff") },
    { title: t("data.drift"), numeric: true, cell: of((row) => shown(row.drift_20d, "", 4), "drift_20d") },
    { title: t("data.status"), cell: (row) => el("span", { class: `tag ${row.status === "ok" ? "complete" : "partial"}` }, row.status) },
  ], answer.results));
  return true;
}

function gaps(body, answer) {
  if (!answer.results.length) return false;
  body.append(table([
    { title: t("data.partition"), cell: (row) => row.partition, class: "date" },
    { title: t("data.missing"), numeric: true, cell: (row) => (row.missing === null ? null : calculated(count(row.missing), { how: t("how.missing"), tables: ["sys_gap"], where: `dataset=${row.dataset}, partition=${row.partition}`, urls: [address("datamgr/gaps", { dataset: row.dataset })] })) },
    { title: t("data.reason"), cell: (row) => row.reason, class: "date" },
    { title: t("data.repair"), cell: (row) => [row.repair.status, row.repair.note].filter(Boolean).join(": "), class: "long" },
  ], answer.results));
  return true;
}

const time = (minutes) => (minutes >= HOUR_MIN ? t("plan.hours", { value: (minutes / HOUR_MIN).toFixed(1) }) : t("plan.mins", { value: Math.ceil(minutes) }));

/** The cost first; the button to start it only where there is something to load. */
function plan(body, { results: one }) {
  const fact = (name, value) => el("div", {}, el("dt", {}, t(`plan.${name}`)), el("dd", {}, value));
  const calls = Object.entries(one.calls).map(([name, number]) => `${name} ${count(number)}`).join(", ");
  const said = el("p", { role: "status" });
  const start = el("button", { type: "button", class: "main", onclick: async () => {
    start.disabled = true;
    try {
      const { results: made } = await read({ url: address("datamgr/backfill"), body: { dataset: one.dataset, from: one.from, to: one.to } });
      said.textContent = t("plan.started", made);
    } catch (problem) {
      said.textContent = t(`problem.${problem.kind ?? "failed"}`, { detail: problem.detail || problem.message });
      start.disabled = false;
    }
  } }, t("plan.start"));
  body.append(
    el("dl", { class: "facts" }, fact("dates", count(one.partitions)), fact("complete", count(one.complete)), fact("calls", calls || "0"), fact("minutes", time(one.minutes)), fact("rows", count(one.rows))),
    ...one.warnings.map((text) => el("p", { class: "hint" }, text)),
    one.partitions ? start : el("p", { class: "state" }, t("plan.nothing")), said);
  return true;
}

function choose(name) {
  chosen = name;
  const here = new URL(location.href);
  here.searchParams.set("dataset", name);
  history.replaceState(null, "", here);
  for (const button of document.querySelectorAll("[data-dataset]")) button.setAttribute("aria-pressed", String(button.dataset.dataset === name));
  show();
}

async function show() {
  output.textContent = chosen;
  const own = shared(datamgr(`contracts/${encodeURIComponent(chosen)}`));
  panels.contract.load([own], contract, t("empty.contract"));
  panels.feeds.load([own], feeds, t("empty.feeds"));
  panels.rates.load([datamgr("batches", { fusion_type: chosen, limit: BATCHES })], rates, t("empty.rates"));
  panels.agreement.load([datamgr("reconcile", { dataset: chosen })], agreement, t("empty.agreement"));
  panels.gaps.load([datamgr("gaps", { dataset: chosen, page_size: 100 })], gaps, t("empty.gaps"));
  panels.plan.say(t("plan.why"));
  let tables = [];
  try {
    tables = Object.values((await read(own)).results.tables).flat().filter(Boolean);
  } catch {
    // The panel of the checks says what went wrong, since it reads the contract as well.
  }
  panels.rules.load([own, ...tables.map((name) => datamgr("quality-records", { table: name, limit: BATCHES }))], rules, t("empty.rules"));
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  panels.plan.load([{ url: address("datamgr/backfill/plan"), body: { dataset: chosen, from: from.value, to: to.value } }], plan);
});

loadPlotly();
panels.rates.leads(({ meta, about: [batch, bad, all] }) => ({
  value: `${count(bad)} / ${count(all)}`, how: t(`how.${meta}`), tables: ["sys_batch"], where: `batch_id=${batch}`, urls: [String(address(`datamgr/batches/${batch}`))],
}));
panels.datasets.load([datamgr("contracts")], (body, answer) => {
  const today = answer.query_time.slice(0, 10);
  to.value ||= today;
  from.value ||= new Date(new Date(today) - 30 * 86400000).toISOString().slice(0, 10);
  return datasets(body, answer);
}, t("empty.datasets"));
show();
