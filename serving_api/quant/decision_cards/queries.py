"""SQL over decision_card. Reads take a Session first, writes a Connection."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.engine import Connection

from core.clock import stamp
from platform_assets.compute.scorecards.cards import HIT, JUDGED, MISS
from resources.warehouse.sql import Sql, marks
from resources.warehouse.table_versions import count_change
from serving_api.db.rows import Row, public_rows
from serving_api.db.sessions import Session

TABLE = "decision_card"
BARS = "fusion_kline_daily"
_TRADED = "(is_suspended IS NULL OR is_suspended=0)"
_OF_CARD = f"SELECT 1 FROM {BARS} k WHERE k.code={TABLE}.code AND {_TRADED}"
_HAS_BARS = (
    f"(EXISTS ({_OF_CARD} AND k.date<={TABLE}.decision_date) "
    f"AND EXISTS ({_OF_CARD} AND k.date>{TABLE}.decision_date))"
)
"""Least requirement of a verdict: cards of other markets, or older than the stored bars, cannot be judged."""
_DUE = f"review_outcome IS NULL AND decision_date<=? AND direction IN ({marks(JUDGED)})"
_UP_TO = "(decision_date<? OR (decision_date=? AND trace_id<=?))"
_OPEN = "trace_id=? AND review_outcome IS NULL"


def page(
    session: Session, code: str | None, source: str | None, reviewed: bool | None, limit: int, offset: int
) -> tuple[list[Row], int]:
    """(cards, newest decision first; total number)."""
    of = {"code?": code, "source?": source}
    where = "" if reviewed is None else f"review_outcome IS {'NOT ' if reviewed else ''}NULL"
    order = "decision_date DESC, trace_id"
    rows = public_rows(session, TABLE, of=of, where=where, order=order, limit=limit, offset=offset)
    return rows, session.count(TABLE, of, where)


def outcomes(session: Session, since: str) -> list[tuple[str, str | None, int]]:
    """(source, outcome or None, cards) of the decisions from a date on."""
    rows = session.run(
        f"SELECT source, review_outcome, COUNT(*) FROM {TABLE} WHERE decision_date>=? "
        "GROUP BY source, review_outcome ORDER BY source",
        (since,),
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
    where, values = f"{_DUE} AND {_HAS_BARS}", [cutoff, *JUDGED]
    if after is not None:
        where = f"{where} AND NOT {_UP_TO}"
        values += _place(after)
    rows = session.rows(
        TABLE,
        columns=("trace_id", "code", "decision_date", "direction", "price_at_decision", "price_date"),
        where=where,
        values=tuple(values),
        order="decision_date, trace_id",
        limit=limit,
    )
    return [
        Due(trace_id, code, str(day), direction, price, None if priced is None else str(priced))
        for trace_id, code, day, direction, price, priced in rows
    ]


def without_bars(session: Session, cutoff: str, until: Due | None) -> int:
    """Number of cards that `due` leaves out because bars are missing; up to and including the card
    `until`, or in all."""
    where, values = _DUE, [cutoff, *JUDGED]
    if session.has(BARS):
        where = f"{where} AND NOT {_HAS_BARS}"
    if until is not None:
        where = f"{where} AND {_UP_TO}"
        values += _place(until)
    return session.count(TABLE, {}, where, values)


def _place(card: Due) -> list[str]:
    return [card.decision_date, card.decision_date, card.trace_id]


def last_bar(session: Session, code: str, until: str, after: str | None = None) -> tuple[float, float] | None:
    """(close in CNY, cumulative factor) of the newest traded day up to `until`, later than `after`."""
    of, columns = {"code": code, "date<=": until, "date>?": after}, ("close", "adj_factor")
    rows = session.rows(BARS, of, columns=columns, where=_TRADED, order="date DESC", limit=1)
    if not rows or rows[0][0] is None or rows[0][1] is None:
        return None
    return float(rows[0][0]), float(rows[0][1])


Verdicts = list[tuple[str, str, float, str]]
"""(trace_id of a card, outcome, change of the price in percent, trend)."""


def save(connection: Connection, sql: Sql, verdicts: Verdicts, reviewed_at: str, now: str) -> int:
    """Fill the review of cards without one; returns how many. A card that was judged in the meantime is
    unchanged."""
    columns = ("review_outcome", "review_profit_pct", "review_actual_trend", "reviewed_at", "updated_at")
    filled = 0
    for trace_id, *review in verdicts:
        values = dict(zip(columns, (*review, reviewed_at, now), strict=True))
        filled += sql.set(connection, TABLE, values, _OPEN, (trace_id,))
    if filled:
        count_change(sql, connection, TABLE)
    return filled


def put_card(connection: Connection, sql: Sql, card: Mapping[str, Any], now: str) -> None:
    """Insert a card, or replace the one of the same trace_id if it is not judged yet."""
    scores = json.dumps(card["scores_json"], ensure_ascii=False)
    connection.exec_driver_sql(sql.insert_absent(TABLE, ("trace_id", "created_at")), (card["trace_id"], now))
    values = {**card, "scores_json": scores, "updated_at": now}
    sql.set(connection, TABLE, values, _OPEN, (card["trace_id"],))
    count_change(sql, connection, TABLE)


def reviewed_cards(session: Session, now: datetime, limit: int) -> list[Row]:
    """The newest cards that were a hit or a miss, as known at `now`."""
    columns = (
        "trace_id", "code", "name", "industry", "decision_date", "direction", "review_outcome",
        "review_profit_pct", "conclusion",
    )  # fmt: skip
    of = {"review_outcome": (HIT, MISS), "reviewed_at<=": stamp(now)}
    return session.dicts(TABLE, of, columns=columns, order="decision_date DESC, trace_id", limit=limit)
