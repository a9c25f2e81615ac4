// Ask: questions over the stream, the evidence of the answer beside it.

import "./page.js";
import { address, isProvisional, read, streamed } from "./api.js";
import { answerText } from "./ask_text.js";
import { kept, point } from "./ask_evidence.js";
import { draw, colors } from "./chart.js";
import { el, html, plain, t } from "./dom.js";

const SLOW_MS = 4000;
const TURNS = 16;
const [talk, form, question, send, stop, source] = ["talk-body", "ask-form", "question", "send", "stop", "talk-source"].map((id) => document.getElementById(id));
const history = [];
let current = null;

const isLast = () => talk.scrollHeight - talk.scrollTop - talk.clientHeight < 80;

/** Who made the answer, as the API labels it: a model by its name, or rules and why no model answered. */
function maker(frame) {
  const isModel = frame.provenance === "ai";
  const label = isModel ? t("ask.model", { model: frame.model ?? "" }) : frame.label || t("ask.rules");
  return el("p", { class: "hint maker" },
    el("span", { class: `tag ${isModel ? "real" : "proxy"}`, title: isModel ? null : t("ask.rules") }, label), " ",
    isModel ? "" : `${t("ask.rules")} `,
    frame.fallbackOf ? `${t(`ask.fallback_${frame.fallbackOf}`)} ${frame.llmError ?? ""} ` : "",
    isProvisional(frame) ? `${t("state.provisional")} ` : "",
    frame.unbound ? t("ask.unbound", { count: frame.unbound }) : "");
}

function chart(target, spec) {
  draw(target, spec.series.map((one, at) => ({
    type: spec.kind === "bar" ? "bar" : "scatter", mode: "lines", name: plain(one.name), x: spec.x, y: one.data,
    line: { color: colors.series[at % 4], width: 1.5 }, marker: { color: colors.series[at % 4] },
  })), {
    title: { text: plain(`${spec.title} ${spec.unit === "CNY" ? t("units.cny") : spec.unit ?? ""}`), font: { size: 12 }, x: 0.01, xanchor: "left" },
    xaxis: { type: "category", nticks: 5 }, yaxis: { side: "right", nticks: 5 }, margin: { l: 8, r: 48, t: 28, b: 24 }, showlegend: spec.series.length > 1,
  });
}

async function ask(message) {
  document.getElementById("ask-first")?.remove();
  const mine = (current = new AbortController());
  const body = { message, history: history.slice(-TURNS) };
  const url = address("chat/ask/stream");
  source.textContent = `JSON POST ${url.pathname.slice(url.pathname.indexOf("/api/v1/"))} ${JSON.stringify(body)}`;
  source.title = source.textContent;
  const state = el("p", { class: "maker hint", role: "status" }, t("ask.thinking"));
  const said = el("div", { class: "said" });
  const turn = el("article", { class: "turn" }, el("h3", {}, message), state, said);
  talk.append(turn);
  talk.scrollTop = talk.scrollHeight;
  busy(true);
  let slow = setTimeout(() => { state.textContent = t("state.slow"); }, SLOW_MS);
  let text = "";
  let end = null;
  const charts = [];
  const put = (...made) => {
    const follows = isLast();
    said.replaceChildren(...made);
    if (follows) talk.scrollTop = talk.scrollHeight;
  };
  try {
    for await (const frame of streamed({ url, body }, mine.signal)) {
      clearTimeout(slow);
      slow = setTimeout(() => { state.textContent = t("state.slow"); }, SLOW_MS);
      if (frame.type === "content") put(...answerText((text += frame.text)));
      else if (frame.type === "thinking" || frame.type === "reasoning") state.textContent = frame.text;
      else if (frame.type === "search_status") state.textContent = t(`ask.search_${frame.status}`);
      else if (frame.type === "search_results") said.after(el("p", { class: "hint" }, frame.items.map((one) => one.title).join(" · ")));
      else if (frame.type === "chart") charts.push({ spec: frame.spec, box: el("div", { class: "figure" }) });
      else if (frame.type === "evidence") end = frame;
      else if (frame.type === "error") said.after(el("p", { class: "problem", role: "alert" }, frame.message));
    }
    if (end) {
      state.replaceWith(maker(end));
      put(...answerText(text, end.items, kept(end)));
    } else state.textContent = t("ask.broken");
    for (const { spec, box } of charts) {
      said.append(box);
      chart(box, spec);
    }
    history.push({ role: "user", content: message }, { role: "assistant", content: text.slice(0, 8000) });
  } catch (problem) {
    if (mine.signal.aborted) state.textContent = t("ask.stopped");
    else {
      const kind = problem.kind ?? "failed";
      state.replaceWith(el("p", { class: "state problem", role: "alert" }, t(kind === "login" ? "ask.login" : `problem.${kind}`, { detail: problem.detail || problem.message })),
        kind === "login" ? el("a", { class: "button", href: `${html.dataset.root}console/login` }, t("login.enter"))
          : el("button", { type: "button", onclick: () => { turn.remove(); ask(message); } }, t("problem.again")));
    }
  } finally {
    clearTimeout(slow);
    busy(false);
  }
}

function busy(is) {
  send.disabled = is;
  stop.disabled = !is;
  talk.setAttribute("aria-busy", String(is));
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const message = question.value.trim();
  if (!message || send.disabled) return question.focus();
  question.value = "";
  ask(message);
});
document.getElementById("try-model")?.addEventListener("click", async ({ currentTarget: button }) => {
  const tried = document.getElementById("tried");
  button.disabled = true;
  tried.textContent = t("ask.trying");
  try {
    tried.textContent = t("ask.tried", await read({ url: address("settings/model-config/test"), body: {} }));
  } catch (problem) {
    tried.textContent = t(`problem.${problem.kind ?? "failed"}`, { detail: problem.detail || problem.message });
  } finally {
    button.disabled = false;
  }
});
stop.addEventListener("click", () => current?.abort());
for (const kind of ["mouseover", "focusin"]) {
  talk.addEventListener(kind, (event) => {
    const cited = event.target.closest?.("[data-evidence]");
    if (cited) point(cited);
  });
}
