// The lineage of a number: fused row, sources, batch, run, response with the value marked, revisions.

import { address, read } from "./api.js";
import { el, html, isAdmin, t, table } from "./dom.js";

const panel = document.getElementById("lineage");
const body = document.getElementById("lineage-body");
const source = document.getElementById("lineage-source");
let opener = null;

/** Open the panel for {table, column, key}. */
export async function open(from, button = null) {
  opener = button;
  panel.hidden = false;
  document.getElementById("lineage-close").focus();
  const url = address(`datamgr/lineage/${encodeURIComponent(from.table)}`, { ...from.key, column: from.column, payload: "true" });
  source.replaceChildren("JSON ", el("a", { href: url.href, target: "_blank", rel: "noopener" }, url.pathname + decodeURIComponent(url.search)));
  if (!isAdmin) {
    body.replaceChildren(el("p", { class: "state" }, t("lineage.admins")),
      el("a", { class: "button", href: `${html.dataset.root}console/login` }, t("login.enter")));
    return;
  }
  body.replaceChildren(el("p", { class: "state" }, t("state.loading")));
  try {
    show((await read({ url })).results, from.column);
  } catch (problem) {
    const text = problem.status === 404 ? t("lineage.none") : t(`problem.${problem.kind ?? "failed"}`, { detail: problem.detail || problem.message });
    body.replaceChildren(el("p", { class: "state problem", role: "alert" }, text));
  }
}

/** Close it, with the focus back on the number. */
export function close() {
  if (panel.hidden) return;
  panel.hidden = true;
  opener?.focus();
}

const text = (value) => (value === null || value === undefined ? "–" : typeof value === "object" ? JSON.stringify(value) : String(value));
const pairs = (object) => Object.entries(object ?? {}).map(([name, value]) => `${name}=${text(value)}`).join(" ");

function facts(rows) {
  return el("table", {}, el("tbody", {}, rows.map(([name, value]) =>
    el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "long" }, value instanceof Node ? value : text(value))))));
}

function show(found, column) {
  const parts = [];
  const section = (name, ...content) => parts.push(el("h3", {}, t(`lineage.${name}`)), ...content);
  const cell = found.columns?.[column] ?? {};
  section("value", facts([
    [t("lineage.table"), found.table], [t("lineage.key"), pairs(found.key)], [t("lineage.column"), column],
    [t("lineage.is"), cell.value], [t("lineage.won"), cell.source], [t("lineage.from"), cell.from ? `${text(cell.from.table)} ${pairs(cell.from.key)}` : "–"],
    [t("lineage.quality"), found.quality], [t("lineage.valid"), `${text(found.valid_from)} … ${found.valid_to ?? t("lineage.now")}`],
  ]));
  if (found.reported?.length) {
    section("reported", table([
      { title: t("lineage.source"), cell: (row) => row.source },
      { title: t("lineage.is"), numeric: true, cell: (row) => text(row.value) },
      { title: t("lineage.taken"), cell: (row) => (row.source === cell.source ? "✓" : text(row.value) === text(cell.value) ? t("lineage.same") : t("lineage.differs")) },
    ], found.reported));
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
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-lineage]");
  if (button) open(JSON.parse(button.dataset.lineage), button);
});
