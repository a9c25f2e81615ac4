"""SQL of the daily calculations. Every function takes a Session first."""

from collections.abc import Sequence
from typing import Any

from core.errors import InputError
from serving_api.db.sessions import Session
from serving_api.interfaces.queries import Row, newest_date, public_columns, public_rows

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
        columns=("date", "close", "adj_factor", "volume"),
        where="code=? AND date>=? AND date<=? AND is_suspended=0 AND close IS NOT NULL "
        "AND adj_factor IS NOT NULL",
        values=(code, since, until),
        order="date",
    )
    return [(str(day), close * factor, float(volume or 0)) for day, close, factor, volume in rows]


def pool(
    session: Session, day: str | None, signal: str | None, direction: int | None, limit: int
) -> dict[str, Any]:
    """The signals of a date (default the newest that has any): strongest first within each kind."""
    nothing: dict[str, Any] = {"date": day, "items": [], "total": 0, "by_signal": {}}
    if not session.has(SIGNALS):
        return nothing
    day = day or newest_date(session, session.table(SIGNALS), None)
    if day is None:
        return nothing
    by_signal = dict(
        session.run(
            f"SELECT signal_key, COUNT(*) FROM {SIGNALS} WHERE trade_date=? GROUP BY signal_key", (day,)
        )
    )
    rows = session.dicts(
        SIGNALS,
        {"trade_date": day, "signal_key?": signal, "direction?": direction},
        columns=("code", "signal_key", "direction", "strength", "price"),
        order="signal_key, strength IS NULL, strength DESC, code",
    )
    shown = rows[:limit]
    reported = _of_day(session, sorted({row["code"] for row in shown}), day)
    items = [{**row, **reported.get(row["code"], {"name": None, "change_pct": None})} for row in shown]
    return {"date": day, "items": items, "total": len(rows), "by_signal": by_signal}


def _of_day(session: Session, codes: Sequence[str], day: str) -> dict[str, dict[str, Any]]:
    """name and change of each code on a date."""
    reported: dict[str, dict[str, Any]] = {code: {"name": None, "change_pct": None} for code in codes}
    for start in range(0, len(codes), 500):
        group = codes[start : start + 500]
        marks = f"code IN ({','.join('?' * len(group))})"
        for code, name in session.rows(MASTER, columns=("code", "name"), where=marks, values=tuple(group)):
            reported[code]["name"] = name
        for code, change in session.rows(
            BARS, columns=("code", "change_pct"), where=f"{marks} AND date=?", values=(*group, day)
        ):
            reported[code]["change_pct"] = change
    return reported
