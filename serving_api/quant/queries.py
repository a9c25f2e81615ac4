"""SQL of the daily calculations. Every function takes a Session first."""

from collections.abc import Sequence
from typing import Any

from core.errors import InputError
from serving_api.db.rows import Row, newest_of, public_columns, public_rows
from serving_api.db.sessions import Session
from serving_api.quant.outcomes import day_changes

INDICATORS = "calc_indicator_daily"
PATTERNS = "calc_pattern_daily"
CHIPS = "calc_chip_daily"
SIGNALS = "calc_signal_hit"
MASTER = "fusion_stock_master"
BARS = "fusion_kline_daily"


def of_code(
    session: Session, table: str, code: str, days: int, until: str | None, fields: Sequence[str] = ()
) -> list[Row]:
    """The newest `days` rows of a code up to a date, oldest first. Raises InputError for an unknown field."""
    columns = None
    if fields and session.has(table):
        known = public_columns(session.table(table))
        unknown = next((name for name in fields if name not in known), None)
        if unknown is not None:
            raise InputError("fields", f"{unknown[:40]!r} is no column of {table}")
        columns = list(dict.fromkeys(["code", "date", *fields]))
    of = {"code": code, "date<=?": until}
    return public_rows(session, table, columns, of, order="date DESC", limit=days)[::-1]


def traded(session: Session, code: str, since: str, until: str) -> list[tuple[str, float, float]]:
    """(date, close times the cumulative factor, volume) of the traded days, oldest first."""
    rows = session.rows(
        BARS,
        {"code": code, "date>=": since, "date<=": until, "is_suspended": 0},
        columns=("date", "close", "adj_factor", "volume"),
        where="close IS NOT NULL AND adj_factor IS NOT NULL",
        order="date",
    )
    return [(str(day), close * factor, float(volume or 0)) for day, close, factor, volume in rows]


def pool(
    session: Session, day: str | None, signal: str | None, direction: int | None, limit: int
) -> dict[str, Any]:
    """The signals of a date (default the newest that has any): strongest first within each kind."""
    day = day or newest_of(session, SIGNALS)
    if day is None or not session.has(SIGNALS):
        return empty_pool(day)
    counted = f"SELECT signal_key, COUNT(*) FROM {SIGNALS} WHERE trade_date=? GROUP BY signal_key"
    by_signal = dict(session.run(counted, (day,)))
    session.note(SIGNALS, ("code",))
    rows = session.dicts(
        SIGNALS,
        {"trade_date": day, "signal_key?": signal, "direction?": direction},
        columns=("code", "signal_key", "direction", "strength", "price"),
        order="signal_key, strength IS NULL, strength DESC, code",
    )
    shown = rows[:limit]
    codes = sorted({row["code"] for row in shown})
    names = dict(session.of_codes(MASTER, codes, columns=("code", "name")))
    changes = day_changes(session, codes, day)
    items = [{**row, "name": names.get(row["code"]), "change_pct": changes.get(row["code"])} for row in shown]
    return {"date": day, "items": items, "total": len(rows), "by_signal": by_signal}


def empty_pool(day: str | None) -> dict[str, Any]:
    return {"date": day, "items": [], "total": 0, "by_signal": {}}
