"""SQL of the strategies' picks. Every function takes a Session first; calculated tables keep no versions."""

from typing import Any

import numpy as np
import sqlalchemy as sa

from platform_assets.compute.nan_arithmetic import filled_factor
from platform_assets.datasets.kline_daily import KlineDaily
from platform_assets.datasets.strategy_hit import StrategyHit
from resources.warehouse.stored import ANY, select, stored
from serving_api.db.rows import TRADED, public_rows
from serving_api.db.sessions import Session

HITS = stored("calc_strategy_hit", StrategyHit)
SIGNALS = stored("calc_signal_hit")
KLINE = stored("fusion_kline_daily", KlineDaily)
Row = dict[str, Any]


def newest_by_strategy(session: Session) -> dict[str, str]:
    """Strategy -> its newest trade date with a hit."""
    if not session.has(HITS):
        return {}
    key = HITS.c.strategy_key
    return dict(session.run(select(HITS, key, sa.func.max(HITS.c.trade_date)).group_by(key)))


def picks(session: Session, key: str, day: str, limit: int) -> tuple[list[Row], int]:
    """(the best hits of a strategy on a date, their total number)."""
    c = HITS.c
    of, order = [c.trade_date == day, c.strategy_key == key], [c.score.is_(None), c.score.desc(), c.code]
    return public_rows(session, HITS, *of, order=order, limit=limit), session.count(HITS, *of)


def hits_since(session: Session, key: str, since: str) -> list[tuple[str, str]]:
    """(trade date, code) of a strategy's hits, by date."""
    of, columns = [HITS.c.strategy_key == key, HITS.c.trade_date >= since], ("trade_date", "code")
    return [
        (str(day), str(code))
        for day, code in session.rows(HITS, *of, columns=columns, order=[HITS.c.trade_date])
    ]


def hits_of_code(session: Session, table: str, kind: str, code: str, since: str, limit: int) -> list[Row]:
    """Hits of the strategies or of the signals, newest first; `kind`: the column that names which."""
    of = [ANY.code == code, ANY.trade_date >= since]
    return public_rows(session, table, *of, order=[ANY.trade_date.desc(), kind], limit=limit)


def adjusted_closes(session: Session, code: str, since: str) -> dict[str, float]:
    """Date -> close times the cumulative factor, on the days that the code traded, oldest first. A missing
    factor is taken from the previous bar."""
    of = [KLINE.c.code == code, KLINE.c.date >= since, TRADED]
    rows = session.rows(KLINE, *of, columns=("date", "close", "adj_factor"), order=[KLINE.c.date])
    earlier: list[tuple[Any, ...]] = []
    if rows and not rows[0][2]:
        before = [KLINE.c.code == code, KLINE.c.date < since, KLINE.c.adj_factor > 0]
        earlier = session.rows(KLINE, *before, columns=("adj_factor",), order=[KLINE.c.date.desc()], limit=1)
    known = [factor for (factor,) in earlier] + [factor for *_, factor in rows]
    factors = filled_factor(np.array(known, dtype=np.float64))[len(earlier) :].tolist()
    return {
        str(day): close * factor
        for (day, close, _), factor in zip(rows, factors, strict=True)
        if close is not None
    }
