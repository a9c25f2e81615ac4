// The figures of the market page.

import { colors, draw } from "./chart.js";
import { plain, t } from "./dom.js";

const LEGEND = { showlegend: true, legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" }, margin: { l: 36, r: 56, t: 32, b: 28 }, hovermode: "x unified" };
const few = (target, count) => (target.clientWidth < 500 ? Math.floor(count / 2) - 1 : count);
const line = (name, x, y, color, more = {}) => ({ type: "scatter", mode: "lines+markers", name, x, y, line: { width: 1.6, color }, marker: { size: 4, color }, ...more });

/** Stocks that rose and fell, every five minutes. */
export function breadth(target, found) {
  const rows = found.items;
  if (!rows.length) return false;
  const x = rows.map((row) => String(row.time).slice(5, 16));
  const of = (name) => rows.map((row) => row[name]);
  const at = (meta) => ({ meta, customdata: of("time") });
  return draw(target, [
    line(t("pulse.up"), x, of("up"), colors.rise, at("up_count")), line(t("pulse.down"), x, of("down"), colors.fall, at("down_count")),
    line(t("pulse.flat"), x, of("flat"), colors.faint, at("flat_count")),
    line(t("breadth.index"), x, of("index_change_percent"), colors.series[0], { ...at("index_change_pct"), yaxis: "y2", mode: "lines", line: { width: 1.2, dash: "dot", color: colors.series[0] }, hovertemplate: "%{y:.2f} %" }),
  ], {
    ...LEGEND, margin: { ...LEGEND.margin, l: 44 },
    xaxis: { type: "category", nticks: few(target, 8) }, yaxis: { rangemode: "tozero", title: { text: t("breadth.stocks"), font: { size: 11 } } },
    yaxis2: { overlaying: "y", side: "right", tickformat: ".2f", ticksuffix: " %", showgrid: false, nticks: 4 },
  });
}

/** The emotion score of each date in the colour of its stage. */
export function emotion(target, found) {
  const rows = found.items;
  if (!rows.length) return false;
  const stages = ["ice", "repair", "rise", "climax", "diverge", "ebb"];
  const tones = { ice: colors.series[0], repair: colors.series[3], rise: colors.series[1], climax: colors.rise, diverge: colors.series[2], ebb: colors.fall };
  const x = rows.map((row) => row.date);
  const dots = stages.map((stage) => ({ stage, mine: rows.filter((row) => row.stage === stage) })).filter(({ mine }) => mine.length).map(({ stage, mine }) => ({
    type: "scatter", mode: "markers", name: t(`stages.${stage}`), x: mine.map((row) => row.date), y: mine.map((row) => row.score), marker: { size: 8, color: tones[stage] },
    text: mine.map((row) => plain(t("emotion.inputs", { up: row.limit_up ?? "–", down: row.limit_down ?? "–", height: row.max_limit_days ?? "–" }))),
    hovertemplate: "%{y:.1f} · %{text}",
  }));
  return draw(target, [{ type: "scatter", mode: "lines", showlegend: false, hoverinfo: "skip", x, y: rows.map((row) => row.score), line: { width: 1, color: colors.faint } }, ...dots], {
    ...LEGEND, xaxis: { type: "category", categoryorder: "array", categoryarray: x, nticks: few(target, 6) }, yaxis: { side: "right", range: [0, 100], nticks: 5 },
  });
}

/** Limit-ups and limit-downs of each date, counted from the bars, and the highest run. */
export function limits(target, found) {
  const rows = found.items;
  if (!rows.length) return false;
  const x = rows.map((row) => row.date);
  const bars = (name, key, color, sign) => ({
    type: "bar", name, meta: key.replace(/^limit_/, ""), x, y: rows.map((row) => (row[key] === null ? null : sign * row[key])), marker: { color },
    customdata: rows.map((row) => row[key] ?? "–"), hovertemplate: "%{customdata}",
  });
  return draw(target, [
    bars(t("pulse.limit_up"), "limit_up_recomputed", colors.rise, 1), bars(t("pulse.limit_down"), "limit_down_recomputed", colors.fall, -1),
    line(t("limits.highest"), x, rows.map((row) => row.max_limit_days), colors.series[0], { meta: "max_limit_days", mode: "markers", marker: { symbol: "diamond", size: 7, color: colors.series[0] } }),
  ], { ...LEGEND, barmode: "relative", xaxis: { type: "category", nticks: few(target, 6) }, yaxis: { side: "right", nticks: 5, title: { text: t("breadth.stocks"), font: { size: 11 } } } });
}
