"""Picks of the classic strategies. Their outcomes are not stored: single hits are reviewed when they are
read, statistics come from the scorecards by date."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from core.calendar import TradeCalendar
from platform_assets.compute.scorecards.statistics import Sums
from resources.warehouse.stored import Where, matching
from serving_api.db.rows import Row
from serving_api.db.sessions import Session
from serving_api.quant.outcomes import outcomes
from serving_api.quant.scorecard.sources import BY_DATE, HITS, STRATEGY

_SUMS = tuple(one.name for one in fields(Sums))
_FILLABLE = "fillable_"
_MEANS = ("win_rate_pct", "avg_profit_pct", "avg_excess_pct", "profit_loss_ratio")
_OUTCOME = ("buy_price", "sell_price", "profit_pct", "excess_pct", "max_gain_pct", "max_drawdown_pct")


def by_date(session: Session, since: str) -> list[Row]:
    """Scorecards of the strategies from a date on."""
    fillable = (f"{_FILLABLE}{name}" for name in _SUMS)
    columns = ("stat_date", "group_key", "picks", "reviewed", "unfillable", *_SUMS[1:], *fillable)
    of = [BY_DATE.c.source == STRATEGY, BY_DATE.c.stat_date >= since]
    return session.dicts(BY_DATE, *of, columns=columns, order=[BY_DATE.c.stat_date, BY_DATE.c.group_key])


def summed(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Counts and figures over some scorecards, `fillable` without picks whose purchase was not possible.

    An old scorecard without sums has no returns: when it has settled picks the figures are None, so
    that figures of a few dates are not shown with counts of all."""
    reported: dict[str, Any] = {
        name: sum(row[name] or 0 for row in rows) for name in ("picks", "reviewed", "unfillable")
    }
    if any(row["reviewed"] and row["returns"] is None for row in rows):
        nothing = dict.fromkeys(_MEANS)
        return {**reported, **nothing, "fillable": {"reviewed": None, **nothing}}
    reviewed, figures = _figures(rows, _FILLABLE)
    return {**reported, **_figures(rows, "")[1], "fillable": {"reviewed": reviewed, **figures}}


def _figures(rows: Sequence[Mapping[str, Any]], prefix: str) -> tuple[int, dict[str, float | None]]:
    """(settled picks, their figures)"""
    parts = (Sums(**{name: row[f"{prefix}{name}"] or 0 for name in _SUMS}) for row in rows)
    sums = sum(parts, Sums())
    return sums.reviewed, {name: _rounded(getattr(sums, name)) for name in _MEANS}


def page(
    session: Session, calendar: TradeCalendar, group: str | None, date: str | None, limit: int, offset: int
) -> tuple[list[Row], int]:
    """(pick rows, newest date first; total number)."""
    if not session.has(HITS):
        return [], 0
    of = [*matching(HITS.c.trade_date, date), *matching(HITS.c.strategy_key, group)]
    return _rows(session, calendar, *of, limit=limit, offset=offset), session.count(HITS, *of)


def of_code(session: Session, calendar: TradeCalendar, code: str, since: str) -> list[Row]:
    return _rows(session, calendar, HITS.c.code == code, HITS.c.trade_date >= since)


def _rows(
    session: Session, calendar: TradeCalendar, *of: Where, limit: int | None = None, offset: int = 0
) -> list[Row]:
    columns = ("trade_date", "strategy_key", "code", "name", "score", "price")
    order = [
        HITS.c.trade_date.desc(),
        HITS.c.strategy_key,
        HITS.c.score.is_(None),
        HITS.c.score.desc(),
        HITS.c.code,
    ]
    hits = session.dicts(HITS, *of, columns=columns, order=order, limit=limit, offset=offset)
    reported = _outcomes(session, calendar, hits)
    return [
        {
            "trade_date": hit["trade_date"], "source": STRATEGY, "group_key": hit["strategy_key"],
            "rank": None, **{name: hit[name] for name in ("code", "name", "score")}, "industry": None,
            "price_at_pick": hit["price"], "reason": None, **outcome,
        }
        for hit, outcome in zip(hits, reported, strict=True)
    ]  # fmt: skip


def _outcomes(session: Session, calendar: TradeCalendar, hits: Sequence[Row]) -> list[Row]:
    """Outcomes of hits, from stored bars."""
    if not hits:
        return []
    named = [(str(hit["trade_date"]), str(hit["code"])) for hit in hits]
    dates, found = outcomes(session, calendar, named)
    return [
        {
            "status": str(found.status[at]),
            "buy_date": dates[found.buy_at[at]] if found.buy_at[at] >= 0 else None,
            "sell_date": dates[found.sell_at[at]] if found.sell_at[at] >= 0 else None,
            "unfillable": bool(found.unfillable[at]) if found.buy_at[at] >= 0 else None,
            **{name: _rounded(getattr(found, name)[at]) for name in _OUTCOME},
        }
        for at in range(len(hits))
    ]


def _rounded(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), 4)
