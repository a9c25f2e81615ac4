// A panel: loads what its address gives, says where it came from, and what to do when there is nothing.

import { isProvisional, read } from "./api.js";
import { el, t } from "./dom.js";
import { open } from "./lineage.js";

const SLOW_MS = 4000;

export class Panel {
  constructor(id) {
    this.body = document.getElementById(`${id}-body`);
    this.source = document.getElementById(`${id}-source`);
    this.factor = document.getElementById(`${id}-factor`);
    this.current = null;
  }

  /** Read `requests` and show them: `show(body, ...answers)` fills the panel and returns false (or a promise of
   * it) when there is nothing to show. A newer call replaces an unfinished one. `empty` says what to do about nothing. */
  async load(requests, show, empty = t("state.empty")) {
    this.current?.abort();
    const mine = (this.current = new AbortController());
    this.last = [requests, show, empty];
    this.name(requests);
    this.body.setAttribute("aria-busy", "true");
    const slow = setTimeout(() => this.say(t("state.slow")), SLOW_MS);
    try {
      const answers = await Promise.all(requests.map((one) => read(one, mine.signal)));
      if (mine.signal.aborted) return;
      clearTimeout(slow);
      if (this.factor) this.factor.textContent = answers.some(isProvisional) ? t("state.provisional") : "";
      const made = document.createDocumentFragment();
      if (this.body.classList.contains("chart")) {
        if (!this.plot) this.body.replaceChildren((this.plot = el("div", { class: "plot" })));
        else if (!this.plot.isConnected) this.body.replaceChildren(this.plot);
        const isShown = await show(this.plot, ...answers);
        if (mine.signal.aborted) return;
        if (isShown === false) this.say(empty);
      } else if (show(made, ...answers) === false) this.say(empty);
      else this.body.replaceChildren(made);
    } catch (problem) {
      if (mine.signal.aborted) return;
      this.refuse(problem);
    } finally {
      clearTimeout(slow);
      if (!mine.signal.aborted) this.body.setAttribute("aria-busy", "false");
    }
  }

  /** The addresses of the JSON below the panel. */
  name(requests) {
    const links = requests.map(({ url, body }) => {
      const short = url.pathname.slice(Math.max(url.pathname.indexOf("/api/v1/"), 0)) + decodeURIComponent(url.search);
      return body ? `POST ${short} ${JSON.stringify(body)}` : el("a", { href: url.href, target: "_blank", rel: "noopener" }, short);
    });
    this.source.replaceChildren("JSON ", ...links.flatMap((one, at) => (at ? [" · ", one] : [one])));
    this.source.title = this.source.textContent;
  }

  /** A sentence instead of the content. */
  say(text, ...more) {
    this.body.replaceChildren(el("p", { class: "state", role: "status" }, text), ...more);
  }

  /** A click on a point of the figure opens where it came from, Enter that of its newest: `from({x, meta, about})` gives
   * what `open` of lineage.js takes, or null. */
  leads(from) {
    const show = (point) => {
      const item = from(point);
      if (item) open(item, this.body);
    };
    this.body.addEventListener("point", (event) => show(event.detail));
    this.body.addEventListener("keydown", (event) => {
      const trace = event.key === "Enter" && event.target === this.body ? this.plot?.data?.find((one) => one.x?.length) : null;
      if (trace) show({ x: trace.x.at(-1), meta: trace.meta, about: trace.customdata?.at(-1) });
    });
  }

  refuse(problem) {
    // An error in a text of the reader is marked there.
    if (problem.where) return this.say(t("editor.see"));
    const kind = problem.kind ?? "failed";
    const text = t(`problem.${kind}`, { detail: problem.detail || problem.message });
    const again = el("button", { type: "button", onclick: () => this.load(...this.last) }, t("problem.again"));
    const login = kind === "login" ? el("a", { class: "button", href: `${document.documentElement.dataset.root}console/login` }, t("login.enter")) : null;
    this.body.replaceChildren(el("p", { class: "state problem", role: "alert" }, text), login ?? again);
  }
}
