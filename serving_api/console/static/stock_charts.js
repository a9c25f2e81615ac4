// The figures of the stock page.

import { colors, draw } from "./chart.js";
import { plain, shown, t } from "./dom.js";

const LINES = {
  ma: ["ma5", "ma10", "ma20", "ma60"], boll: ["boll_upper", "boll_mid", "boll_lower"],
  macd: ["macd_dif", "macd_dea"], kdj: ["kdj_k", "kdj_d", "kdj_j"], rsi: ["rsi6", "rsi12", "rsi24"],
};
const ON_PRICE = new Set(["ma", "boll"]);

/** Marks in one row of the chart: dates with a symbol and the text of what happened. */
function marks(rows, name, symbol, color, level, known) {
  const seen = rows.filter((row) => known.has(row.date));
  return {
    type: "scatter", mode: "markers", showlegend: false, name, x: seen.map((row) => row.date), y: seen.map(() => level), yaxis: "y4",
    marker: { symbol, color, size: 9 }, text: seen.map((row) => `${plain(name)}: ${plain(row.text)}`), hovertemplate: "%{x}<br>%{text}<extra></extra>",
  };
}

// Symbol and colour of the days on which the price touched its limit.
const LIMIT_MARKS = { up: ["triangle-up-open", "rise"], down: ["triangle-down-open", "fall"], broken: ["x-thin-open", "faint"] };

/** The days in a pool of limits: limit-up, limit-down, or a limit-up that did not hold. */
export const limitEvents = (limits) => limits.results.filter((one) => one.pool in LIMIT_MARKS).map((one) => ({
  date: one.trade_date, kind: `limit_${one.pool}`, pool: one.pool,
  text: [one.zt_stat, one.first_seal_time ? t("events.first_seal", { time: one.first_seal_time }) : "", one.break_times ? t("events.broke", { times: one.break_times }) : "", shown(one.change_pct, "pct")].filter(Boolean).join(" · "),
}));

/** Ticks of an axis of dates: half as many where the panel is narrow. */
const few = (target, count) => (target.clientWidth < 500 ? Math.floor(count / 2) - 1 : count);

