// The lineage of a number: fused row, sources, batch, run, response with the value marked, revisions. Of a
// calculated number: how it was made, and where its rows are.

import { address, read } from "./api.js";
import { el, html, isAdmin, number, t, table } from "./dom.js";

const panel = document.getElementById("lineage");
const body = document.getElementById("lineage-body");
const source = document.getElementById("lineage-source");
const back = document.getElementById("lineage-back");
// What was shown before, from one number of the panel to the next; and what is shown now.
const before = [];
let current = null;
let opener = null;

/** Open the panel for {table, column, key}, or for {how, ...} of a calculated number (`calculated` of dom.js). */
export function open(from, button = null) {
  if (panel.contains(button)) before.push(current);
  else {
    before.length = 0;
    opener = button;
  }
  return shows(from);
}

async function shows(from) {
  current = from;
  panel.hidden = false;
  back.hidden = !before.length;
  document.getElementById("lineage-close").focus();
  if (from.how) return explain(from);
  const url = address(`datamgr/lineage/${encodeURIComponent(from.table)}`, { ...from.key, column: from.column, payload: "true" });
  source.replaceChildren("JSON ", el("a", { href: url.href, target: "_blank", rel: "noopener" }, url.pathname + decodeURIComponent(url.search)));
  if (!isAdmin) {
    body.replaceChildren(el("p", { class: "state" }, t("lineage.admins")),
      el("a", { class: "button", href: `${html.dataset.root}console/login` }, t("login.enter")));
    return;
  }
  body.replaceChildren(el("p", { class: "state" }, t("state.loading")));
  try {
    const found = (await read({ url })).results;
    if (current === from) show(found, from.column);
  } catch (problem) {
    if (current !== from) return;
    const text = problem.status === 404 ? t("lineage.none") : t(`problem.${problem.kind ?? "failed"}`, { detail: problem.detail || problem.message });
    body.replaceChildren(el("p", { class: "state problem", role: "alert" }, text));
  }
}

/** Close it, with the focus back on the number. */
export function close() {
  if (panel.hidden) return;
  panel.hidden = true;
  // What opened it may have been replaced by a newer number since.
  (opener?.isConnected ? opener : document.getElementById("main")).focus();
}

const text = (value) => (value === null || value === undefined ? "–" : typeof value === "object" ? JSON.stringify(value) : String(value));
const pairs = (object) => Object.entries(object ?? {}).map(([name, value]) => `${name}=${text(value)}`).join(" ");

function facts(rows) {
  return el("table", {}, el("tbody", {}, rows.map(([name, value]) =>
    el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "long" }, value instanceof Node ? value : text(value))))));
}

/** A calculated number: how it was made, its rows, and their JSON. */
function explain(about) {
  const link = (url) => {
    const { pathname, search } = new URL(url);
    return el("p", { class: "mono" }, el("a", { href: url, target: "_blank", rel: "noopener" }, pathname.slice(Math.max(pathname.indexOf("/api/v1/"), 0)) + decodeURIComponent(search)));
  };
  const known = [[t("lineage.is"), about.value], [t("lineage.tables"), about.tables?.join(", ")], [t("lineage.where"), about.where]].filter(([, value]) => value);
  body.replaceChildren(
    el("p", {}, el("span", { class: "tag" }, t("lineage.calculated")), ` ${about.how}`), facts(known),
    ...(about.rows?.length ? [el("h3", {}, t("lineage.used")), facts(about.rows.map(({ label, ...row }) => [label, leading(row)]))] : []),
    ...(about.urls?.length ? [el("h3", {}, t("lineage.json")), ...about.urls.map(link)] : []));
  body.scrollTop = 0;
  source.replaceChildren();
}

/** The place of a value in another row: leads to its lineage there. */
function leading({ table: name, key, column }) {
  const place = `${name}${column ? `.${column}` : ""} ${pairs(key)}`;
  return column ? number(place, { table: name, key, column }) : place;
}

/** What a source said, beside the value that was taken. */
function taken(row, cell) {
  if (row.source === cell.source) return "✓";
  if (row.value === null) return t("lineage.silent");
  return text(row.value) === text(cell.value) ? t("lineage.same") : t("lineage.differs");
}

