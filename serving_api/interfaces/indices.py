"""Members of indices, and indicators calculated from their bars."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from platform_assets.compute import index_indicators as calculated
from platform_assets.compute.parameters.indicators import WARM_UP_BARS
from platform_assets.datasets.index_constituent import IndexConstituent
from resources.warehouse.stored import ANY, Order, Where, matching, stored
from serving_api.db.rows import Row, public_rows
from serving_api.db.sessions import Session
from serving_api.interfaces.call import InterfaceCall
from serving_api.live.frame_values import number

MEMBERS = stored("raw_index_constituent", IndexConstituent)
_ALL = 20_000


def members(session: Session, index_code: str, provider: str | None = None) -> list[Row]:
    """The newest list of an index, by code."""
    of = [MEMBERS.c.index_code == index_code, *matching(MEMBERS.c.provider, provider)]
    return _newest(session, *of, order=[MEMBERS.c.code], limit=_ALL)


def weights(session: Session, index_code: str, limit: int) -> list[Row]:
    """Members of the newest list with weights, the heaviest first."""
    of = [MEMBERS.c.index_code == index_code, MEMBERS.c.weight_pct.is_not(None)]
    return _newest(session, *of, order=[MEMBERS.c.weight_pct.desc(), MEMBERS.c.code], limit=limit)


def _newest(session: Session, *of: Where, order: Sequence[Order], limit: int) -> list[Row]:
    """Rows of the newest date that has such rows."""
    day = session.first(MEMBERS, "as_of_date", *of, order=[MEMBERS.c.as_of_date.desc()])
    if not day:
        return []
    return public_rows(session, MEMBERS, *of, MEMBERS.c.as_of_date == day, order=order, limit=limit)


def index_members(session: Session, call: InterfaceCall) -> Any:
    """The newest list of an index or industry, by code."""
    return members(session, call.params["index_code"], call.params["provider"])


def index_weights(session: Session, call: InterfaceCall) -> Any:
    """Members of the newest list with weights, the heaviest first."""
    return weights(session, call.params["index_code"], call.params["limit"])


def index_indicators(session: Session, call: InterfaceCall) -> Any:
    """MA, MACD, KDJ, BOLL and RSI of an index on its newest dates, oldest first."""
    return indicators(session, call.code, call.params["limit"], call.as_of)[0]


INDICES = stored("fusion_index_daily")
INDUSTRIES = stored("fusion_industry_index")
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
        ANY.code == code,
        columns=("date", "name", "high", "low", "close"),
        as_of=as_of,
        order=[ANY.date.desc()],
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
        name: [number(value, _POINTS if name.startswith(_IN_POINTS) else _RATIOS) for value in values]
        for name, values in calculated.index_indicators(high, low, close).items()
    }
    return [
        {
            "date": bars[at]["date"],
            "close": bars[at]["close"],
            **{name: values[at] for name, values in found.items()},
        }
        for at in range(max(0, len(bars) - count), len(bars))
    ]
