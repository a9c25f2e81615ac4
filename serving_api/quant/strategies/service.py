"""Reads of the strategies. Everything here runs off the event loop."""

from typing import Any

import numpy as np

from core.calendar import TradeCalendar
from core.records import picked
from platform_assets.compute.backtests.strategies import STRATEGIES, Strategy
from platform_assets.compute.parameters.pattern_catalogue import DIRECTION_CATALOGUE
from platform_assets.compute.parameters.scorecards import HOLD_DAYS
from platform_assets.compute.scorecards.forward import PENDING
from platform_assets.compute.scorecards.statistics import Picks, cumulated, group_stats
from platform_assets.compute.signals import BY_KEY
from serving_api.db.sessions import Session
from serving_api.framework.state import State
from serving_api.interfaces.queries import newest_of
from serving_api.quant.outcomes import BARS, INDEX, day_changes, outcomes
from serving_api.quant.strategies import queries

Row = dict[str, Any]
_PATTERNS = {direction.key: direction.label for direction in DIRECTION_CATALOGUE}
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
            **picked(row, "code name score price"),
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
    return {
        "key": key, "picks": 0, "reviewed": 0, "win_rate_pct": None, "avg_profit_pct": None,
        "avg_excess_pct": None, "unfillable": 0, "curve": [],
    }  # fmt: skip


async def validated(state: State, key: str, days: int) -> dict[str, Any]:
    """`validation`, cached until its tables change."""
    today = state.today
    version = (await state.versions.version_of(VALIDATED)).token

    async def load() -> dict[str, Any]:
        return await state.reading.scan(validation, key, days, state.calendar, today)

    known = await state.cache.one(
        "strategy-validation", (key, days, today), version, load, lambda made: 60 * len(made["curve"]) + 500
    )
    return nothing_validated(key) if known is None else known


def validation(session: Session, key: str, days: int, calendar: TradeCalendar, today: str) -> dict[str, Any]:
    """Outcomes of the hits of the newest `days` trade dates: bought at the next open, sold at the close of
    the fifth trade date."""
    hits = queries.hits_since(session, key, calendar.last(days, today)[0])
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
    stats = group_stats(Picks.joined(groups))

    def shown(value: float | None) -> float | None:
        return None if value is None else round(value, 4)

    return {
        "key": key,
        "picks": stats.picks,
        "reviewed": stats.reviewed,
        "win_rate_pct": shown(stats.win_rate_pct),
        "avg_profit_pct": shown(stats.avg_profit_pct),
        "avg_excess_pct": shown(stats.avg_excess_pct),
        "unfillable": stats.unfillable,
        "curve": [
            {"date": day, "cum_pct": round(float(value), 4)} for day, value in zip(means, grown, strict=True)
        ],
    }


def strategy_hits(
    session: Session, code: str, days: int, limit: int, calendar: TradeCalendar, today: str
) -> list[Row]:
    """Hits of a stock, newest first, with the change of its adjusted price since."""
    since = calendar.last(days, today)[0]
    rows = queries.hits_of_code(session, code, since, limit)
    closes = queries.adjusted_closes(session, code, rows[-1]["trade_date"]) if rows else {}
    last = next(reversed(closes.values()), None)
    items = []
    for row in rows:
        then = closes.get(row["trade_date"])
        items.append(
            {
                "date": row["trade_date"],
                "strategyKey": row["strategy_key"],
                "strategyName": _name(row["strategy_key"]),
                "score": row["score"],
                "price": row["price"],
                "changeSince": round((last / then - 1) * 100, 4) if last and then else None,
            }
        )
    return items


def _name(key: str) -> str:
    found = STRATEGIES.get(key)
    return found.name if found else key


def tactic_hits(
    session: Session, code: str, days: int, limit: int, calendar: TradeCalendar, today: str
) -> list[Row]:
    """Signals and patterns of a stock, newest first."""
    rows = queries.signals_of_code(session, code, calendar.last(days, today)[0], limit)
    return [
        {
            "date": row["trade_date"],
            "signalKey": row["signal_key"],
            "signalName": _signal_name(row["signal_key"]),
            **picked(row, "direction price strength"),
        }
        for row in rows
    ]


def _signal_name(key: str) -> str:
    signal = BY_KEY.get(key)
    return signal.label if signal else _PATTERNS.get(key, key)