function show(found, column) {
  const parts = [];
  const section = (name, ...content) => parts.push(el("h3", {}, t(`lineage.${name}`)), ...content);
  const cell = found.columns?.[column] ?? {};
  section("value", facts([
    [t("lineage.table"), found.table], [t("lineage.key"), pairs(found.key)], [t("lineage.column"), column],
    [t("lineage.is"), cell.value], [t("lineage.won"), cell.source], [t("lineage.from"), cell.from ? leading(cell.from) : "–"],
    [t("lineage.quality"), found.quality], [t("lineage.valid"), `${text(found.valid_from)} … ${found.valid_to ?? t("lineage.now")}`],
  ]));
  if (found.reported?.length) {
    section("reported", table([
      { title: t("lineage.source"), cell: (row) => row.source },
      { title: t("lineage.is"), numeric: true, cell: (row) => text(row.value) },
      { title: t("lineage.taken"), cell: (row) => taken(row, cell) },
    ], found.reported));
  }
  const inputs = cell.source === "computed" && !cell.from ? found.batches?.[0]?.inputs ?? [] : [];
  if (inputs.length) {
    section("computed", table([
      { title: t("lineage.table"), cell: (row) => row.table },
      { title: t("lineage.rows"), numeric: true, cell: (row) => text(row.rows) },
      { title: t("lineage.until"), class: "date", cell: (row) => row.max_date },
    ], inputs));
  }
  const asked = (found.batches ?? []).flatMap((batch) => (batch.sources ?? []).map((one) => ({ ...one, table: batch.table_name })));
  if (asked.length) {
    section("asked", table([
      { title: t("lineage.table"), cell: (row) => text(row.table) },
      { title: t("lineage.source"), cell: (row) => text(row.src) },
      { title: t("lineage.rows"), numeric: true, cell: (row) => text(row.rows) },
      { title: t("lineage.why"), class: "long", cell: (row) => row.error ?? row.fallback_reason ?? t("lineage.answered") },
    ], asked));
  }
  const link = (batch) => (batch.run_url ? el("a", { href: batch.run_url, target: "_blank", rel: "noopener" }, text(batch.run_id).slice(0, 8)) : text(batch.run_id));
  section("batches", table([
    { title: t("lineage.table"), cell: (row) => text(row.table_name ?? row.fusion_type) },
    { title: t("lineage.batch"), cell: (row) => el("span", { title: row.batch_id }, text(row.batch_id).slice(0, 8)) },
    { title: t("lineage.status"), cell: (row) => text(row.status) },
    { title: t("lineage.run"), cell: link },
  ], found.batches ?? []));
  for (const raw of found.raw ?? []) {
    const fetch = raw.fetch ?? {};
    section("response", facts([
      [t("lineage.source"), raw.source], [t("lineage.table"), raw.table], [t("lineage.request"), fetch.request ?? fetch.call],
      [t("lineage.status"), `${text(fetch.status)} ${text(fetch.outcome)}`], [t("lineage.received"), fetch.received_at], [t("lineage.bytes"), fetch.bytes],
    ]), raw.payload?.encoding === "text" ? marked(raw.payload.content, cell.value) : el("p", { class: "hint" }, t(raw.payload ? "lineage.binary" : "lineage.no_payload")));
  }
  section("revisions", table([
    { title: t("lineage.valid_from"), cell: (row) => text(row.valid_from) },
    { title: t("lineage.changed"), class: "long", cell: (row) => Object.entries(row.changed ?? {}).map(([name, one]) => `${name}: ${text(one.old)} → ${text(one.new)}`).join("; ") || t("lineage.first") },
  ], found.revisions ?? []));
  body.replaceChildren(...parts);
  body.querySelector("mark")?.scrollIntoView({ block: "center" });
  body.scrollTop = 0;
}

const AROUND = 4000;

/** The body of a response with every place of the value marked; a long one is cut around the first. */
function marked(whole, value) {
  const looked = text(value);
  const at = looked === "–" ? -1 : whole.indexOf(looked);
  const from = Math.max(0, at - AROUND / 2);
  const shown = whole.slice(from, from + AROUND);
  const pre = el("pre", { tabindex: "0" }, from ? "… " : "");
  const pieces = at < 0 ? [shown] : shown.split(looked);
  pieces.forEach((piece, index) => pre.append(...(index ? [el("mark", {}, looked)] : []), piece));
  if (from + AROUND < whole.length) pre.append(" …");
  if (at >= 0) queueMicrotask(() => { pre.scrollTop = (pre.querySelector("mark")?.offsetTop ?? 0) - pre.offsetTop - 40; });
  return pre;
}

document.getElementById("lineage-close").addEventListener("click", close);
back.addEventListener("click", () => shows(before.pop()));
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-lineage], [data-calculated]");
  if (button) open(JSON.parse(button.dataset.lineage ?? button.dataset.calculated), button);
});
