"""SQL of picks. Every function takes a Session first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from core.calendar import TradeCalendar
from platform_assets.compute.scorecards.cards import BEARISH, JUDGED
from platform_assets.compute.scorecards.forward import PENDING, REVIEWED
from platform_assets.compute.scorecards.statistics import Picks
from resources.warehouse.stored import ANY, Order, Where, matching, select, within
from serving_api.db.rows import Row, public_rows
from serving_api.db.sessions import Session
from serving_api.quant.outcomes import day_changes
from serving_api.quant.scorecard import strategies
from serving_api.quant.scorecard.sources import BUILTIN, CARDS, DECISION, HITS, PHASES, STRATEGY, TABLES

_SHOWN = (
    "code", "name", "industry", "score", "price_at_pick", "status", "buy_date", "buy_price", "sell_date",
    "sell_price", "profit_pct", "excess_pct", "max_gain_pct", "max_drawdown_pct", "reason", "unfillable",
)  # fmt: skip
_CARD = (
    "decision_date", "source", "code", "name", "industry", "direction", "total_score", "price_at_decision",
    "conclusion", "review_outcome", "review_profit_pct",
)  # fmt: skip
_REASON = 255


@dataclass(frozen=True)
class Figures:
    """Columns of stored picks by date and rank, for statistics and breakdowns."""

    dates: "np.typing.NDArray[Any]"
    groups: "np.typing.NDArray[Any]"
    codes: "np.typing.NDArray[Any]"
    ranks: "np.typing.NDArray[Any]"
    industries: "np.typing.NDArray[Any]"
    index_profit_pct: "np.typing.NDArray[np.float64]"
    picks: Picks

    def __len__(self) -> int:
        return len(self.dates)


_FIGURES = (
    "code", "rank_no", "industry", "index_profit_pct", "status", "profit_pct", "excess_pct", "hold_days",
    "unfillable",
)  # fmt: skip


def figures(session: Session, source: str, since: str, group: str | None = None) -> Figures:
    """The picks of a source from a date on, of one group when it is given."""
    if source == DECISION:
        return _figures([_card_figures(row) for row in _cards(session, since, group)])
    table = TABLES[source]
    of = [ANY.trade_date >= since, *matching(ANY[table.group], group)]
    order = ["trade_date", table.group, "rank_no"]
    columns = ("trade_date", table.group, *_FIGURES)
    return _figures(session.rows(table.name, *of, columns=columns, order=order))


def _figures(rows: Sequence[tuple[Any, ...]]) -> Figures:
    columns = list(zip(*rows, strict=True)) if rows else [()] * 11
    texts = [np.array(column, dtype=object) for column in columns[:5]]
    numbers = [
        np.array([np.nan if value is None else value for value in column], dtype=np.float64)
        for column in (columns[5], *columns[7:10])
    ]
    status = np.array(columns[6], dtype=object)
    unfillable = np.array([bool(value) for value in columns[10]], dtype=bool)
    picks = Picks(status, numbers[1], numbers[2], numbers[3], unfillable)
    dates, groups, codes, ranks, industries = texts
    return Figures(dates, groups, codes, ranks, industries, numbers[0], picks)


NO_FIGURES = _figures([])


def _cards(session: Session, since: str | None, group: str | None) -> list[dict[str, Any]]:
    """Cards that can be a hit or a miss; a neutral one is no pick."""
    of = [
        CARDS.c.direction.in_(JUDGED),
        *matching(CARDS.c.source, group),
        *within(CARDS.c.decision_date, since, None),
    ]
    return session.dicts(
        CARDS, *of, columns=_CARD, order=[CARDS.c.decision_date, CARDS.c.source, CARDS.c.code]
    )


def _card_figures(row: dict[str, Any]) -> tuple[Any, ...]:
    status = PENDING if row["review_outcome"] is None else REVIEWED
    head = (row["decision_date"], row["source"], row["code"], None, row["industry"])
    return (*head, None, status, _gained(row), None, None, False)


def _gained(row: dict[str, Any]) -> float | None:
    """The return of following the card: a predicted fall that came is a gain."""
    change = row["review_profit_pct"]
    return None if change is None else -change if row["direction"] == BEARISH else change


def page(
    session: Session,
    calendar: TradeCalendar,
    source: str,
    group: str | None,
    date: str | None,
    status: str | None,
    limit: int,
    offset: int,
) -> tuple[list[Row], int]:
    """(pick rows, newest date first; total number)."""
    if source == STRATEGY:
        return strategies.page(session, calendar, group, date, limit, offset)
    if source == DECISION:
        cards = [_card_row(row) for row in _cards(session, date, group)]
        kept = [
            row
            for row in cards
            if (date is None or row["trade_date"] == date) and (status is None or row["status"] == status)
        ][::-1]
        return kept[offset : offset + limit], len(kept)
    table = TABLES[source]
    if not session.has(table.name):
        return [], 0
    of = [*matching(ANY.trade_date, date), *matching(ANY[table.group], group), *matching(ANY.status, status)]
    order = [ANY.trade_date.desc(), ANY[table.group], ANY.rank_no]
    rows = rows_of(session, source, *of, order=order, limit=limit, offset=offset)
    return rows, session.count(table.name, *of)


def rows_of(
    session: Session, source: str, *of: Where, order: Sequence[Order] = (), limit: int | None = None,
    offset: int = 0,
) -> list[Row]:  # fmt: skip
    """Pick rows of a source with a table of its own."""
    table = TABLES[source]
    columns = ("trade_date", table.group, "rank_no", *_SHOWN)
    found = session.dicts(table.name, *of, columns=columns, order=order, limit=limit, offset=offset)
    return [
        {
            "trade_date": row["trade_date"], "source": source, "group_key": row[table.group],
            "rank": row["rank_no"], **{name: row[name] for name in _SHOWN},
        }
        for row in found
    ]  # fmt: skip


def _card_row(row: dict[str, Any]) -> Row:
    return {
        **{"trade_date": row["decision_date"], "source": DECISION, "group_key": row["source"], "rank": None},
        **dict.fromkeys(_SHOWN), "code": row["code"], "name": row["name"], "industry": row["industry"],
        "score": row["total_score"], "price_at_pick": row["price_at_decision"],
        "status": PENDING if row["review_outcome"] is None else REVIEWED, "profit_pct": _gained(row),
        "reason": (row["conclusion"] or "")[:_REASON],
    }  # fmt: skip


def of_code(session: Session, calendar: TradeCalendar, code: str, since: str) -> list[Row]:
    """Pick rows of a code from all sources, newest first."""
    found = strategies.of_code(session, calendar, code, since)
    for source in TABLES:
        found += rows_of(session, source, ANY.code == code, ANY.trade_date >= since)
    found += [_card_row(row) for row in _cards(session, since, None) if row["code"] == code]
    return sorted(found, key=lambda row: (row["trade_date"], row["source"], row["group_key"]), reverse=True)


def picks_of(rows: Sequence[Row]) -> Picks:
    """Pick rows of any source in the form for statistics."""

    def numbers(name: str) -> "np.typing.NDArray[np.float64]":
        return np.array([row.get(name) for row in rows], dtype=np.float64)

    return Picks(
        status=np.array([row["status"] for row in rows], dtype=object),
        profit_pct=numbers("profit_pct"),
        excess_pct=numbers("excess_pct"),
        hold_days=numbers("hold_days"),
        unfillable=np.array([bool(row["unfillable"]) for row in rows], dtype=bool),
    )


def extents(session: Session) -> dict[str, tuple[str | None, int, set[str]]]:
    """Source -> (first date, picks, groups that occur)."""
    reported: dict[str, tuple[str | None, int, set[str]]] = {}
    named: list[tuple[str, str, str, str, list[Where]]] = [
        *((source, table.name, table.group, "trade_date", []) for source, table in TABLES.items()),
        (DECISION, CARDS, "source", "decision_date", [CARDS.c.direction.in_(JUDGED)]),
        (STRATEGY, HITS, "strategy_key", "trade_date", []),
    ]
    for source, table, group, date, of in named:
        extent = select(table, ANY[group], sa.func.min(ANY[date]), sa.func.count())
        found = session.run(extent.where(*of).group_by(ANY[group])) if session.has(table) else []
        first = min((str(row[1]) for row in found if row[1] is not None), default=None)
        reported[source] = (first, sum(int(row[2]) for row in found), {str(row[0]) for row in found})
    return reported


def phases(session: Session, since: str) -> dict[str, str]:
    """Trade date -> label of the market's phase."""
    rows = session.rows(PHASES, PHASES.c.trade_date >= since, columns=("trade_date", "phase_label"))
    return {str(day): str(label) for day, label in rows}


