"""SQL of the strategies' picks. Every function takes a Session first; calculated tables keep no versions."""

from typing import Any

import numpy as np

from platform_assets.compute.nan_arithmetic import filled_factor
from serving_api.db.rows import public_rows
from serving_api.db.sessions import Session

HITS = "calc_strategy_hit"
SIGNALS = "calc_signal_hit"
KLINE = "fusion_kline_daily"
Row = dict[str, Any]


def newest_by_strategy(session: Session) -> dict[str, str]:
    """Strategy -> its newest trade date with a hit."""
    if not session.has(HITS):
        return {}
    return dict(session.run(f"SELECT strategy_key, MAX(trade_date) FROM {HITS} GROUP BY strategy_key"))


def picks(session: Session, key: str, day: str, limit: int) -> tuple[list[Row], int]:
    """(the best hits of a strategy on a date, their total number)."""
    of, order = {"trade_date": day, "strategy_key": key}, "score IS NULL, score DESC, code"
    return public_rows(session, HITS, of=of, order=order, limit=limit), session.count(HITS, of)


def hits_since(session: Session, key: str, since: str) -> list[tuple[str, str]]:
    """(trade date, code) of a strategy's hits, by date."""
    of, columns = {"strategy_key": key, "trade_date>=": since}, ("trade_date", "code")
    return [
        (str(day), str(code)) for day, code in session.rows(HITS, of, columns=columns, order="trade_date")
    ]


def hits_of_code(session: Session, table: str, kind: str, code: str, since: str, limit: int) -> list[Row]:
    """Hits of the strategies or of the signals, newest first; `kind`: the column that names which."""
    of = {"code": code, "trade_date>=": since}
    return public_rows(session, table, of=of, order=f"trade_date DESC, {kind}", limit=limit)


def adjusted_closes(session: Session, code: str, since: str) -> dict[str, float]:
    """Date -> close times the cumulative factor, on the days that the code traded, oldest first. A missing
    factor is taken from the previous bar."""
    of, traded = {"code": code, "date>=": since}, "(is_suspended IS NULL OR is_suspended=0)"
    rows = session.rows(KLINE, of, columns=("date", "close", "adj_factor"), where=traded, order="date")
    earlier: list[tuple[Any, ...]] = []
    if rows and not rows[0][2]:
        before = {"code": code, "date<": since, "adj_factor>": 0}
        earlier = session.rows(KLINE, before, columns=("adj_factor",), order="date DESC", limit=1)
    known = [factor for (factor,) in earlier] + [factor for *_, factor in rows]
    factors = filled_factor(np.array(known, dtype=np.float64))[len(earlier) :].tolist()
    return {
        str(day): close * factor
        for (day, close, _), factor in zip(rows, factors, strict=True)
        if close is not None
    }
