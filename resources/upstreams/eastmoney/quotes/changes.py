"""Intraday anomalies (push2ex getAllStockChanges): events of stocks by second.

An event is a time HHMMSS, a stock, a type and a comma-separated text whose meaning depends on the type. The
meaning is documented for two groups of types only; of all others the text is stored as it is and the price is
missing. The answer carries no date: it is of the running session or the one that has just ended.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.rejections import accepted_rows, named_by
from resources.transport.request import Request, pairs
from resources.upstreams.eastmoney.quotes.envelope import data_of, symbol_of
from resources.upstreams.eastmoney.quotes.pools import TOPIC_TOKEN, clock_time
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import list_of, number, object_of, required, string_of, whole

PAGE_ROWS = 64
CHANGE_COLUMNS: dict[str, str] = {
    **texts("time symbol code name type type_label info"),
    **numbers("price change_pct"),
}
TYPES: Mapping[int, tuple[str, str]] = {
    4: ("limit_up", "封涨停板"),
    8: ("limit_down", "封跌停板"),
    16: ("limit_up_opened", "打开涨停板"),
    32: ("limit_down_opened", "打开跌停板"),
    64: ("big_bid", "有大买盘"),
    128: ("big_ask", "有大卖盘"),
    8193: ("large_buy", "大笔买入"),
    8194: ("large_sell", "大笔卖出"),
    8195: ("split_buy", "拆单买入"),
    8196: ("split_sell", "拆单卖出"),
    8201: ("rocket", "火箭发射"),
    8202: ("fast_rebound", "快速反弹"),
    8203: ("dive", "高台跳水"),
    8204: ("accelerating_fall", "加速下跌"),
    8205: ("buy_cancelled", "撤销买单"),
    8206: ("sell_cancelled", "撤销卖单"),
    8207: ("auction_up", "竞价上涨"),
    8208: ("auction_down", "竞价下跌"),
    8209: ("open_above_ma5", "高开5日线"),
    8210: ("open_below_ma5", "低开5日线"),
    8211: ("gap_up", "向上缺口"),
    8212: ("gap_down", "向下缺口"),
    8213: ("high_60d", "60日新高"),
    8214: ("low_60d", "60日新低"),
    8215: ("big_gain_60d", "60日大幅上涨"),
    8216: ("big_loss_60d", "60日大幅下跌"),
}
"""Type on the wire -> (our name, the term that users of the market know)."""
_RATIOS = frozenset({8201, 8202, 8209, 8210})
"""`info` = ratio, price, change of the day; both ratios as fractions."""
_TRADES = frozenset({64, 128, 8193, 8194})
"""`info` = shares, price, change of the day, amount; what unit the change has is not documented."""
_MOST_PARTS = 8
_LARGEST_CHANGE = 20.0
"""As a fraction: no first day of a stock came near it."""


@dataclass(frozen=True)
class ChangesPage:
    """One page, newest event first (columns `CHANGE_COLUMNS`), and how many events there are in all."""

    rows: pd.DataFrame
    total: int


def changes_request(page: int) -> Request:
    """Page from 0 of all types."""
    params = pairs(
        f"type={','.join(map(str, TYPES))}&ut={TOPIC_TOKEN}&pageindex={page}&pagesize={PAGE_ROWS}"
        "&dpt=wzchanges"
    )
    return Request("eastmoney.push2ex", "stock_changes", "/getAllStockChanges", params, label=f"page {page}")


def parse_changes(body: bytes) -> ChangesPage:
    """Events of one page. PayloadError for a type that was not asked for, and for a row that fails
    validation; no rows at all are an ordinary answer outside trading hours."""
    data = data_of(body, "changes")
    if data is None:
        return ChangesPage(frame([], CHANGE_COLUMNS), 0)
    total = whole(number(data.get("tc"), "changes tc"), "changes tc")
    raws = list_of(data.get("allstock"), "changes allstock")
    if not len(raws) <= total or len(raws) > PAGE_ROWS:
        raise PayloadError(f"changes: {len(raws)} rows on a page of {PAGE_ROWS}, {total} in all")
    rows = accepted_rows(raws, lambda raw: _row(object_of(raw, "changes row")), "changes", named_by("c"))
    rows.sort(key=lambda row: str(row["time"]), reverse=True)
    return ChangesPage(frame(rows, CHANGE_COLUMNS), total)


def _row(raw: Mapping[str, Any]) -> dict[str, Any]:
    symbol = symbol_of(raw.get("c"), raw.get("m"), "changes")
    code = symbol[2:]
    what = f"changes {code}"
    kind = whole(number(raw.get("t"), f"{what} t"), f"{what} t")
    if kind not in TYPES:
        raise PayloadError(f"{what}: {kind} is no type that was asked for")
    time = clock_time(raw.get("tm"), f"{what} tm")
    if time is None:
        raise PayloadError(f"{what} has no time")
    info = string_of(raw.get("i"), f"{what} i").strip()
    price, change = _price_and_change(info, kind, what)
    name, label = TYPES[kind]
    return {
        "time": time,
        "symbol": symbol,
        "code": code,
        "name": string_of(raw.get("n"), f"{what} n").strip(),
        "type": name,
        "type_label": label,
        "price": price,
        "change_pct": change,
        "info": info,
    }


def _price_and_change(info: str, kind: int, what: str) -> tuple[float, float]:
    """(price, change of the day in percent) where the meaning of the parts is documented."""
    parts = info.split(",")
    if len(parts) > _MOST_PARTS:
        raise PayloadError(f"{what} i has {len(parts)} parts")
    values = [number(part, f"{what} i", digits=6) for part in parts]
    if kind not in _RATIOS | _TRADES:
        return math.nan, math.nan
    if len(values) != (3 if kind in _RATIOS else 4):
        raise PayloadError(f"{what} i has {len(values)} parts: {info[:60]!r}")
    price = required(values[1], f"{what} price")
    if price <= 0:
        raise PayloadError(f"{what} price is not above zero: {info[:60]!r}")
    if kind in _TRADES:
        return price, math.nan
    change = required(values[2], f"{what} change")
    if not -1 < change < _LARGEST_CHANGE:
        raise PayloadError(f"{what} change is not plausible: {info[:60]!r}")
    return price, round(change * 100, 4)
