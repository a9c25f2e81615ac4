// The page of today: is everything here, what needs a look, which task ran when, which upstream failed.

import "./page.js";
import { address, read, shared } from "./api.js";
import { el, shown, t, table } from "./dom.js";
import { Panel } from "./panel.js";
import { nextDate } from "./trade_dates.js";

const DAYS = 30;
const LATE_MIN = 5;
const SIGNS = { complete: "●", fallback: "▲", partial: "◐", failed: "✕", missing: "·" };
const panels = Object.fromEntries(["look", "sources", "fresh", "tasks"].map((id) => [id, new Panel(id)]));
const report = (date) => ({ url: address("datamgr/day-report", { date }) });
const newest = shared(report(null));
const gaps = shared({ url: address("datamgr/gaps", { page_size: 200 }) });

const count = (value) => shown(value, "", 0);
const clock = (text) => text?.slice(11, 16) ?? "–";
const minutes = (text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));
const sign = (state) => el("span", { class: `sign ${state}`, role: "img", "aria-label": t(`states.${state}`), title: t(`states.${state}`) }, SIGNS[state]);
const marked = (state) => [sign(state), " ", t(`states.${state}`)];

/** The state of a dataset from the states of its tables. A later table that did not run beside one that did
 * makes it partial; a RAW table may stay empty, since another source can stand in for it. */
function stateOf(rows) {
  const has = (status) => rows.some((row) => row.status === status);
  if (has("failed")) return "failed";
  if (rows.every((row) => row.status === "not_run")) return "missing";
  if (has("held") || rows.some((row) => row.status === "not_run" && row.layer !== "raw")) return "partial";
  return has("fallback") ? "fallback" : "complete";
}

function byDataset(answer) {
  const found = new Map();
  for (const row of answer.results) found.set(row.dataset, [...(found.get(row.dataset) ?? []), row]);
  return found;
}

function look(body, day, fresh, open) {
  const problems = day.results.filter((row) => ["failed", "held", "fallback"].includes(row.status));
  const rows = [
    ...problems.map((row) => ({ state: row.status === "held" ? "partial" : row.status, name: row.table, what: row.reason })),
    ...fresh.results.staleDimensions.map((name) => {
      const { latestDate, cutoff } = fresh.results.details[name] ?? {};
      return { state: "partial", name, what: t("look.stale", { latest: latestDate ?? "–", cutoff: cutoff ?? "–" }) };
    }),
    ...open.results.map((gap) => ({ state: gap.reason === "partial" ? "partial" : gap.reason === "failed" ? "failed" : "missing", name: gap.dataset, what: t("look.gap", { date: gap.partition, missing: count(gap.missing) }) })),
  ].sort((a, b) => Number(b.state === "failed") - Number(a.state === "failed"));
  if (!rows.length) return false;
  body.append(table([
    { title: t("today.state"), cell: (row) => marked(row.state), class: "date" },
    { title: t("today.name"), cell: (row) => row.name, class: "date" },
    { title: t("look.what"), cell: (row) => row.what, class: "long" },
  ], rows));
  return true;
}

function sources(body, day) {
  const calls = {};
  for (const row of day.results) for (const one of row.sources) calls[one.src] = (calls[one.src] ?? 0) + (one.calls ?? 0);
  const rows = Object.entries(day.by_source).map(([name, one]) => ({ name, ...one })).sort((a, b) => b.failed - a.failed);
  if (!rows.length) return false;
  body.append(table([
    { title: t("sources.name"), cell: (row) => row.name },
    { title: t("sources.calls"), numeric: true, cell: (row) => count(calls[row.name] ?? null) },
    { title: t("sources.answered"), numeric: true, cell: (row) => count(row.answered) },
    { title: t("sources.failed"), numeric: true, cell: (row) => count(row.failed) },
    { title: t("sources.reason"), cell: (row) => row.reason, class: "long" },
  ], rows));
  return true;
}

