"""SQL of the strategies' picks. Every function takes a Session first; calculated tables keep no versions."""

from typing import Any

import numpy as np

from platform_assets.compute.nan_arithmetic import filled_factor
from serving_api.db.sessions import Session
from serving_api.interfaces.queries import public_rows

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
    where, values = "trade_date=? AND strategy_key=?", (day, key)
    count = session.run(f"SELECT COUNT(*) FROM {HITS} WHERE {where}", values)[0][0]
    rows = public_rows(
        session, HITS, where=where, values=values, order="score IS NULL, score DESC, code", limit=limit
    )
    return rows, int(count)


def hits_since(session: Session, key: str, since: str) -> list[tuple[str, str]]:
    """(trade date, code) of a strategy's hits, by date."""
    rows = session.rows(
        HITS,
        columns=("trade_date", "code"),
        where="strategy_key=? AND trade_date>=?",
        values=(key, since),
        order="trade_date",
    )
    return [(str(day), str(code)) for day, code in rows]


def hits_of_code(session: Session, code: str, since: str, limit: int) -> list[Row]:
    """Newest first."""
    return public_rows(
        session, HITS, where="code=? AND trade_date>=?", values=(code, since),
        order="trade_date DESC, strategy_key", limit=limit,
    )  # fmt: skip


def signals_of_code(session: Session, code: str, since: str, limit: int) -> list[Row]:
    """Newest first."""
    return public_rows(
        session, SIGNALS, where="code=? AND trade_date>=?", values=(code, since),
        order="trade_date DESC, signal_key", limit=limit,
    )  # fmt: skip


def adjusted_closes(session: Session, code: str, since: str) -> dict[str, float]:
    """Date -> close times the cumulative factor, on the days that the code traded, oldest first. A missing
    factor is taken from the previous bar."""
    rows = session.rows(
        KLINE,
        columns=("date", "close", "adj_factor"),
        where="code=? AND date>=? AND (is_suspended IS NULL OR is_suspended=0)",
        values=(code, since),
        order="date",
    )
    earlier: list[tuple[Any, ...]] = []
    if rows and not rows[0][2]:
        where, values = "code=? AND date<? AND adj_factor>0", (code, since)
        earlier = session.rows(
            KLINE, columns=("adj_factor",), where=where, values=values, order="date DESC", limit=1
        )
    known = [factor for (factor,) in earlier] + [factor for *_, factor in rows]
    factors = filled_factor(np.array(known, dtype=np.float64))[len(earlier) :].tolist()
    return {
        str(day): close * factor
        for (day, close, _), factor in zip(rows, factors, strict=True)
        if close is not None
    }
