// The page of the day: what needs a look, tasks, freshness by date, upstreams.

import "./page.js";
import { address, shared } from "./api.js";
import { calculated, el, root, t, table } from "./dom.js";
import { Panel } from "./panel.js";
import { exrightRequest, exrights } from "./today_exrights.js";

const DAYS = 30;
const DAY_MIN = 1440;
const LATE_S = 60;
const MARKS = { complete: "●", fallback: "◆", held: "◐", partial: "◑", empty: "∅", failed: "✕", not_due: "·", not_run: "○" };
const panels = Object.fromEntries(["look", "upstreams", "exrights", "tasks", "freshness"].map((id) => [id, new Panel(id)]));
const output = document.getElementById("day");
let dates = [];
let chosen = 0;

const datamgr = (path, parameters = {}) => ({ url: address(`datamgr/${path}`, parameters) });
const status = (name) => el("span", { class: `tag ${name}` }, `${MARKS[name] ?? ""} ${t(`today.${name}`)}`.trim());
const runLink = (row) => (row.run_url ? el("a", { href: row.run_url, target: "_blank", rel: "noopener" }, t("today.open")) : null);

function look(body, report, freshness, health) {
  const problems = health.problems.map((text) => ({ table: t("today.health"), status: "failed", reason: text }));
  const stale = freshness.results.staleDimensions.map((name) => {
    const { latestDate: latest, cutoff } = freshness.results.details[name];
    return { table: name, status: "not_run", reason: latest ? t("today.stale", { latest, cutoff }) : t("today.never") };
  });
  const tables = report.results.filter((row) => ["failed", "partial", "held", "fallback"].includes(row.status));
  const rows = [...problems, ...tables.filter((row) => row.status !== "fallback"), ...stale, ...tables.filter((row) => row.status === "fallback")];
  if (!rows.length) return false;
  body.append(table([
    { title: t("today.table"), cell: (row) => row.table, class: "date" },
    { title: t("today.status"), cell: (row) => status(row.status), class: "date" },
    { title: t("today.reason"), cell: (row) => row.reason, class: "long" },
    { title: t("today.run"), cell: runLink },
  ], rows));
  return true;
}

function upstreams(body, answer) {
  const { counters, breakers } = answer.results;
  const rows = Object.entries(counters).map(([name, one]) => ({ name, ...one })).sort((a, b) => b.failures - a.failures || b.requests - a.requests);
  if (!rows.length) return false;
  const counted = (name) => ({ title: t(`today.${name}`), numeric: true, cell: (row) => calculated(row[name === "calls" ? "requests" : name].toLocaleString(), { how: t(`how.${name}`), where: row.name, urls: [address("datamgr/upstreams")] }) });
  body.append(
    el("p", { class: "legend" }, Object.entries(breakers).map(([name, one]) =>
      el("span", { class: `tag ${one.state === "CLOSED" ? "complete" : "failed"}` }, t("today.breaker", { name, state: one.state })))),
    table([
      { title: t("today.upstream"), cell: (row) => row.name },
      counted("calls"), counted("failures"), counted("retries"),
      { title: t("today.state"), cell: (row) => el("span", { class: `tag ${row.cooldown ? "failed" : "complete"}` }, t(row.cooldown ? "today.resting" : "today.working")) },
    ], rows));
  return true;
}

const minutes = (time) => Number(time.slice(11, 13)) * 60 + Number(time.slice(14, 16));
const clock = (time) => (time ? time.slice(11, 16) : null);
const lateness = (run) => (run?.startedAt && run.trigger !== "manual" ? (new Date(run.startedAt) - new Date(run.slotAt)) / 1000 : 0);

function took(seconds) {
  if (seconds === null || seconds === undefined) return null;
  return seconds < 120 ? t("today.seconds", { value: Math.round(seconds) }) : t("today.minutes", { value: Math.round(seconds / 60) });
}

/** How long the last run of a task took, with its scheduled run. */
function ran(row, run) {
  const text = took(run?.durationSec);
  return text && calculated(text, { how: t("how.took"), tables: ["sys_slot"], where: `${row.key}, ${run.slotAt}`, urls: [address("datamgr/tasks/runs", { date: dates[chosen] })] });
}

/** Planned time as a line, the run as a bar, on one day from left to right. */
function timeline(row) {
  const place = (value) => `${(Math.min(Math.max(value, 0), DAY_MIN) / DAY_MIN) * 100}%`;
  const [hour, minute] = (row.time ?? "").split(":").map(Number);
  const marks = row.time ? [el("i", { class: "plan", style: `left:${place(hour * 60 + minute)}` })] : [];
  for (const run of row.runs.filter((one) => one.startedAt)) {
    const from = minutes(run.startedAt);
    const width = Math.max(0.4, ((run.durationSec ?? 60) / 60 / DAY_MIN) * 100);
    marks.push(el("i", { class: `bar ${run.status}${lateness(run) > LATE_S ? " late" : ""}`, style: `left:${place(from)};width:${width}%` }));
  }
  return el("div", { class: "timeline", role: "img", "aria-label": [row.time, ...row.runs.map((run) => `${clock(run.startedAt) ?? ""} ${run.status}`)].filter(Boolean).join(", ") || t("today.manual") }, marks);
}