/** Candles, volume, an indicator, marks of patterns and events on one axis of dates. */
export function candles(target, [bars, patterns, dividends, billboard, announcements, limits], kind) {
  const rows = bars.results;
  if (!rows.length) return false;
  const x = rows.map((bar) => bar.date);
  const known = new Set(x);
  const of = (name) => rows.map((bar) => bar[name]);
  const tone = rows.map((bar) => (bar.close >= bar.open ? colors.rise : colors.fall));
  const below = ON_PRICE.has(kind) ? "y" : "y3";
  const each = (name) => bars.lines[name];
  const alone = (values) => values.some((value, at) => value !== null && (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null);
  const lines = LINES[kind].map((name, at) => ({
    type: "scatter", mode: alone(each(name)) ? "lines+markers" : "lines", name: name.toUpperCase().replace("_", " "), x, y: each(name), connectgaps: false,
    yaxis: below, showlegend: true, line: { width: 1.2, color: colors.series[at % 4] }, marker: { color: colors.series[at % 4], size: 3 }, hovertemplate: "%{y:.2f}",
  }));
  if (kind === "macd") {
    const bar = each("macd_hist");
    lines.push({ type: "bar", showlegend: false, name: "MACD", x, y: bar, yaxis: "y3", marker: { color: bar.map((one) => (one >= 0 ? colors.rise : colors.fall)) }, hovertemplate: "%{y:.2f}" });
  }
  const hits = patterns.items.flatMap((row) => (row.hits ?? []).map((hit) => ({ date: row.date, text: `${hit.pattern} ${hit.direction}` })));
  const traces = [
    {
      type: "candlestick", showlegend: false, name: t("candles.price"), x, open: of("open"), high: of("high"), low: of("low"), close: of("close"),
      increasing: { line: { color: colors.rise, width: 1 } }, decreasing: { line: { color: colors.fall, width: 1 } },
    },
    { type: "bar", showlegend: false, name: t("candles.volume"), meta: "volume", x, y: of("volume"), yaxis: "y2", marker: { color: tone }, customdata: of("volume").map((one) => shown(one, "shares")), hovertemplate: "%{customdata}" },
    ...lines,
    marks(hits, t("events.pattern"), "triangle-up", colors.series[2], 4, known),
    marks(dividends.results.map((one) => ({ date: one.ex_date, text: one.plan_text })), t("events.dividend"), "diamond", colors.series[1], 3, known),
    marks(billboard.results.map((one) => ({ date: one.trade_date, text: one.reason })), t("events.billboard"), "star", colors.rise, 2, known),
    marks(announcements.results.map((one) => ({ date: one.pub_date, text: one.title })), t("events.announcement"), "circle", colors.accent, 1, known),
    ...limitEvents(limits).map((one) => marks([one], t(`events.${one.kind}`), LIMIT_MARKS[one.pool][0], colors[LIMIT_MARKS[one.pool][1]], 5, known)),
  ];
  const bottom = below === "y3" ? 0.16 : 0;
  return draw(target, traces, {
    hovermode: "x unified", bargap: 0.2, showlegend: true, legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" }, margin: { l: 8, r: 56, t: 32, b: 28 },
    xaxis: { type: "category", rangeslider: { visible: false }, range: [-0.5, x.length - 0.5], nticks: few(target, 8), anchor: "free", position: 0, showspikes: true, spikethickness: 1 },
    yaxis: { domain: [bottom + 0.24, 1], side: "right", title: { text: t("units.cny"), font: { size: 11 } } },
    yaxis2: { domain: [bottom + 0.09, bottom + 0.21], side: "right", nticks: 3, fixedrange: true },
    yaxis3: { domain: [0, 0.15], side: "right", nticks: 3, fixedrange: true, visible: below === "y3" },
    yaxis4: { domain: [bottom, bottom + 0.08], range: [0.2, 5.8], fixedrange: true, visible: false },
  });
}

/** The distribution of the cost of the shares: share of the chips at each price. */
export function chips(target, found) {
  if (!found.distribution?.length) return false;
  const prices = found.distribution.map((one) => one.price);
  return draw(target, [{
    type: "bar", orientation: "h", meta: found.date, y: prices, x: found.distribution.map((one) => one.ratio),
    marker: { color: prices.map((price) => (price <= found.close ? colors.rise : colors.fall)) },
    hovertemplate: `%{y:.2f} ${t("units.cny")}<br>%{x:.2f} %<extra></extra>`,
  }], {
    bargap: 0.05, xaxis: { ticksuffix: " %", nticks: 4 }, yaxis: { side: "right", nticks: 12 }, margin: { l: 8, r: 48, t: 84, b: 28 },
    shapes: [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: found.close, y1: found.close, line: { color: colors.ink, width: 1, dash: "dot" } }],
    annotations: [{
      xref: "paper", yref: "paper", x: 0, y: 1, xanchor: "left", yanchor: "bottom", showarrow: false, align: "left",
      text: [[t("chips.date"), found.date], [t("chips.profit"), shown(found.profit_ratio_pct, "pct")], [t("chips.cost"), shown(found.avg_cost, "CNY/share")], [t("chips.spread"), shown(found.concentration_90_pct, "pct")]]
        .map(([name, value]) => `${plain(name)} ${plain(value)}`).join("<br>"),
    }],
  });
}

/** Net inflow of large orders by date. */
export function flow(target, found) {
  const rows = found.results;
  if (!rows.length) return false;
  const values = rows.map((row) => row.main_net);
  return draw(target, [{
    type: "bar", x: rows.map((row) => row.date), y: values, marker: { color: values.map((one) => (one >= 0 ? colors.rise : colors.fall)) },
    customdata: values.map((one) => shown(one, "CNY")), hovertemplate: "%{x}<br>%{customdata}<extra></extra>",
  }], {
    margin: { l: 36, r: 56, t: 8, b: 28 }, xaxis: { type: "category", nticks: few(target, 6) }, yaxis: { side: "right", nticks: 5, title: { text: t("units.cny"), font: { size: 11 } } },
  });
}
