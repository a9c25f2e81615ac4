"""SQL of the daily calculations. Every function takes a Session first."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from core.errors import InputError
from platform_assets.datasets.kline_daily import KlineDaily
from platform_assets.datasets.pattern_daily import PatternDaily
from platform_assets.datasets.signal_hit import SignalHit
from resources.warehouse.stored import ANY, matching, select, stored, within
from serving_api.db.rows import Row, newest_of, public_columns, public_rows
from serving_api.db.sessions import Session
from serving_api.quant.outcomes import day_changes

INDICATORS = stored("calc_indicator_daily")
PATTERNS = stored("calc_pattern_daily", PatternDaily)
CHIPS = stored("calc_chip_daily")
SIGNALS = stored("calc_signal_hit", SignalHit)
MASTER = stored("fusion_stock_master")
BARS = stored("fusion_kline_daily", KlineDaily)


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
    of = [ANY.code == code, *within(ANY.date, None, until)]
    return public_rows(session, table, *of, columns=columns, order=[ANY.date.desc()], limit=days)[::-1]


def traded(session: Session, code: str, since: str, until: str) -> list[tuple[str, float, float]]:
    """(date, close times the cumulative factor, volume) of the traded days, oldest first."""
    rows = session.rows(
        BARS,
        BARS.c.code == code,
        BARS.c.date >= since,
        BARS.c.date <= until,
        BARS.c.is_suspended == 0,
        BARS.c.close.is_not(None),
        BARS.c.adj_factor.is_not(None),
        columns=("date", "close", "adj_factor", "volume"),
        order=[BARS.c.date],
    )
    return [(str(day), close * factor, float(volume or 0)) for day, close, factor, volume in rows]


def pool(
    session: Session, day: str | None, signal: str | None, direction: int | None, limit: int
) -> dict[str, Any]:
    """The signals of a date (default the newest that has any): strongest first within each kind."""
    day = day or newest_of(session, SIGNALS)
    if day is None or not session.has(SIGNALS):
        return empty_pool(day)
    c = SIGNALS.c
    counted = select(SIGNALS, c.signal_key, sa.func.count()).where(c.trade_date == day)
    by_signal = dict(session.run(counted.group_by(c.signal_key)))
    session.note(SIGNALS, ("code",))
    rows = session.dicts(
        SIGNALS,
        SIGNALS.c.trade_date == day,
        *matching(SIGNALS.c.signal_key, signal),
        *matching(SIGNALS.c.direction, direction),
        columns=("code", "signal_key", "direction", "strength", "price"),
        order=[SIGNALS.c.signal_key, SIGNALS.c.strength.is_(None), SIGNALS.c.strength.desc(), SIGNALS.c.code],
    )
    shown = rows[:limit]
    codes = sorted({row["code"] for row in shown})
    names = dict(session.of_codes(MASTER, codes, columns=("code", "name")))
    changes = day_changes(session, codes, day)
    items = [{**row, "name": names.get(row["code"]), "change_pct": changes.get(row["code"])} for row in shown]
    return {"date": day, "items": items, "total": len(rows), "by_signal": by_signal}


def empty_pool(day: str | None) -> dict[str, Any]:
    return {"date": day, "items": [], "total": 0, "by_signal": {}}
