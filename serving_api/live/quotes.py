"""Response rows of live quotes: one security with its order book, and the map of many. Pure."""

from typing import Any

from core.calendar import TradeCalendar
from core.market.rules import price_limits
from core.market.securities import limit_class
from serving_api.live.frame_values import Row, change_pct, number, positive, text, whole
from serving_api.live.symbols import Listed

LEVELS = 5
WAN_PER_YI = 10_000.0


def book_side(row: Row, side: str) -> list[dict[str, Any]]:
    """Five levels, best first; an empty level has no price and no volume."""
    levels = []
    for level in range(1, LEVELS + 1):
        price = positive(row.get(f"{side}{level}"))
        volume = whole(row.get(f"{side}{level}_vol")) or 0
        levels.append({"level": level, "price": price, "volume": volume if price else 0})
    return levels


def _traded(row: Row) -> Row:
    """Prices, change, volume and turnover of any source: CNY or points, percent, shares."""
    prices = {name: positive(row[name]) for name in ("price", "open", "high", "low", "last_close")}
    change = _change(row, prices["price"], prices["last_close"])
    return {
        **prices,
        "change_pct": change,
        "volume": whole(row["volume"]),
        "amount": number(row["amount"], 2),
    }


def order_book(row: Row, listed: Listed, time: str | None, origin: str) -> dict[str, Any]:
    """The order-book quote of any of the sources. CNY, percent, shares."""
    return {
        "code": listed.code,
        "name": text(row.get("name")) or listed.name,
        **_traded(row),
        "bids": book_side(row, "bid"),
        "asks": book_side(row, "ask"),
        "inner_vol": whole(row.get("inner_volume")),
        "outer_vol": whole(row.get("outer_volume")),
        "time": time,
        "_source": origin,
    }


def index_quote(row: Row) -> dict[str, Any]:
    """One index of either source: points, percent, shares, CNY."""
    return {"code": row["symbol"], "name": text(row.get("name")), **_traded(row)}


def brief_quote(row: Row, listed: Listed, day: str, calendar: TradeCalendar) -> dict[str, Any]:
    """One entry of the quote map. Values that the source does not have are computed from stored data of
    the security: turnover and cap from its shares, limits from the exchange's rules. Ratios are not
    computed."""
    prices = {name: positive(row[name]) for name in ("price", "open", "high", "low", "last_close")}
    price, last_close = prices["price"], prices["last_close"]
    cap = number(row.get("total_market_cap"))
    if cap is None and price and listed.total_shares:
        cap = price * listed.total_shares / WAN_PER_YI
    turnover = number(row.get("turnover_pct"))
    volume = number(row.get("volume"))
    if turnover is None and volume is not None and listed.float_shares:
        turnover = volume / listed.float_shares * 100
    up, down = number(row.get("limit_up")), number(row.get("limit_down"))
    if "limit_up" not in row and last_close:
        up, down = limits(listed, last_close, day, calendar)
    return {
        "name": text(row.get("name")) or listed.name,
        **prices,
        "change_pct": _change(row, price, last_close),
        "turnover_pct": None if turnover is None else round(turnover, 2),
        "pe_ttm": number(row.get("pe_ttm")),
        "pb": number(row.get("pb")),
        "mcap_yi": None if cap is None else round(cap / WAN_PER_YI, 2),
        "limit_up": up,
        "limit_down": down,
    }


def stream_quote(row: Row, listed: Listed, time: str | None) -> dict[str, Any]:
    """The payload of a quote event: CNY, percent, shares; `time` of the quote."""
    volume, turnover = number(row["volume"]), number(row.get("turnover_pct"))
    if turnover is None and volume is not None and listed.float_shares:
        turnover = round(volume / listed.float_shares * 100, 2)
    return {
        "code": listed.code,
        "name": text(row.get("name")) or listed.name,
        **_traded(row),
        "turnover_pct": turnover,
        "time": text(row.get("quote_time")) or time,
    }


def limits(
    listed: Listed, last_close: float, day: str, calendar: TradeCalendar
) -> tuple[float | None, float | None]:
    """(limit-up, limit-down) of a day by the exchange's rules; (None, None) where none applies."""
    market = listed.symbol[:2].upper()
    board = limit_class(listed.code, market, listed.name)
    is_st = bool(listed.is_st) if listed.is_st is not None else "ST" in (listed.name or "")
    days = len(calendar.between(listed.list_date, day)) if listed.list_date else None
    return price_limits(last_close, board, is_st, day, days or None)


def _change(row: Row, price: float | None, last_close: float | None) -> float | None:
    known = number(row.get("change_pct"))
    return change_pct(price, last_close) if known is None else known
