// Where the numbers of the market page come from: stored rows, or what a source of quotes answered just now.

import { address } from "./api.js";
import { calculated, number, t } from "./dom.js";

const CLOSE = "15:00:00";
const TREE = () => address("realtime/sector-treemap", { children: 1000 });
const RISK_SOURCES = {
  index_trend: { tables: ["fusion_index_daily"], where: "code=sh000001" },
  breadth: { tables: [], urls: () => [address("market/sentiment")] },
  margin: { tables: ["fusion_margin"] },
};
const OUTSIDE = "ref_outside_market";

/** The trade date of an answer that was made from stored rows; null where a source of quotes was asked, whose
 * answers are in no table. */
function storedOn(answer) {
  const isStored = answer._source === "db_history" || answer._source?.startsWith("fusion_");
  return isStored && answer.timestamp.slice(11, 19) === CLOSE ? answer.timestamp.slice(0, 10) : null;
}

const asked = (answer) => t("how.live", { source: answer._source ?? "–", time: answer.timestamp?.slice(0, 19).replace("T", " ") ?? "–" });

/** How a number was made from many stocks: of stored wide rows, or of quotes. */
function made(how, answer, urls) {
  const date = storedOn(answer);
  return date
    ? { how, tables: ["fusion_stock_wide"], where: `trade_date=${date}`, urls }
    : { how: `${how} ${asked(answer)}`, urls };
}

/** A count of stocks. */
export const counted = (spread) => made(t("how.counted", { total: spread.total ?? "–" }), spread, [address("market/distribution")]);

/** The sentiment score. */
export const mood = (sentiment) => made(t("how.mood"), sentiment, [address("market/sentiment"), address("market/distribution")]);

/** A value of an index: of its bar, or of a quote. */
export function behindIndex(text, column, index, sentiment) {
  const date = storedOn(sentiment);
  if (date) return number(text, { table: "fusion_index_daily", column, key: { code: index.code, date } });
  return calculated(text, { how: asked(sentiment), urls: [address("market/sentiment")] });
}

/** A value of a node of the map: of its stored row, or of quotes. */
function behindNode(text, column, node, tree, how) {
  const date = storedOn(tree);
  if (date) return number(text, { table: "fusion_market_cloud_map", column, key: { trade_date: date, node_code: node.code } });
  return calculated(text, { how: [how, asked(tree)].filter(Boolean).join(" "), urls: [TREE()] });
}

export const behindStock = (text, column, stock, tree) => behindNode(text, column, stock, tree, "");

/** A value of an industry: the sum of its stocks, or the mean of their changes. */
export function behindIndustry(text, column, group, tree) {
  const how = group.children.length ? t(column === "change_pct" ? "how.weighted" : "how.summed", { count: group.children.length }) : "";
  return behindNode(text, column, group, tree, how);
}

/** A rule of the risk: its value, or the score that follows from it. */
export function behindRule(rule, isScore = false) {
  const known = RISK_SOURCES[rule.key] ?? { tables: [OUTSIDE], where: `series=${rule.key}` };
  const where = [known.where, rule.as_of ? t("how.until", { date: rule.as_of }) : null].filter(Boolean).join(", ");
  return {
    how: [isScore ? t("how.score", { calm: rule.calm, threshold: rule.threshold }) : "", t(`how.${RISK_SOURCES[rule.key] ? rule.key : "outside"}`)].filter(Boolean).join(" "),
    tables: known.tables, where: known.tables.length ? where : "", urls: [address("market/cross-market-risk"), ...(known.urls?.() ?? [])],
  };
}
