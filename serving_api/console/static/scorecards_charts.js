// The figures of the scorecards.

import { colors, draw } from "./chart.js";
import { shown, t } from "./dom.js";
import { wilson } from "./wilson.js";

const LEGEND = { showlegend: true, legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" }, margin: { l: 40, r: 52, t: 32, b: 28 }, hovermode: "x unified" };
const ticks = (target, count) => (target.clientWidth < 500 ? Math.floor(count / 2) - 1 : count);

/** Equity of the picks beside the index; the number of settled picks stands in the name. */
export function curve(target, found) {
  const rows = found.curve;
  if (!rows.length) return false;
  const x = rows.map((row) => row.date);
  const line = (name, key, color, dash) => ({ type: "scatter", mode: "lines", name, x, y: rows.map((row) => row[key]), line: { width: 1.8, color, dash }, hovertemplate: "%{y:.2f} %" });
  return draw(target, [
    line(t("cards.equity", { count: found.stats.reviewed }), "cum_pct", colors.series[0], "solid"),
    line(t("cards.index"), "index_cum_pct", colors.faint, "dot"),
  ], { ...LEGEND, xaxis: { type: "category", nticks: ticks(target, 6) }, yaxis: { side: "right", ticksuffix: " %", nticks: 6 } });
}

/** Hit rate of each month (rows of the API) with its interval, and how many picks are behind it. */
export function months(target, found) {
  const rows = found.filter((row) => row.reviewed > 0);
  if (!rows.length) return false;
  const spans = rows.map((row) => wilson(row.win_rate_pct, row.reviewed));
  const y = rows.map((row) => row.win_rate_pct);
  return draw(target, [{
    type: "scatter", mode: "markers", name: t("cards.rate"), x: rows.map((row) => row.key), y, marker: { size: 8, color: colors.series[0] },
    error_y: { type: "data", symmetric: false, array: spans.map((span, at) => span[1] - y[at]), arrayminus: spans.map((span, at) => y[at] - span[0]), color: colors.series[0], thickness: 1.5 },
    customdata: rows.map((row, at) => `${shown(row.win_rate_pct, "pct", 1)} (${shown(spans[at][0], "", 1)}–${shown(spans[at][1], "", 1)} %) · n=${row.reviewed} · ${t("cards.profit")} ${shown(row.avg_profit_pct, "pct")}`),
    hovertemplate: "%{customdata}<extra></extra>",
  }], {
    margin: { l: 24, r: 52, t: 12, b: 28 }, xaxis: { type: "category", nticks: ticks(target, 10) }, yaxis: { side: "right", range: [0, 100], ticksuffix: " %", nticks: 6 },
    annotations: rows.map((row) => ({ x: row.key, y: 1, yanchor: "bottom", showarrow: false, textangle: -90, text: `n=${row.reviewed}`, font: { size: 11, color: colors.faint } })),
    shapes: [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: 50, y1: 50, line: { color: colors.faint, width: 1, dash: "dot" } }],
  });
}
