"""What the strategies' reads decide. Everything here runs off the event loop."""

from typing import Any

import numpy as np

from platform_assets.compute.backtests.strategies import STRATEGIES, Strategy
from platform_assets.compute.parameters.backtests import HOLD_DAYS
from platform_assets.compute.parameters.pattern_catalogue import DIRECTION_CATALOGUE
from platform_assets.compute.parameters.scorecards import BENCHMARK, WAIT_DAYS
from platform_assets.compute.scorecards.forward import PENDING, forward_returns
from platform_assets.compute.scorecards.prices import Benchmark, Prices
from platform_assets.compute.scorecards.statistics import Picks, group_stats
from platform_assets.compute.signals import BY_KEY
from resources.calendar import TradeCalendar
from serving_api.reading import Session
from serving_api.topics.strategies import queries

Row = dict[str, Any]
_PATTERNS = {direction.key: direction.label for direction in DIRECTION_CATALOGUE}
_SHARES = 6  # numbers of a bar after code and date


def picks_of_day(session: Session, strategy: Strategy, day: str | None, limit: int) -> dict[str, Any]:
    """The hits of a date, or of the newest date of the table, best score first."""
    day = day or queries.newest_run(session)
    empty: dict[str, Any] = {"key": strategy.key, "date": day, "items": [], "total": 0}
    if day is None or not session.has(queries.HITS):
        return empty
    rows, total = queries.picks(session, strategy.key, day, limit)
    moved = queries.changes(session, [row["code"] for row in rows], day)
    items = [
        {
            "rank": rank,
            "code": row["code"],
            "name": row["name"],
            "score": row["score"],
            "price": row["price"],
            "change_pct": moved.get(row["code"]),
            "reason": strategy.reason(_periods(strategy, row["params"])),
        }
        for rank, row in enumerate(rows, start=1)
    ]
    return {**empty, "items": items, "total": total}


def _periods(strategy: Strategy, params: dict[str, int] | None) -> tuple[int, ...]:
    """Those that the hit was found with."""
    stored = params or {}
    return tuple(int(stored.get(period.name, period.default)) for period in strategy.periods)


def nothing_validated(key: str) -> dict[str, Any]:
    return {
        "key": key, "picks": 0, "reviewed": 0, "win_rate_pct": None, "avg_profit_pct": None,
        "avg_excess_pct": None, "unfillable": 0, "curve": [],
    }  # fmt: skip


def validation(session: Session, key: str, days: int, calendar: TradeCalendar, today: str) -> dict[str, Any]:
    """What became of the hits of the newest `days` trade dates: bought at the next open, sold at the close of
    the fifth trade date."""
    since = calendar.last(days, today)[0]
    newest = queries.newest_bar(session)
    found = queries.hit_days(session, key, since)
    if not found or newest is None:
        return nothing_validated(key)
    index = queries.index_bars(session, BENCHMARK, found[0][0])
    groups, curve, grown = [], [], 0.0
    for day, _ in found:
        picks = _outcomes(session, key, day, calendar, newest, index)
        groups.append(picks)
        profits = picks.profit_pct[(picks.status != PENDING) & np.isfinite(picks.profit_pct)]
        if len(profits):
            grown += float(profits.mean()) / HOLD_DAYS
            curve.append({"date": day, "cum_pct": round(grown, 4)})
    joined = Picks(**{name: np.concatenate([vars(one)[name] for one in groups]) for name in vars(groups[0])})
    stats = group_stats(joined)

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
        "curve": curve,
    }


def _outcomes(
    session: Session,
    key: str,
    day: str,
    calendar: TradeCalendar,
    newest: str,
    index: dict[str, tuple[float | None, float | None]],
) -> Picks:
    """Outcomes of the hits of one date; prices reach over the dates that they are held."""
    after = [one for one in calendar.between(day, newest) if one > day]
    dates = [day, *after[:WAIT_DAYS]]
    rows = queries.bars_after(session, key, day, dates[min(HOLD_DAYS, len(dates) - 1)])
    codes = sorted({str(row[0]) for row in rows})
    place = {code: at for at, code in enumerate(codes)}
    days = {one: at for at, one in enumerate(dates)}
    block = np.full((_SHARES, len(codes), len(dates)), np.nan)
    for code, date, *values in rows:
        if date in days:
            block[:, place[code], days[date]] = [np.nan if one is None else one for one in values]
    opened, high, low, close, factor, limit_up = block
    factor = np.where(np.isfinite(close) & np.isnan(factor), 1.0, factor)
    prices = Prices(tuple(codes), tuple(dates), opened, high, low, close, factor, limit_up)
    places = np.arange(len(codes))
    told = forward_returns(prices, Benchmark.of(index, dates), places, np.zeros(len(codes), dtype=np.int64))
    return Picks(told.status, told.profit_pct, told.excess_pct, told.hold_days.astype(float), told.unfillable)


def strategy_hits(
    session: Session, code: str, days: int, limit: int, calendar: TradeCalendar, today: str
) -> list[Row]:
    """Hits of a stock, newest first, with what its adjusted price has done since."""
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
            "direction": row["direction"],
            "price": row["price"],
            "strength": row["strength"],
        }
        for row in rows
    ]


def _signal_name(key: str) -> str:
    signal = BY_KEY.get(key)
    return signal.label if signal else _PATTERNS.get(key, key)
