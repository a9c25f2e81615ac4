"""Interfaces over a window of dates: bars of many codes, returns, percentiles, sums of flows, indices."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa

from core.declaration.tables import Table
from platform_assets.compute.percentiles import percentile_of_last
from platform_assets.compute.returns import rolling
from platform_assets.datasets.stock_master import StockMaster
from resources.warehouse.stored import ANY, select, stored
from serving_api.db import rows as rows_of
from serving_api.db.sessions import Session
from serving_api.interfaces.call import InterfaceCall
from serving_api.interfaces.parameters import MOST_ROWS
from serving_api.live.frame_values import number
from serving_api.stocks.bars import Bar, adjusted, ratios
from serving_api.stocks.queries import bars, bars_of_codes

MASTER = stored("fusion_stock_master", StockMaster)


def flow_sums(
    session: Session, table: Table, columns: Sequence[str], since: str, until: str, as_of: str | None
) -> dict[str, dict[str, float | None]]:
    """Code -> the sum of each column between two dates; None when no date has a value."""
    span = [ANY.date >= since, ANY.date <= until]
    rows = session.rows(table.name, *span, columns=("code", *columns), as_of=as_of)
    sums: dict[str, dict[str, float | None]] = {}
    for code, *values in rows:
        reported = sums.setdefault(code, dict.fromkeys(columns))
        for column, value in zip(columns, values, strict=True):
            if value is not None:
                reported[column] = round((reported[column] or 0.0) + value, 2)
    return sums


PRICES = ("open", "high", "low", "close")
FLOW_DAYS = (1, 3, 5, 10, 20)
_FLOWS = ("main_net", "super_net", "large_net", "medium_net", "small_net")


def with_prices_adjusted(rows: list[rows_of.Row], adjust: str, base: float | None) -> list[rows_of.Row]:
    """Stored rows, oldest first, with their OHLC adjusted in place. `base`: the factor of the newest bar
    known, when that is not the last row."""
    factors = [Bar(row["date"], None, None, None, None, None, None, row["adj_factor"]) for row in rows]
    if base is not None:
        factors.append(Bar("", None, None, None, None, None, None, base))
    for row, ratio in zip(rows, ratios(factors, adjust), strict=False):
        for name in PRICES:
            if row[name] is not None and ratio != 1.0:
                row[name] = round(row[name] * ratio, 4)
        row["adjust"] = adjust
    return rows


def bars_by_code(session: Session, call: InterfaceCall) -> Any:
    """{code: its newest bars, oldest first}; codes without a bar have an empty list."""
    adjust = call.params["adjust"]
    found = bars_of_codes(session, call.params["codes"], call.params["days"], call.as_of, adjust)
    return {code: adjusted(some, adjust) for code, some in found.items()}


def returns(session: Session, call: InterfaceCall) -> Any:
    """{date, close, return_pct, volatility_pct} of the newest bars of a code, oldest first: the change
    over the window and the standard deviation of its daily changes, from prices adjusted to the newest
    bar."""
    window, limit = call.params["window"], call.params["limit"]
    some = adjusted(bars(session, call.code, limit + window, call.as_of, "qfq"), "qfq")
    some = [bar for bar in some if bar["close"]]
    over = rolling(np.array([bar["close"] for bar in some], dtype=np.float64), window)
    found = [
        {
            "date": bar["date"],
            "close": bar["close"],
            "return_pct": number(change, 4),
            "volatility_pct": number(spread, 4),
        }
        for bar, change, spread in zip(some, over.change_pct, over.volatility_pct, strict=True)
    ]
    return found[-limit:]


def valuation_percentile(session: Session, call: InterfaceCall) -> Any:
    """{code, date, since, count, pe_ttm, pe_pct, pb, pb_pct}: the share of the window's positive values that
    are not above the newest, percent; null where the newest is not positive."""
    rows = rows_of.in_range(session, call.table, call.code, limit=call.params["days"], as_of=call.as_of)[::-1]
    if not rows:
        return None
    reported: dict[str, Any] = {
        "code": call.code,
        "date": rows[-1]["date"],
        "since": rows[0]["date"],
        "count": len(rows),
    }
    for column, name in (("pe_ttm", "pe_pct"), ("pb", "pb_pct")):
        values = np.array([row[column] if row[column] is not None else np.nan for row in rows])
        reported |= {column: rows[-1][column], name: number(percentile_of_last(values), 4)}
    return reported


def flow_rank(session: Session, call: InterfaceCall) -> Any:
    """{code, name, days, since, date, main_net, super_net, large_net, medium_net, small_net}: sums of the
    newest dates in CNY, in the order of one of them."""
    days, sort = call.params["days"], call.params["sort"]
    if days not in FLOW_DAYS:
        raise call.bad("days", f"{days} is none of {', '.join(map(str, FLOW_DAYS))}")
    if sort.removeprefix("-") not in _FLOWS:
        raise call.bad("sort", f"{sort[:40]!r} is none of {', '.join(_FLOWS)}")
    newest = rows_of.newest_date(session, call.table, call.as_of)
    if newest is None:
        return []
    since = call.calendar.last(days, newest)[0]
    sums = flow_sums(session, call.table, _FLOWS, since, newest, call.as_of)
    column, sign = sort.removeprefix("-"), -1.0 if sort.startswith("-") else 1.0
    known = [
        (sign * value, code) for code, reported in sums.items() if (value := reported[column]) is not None
    ]
    order = [code for _, code in sorted(known)[: call.params["limit"]]]
    names = dict(session.rows(MASTER, MASTER.c.code.in_(order), columns=("code", "name")))
    span = {"days": days, "since": since, "date": newest}
    return [{"code": code, "name": names.get(code), **span, **sums[code]} for code in order]


def newest_of_indices(session: Session, call: InterfaceCall) -> Any:
    """The newest row of each requested index, or of each one of a scope."""
    requested: Sequence[str] | None = call.params["codes"]
    if requested is None:
        requested = [row["code"] for row in stored_indices(session, call)]
    found = [rows_of.newest(session, call.table, code, call.as_of) for code in requested[:MOST_ROWS]]
    return [row for row in found if row is not None]


def stored_indices(session: Session, call: InterfaceCall) -> Any:
    """{code, name, scope, first_date, latest_date} of the indices of a scope, by code."""
    scope = call.params["scope"]
    figures = (sa.func.max(ANY.name), sa.func.min(ANY.date), sa.func.max(ANY.date))
    indices = select(call.table.name, ANY.code, *figures).where(ANY.scope == scope)
    rows = session.run(indices.group_by(ANY.code).order_by(ANY.code))
    return [
        {"code": code, "name": name, "scope": scope, "first_date": str(first), "latest_date": str(last)}
        for code, name, first, last in rows
    ]
