// A treemap on a canvas: groups with their cells, coloured by change. Keys go from cell to cell.

import { colors } from "./chart.js";
import { el, html } from "./dom.js";
import { squarified } from "./squarified.js";

const HEAD = 16;
const FULL_PCT = 5;
const STEPS = 20;
const PAD = 5;
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const channels = (color) => color.match(/\d+/g).slice(0, 3).map(Number);
const light = (rgb) => rgb.map((one) => one / 255).map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
  .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);

/** Colours from the strongest fall to the strongest rise, each with the text colour that contrasts best. */
function palette() {
  const neutral = html.dataset.theme === "dark" ? [58, 68, 79] : [226, 231, 237];
  const ends = [channels(colors.fall), channels(colors.rise)];
  return Array.from({ length: 2 * STEPS + 1 }, (_, at) => {
    const share = Math.abs(at - STEPS) / STEPS;
    const rgb = neutral.map((one, place) => Math.round(one + (ends[at > STEPS ? 1 : 0][place] - one) * share));
    return { fill: `rgb(${rgb})`, text: (light(rgb) + 0.05) ** 2 > 1.05 * 0.05 ? "#000" : "#fff" };
  });
}

export class Treemap {
  /** Draw into `target`. `words` is {label, describe(cell, group), change(cell)}; `open(cell, group)` is called with a cell,
   * or with a group alone (its heading). */
  constructor(target, words, open) {
    Object.assign(this, { target, words, open, groups: [], cells: [], heads: [], chosen: null, palette: palette() });
    this.canvas = el("canvas", { class: "treemap", tabindex: "0", role: "application", "aria-label": words.label });
    // The frame around the chosen cell lies above the canvas, so a move of the mouse draws nothing anew.
    this.frame = el("i", { class: "frame", hidden: true });
    this.tip = el("p", { class: "tip", role: "status", hidden: true });
    this.font = getComputedStyle(html).getPropertyValue("--font");
    this.context = this.canvas.getContext("2d", { alpha: false });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("mousemove", ({ offsetX, offsetY }) => this.choose(this.at(offsetX, offsetY)));
    this.canvas.addEventListener("mouseleave", () => this.choose(null));
    this.canvas.addEventListener("blur", () => this.choose(null));
    this.canvas.addEventListener("click", ({ offsetX, offsetY }) => this.enter(this.at(offsetX, offsetY)));
    target.replaceChildren(this.canvas, this.frame, this.tip);
    new ResizeObserver(() => this.lay()).observe(target);
  }

  /** Show groups {code, name, value, change_percent, children}. Where the same cells come again, they keep their
   * places and change their colours: nothing jumps under the reader's eyes. */
  show(groups) {
    const name = (all) => all.map((group) => [group.code, ...group.children.map((cell) => cell.code)].join()).join(";");
    const isSame = name(groups) === name(this.groups);
    this.groups = groups;
    if (!isSame) return this.lay();
    const newer = new Map(groups.flatMap((group) => [group, ...group.children]).map((one) => [one.code, one]));
    for (const one of [...this.cells, ...this.heads]) one.of = newer.get(one.of.code) ?? one.of;
    this.draw();
  }

