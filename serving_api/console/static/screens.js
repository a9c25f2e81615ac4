// Screens: a sentence becomes a query, the query finds stocks; formulas beside it. The address is the state.

import "./page.js";
import { address, read, shared } from "./api.js";
import { el, t } from "./dom.js";
import { Editor } from "./editor.js";
import { Panel } from "./panel.js";
import { funnel, rows, values } from "./screens_tables.js";
import { nextDate } from "./trade_dates.js";

const START = "pe_ttm between 0 and 20 and roe >= 8% and not st order by roe desc";
const START_FORMULA = "CROSS(MA(C,5),MA(C,20))";
const CHECK_MS = 500;
const PAGE = 50;
const VALUES = 200;
const [sentence, date, preset, builtin, copied] = ["sentence", "date", "preset", "builtin", "copied"].map((id) => document.getElementById(id));
const panels = Object.fromEntries(["funnel", "rows", "values"].map((id) => [id, new Panel(id)]));
const post = (path, body) => ({ url: address(path), body });
const fields = shared({ url: address("screener/filters") });
let page = 1;
let found = null;
let checking = null;
let moving = null;

const dsl = new Editor("dsl", () => search(), () => {
  preset.value = "";
  clearTimeout(checking);
  checking = setTimeout(check, CHECK_MS);
});
const formula = new Editor("formula", () => evaluate(), () => { builtin.value = ""; });

/** What the address holds, put into the fields. */
function restored() {
  const state = new URLSearchParams(location.search);
  sentence.value = state.get("sentence") ?? "";
  dsl.text = state.get("query") ?? (sentence.value ? "" : START);
  date.value = state.get("date") ?? "";
  page = Math.max(1, Number(state.get("page")) || 1);
  formula.text = state.get("formula") ?? START_FORMULA;
  run(!dsl.text && sentence.value ? asSentence() : asQuery());
  evaluate(false);
}

/** Write the fields into the address, as a new step of the browser's history. */
function saved() {
  const here = new URL(location.href);
  const state = { sentence: sentence.value, query: dsl.text, date: date.value, page: page > 1 ? page : "", formula: formula.text === START_FORMULA ? "" : formula.text };
  for (const [name, value] of Object.entries(state)) {
    if (value) here.searchParams.set(name, value);
    else here.searchParams.delete(name);
  }
  if (here.href !== location.href) history.pushState(null, "", here);
  copied.textContent = "";
}

const ofDate = () => (date.value ? { date: date.value } : {});
const asQuery = () => post("screener/find", { dsl: dsl.text, page, pageSize: PAGE, ...ofDate() });
const asSentence = () => post("screener/nl-find", { query: sentence.value.trim(), page: 1, pageSize: PAGE, ...ofDate() });

/** Fill funnel and rows from one request; a refused query is marked in its field. */
function run(request) {
  const one = shared(request);
  const everything = shared(post("screener/find", { dsl: "code is not null", page: 1, pageSize: 10, ...ofDate() }));
  clearTimeout(checking);
  found = null;
  panels.funnel.load([one, everything], (body, answer, all) => {
    found = answer;
    if (answer.dsl !== undefined) translated(answer);
    return funnel(body, answer, all.total);
  }, t(request.body.dsl === undefined ? "empty.sentence" : "empty.funnel"));
  panels.rows.load([one, fields], (body, answer, catalogue) => rows(body, answer, catalogue, turned), t("empty.rows"));
  read(one).then(() => request.body.dsl !== undefined && dsl.clear(), (problem) => dsl.mark(problem));
}

/** The query that a sentence became, and what of it was not understood. */
function translated(answer) {
  dsl.text = answer.dsl;
  if (answer.unmatched.length) dsl.say(t("screens.unmatched", { words: answer.unmatched.join(", ") }));
  saved();
}

function search() {
  page = 1;
  saved();
  run(asQuery());
}

function turned(to) {
  page = to;
  saved();
  run(asQuery());
  panels.rows.body.focus();
}

function evaluate(isSaved = true) {
  if (isSaved) saved();
  const one = shared(post("quant/formulas/eval", { formula: formula.text, limit: VALUES, ...ofDate() }));
  panels.values.load([one], values, t("empty.values"));
  read(one).then(() => formula.clear(), (problem) => formula.mark(problem));
}

/** While somebody types: the meaning of the query, without running it. */
async function check() {
  const text = dsl.text;
  try {
    const meant = await read(post("screener/parse-dsl", { dsl: text }));
    if (text === dsl.text) dsl.say(meant.warnings.join(" "));
  } catch (problem) {
    if (text === dsl.text) dsl.mark(problem);
  }
}

/** Fill a list of choices; one that could not be read is read again when it gets the focus. */
function listed(select, path, option) {
  const fill = async () => {
    if (select.options.length > 1) return;
    try {
      const { items } = await read({ url: address(path) });
      select.append(...items.map(option));
    } catch {
      // The panels say what is wrong.
    }
  };
  select.addEventListener("focus", fill);
  return fill();
}

listed(preset, "screener/presets", (one) => el("option", { value: one.dsl, title: one.desc }, one.label));
listed(builtin, "quant/formulas", (one) => el("option", { value: one.text, title: one.description }, one.name));
preset.addEventListener("change", () => {
  if (!preset.value) return;
  const chosen = preset.value;
  sentence.value = "";
  dsl.text = chosen;
  search();
});
builtin.addEventListener("change", () => {
  if (!builtin.value) return;
  formula.text = builtin.value;
  evaluate();
});
document.getElementById("sentence-form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (!sentence.value.trim()) return sentence.focus();
  page = 1;
  run(asSentence());
});
document.getElementById("query-form").addEventListener("submit", (event) => { event.preventDefault(); search(); });
document.getElementById("formula-form").addEventListener("submit", (event) => { event.preventDefault(); evaluate(); });
document.getElementById("copy").addEventListener("click", async () => {
  saved();
  try {
    await navigator.clipboard.writeText(location.href);
    copied.textContent = t("screens.copied");
  } catch {
    copied.textContent = t("screens.in_address");
  }
});
function dated() {
  search();
  evaluate(false);
}
date.addEventListener("change", dated);
document.addEventListener("console:date", async ({ detail }) => {
  const from = date.value || found?.date;
  if (!from) return;
  const to = await nextDate(from, detail);
  if (!to) return;
  date.value = to;
  clearTimeout(moving);
  moving = setTimeout(dated, 150);
});
addEventListener("popstate", restored);
restored();
