// Quoted reference prices without an ex-right event: their evidence, and the reason that closes one.

import { address, read } from "./api.js";
import { el, number, root, shown, t, table } from "./dom.js";

const CLOSED = 20;
export const exrightRequest = { url: address("datamgr/exrights") };

/** Sends what a form says, and tells its row what came of it; `done` is called when the platform has accepted it. */
async function send(path, body, said, done) {
  said.textContent = "…";
  try {
    const answer = await read({ url: address(`datamgr/exrights/${path}`), body });
    const { status, message } = answer.results;
    said.textContent = status === "failed" ? message : t(`exright.${status}`);
    if (status !== "failed") done(status);
  } catch (problem) {
    said.textContent = t(`problem.${problem.kind ?? "failed"}`, { detail: problem.detail || problem.message });
  }
}

function closing(row, again) {
  const said = el("span", { role: "status", class: "hint" });
  const about = `${row.code} ${row.date}`;
  const reason = el("input", { required: true, maxlength: 255, placeholder: t("exright.reason"), "aria-label": `${t("exright.reason")}: ${about}` });
  const quote = el("select", { required: true, "aria-label": `${t("exright.quote")}: ${about}` },
    el("option", { value: "" }, t("exright.quote")), ...["ignored", "counts"].map((name) => el("option", { value: name }, t(`exright.${name}`))));
  return el("form", { class: "line", onsubmit: (event) => {
    event.preventDefault();
    send("reason", { code: row.code, date: row.date, reason: reason.value, counts: quote.value === "counts" }, said, again);
  } }, reason, quote, el("button", {}, t("exright.close")), said);
}

function reopening(row, again) {
  const said = el("span", { role: "status", class: "hint" });
  const button = el("button", { type: "button", onclick: () => send("withdraw", { code: row.code, date: row.date }, said, again) }, t("exright.reopen"));
  return el("div", { class: "line" }, el("span", {}, row.reason), button, said);
}

/** Open items, then the newest that a reason closed; `again` reads them anew. */
export function exrights(body, answer, again) {
  const open = answer.results.filter((row) => row.status === "open");
  const reasoned = answer.results.filter((row) => row.closed_by === "reason").slice(0, CLOSED);
  if (!open.length && !reasoned.length) return false;
  const value = (row, column, text) => number(text, { table: "ref_exright_item", column, key: { code: row.code, date: row.date } });
  body.append(table([
    { title: t("exright.stock"), class: "date", cell: (row) => el("a", { href: new URL(`console/stock/${row.code}`, root) }, `${row.name ?? ""} ${row.code}`) },
    { title: t("exright.date"), class: "date", cell: (row) => row.date },
    { title: t("exright.quoted"), numeric: true, cell: (row) => value(row, "quoted", shown(row.quoted, "", 3)) },
    { title: t("exright.before"), numeric: true, cell: (row) => value(row, "close_before", shown(row.close_before, "", 3)) },
    { title: t("exright.ratio"), numeric: true, cell: (row) => value(row, "factor", shown(row.factor, "", 5)) },
    { title: t("exright.days"), numeric: true, cell: (row) => String(row.days_open) },
    { title: t("exright.why"), class: "long", cell: (row) => (row.status === "open" ? closing(row, again) : reopening(row, again)) },
  ], [...open, ...reasoned]));
  return true;
}