  lay() {
    const { clientWidth: width, clientHeight: height } = this.target;
    if (!width || !height) return;
    const ratio = window.devicePixelRatio || 1;
    Object.assign(this.canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.choose(null);
    [this.cells, this.heads] = [[], []];
    const places = squarified(this.groups.map((group) => group.value), 0, 0, width, height);
    this.groups.forEach((group, at) => {
      const [x, y, w, h] = places[at];
      const head = h > 3 * HEAD && w > 30 ? HEAD : 0;
      if (head) this.heads.push({ of: group, box: [x, y, w, head] });
      const inside = squarified(group.children.map((cell) => cell.value), x, y + head, w, h - head);
      group.children.forEach((cell, place) => this.cells.push({ of: cell, group, box: inside[place] }));
    });
    this.draw();
  }

  color(change) {
    return this.palette[STEPS + Math.round(Math.max(-1, Math.min(1, (change ?? 0) / FULL_PCT)) * STEPS)];
  }

  draw() {
    const { context } = this;
    context.fillStyle = colors.panel;
    context.fillRect(0, 0, this.target.clientWidth, this.target.clientHeight);
    context.textBaseline = "middle";
    for (const { of, box: [x, y, w, h] } of this.cells) {
      const { fill, text } = this.color(of.change_percent);
      context.fillStyle = fill;
      context.fillRect(x, y, w > 2 ? w - 0.5 : w, h > 2 ? h - 0.5 : h);
      if (w < 40 || h < 15) continue;
      context.fillStyle = text;
      const size = Math.max(10, Math.min(15, w / 6, h / 2.4));
      const isTall = h > 2.5 * size;
      this.write(of.name ?? of.code, x, y + h / 2 - (isTall ? size * 0.6 : 0), w, size, "center");
      if (isTall) this.write(this.words.change(of), x, y + h / 2 + size * 0.6, w, size - 1, "center");
    }
    for (const { of, box: [x, y, w, h] } of this.heads) {
      context.fillStyle = colors.panel;
      context.fillRect(x, y, w, h);
      context.fillStyle = colors.ink;
      this.write(`${of.name ?? of.code}  ${this.words.change(of)}`, x, y + h / 2 + 1, w, 11, "left");
    }
  }

  /** Text in one line of a cell, shortened where it is too long; nothing where two letters do not fit. */
  write(text, x, y, width, size, align) {
    const { context } = this;
    context.font = `${size}px ${this.font}`;
    const space = width - 2 * PAD;
    let shown = text;
    while (shown.length > 1 && context.measureText(shown === text ? text : `${shown}…`).width > space) shown = shown.slice(0, -1);
    if (shown !== text && shown.length < 2) return;
    context.textAlign = align;
    context.fillText(shown === text ? text : `${shown}…`, align === "left" ? x + PAD : x + width / 2, y);
  }

  at(x, y) {
    const holds = ({ box: [left, top, w, h] }) => x >= left && x < left + w && y >= top && y < top + h;
    return this.heads.find(holds) ?? this.cells.find(holds) ?? null;
  }

  choose(one) {
    if (one === this.chosen) return;
    this.chosen = one;
    this.tip.hidden = this.frame.hidden = !one;
    this.canvas.style.cursor = one ? "pointer" : "";
    if (!one) return;
    const [x, y, w, h] = one.box;
    Object.assign(this.frame.style, { left: `${x}px`, top: `${y}px`, width: `${w}px`, height: `${h}px` });
    this.tip.textContent = this.words.describe(one.of, one.group);
    const left = Math.max(0, Math.min(x + w / 2, this.target.clientWidth - this.tip.offsetWidth - 4));
    const isBelow = y + h + this.tip.offsetHeight + 4 < this.target.clientHeight;
    Object.assign(this.tip.style, { left: `${left}px`, top: `${isBelow ? y + h + 4 : Math.max(0, y - this.tip.offsetHeight - 4)}px` });
  }

  enter(one) {
    if (one) this.open(one.group ? one.of : null, one.group ?? one.of);
  }

  key(event) {
    if (event.key === "Enter" && this.chosen) return this.enter(this.chosen);
    const step = DIRECTIONS[event.key];
    if (!step || !this.cells.length) return;
    event.preventDefault();
    event.stopPropagation();
    if (!this.chosen) return this.choose(this.cells[0]);
    const [left, top, w, h] = this.chosen.box;
    // From the middle of the cell's edge outwards, to the first other cell.
    let [x, y] = [left + w / 2 + (step[0] * w) / 2, top + h / 2 + (step[1] * h) / 2];
    for (let tries = 0; tries < this.target.clientWidth + this.target.clientHeight; tries += 1) {
      [x, y] = [x + step[0], y + step[1]];
      const next = this.at(x, y);
      if (next && next !== this.chosen) return this.choose(next);
    }
  }
}
