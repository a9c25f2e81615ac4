"""Bars of an index and the indicators calculated from them."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from platform_assets.compute.index_indicators import index_indicators
from platform_assets.compute.parameters.indicators import WARM_UP_BARS
from serving_api.db.sessions import Session
from serving_api.interfaces.queries import Row, public_rows

MEMBERS = "raw_index_constituent"
_ALL = 20_000


def members(session: Session, index_code: str, provider: str | None = None) -> list[Row]:
    """The newest list of an index, by code."""
    where, values = _of(index_code, provider)
    day = _newest(session, where, values)
    if day is None:
        return []
    return public_rows(
        session, MEMBERS, where=f"{where} AND as_of_date=?", values=(*values, day), order="code", limit=_ALL
    )


def weights(session: Session, index_code: str, limit: int) -> list[Row]:
    """Members of the newest list with weights, the heaviest first."""
    where, values = _of(index_code, None)
    where = f"{where} AND weight_pct IS NOT NULL"
    day = _newest(session, where, values)
    if day is None:
        return []
    return public_rows(
        session,
        MEMBERS,
        where=f"{where} AND as_of_date=?",
        values=(*values, day),
        order="weight_pct DESC, code",
        limit=limit,
    )


def _of(index_code: str, provider: str | None) -> tuple[str, tuple[Any, ...]]:
    if provider is None:
        return "index_code=?", (index_code,)
    return "index_code=? AND provider=?", (index_code, provider)


def _newest(session: Session, where: str, values: tuple[Any, ...]) -> str | None:
    if not session.has(MEMBERS):
        return None
    found = session.rows(
        MEMBERS, columns=("as_of_date",), where=where, values=values, order="as_of_date DESC", limit=1
    )
    return str(found[0][0]) if found else None


INDICES = "fusion_index_daily"
INDUSTRIES = "fusion_industry_index"
_POINTS = 3
_RATIOS = 2
_IN_POINTS = ("ma", "dif", "dea", "boll")


def table_of(code: str) -> str:
    """The table with the bars of an index: broad indices have the exchange in their code, industry indices
    only digits."""
    return INDUSTRIES if code.isdigit() else INDICES


def indicators(
    session: Session, code: str, count: int, as_of: str | None
) -> tuple[list[dict[str, Any]], str | None]:
    """({date, close, ma5 .. rsi14} of the newest `count` bars, oldest first; name of the index)."""
    rows = public_rows(
        session,
        table_of(code),
        ("date", "name", "high", "low", "close"),
        where="code=?",
        values=(code,),
        as_of=as_of,
        order="date DESC",
        limit=count + WARM_UP_BARS,
    )
    return indicator_rows(rows[::-1], count), rows[0]["name"] if rows else None


def indicator_rows(bars: Sequence[Row], count: int) -> list[dict[str, Any]]:
    """Indicators of bars, oldest first; null when there are not enough bars. A bar without high or low
    counts with its close."""
    if not bars:
        return []
    close = np.array([bar["close"] for bar in bars], dtype=np.float64)
    high, low = (
        np.array([bar["close"] if bar[name] is None else bar[name] for bar in bars], dtype=np.float64)
        for name in ("high", "low")
    )
    found = {
        name: [_rounded(value, _POINTS if name.startswith(_IN_POINTS) else _RATIOS) for value in values]
        for name, values in index_indicators(high, low, close).items()
    }
    return [
        {
            "date": bars[at]["date"],
            "close": bars[at]["close"],
            **{name: values[at] for name, values in found.items()},
        }
        for at in range(max(0, len(bars) - count), len(bars))
    ]


def _rounded(value: float, digits: int) -> float | None:
    return None if math.isnan(value) else round(float(value), digits)