function tasks(body, schedule, runs) {
  const by = new Map();
  for (const run of runs.runs) by.set(run.key, [run, ...(by.get(run.key) ?? [])]);
  const known = new Set(schedule.results.map((one) => one.key));
  const planned = [...schedule.results].sort((a, b) => String(a.time).localeCompare(String(b.time)));
  const others = [...by.keys()].filter((key) => !known.has(key)).map((key) => ({ key, name: key, time: null, enabled: true }));
  const rows = [...planned, ...others].map((one) => ({ ...one, runs: by.get(one.key) ?? [] }));
  if (!rows.length) return false;
  const last = (row) => row.runs.at(-1);
  body.append(table([
    { title: t("today.task"), cell: (row) => [el("b", {}, row.name), " ", el("span", { class: "hint" }, row.key === row.name ? "" : row.key)] },
    { title: t("today.planned"), numeric: true, cell: (row) => (row.enabled ? row.time ?? t("today.manual") : t("today.off")) },
    { title: t("today.started"), numeric: true, cell: (row) => clock(last(row)?.startedAt) },
    { title: t("today.took"), numeric: true, cell: (row) => ran(row, last(row)) },
    { title: t("today.state"), class: "date", cell: (row) => {
      const run = last(row);
      if (!run) return el("span", { class: "hint" }, t(row.enabled ? "today.waiting" : "today.off"));
      const late = lateness(run);
      return [status(run.status), late > LATE_S ? el("div", { class: "hint problem" }, t("today.late", { minutes: Math.round(late / 60) })) : null].filter(Boolean);
    } },
    { title: `${t("today.timeline")} 00–24`, class: "times", cell: timeline },
  ], rows));
  return true;
}

function freshness(body, grid, gaps) {
  if (!grid.results.length) return false;
  const partial = new Set(gaps.results.filter((gap) => gap.reason === "partial").map((gap) => `${gap.dataset} ${gap.partition}`));
  const of = (row, at) => {
    const found = row.statuses[at];
    return ["complete", "fallback", "not_run"].includes(found) && partial.has(`${row.dataset} ${grid.dates[at]}`) ? "partial" : found;
  };
  const columns = [
    { title: t("today.table"), cell: (row) => row.table, class: "date" },
    // The newest first: it is what is looked for, and a narrow window shows it.
    ...grid.dates.map((day, at) => ({
      title: el("span", { title: day }, day.slice(5, 7), el("br"), day.slice(8)), class: "cell",
      cell: (row) => el("span", { class: `mark ${of(row, at)}`, title: `${row.table} ${day}: ${t(`today.${of(row, at)}`)}`, role: "img", "aria-label": t(`today.${of(row, at)}`) }, MARKS[of(row, at)]),
    })).reverse(),
  ];
  body.append(
    el("p", { class: "legend" }, Object.keys(MARKS).map((name) => el("span", { class: "hint" }, el("span", { class: `mark ${name}`, "aria-hidden": "true" }, MARKS[name]), ` ${t(`today.${name}`)}`))),
    el("div", { class: "matrix" }, table(columns, grid.results)));
  return true;
}

const gridded = shared(datamgr("day-grid", { days: DAYS }));
const fresh = shared(datamgr("stats/freshness"));

function show() {
  const day = dates[chosen] ?? null;
  output.textContent = day ?? "";
  panels.look.load([datamgr("day-report", { date: day && day < dates.at(-1) ? day : null }), fresh, { url: new URL("health", root) }], look, t("empty.look"));
  panels.tasks.load([datamgr("schedule"), datamgr("tasks/runs", { date: day, limit: 500 })], tasks, t("empty.tasks"));
}

document.addEventListener("console:date", ({ detail }) => {
  const next = Math.min(Math.max(chosen + detail, 0), dates.length - 1);
  if (next === chosen) return;
  chosen = next;
  show();
});

/** A reason that the platform carried out shows at once; one that it goes on with is not waited for. */
const ledger = () => panels.exrights.load([exrightRequest], (body, answer) =>
  exrights(body, answer, (status) => (status === "success" ? ledger() : null)), t("empty.exrights"));

ledger();
panels.upstreams.load([datamgr("upstreams")], upstreams, t("empty.upstreams"));
panels.freshness.load([gridded, datamgr("gaps", { page_size: 200 })], (body, grid, gaps) => {
  const today = grid.query_time.slice(0, 10);
  dates = grid.dates.includes(today) ? grid.dates : [...grid.dates, today];
  chosen = dates.length - 1;
  show();
  return freshness(body, grid, gaps);
}, t("empty.freshness"));
show();
