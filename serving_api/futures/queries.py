"""SQL and row models of futures. A symbol is that of a contract (au2612) in upper or lower case, or of a
product (au), which means its main contract of each date."""

from typing import Any

import sqlalchemy as sa

from core.days import moved
from platform_assets.compute.futures_terms import INDEX_OF, annualised
from platform_assets.datasets.futures import Futures
from platform_assets.datasets.index_daily import IndexDaily
from resources.warehouse.stored import Where, matching, select, stored, within
from serving_api.db.rows import newest_date
from serving_api.db.sessions import Session
from serving_api.table_lists import dated_rows, no_rows

FUTURES = stored("raw_futures", Futures)
INDEX = stored("fusion_index_daily", IndexDaily)
LISTED = (
    Futures.symbol, Futures.product, Futures.name, Futures.exchange, Futures.close.label("price"),
    Futures.settle, Futures.volume_contracts.label("volume"), Futures.open_interest, Futures.is_main,
)  # fmt: skip
BAR = (
    Futures.date, Futures.open, Futures.high, Futures.low, Futures.close, Futures.settle,
    Futures.volume_contracts.label("volume"), Futures.open_interest,
)  # fmt: skip

Row = dict[str, Any]


def listed(session: Session, exchange: str | None, main_only: bool) -> dict[str, Any]:
    """{items, total, date}: contracts of the newest date, by open interest (largest first) within their
    exchange."""
    day = newest_date(session, session.table(FUTURES), None)
    if day is None:
        return no_rows(None)
    of = [
        FUTURES.c.date == day,
        *matching(FUTURES.c.exchange, exchange),
        *matching(FUTURES.c.is_main, 1 if main_only else None),
    ]
    rows = session.dicts(
        FUTURES,
        *of,
        columns=(*LISTED, Futures.prev_settle),
        order=[FUTURES.c.exchange, FUTURES.c.product, FUTURES.c.symbol],
    )
    return {"items": [_item(row) for row in rows], "total": len(rows), "date": day}


def _item(row: Row) -> Row:
    before, close = row["prev_settle"], row["close"]
    change = None if not before or close is None else round((close / before - 1) * 100, 4)
    return {**{column.key: row[column] for column in LISTED}, "change_pct": change}


def bars(
    session: Session, symbol: str, limit: int, since: str | None = None, until: str | None = None
) -> list[Row]:
    """The newest `limit` rows of a contract, or of the main contracts of a product, oldest first; every
    column of the table."""
    where = [*within(FUTURES.c.date, since, until), *_of(symbol)]
    columns = [spec.name for spec in session.table(FUTURES).columns]
    rows = session.dicts(FUTURES, *where, columns=columns, order=[FUTURES.c.date.desc()], limit=limit)
    return rows[::-1]


def _of(symbol: str) -> list[Where]:
    """The rows of a contract, or of the main contracts of a product."""
    spelt = list(dict.fromkeys((symbol, symbol.upper(), symbol.lower())))
    if any(letter.isdigit() for letter in symbol):
        return [FUTURES.c.symbol.in_(spelt)]
    return [FUTURES.c.product.in_(spelt), FUTURES.c.is_main == 1]


def first_bar(session: Session, symbol: str) -> str | None:
    """The first stored date of a contract or product."""
    return session.first(FUTURES, "date", *_of(symbol), order=[FUTURES.c.date])


def first_basis(session: Session, product: str) -> str | None:
    """The first stored date with both a main contract's close and that of its index."""
    index = INDEX_OF.get(product.upper())
    if index is None:
        return None
    spots = select(INDEX, INDEX.c.date).where(INDEX.c.code == index, INDEX.c.close != 0)
    priced = [*_of(product), FUTURES.c.close != 0, FUTURES.c.date.in_(spots)]
    rows = session.run(select(FUTURES, sa.func.min(FUTURES.c.date)).where(*priced))
    return str(rows[0][0]) if rows[0][0] else None


def kline(session: Session, symbol: str, limit: int) -> dict[str, Any]:
    """{symbol, name, items, total, latestDate} of a contract or product; empty for an unknown one."""
    return kline_of(symbol, bars(session, symbol, limit))


def kline_of(symbol: str, rows: list[Row]) -> dict[str, Any]:
    """The answer of `kline` for these rows."""
    newest = rows[-1] if rows else {}
    items = [{column.key: row[column] for column in BAR} for row in rows]
    found = {"symbol": symbol, "name": newest.get("name"), "items": items, "total": len(items)}
    return {**found, "latestDate": newest.get("date")}


def basis(session: Session, product: str, limit: int) -> dict[str, Any]:
    """{product, items, total, latestDate, available, reason?}: the main contract against its index."""
    index = INDEX_OF.get(product.upper())
    if index is None:
        why = f"{product} settles on no index that is stored; one of {', '.join(INDEX_OF)} does"
        return basis_of(product, [], why)
    rows = bars(session, product, limit)
    if not rows:
        return basis_of(product, [], f"no contract of {product} is stored")
    since = moved(rows[0]["date"], -1)
    closes = session.rows(INDEX, INDEX.c.code == index, INDEX.c.date >= since, columns=("date", "close"))
    spot = {str(day): close for day, close in closes if close}
    items = [_basis(row, spot[row["date"]]) for row in rows if row["date"] in spot and row["close"]]
    return basis_of(product, items, f"no close of {index} is stored for these dates")


def basis_of(product: str, items: list[Row], why: str) -> dict[str, Any]:
    """The answer of `basis` for these rows; `why` there are none."""
    return {"product": product, **dated_rows(items, why)}


def _basis(row: Row, spot: float) -> Row:
    gap = round(spot - row["close"], 4)
    return {
        "date": row["date"],
        "symbol": row["symbol"],
        "close": row["close"],
        "spot": spot,
        "basis": gap,
        "annualised_pct": annualised(gap, spot, row["date"], row["symbol"]),
    }
