// What every page has: search, choices, keys, lineage.

import { address, read } from "./api.js";
import { el, html, root, t } from "./dom.js";
import { close } from "./lineage.js";

const YEAR_S = 31536000;
const input = document.getElementById("search-text");
const list = document.getElementById("search-found");
// 600519, sh600519, 600519.SH or 1.600519: the address of a stock reads them all.
const NOTATION = /^((sh|sz|bj)[.:_]?|[01]\.)?\d{6}([.:_]?(sh|sz|bj|ss|xsh[ge]|xbse))?$/i;
let chosen = -1;
let asking = null;

for (const button of document.querySelectorAll("[data-choice]")) {
  button.addEventListener("click", () => {
    const { choice, value } = button.dataset;
    document.cookie = `console_${choice}=${value}; path=${root.pathname}; max-age=${YEAR_S}; samesite=strict`;
    const here = new URL(location.href);
    here.searchParams.delete(choice);
    location.replace(here.href);
  });
}

const toStock = (code) => location.assign(new URL(`console/stock/${encodeURIComponent(code)}`, root));

function hide() {
  list.hidden = true;
  chosen = -1;
  input.setAttribute("aria-expanded", "false");
  input.removeAttribute("aria-activedescendant");
}

function choose(at) {
  const items = [...list.querySelectorAll("[data-code]")];
  if (!items.length) return;
  chosen = (at + items.length) % items.length;
  items.forEach((item, index) => item.setAttribute("aria-selected", String(index === chosen)));
  input.setAttribute("aria-activedescendant", items[chosen].id);
  items[chosen].scrollIntoView({ block: "nearest" });
}

async function ask() {
  asking?.abort();
  const keyword = input.value.trim();
  if (!keyword) return hide();
  const mine = (asking = new AbortController());
  let items;
  try {
    const found = await read({ url: address("stocks/search", { keyword, page_size: 10 }) }, mine.signal);
    const former = new Map((found.renumbered ?? []).map((change) => [change.to, change.from]));
    items = found.results.map((one, at) =>
      el("li", { role: "option", id: `found-${at}`, "data-code": one.code, "aria-selected": "false", onclick: () => toStock(one.code) },
        el("b", {}, one.code), el("span", {}, one.name ?? ""), el("span", {}, former.has(one.code) ? t("search.former", { code: former.get(one.code) }) : one.industry ?? "")));
    if (!items.length) items = [el("li", { role: "option", "aria-selected": "false" }, t("search.none"))];
  } catch (problem) {
    if (mine.signal.aborted) return;
    items = [el("li", { role: "option", "aria-selected": "false" }, t(`problem.${problem.kind ?? "failed"}`, { detail: problem.message }))];
  }
  list.replaceChildren(...items);
  list.hidden = false;
  input.setAttribute("aria-expanded", "true");
  choose(0);
}

input.addEventListener("input", ask);
input.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") choose(chosen + 1);
  else if (event.key === "ArrowUp") choose(chosen - 1);
  else if (event.key === "Escape") { hide(); input.blur(); }
  else return;
  event.preventDefault();
});
input.addEventListener("blur", () => setTimeout(hide, 200));
document.getElementById("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const item = list.hidden ? null : list.querySelectorAll("[data-code]")[Math.max(0, chosen)];
  if (item) toStock(item.dataset.code);
  else if (NOTATION.test(input.value.trim())) toStock(input.value.trim());
  else ask();
});

const isTyping = (target) => target.matches?.("input, select, textarea, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") close();
  if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return;
  if (event.key === "/") {
    event.preventDefault();
    input.focus();
    input.select();
  } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    // A page with dates listens: the arrows go through them from wherever the focus is.
    const step = event.key === "ArrowLeft" ? -1 : 1;
    document.dispatchEvent(new CustomEvent("console:date", { detail: step }));
  }
});

html.dataset.ready = "1";
