"""The opening auction of yesterday's limit-ups: price and volumes of each, and the side with unmatched
orders.

The terminal has every step of an auction, one call per stock; the quote site only the final price. Both
are called in threads that may block.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from core.errors import PayloadError
from platform_assets.compute.auction import direction
from serving_api.live.admin_reads.symbols import Listed
from serving_api.live.frame_values import Row, change_pct, positive, records, whole

TOGETHER = 3
"""Connections of the terminal's client."""
OPENS = "09:30:00"
HALF_TICK = 0.005
_LEAST_COMPARED, _LEAST_EQUAL = 4, 0.5


def by_terminal(client: Any, pool: Sequence[Row], listed: Mapping[str, Listed]) -> list[Row]:
    """The newest step before the open: a virtual price until 09:25, then the traded one."""
    symbols = {row["code"]: listed[row["code"]].symbol for row in pool if row["code"] in listed}
    closes = _last_closes(records(client.quotes(list(symbols.values()))))
    _check_session(pool, symbols, closes)
    context = copy_context()  # the call budget of this request
    with ThreadPoolExecutor(max_workers=TOGETHER) as threads:
        asked = threads.map(lambda symbol: context.copy().run(client.auction, symbol), symbols.values())
        steps = {code: _newest(records(frame)) for code, frame in zip(symbols, asked, strict=True)}
    found = []
    for row in pool:
        step, close = steps.get(row["code"]), closes.get(symbols.get(row["code"], ""))
        if step is None or close is None:
            continue
        matched, unmatched = whole(step["matched_volume"]), whole(step["unmatched_volume"])
        found.append(_item(row, positive(step["price"]), close, matched, unmatched))
    return ordered(found)


def by_quote_site(client: Any, pool: Sequence[Row], listed: Mapping[str, Listed]) -> list[Row]:
    """The opening price is that of the auction; its volumes are not available."""
    symbols = {row["code"]: listed[row["code"]].symbol for row in pool if row["code"] in listed}
    quotes = {row["symbol"]: row for row in records(client.quotes(list(symbols.values())))}
    closes = _last_closes(list(quotes.values()))
    _check_session(pool, symbols, closes)
    found = []
    for row in pool:
        symbol = symbols.get(row["code"], "")
        if symbol in quotes and symbol in closes:
            found.append(_item(row, positive(quotes[symbol]["open"]), closes[symbol], None, None))
    return ordered(found)


def ordered(items: Sequence[Row | None]) -> list[Row]:
    """The longest streak first, then the strongest. A stock without a price in the auction is left out."""
    known = [item for item in items if item is not None]
    return sorted(known, key=lambda item: (-(item["limit_days"] or 0), -item["change_pct"], item["code"]))


def _item(
    row: Row, price: float | None, close: float, matched: int | None, unmatched: int | None
) -> Row | None:
    change = change_pct(price, close)
    if change is None:
        return None
    return {
        "code": row["code"],
        "name": row["name"],
        "auction_price": price,
        "prev_close": close,
        "change_pct": change,
        "matched_vol": matched,
        "unmatched_vol": unmatched,
        "direction": direction(change, unmatched),
        "limit_days": row["limit_days"],
    }


def _newest(steps: Sequence[Row]) -> Row | None:
    opening = [step for step in steps if step["time"] < OPENS]
    return max(opening, key=lambda step: str(step["time"]), default=None)


def _last_closes(rows: Sequence[Row]) -> dict[str, float]:
    closes = {row["symbol"]: positive(row["last_close"]) for row in rows if not row.get("unknown")}
    return {symbol: close for symbol, close in closes.items() if close is not None}


def _check_session(pool: Sequence[Row], symbols: Mapping[str, str], closes: Mapping[str, float]) -> None:
    """Checks the session: a source that still serves yesterday has other last closes than the closes in
    the pool; ex-rights explain a few. Raises PayloadError."""
    pairs = [
        (closes[symbol], row["price"])
        for row in pool
        if row["price"] and (symbol := symbols.get(row["code"], "")) in closes
    ]
    equal = sum(abs(reported - closed) < HALF_TICK for reported, closed in pairs)
    if len(pairs) >= _LEAST_COMPARED and equal < _LEAST_EQUAL * len(pairs):
        raise PayloadError(f"an auction of another session: {equal} of {len(pairs)} last closes fit")
