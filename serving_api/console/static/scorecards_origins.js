// Where the numbers of the scorecards come from: a pick is a row, all else is calculated from many of them.

import { address } from "./api.js";
import { t } from "./dom.js";

const TABLES = { builtin: ["track_builtin", "board_key"], preset: ["track_preset", "preset_key"], strategy: ["scorecard_daily", "group_key"], decision: ["decision_card", "source"] };
const DATES = { strategy: "stat_date", decision: "decision_date" };
const PICKS = 50;

const date = (source) => DATES[source] ?? "trade_date";
const rowsOf = (source, more) => address("scorecard/picks", { source, pageSize: PICKS, ...more });

/** A figure of a group over the newest trade dates; of the classic strategies it is the sum of their scorecards by
 * date. */
export function behindGroup(row, days, how) {
  const [table, column] = TABLES[row.source];
  const own = row.source === "strategy" ? `source=strategy, ${column}=${row.group_key}` : `${column}=${row.group_key}`;
  return {
    how: row.source === "strategy" ? `${how} ${t("how.strategy")}` : how,
    tables: [table], where: `${own}, ${date(row.source)}: ${t("how.newest", { days })}`,
    urls: [rowsOf(row.source, { group: row.group_key }), address("scorecard/overview", { source: row.source, days })],
  };
}

/** A point of the equity curve: the mean of the picks of a date, from the curve's point before. */
export function behindDate(name, day) {
  const [source, group] = name.split("/");
  const [table, column] = TABLES[source];
  return {
    how: t("how.curve"), tables: [table, "fusion_index_daily"], where: `${column}=${group}, trade_date=${day}`,
    urls: [rowsOf(source, { group, date: day })], rows: [{ label: t("cards.index"), table: "fusion_index_daily", column: "close", key: { code: "sh000300", date: day } }],
  };
}

/** A hit rate of a month; of cards over all of their sources. */
export function behindMonth(name, days, month) {
  const [source, group] = name.split("/");
  const [table, column] = TABLES[source];
  const isCards = source === "decision";
  return {
    how: t("how.month"), tables: [table], where: [isCards ? null : `${column}=${group}`, `${date(source)}: ${month}`].filter(Boolean).join(", "),
    urls: [rowsOf(source, isCards ? {} : { group }), isCards ? address("scorecard/breakdown", { source, by: "month", days }) : address("scorecard/record", { source, group, days })],
  };
}

/** The row of a pick; null of a decision card, whose table has no lineage. */
export function behindPick(row, column) {
  const [table, name] = TABLES[row.source];
  if (!["builtin", "preset"].includes(row.source)) return null;
  return { table, column, key: { trade_date: row.trade_date, [name]: row.group_key, code: row.code } };
}
