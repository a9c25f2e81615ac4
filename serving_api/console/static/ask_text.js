// The text of an answer: each cited number leads to its evidence, each dash says what it is.

import { el, t } from "./dom.js";

// What stands before a citation: a quotation, else a number with sign and unit, else the last word.
const CITED = /(“[^”]*”|[+-]?\d[\d,.]*(?:-\d\d-\d\d)?\s*(?:%|[\u4e00-\u9fff]{0,3})|[\p{L}\p{N}]{1,12})?((?:\s*\[E\d+(?:\s*[,，、]\s*E\d+)*\])+)|—/gu;

/** Elements of the text: paragraphs, with the citations of `items` (the facts of the answer at place `answer`)
 * as buttons. */
export function answerText(text, items = [], answer = 0) {
  const known = new Set(items.map((one) => one.id));
  return text.split(/\n{2,}/).filter((one) => one.trim()).map((paragraph) => {
    const made = el("p", {});
    let from = 0;
    for (const found of paragraph.matchAll(CITED)) {
      made.append(paragraph.slice(from, found.index), piece(found, known, answer));
      from = found.index + found[0].length;
    }
    made.append(paragraph.slice(from));
    return made;
  });
}

function piece([whole, value, citation], known, answer) {
  if (whole === "—") return el("abbr", { title: t("ask.dash"), class: "dash" }, "—");
  const ids = citation.match(/E\d+/g);
  const there = ids.filter((id) => known.has(id));
  if (!there.length) return el("span", {}, value ?? "", el("sup", {}, ids.join(" ")));
  return el("span", {},
    value ? cited(there[0], value, answer) : "",
    el("sup", {}, ...there.slice(value ? 1 : 0).flatMap((id) => [" ", cited(id, id, answer)])));
}

const cited = (id, text, answer) => el("button", { class: "number", type: "button", "data-evidence": id, "data-answer": String(answer), "aria-describedby": "evidence-one" }, text);
