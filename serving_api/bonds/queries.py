"""SQL of the bond reads. Every function takes a Session first; RAW tables keep no versions."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from core.days import moved
from platform_assets.datasets.convertible_bond import ConvertibleBond
from resources.warehouse.stored import stored
from serving_api.db.first_dates import first_date
from serving_api.db.rows import Row, headlines, newest, public_rows
from serving_api.db.sessions import Session
from serving_api.stocks import queries as stocks
from serving_api.table_lists import newest_rows, rows_of_day

TABLE = stored("raw_convertible_bond", ConvertibleBond)
NOTICES = stored("fusion_announcement")
LEAVING = (
    ConvertibleBond.code, ConvertibleBond.name, ConvertibleBond.price, ConvertibleBond.premium_pct,
    ConvertibleBond.stock_price, ConvertibleBond.force_redeem_price, ConvertibleBond.maturity_date,
)  # fmt: skip
SOON_DAYS = 180
LOW_PRICE = 100.0
_CALL, _END = "正股价高于强赎触发价", "临近到期"
_WORD = "转债"
_NOTICES = 500


def overview(session: Session) -> dict[str, Any]:
    """Figures of the market on the newest date."""
    return overview_of(*rows_of_day(session, TABLE, None))


def overview_of(rows: Sequence[Row], day: str | None) -> dict[str, Any]:
    """The answer of `overview` for the rows of a date."""
    moves = [row["change_pct"] for row in rows if row["change_pct"] is not None]
    amounts = [row["amount"] for row in rows if row["amount"] is not None]
    return {
        "date": day,
        "count": len(rows),
        "median_price": _median([row["price"] for row in rows]),
        "median_premium_pct": _median([row["premium_pct"] for row in rows]),
        "amount_yi": round(sum(amounts) / 1e8, 4) if amounts else None,
        "up": sum(move > 0 for move in moves),
        "down": sum(move < 0 for move in moves),
        "redeem_soon": [one for row in rows if (one := _leaving(row, day))],
        "low_price_count": sum(row["price"] is not None and row["price"] < LOW_PRICE for row in rows),
    }


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(median(known), 4) if known else None


def _leaving(row: Row, day: str | None) -> Row | None:
    """A bond that may be called, or matures soon, and why."""
    above = _is_callable(row)
    ends = row["maturity_date"]
    if not above and not (ends and day and ends <= moved(day, SOON_DAYS)):
        return None
    return {**{column.key: row[column] for column in LEAVING}, "reason": _CALL if above else _END}


def _is_callable(row: Row) -> bool:
    stock, trigger = row["stock_price"], row["force_redeem_price"]
    return stock is not None and trigger is not None and stock >= trigger


def of_code(session: Session, code: str) -> tuple[Row, Row]:
    """(newest row of a bond, newest quote of its stock); {} when unknown."""
    row = newest(session, session.table(TABLE), code, None)
    if row is None:
        return {}, {}
    quote = stocks.newest_row(session, stocks.QUOTE, row["stock_code"], None) if row["stock_code"] else {}
    return row, quote


def history(session: Session, code: str, days: int) -> list[Row]:
    """{date, close, premium_pct, convert_value, double_low} of the newest dates, oldest first. Dates
    before the first stored premium have only a close."""
    reported = {row["trade_date"]: row for row in newest_rows(session, TABLE, code, days)}
    closes = (
        {bar.date: bar.close for bar in stocks.bars(session, code, days, None, "none")} if reported else {}
    )
    made = []
    for day in sorted({*reported, *closes})[-days:]:
        row = reported.get(day, {})
        figures = {name: row.get(name) for name in ("premium_pct", "convert_value", "double_low")}
        made.append({"date": day, "close": row.get("price") or closes.get(day), **figures})
    return made


def first_of(session: Session, code: str) -> str | None:
    """The first stored date of a bond, by its bars or its premium; None when there is none."""
    reported = first_date(session, TABLE, TABLE.c.code == code)
    return (
        None
        if reported is None
        else min(reported, first_date(session, stocks.KLINE, stocks.KLINE.c.code == code) or reported)
    )


def events(session: Session, code: str) -> list[Row]:
    """{date, type, title} of a bond, newest first: its listing and maturity, days on which it became
    callable, and notices of its stock about convertible bonds."""
    row, _ = of_code(session, code)
    if not row:
        return []
    made = []
    for column, kind in (("list_date", "上市"), ("maturity_date", "到期")):
        if row[column]:
            made.append({"date": row[column], "type": kind, "title": f"{row['name']}{kind}"})
    was_callable = False
    for one in public_rows(session, TABLE, TABLE.c.code == code, order=[TABLE.c.trade_date]):
        is_callable = _is_callable(one)
        if is_callable and not was_callable:
            made.append({"date": one["trade_date"], "type": "强赎", "title": _CALL})
        was_callable = is_callable
    if row["stock_code"]:
        notices = session.table(NOTICES)
        reported = headlines(session, notices, code=row["stock_code"], keyword=_WORD, limit=_NOTICES)
        made += [{"date": one["pub_date"], "type": "公告", "title": one["title"]} for one in reported]
    return sorted(made, key=lambda one: str(one["date"]), reverse=True)