def board(session: Session, key: str, date: str | None, limit: int) -> tuple[str | None, list[Row], int]:
    """(date, the first rows of a board with the change of the day, number of its rows), on a date or its
    newest."""
    table = TABLES[BUILTIN]
    if not session.has(table.name):
        return date, [], 0
    date = date or session.first(
        table.name, "trade_date", ANY[table.group] == key, order=[ANY.trade_date.desc()]
    )
    if date is None:
        return None, [], 0
    columns = ("rank_no", "code", "name", "industry", "score", "price_at_pick", "reason", "detail")
    of = [ANY[table.group] == key, ANY.trade_date == date]
    rows = public_rows(session, table.name, *of, columns=columns, order=["rank_no"])
    total, rows = len(rows), rows[:limit]
    changes = day_changes(session, [row["code"] for row in rows], date)
    shown = [
        {
            "rank": row["rank_no"], "code": row["code"], "name": row["name"], "industry": row["industry"],
            "score": row["score"], "price": row["price_at_pick"], "change_pct": changes.get(row["code"]),
            "reason": row["reason"], "detail": row["detail"] or {},
        }
        for row in rows
    ]  # fmt: skip
    return date, shown, total


def last_dates(session: Session) -> dict[str, str]:
    """Board -> the newest date for which it was made."""
    table = TABLES[BUILTIN]
    if not session.has(table.name):
        return {}
    newest = select(table.name, ANY[table.group], sa.func.max(ANY.trade_date))
    found = session.run(newest.group_by(ANY[table.group]))
    return {str(key): str(day) for key, day in found}