function fresh(body, dates, answers, open) {
  const days = answers.map(byDataset);
  const partial = new Set(open.results.filter((gap) => gap.reason === "partial").map((gap) => `${gap.dataset} ${gap.partition}`));
  const names = [...new Set(days.flatMap((day) => [...day.keys()]))].sort();
  if (!names.length) return false;
  const state = (name, at) => {
    const found = stateOf(days[at].get(name) ?? []);
    return found !== "failed" && partial.has(`${name} ${dates[at]}`) ? "partial" : found;
  };
  const head = el("tr", {}, el("th", { scope: "col" }, t("today.dataset")), dates.map((date) => el("th", { scope: "col", class: "day" }, date.slice(5))));
  const lines = names.map((name) => el("tr", {}, el("th", { scope: "row" }, name), dates.map((date, at) => el("td", { class: "day" }, sign(state(name, at))))));
  body.append(el("p", { class: "hint legend" }, Object.keys(SIGNS).map((one) => el("span", {}, marked(one)))),
    el("table", { class: "fresh" }, el("thead", {}, head), el("tbody", {}, lines)));
  return true;
}

/** How a task of today went, in words; a task without a run whose hour has passed is not called late, since it
 * may not be due on this day. */
function went(task, run, today) {
  if (!task.enabled) return t("tasks.off");
  if (!run) return task.nextRunAt?.startsWith(today) ? t("tasks.planned") : t("tasks.none");
  const status = t(`tasks.${run.status}`);
  const late = task.time && run.startedAt ? minutes(clock(run.startedAt)) - minutes(task.time) : 0;
  return run.trigger !== "manual" && late > LATE_MIN ? `${status}, ${t("tasks.late", { minutes: count(late) })}` : status;
}

function line(task, run) {
  const part = (text) => `${(minutes(text) / 1440) * 100}%`;
  const marks = [];
  if (task.time) marks.push(el("b", { style: `left:${part(task.time)}` }));
  if (run?.startedAt) {
    const from = clock(run.startedAt);
    const length = (Math.max(4, (run.durationSec ?? 0) / 60) / 1440) * 100;
    marks.push(el("i", { class: run.status === "failed" ? "failed" : null, style: `left:${part(from)};width:${length}%` }));
  }
  return el("span", { class: "hours", "aria-hidden": "true" }, marks);
}

function tasks(body, schedule, runs) {
  const today = schedule.query_time.slice(0, 10);
  const mine = (task) => runs.runs.find((run) => run.key === task.key && (run.slotAt ?? run.startedAt)?.startsWith(today));
  const rows = schedule.results.map((task) => ({ task, run: mine(task) })).sort((a, b) => (a.task.time ?? "99").localeCompare(b.task.time ?? "99"));
  if (!rows.length) return false;
  body.append(el("p", { class: "hint" }, t("tasks.legend", { date: today })), table([
    { title: t("tasks.name"), cell: ({ task }) => task.key },
    { title: t("tasks.at"), class: "date", cell: ({ task }) => task.time ?? task.cron },
    { title: t("tasks.actual"), class: "date", cell: ({ run }) => (run?.startedAt ? `${clock(run.startedAt)}–${run.finishedAt ? clock(run.finishedAt) : ""}` : "–") },
    { title: t("today.state"), cell: ({ task, run }) => went(task, run, today), class: "date" },
    { title: "0–24", class: "wideline", cell: ({ task, run }) => line(task, run) },
  ], rows));
  return true;
}

panels.look.load([newest, { url: address("datamgr/stats/freshness") }, gaps], look, t("empty.look"));
panels.sources.load([newest], sources, t("empty.sources"));
panels.tasks.load([{ url: address("datamgr/schedule") }, { url: address("tasks/runs", { limit: 200 }) }], tasks, t("empty.tasks"));

/** The newest dates, oldest first. Where the first report is refused, the panel says why by asking it again. */
async function grid() {
  const dates = [];
  try {
    const { date } = await read(newest);
    document.getElementById("day").textContent = t("today.of", { date });
    for (let one = date; one && dates.length < DAYS; one = await nextDate(one, -1)) dates.unshift(one);
  } catch {
    dates.length = 0;
  }
  if (!dates.length) return panels.fresh.load([newest], () => false, t("empty.fresh"));
  const done = panels.fresh.load([gaps, ...dates.map(report)], (body, open, ...answers) => fresh(body, dates, answers, open), t("empty.fresh"));
  // Thirty addresses that differ in their date: the newest one is enough to find the others.
  panels.fresh.name([report(dates.at(-1)), gaps]);
  await done;
}
grid();
