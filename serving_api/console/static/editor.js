// A field for a query or formula that marks an error at its place.

import { el, t } from "./dom.js";

export class Editor {
  /** `run` is called by Ctrl+Enter; `check` after every change. */
  constructor(id, run, check = () => {}) {
    this.field = document.getElementById(id);
    this.under = document.getElementById(`${id}-under`);
    this.told = document.getElementById(`${id}-told`);
    this.field.addEventListener("input", () => { this.clear(); check(); });
    this.field.addEventListener("scroll", () => { this.under.scrollTop = this.field.scrollTop; });
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      run();
    });
  }

  get text() { return this.field.value; }

  set text(value) {
    this.field.value = value;
    this.clear();
  }

  clear() {
    this.under.replaceChildren();
    this.told.replaceChildren();
    this.told.classList.remove("problem");
    this.field.removeAttribute("aria-invalid");
  }

  say(text) {
    this.clear();
    this.told.replaceChildren(text);
  }

  /** Mark what a Problem says about the text; false where it says nothing about a place. */
  mark(problem) {
    const where = problem.where;
    this.clear();
    if (!where) return false;
    // The API counts characters, JavaScript halves of some.
    const characters = [...this.text];
    const before = characters.slice(0, where.position).join("");
    const token = where.token || characters[where.position] || " ";
    const at = before.length;
    this.under.replaceChildren(before, el("mark", {}, token), this.text.slice(at + token.length));
    this.under.scrollTop = this.field.scrollTop;
    this.field.setAttribute("aria-invalid", "true");
    this.told.classList.add("problem");
    const repair = where.suggestion
      ? el("button", { type: "button", onclick: () => this.replace(at, where.token, where.suggestion) }, t("editor.instead", { word: where.suggestion }))
      : null;
    const place = t("editor.place", { line: where.line, column: where.column });
    const said = [t(`editor.${where.code}`, { token: where.token || t("editor.end") }), place, where.expected?.length ? t("editor.expected", { words: where.expected.join(", ") }) : ""];
    this.told.replaceChildren(el("span", {}, said.join("")), ...(repair ? [repair] : []));
    return true;
  }

  replace(at, token, word) {
    this.field.setRangeText(word, at, at + token.length, "end");
    this.field.focus();
    this.field.dispatchEvent(new Event("input", { bubbles: true }));
  }
}
