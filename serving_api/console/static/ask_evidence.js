// The evidence of an answer: stored values with their row, and the one that the reader points at.

import { address } from "./api.js";
import { el, number, shown, t, table } from "./dom.js";

const body = document.getElementById("evidence-body");
const one = document.getElementById("evidence-one");
const source = document.getElementById("evidence-source");
const answers = [];
let current = -1;

const whole = (item) => ({ table: item.source, column: item.field, key: item.key });
const said = (item) => (typeof item.value === "number" ? shown(item.value, item.unit === "count" ? "" : item.unit, item.unit === "count" ? 0 : 2) : String(item.value ?? "–"));
const leads = (item) => (item.link ? number(said(item), whole(item)) : said(item));

/** Keep the evidence of an answer and show it; gives its place among the answers. Facts of different answers
 * have the same numbers. */
export function kept(frame) {
  answers.push(frame);
  listed(answers.length - 1);
  return answers.length - 1;
}

function listed(at) {
  current = at;
  const frame = answers[at];
  if (!frame.items.length) {
    body.replaceChildren(el("p", { class: "state" }, t("ask.no_evidence")));
  } else {
    const list = table([
      { title: "", cell: (item) => item.id },
      { title: t("ask.value"), cell: (item) => `${item.subject} ${item.label}` },
      { title: "", numeric: true, cell: (item) => el("span", { class: typeof item.value === "string" ? "wrapped" : null }, leads(item)) },
    ], frame.items);
    [...list.querySelectorAll("tbody tr")].forEach((row, index) => row.setAttribute("data-of", frame.items[index].id));
    body.replaceChildren(list);
  }
  const url = frame.receipt_id ? address(`chat/receipts/${frame.receipt_id}`) : null;
  source.replaceChildren(...(url ? ["JSON ", el("a", { href: url.href, target: "_blank", rel: "noopener" }, url.pathname.slice(url.pathname.indexOf("/api/v1/")))] : []));
}

/** Show the row of a fact above the list, and mark it in text and list. */
export function point(button) {
  const { evidence: id, answer } = button.dataset;
  const item = answers[answer]?.items.find((fact) => fact.id === id);
  if (!item) return;
  if (Number(answer) !== current) listed(Number(answer));
  for (const old of document.querySelectorAll(".pointed")) old.classList.remove("pointed");
  button.classList.add("pointed");
  const row = body.querySelector(`[data-of="${id}"]`);
  if (row) {
    row.classList.add("pointed");
    body.scrollTop = row.offsetTop - body.offsetTop - body.clientHeight / 2;
  }
  const pairs = Object.entries(item.key).map(([name, value]) => `${name}=${value}`).join(" ");
  one.replaceChildren(el("p", {}, `${item.subject} ${item.label} `, el("b", {}, leads(item))),
    el("p", { class: "mono" }, `${item.source}.${item.field}`), el("p", { class: "mono" }, pairs),
    el("p", { class: "hint" }, `${t("ask.as_of")} ${item.as_of} · ${t("lineage.quality")} ${item.quality ?? "–"}`));
}
