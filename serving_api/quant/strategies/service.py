"""Reads of the strategies. Everything here runs off the event loop."""

from typing import Any

import numpy as np

from core.calendar import TradeCalendar
from platform_assets.compute.backtests.strategies import STRATEGIES, Strategy
from platform_assets.compute.parameters.pattern_catalogue import DIRECTION_CATALOGUE
from platform_assets.compute.parameters.scorecards import HOLD_DAYS
from platform_assets.compute.scorecards.forward import PENDING
from platform_assets.compute.scorecards.statistics import Picks, cumulated, group_stats
from platform_assets.compute.signals import SIGNALS
from serving_api.db.rows import newest_of
from serving_api.db.sessions import Session
from serving_api.quant.outcomes import BARS, INDEX, day_changes, outcomes
from serving_api.quant.scorecard.queries import NO_FIGURES
from serving_api.quant.scorecard.service import OF_KEY, shown
from serving_api.quant.strategies import queries

Row = dict[str, Any]
_SIGNALS = {one.key: one.label for one in DIRECTION_CATALOGUE} | {one.key: one.label for one in SIGNALS}
"""Key of a pattern or signal -> its name."""
VALIDATED = (queries.HITS, BARS, INDEX)
DATES_AT_ONCE = 250
"""Dates of hits whose prices are in memory at one time."""


def picks_of_day(session: Session, strategy: Strategy, day: str | None, limit: int) -> dict[str, Any]:
    """The hits of a date, or of the newest date of the table, best score first."""
    day = day or newest_of(session, queries.HITS)
    empty: dict[str, Any] = {"key": strategy.key, "date": day, "items": [], "total": 0}
    if day is None or not session.has(queries.HITS):
        return empty
    rows, total = queries.picks(session, strategy.key, day, limit)
    moved = day_changes(session, [row["code"] for row in rows], day)
    items = [
        {
            "rank": rank,
            **{name: row[name] for name in ("code", "name", "score", "price")},
            "change_pct": moved.get(row["code"]),
            "reason": strategy.reason(_periods(strategy, row["params"])),
        }
        for rank, row in enumerate(rows, start=1)
    ]
    return {**empty, "items": items, "total": total}


def _periods(strategy: Strategy, params: dict[str, int] | None) -> tuple[int, ...]:
    """The values with which the hit was found."""
    stored = params or {}
    return tuple(int(stored.get(period.name, period.default)) for period in strategy.periods)


def nothing_validated(key: str) -> dict[str, Any]:
    return _validated(key, NO_FIGURES.picks, [])


def validation(session: Session, key: str, since: str, calendar: TradeCalendar) -> dict[str, Any]:
    """Outcomes of the hits from a date on: bought at the next open, sold at the close of the fifth trade
    date."""
    hits = queries.hits_since(session, key, since)
    if not hits:
        return nothing_validated(key)
    held = sorted({day for day, _ in hits})
    groups: list[Picks] = []
    means: dict[str, float] = {}
    for start in range(0, len(held), DATES_AT_ONCE):
        some = held[start : start + DATES_AT_ONCE]
        own = [hit for hit in hits if some[0] <= hit[0] <= some[-1]]
        picks = Picks.of(outcomes(session, calendar, own, market=True)[1])
        groups.append(picks)
        days_of = np.array([day for day, _ in own])
        known = (picks.status != PENDING) & np.isfinite(picks.profit_pct)
        for day in some:
            profits = picks.profit_pct[known & (days_of == day)]
            if len(profits):
                means[day] = float(profits.mean())
    grown = cumulated(np.array(list(means.values())) / HOLD_DAYS)
    points = zip(means, grown.tolist(), strict=True)
    curve = [{"date": day, "cum_pct": round(value, 4)} for day, value in points]
    return _validated(key, Picks.joined(groups), curve)


def _validated(key: str, picks: Picks, curve: list[Row]) -> dict[str, Any]:
    return {"key": key, **shown(group_stats(picks), (*OF_KEY, "unfillable")), "curve": curve}


def strategy_hits(session: Session, code: str, since: str, limit: int) -> list[Row]:
    """Hits of a stock, newest first, with the change of its adjusted price since."""
    rows = queries.hits_of_code(session, queries.HITS, "strategy_key", code, since, limit)
    closes = queries.adjusted_closes(session, code, rows[-1]["trade_date"]) if rows else {}
    last = next(reversed(closes.values()), None)
    items = []
    for row in rows:
        key, then = row["strategy_key"], closes.get(row["trade_date"])
        items.append(
            {
                "date": row["trade_date"], "strategyKey": row["strategy_key"],
                "strategyName": STRATEGIES[key].name if key in STRATEGIES else key, "score": row["score"],
                "price": row["price"],
                "changeSince": round((last / then - 1) * 100, 4) if last and then else None,
            }
        )  # fmt: skip
    return items


def tactic_hits(session: Session, code: str, since: str, limit: int) -> list[Row]:
    """Signals and patterns of a stock, newest first."""
    return [
        {
            "date": row["trade_date"],
            "signalKey": row["signal_key"],
            "signalName": _SIGNALS.get(row["signal_key"], row["signal_key"]),
            **{name: row[name] for name in ("direction", "price", "strength")},
        }
        for row in queries.hits_of_code(session, queries.SIGNALS, "signal_key", code, since, limit)
    ]
