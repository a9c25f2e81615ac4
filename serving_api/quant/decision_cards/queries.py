"""SQL over decision_card. Reads take a Session first, writes a Connection."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.clock import stamp
from platform_assets.compute.scorecards.cards import HIT, JUDGED, MISS
from platform_assets.datasets.kline_daily import KlineDaily
from resources.warehouse.sql import Sql
from resources.warehouse.stored import Where, matching, select, stored, update
from resources.warehouse.table_versions import count_change
from serving_api.db.rows import TRADED, Row, public_rows
from serving_api.db.sessions import Session

TABLE = stored("decision_card")
BARS = stored("fusion_kline_daily", KlineDaily)
_DECIDED = sa.literal_column(f"{TABLE}.decision_date", sa.String)
_OF_CARD = (
    sa.select(BARS.c.date)
    .select_from(sa.table(BARS))
    .where(BARS.c.code == sa.literal_column(f"{TABLE}.code"), TRADED)
)
_HAS_BARS = sa.and_(
    _OF_CARD.where(BARS.c.date <= _DECIDED).exists(), _OF_CARD.where(BARS.c.date > _DECIDED).exists()
)
"""Least requirement of a verdict: cards of other markets, or older than the stored bars, cannot be judged."""


def page(
    session: Session, code: str | None, source: str | None, reviewed: bool | None, limit: int, offset: int
) -> tuple[list[Row], int]:
    """(cards, newest decision first; total number)."""
    of = [*matching(TABLE.c.code, code), *matching(TABLE.c.source, source)]
    if reviewed is not None:
        outcome = TABLE.c.review_outcome
        of.append(outcome.is_not(None) if reviewed else outcome.is_(None))
    order = [TABLE.c.decision_date.desc(), TABLE.c.trace_id]
    rows = public_rows(session, TABLE, *of, order=order, limit=limit, offset=offset)
    return rows, session.count(TABLE, *of)


def outcomes(session: Session, since: str) -> list[tuple[str, str | None, int]]:
    """(source, outcome or None, cards) of the decisions from a date on."""
    c = TABLE.c
    counted = select(TABLE, c.source, c.review_outcome, sa.func.count())
    rows = session.run(
        counted.where(c.decision_date >= since).group_by(c.source, c.review_outcome).order_by(c.source)
    )
    return [(str(source), outcome, int(count)) for source, outcome, count in rows]


@dataclass(frozen=True)
class Due:
    """A card whose ten trade dates have passed. `price_date`: the day whose close its price is, when
    known: a decision before the close used that of the previous session."""

    trace_id: str
    code: str
    decision_date: str
    direction: str
    price: float | None
    price_date: str | None = None


def due(session: Session, cutoff: str, limit: int, after: Due | None) -> list[Due]:
    """Cards with a direction that are not judged yet and whose code has a bar before and after the
    decision, oldest decision first; only those after `after`."""
    if not session.has(BARS):
        return []
    where = [*_due(cutoff), _HAS_BARS]
    if after is not None:
        where.append(sa.not_(_up_to(after)))
    rows = session.rows(
        TABLE,
        *where,
        columns=("trace_id", "code", "decision_date", "direction", "price_at_decision", "price_date"),
        order=[TABLE.c.decision_date, TABLE.c.trace_id],
        limit=limit,
    )
    return [
        Due(trace_id, code, str(day), direction, price, None if priced is None else str(priced))
        for trace_id, code, day, direction, price, priced in rows
    ]


def without_bars(session: Session, cutoff: str, until: Due | None) -> int:
    """Number of cards that `due` leaves out because bars are missing; up to and including the card
    `until`, or in all."""
    where = _due(cutoff)
    if session.has(BARS):
        where.append(sa.not_(_HAS_BARS))
    if until is not None:
        where.append(_up_to(until))
    return session.count(TABLE, *where)


def _due(cutoff: str) -> list[Where]:
    c = TABLE.c
    return [c.review_outcome.is_(None), c.decision_date <= cutoff, c.direction.in_(JUDGED)]


def _up_to(card: Due) -> Where:
    day, trace = TABLE.c.decision_date, TABLE.c.trace_id
    return (day < card.decision_date) | ((day == card.decision_date) & (trace <= card.trace_id))


def last_bar(session: Session, code: str, until: str, after: str | None = None) -> tuple[float, float] | None:
    """(close in CNY, cumulative factor) of the newest traded day up to `until`, later than `after`."""
    c = BARS.c
    of = [c.code == code, c.date <= until, *([] if after is None else [c.date > after]), TRADED]
    rows = session.rows(BARS, *of, columns=("close", "adj_factor"), order=[c.date.desc()], limit=1)
    if not rows or rows[0][0] is None or rows[0][1] is None:
        return None
    return float(rows[0][0]), float(rows[0][1])


def _open(trace_id: str) -> list[Where]:
    return [TABLE.c.trace_id == trace_id, TABLE.c.review_outcome.is_(None)]


Verdicts = list[tuple[str, str, float, str]]
"""(trace_id of a card, outcome, change of the price in percent, trend)."""


def save(connection: Connection, sql: Sql, verdicts: Verdicts, reviewed_at: str, now: str) -> int:
    """Fill the review of cards without one; returns how many. A card that was judged in the meantime is
    unchanged."""
    columns = ("review_outcome", "review_profit_pct", "review_actual_trend", "reviewed_at", "updated_at")
    filled = 0
    for trace_id, *review in verdicts:
        values = dict(zip(columns, (*review, reviewed_at, now), strict=True))
        filled += connection.execute(update(TABLE, values, *_open(trace_id))).rowcount
    if filled:
        count_change(sql, connection, TABLE)
    return filled


def put_card(connection: Connection, sql: Sql, card: Mapping[str, Any], now: str) -> None:
    """Insert a card, or replace the one of the same trace_id if it is not judged yet."""
    scores = json.dumps(card["scores_json"], ensure_ascii=False)
    connection.exec_driver_sql(sql.insert_absent(TABLE, ("trace_id", "created_at")), (card["trace_id"], now))
    values = {**card, "scores_json": scores, "updated_at": now}
    connection.execute(update(TABLE, values, *_open(card["trace_id"])))
    count_change(sql, connection, TABLE)


def reviewed_cards(session: Session, now: datetime, limit: int) -> list[Row]:
    """The newest cards that were a hit or a miss, as known at `now`."""
    columns = (
        "trace_id", "code", "name", "industry", "decision_date", "direction", "review_outcome",
        "review_profit_pct", "conclusion",
    )  # fmt: skip
    of = [TABLE.c.review_outcome.in_((HIT, MISS)), TABLE.c.reviewed_at <= stamp(now)]
    return session.dicts(
        TABLE, *of, columns=columns, order=[TABLE.c.decision_date.desc(), TABLE.c.trace_id], limit=limit
    )
