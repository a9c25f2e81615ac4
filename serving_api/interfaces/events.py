"""Interfaces over the billboard's seats and dated events of the market."""

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from core.days import moved
from core.declaration.tables import Table
from resources.warehouse.stored import ANY, select
from serving_api.db.rows import Row, between, public_rows
from serving_api.db.sessions import Session
from serving_api.interfaces.call import InterfaceCall, bounds_of


def seats(session: Session, call: InterfaceCall) -> Any:
    """Seats of one code on a date (default: its newest), by reason, side and rank."""
    day, name, of = call.params["trade_date"], call.table.name, [ANY.code == call.code]
    if day is not None and day > call.today:
        raise call.bad("trade_date", f"{day} lies in the future")
    if day is None:
        day = session.first(name, "trade_date", *of, order=[ANY.trade_date.desc()])
    if day is None:
        return []
    return public_rows(session, name, *of, ANY.trade_date == day, order=["reason_key", "side", "rank_no"])


def branch_trades(session: Session, call: InterfaceCall) -> Any:
    """Seats of branches whose name contains a text, in the last days, newest first."""
    return public_rows(
        session,
        call.table.name,
        ANY.trade_date >= _since(call),
        ANY.branch_name.contains(call.params["branch_name"], autoescape=True),
        order=[ANY.trade_date.desc(), "code", "reason_key", "side", "rank_no"],
        limit=call.params["limit"],
    )


def branch_totals(session: Session, call: InterfaceCall) -> Any:
    """Amounts bought and sold by branches in the last days, largest sums first."""
    name, limit = call.params["branch_name"], call.params["limit"]
    return totals_of_branches(session, call.table, _since(call), name, limit)


def _since(call: InterfaceCall) -> str:
    return moved(call.today, -call.params["days"])


def deals_of_branches(table: Table, since: str, name: str | None) -> sa.Subquery:
    """A SELECT of branch_name, code, trade_date, bought, sold, org: the deals of each branch whose name
    contains a text in a code on a date since `since`, 10k CNY.

    A branch on both sides of a listing is counted once; institutions, many under one name, by their
    figures. The listings of one code and date overlap: the largest is counted."""
    where = [ANY.trade_date >= since]
    if name is not None:
        where.append(ANY.branch_name.contains(name, autoescape=True))
    key, amounts = ("branch_name", "code", "trade_date"), (("bought", ANY.buy_amt), ("sold", ANY.sell_amt))
    sums = [sa.func.coalesce(amount, 0).label(label) for label, amount in amounts]
    columns = [ANY[one] for one in (*key, "reason_key")]
    seat = (
        select(table.name, *columns, ANY.is_org.label("org"), *sums).distinct().where(*where).subquery("seat")
    )
    listing = _grouped(seat, (*key, "reason_key"), sa.func.sum).subquery("listing")
    return _grouped(listing, key, sa.func.max).subquery("deal")


def _grouped(
    rows: sa.Subquery, key: Sequence[str], figure: Callable[[Any], sa.Function[Any]]
) -> sa.Select[Any]:
    columns = [rows.c[name] for name in key]
    amounts = [figure(rows.c[name]).label(name) for name in ("bought", "sold")]
    return sa.select(*columns, *amounts, sa.func.max(rows.c.org).label("org")).group_by(*columns)


def totals_of_branches(session: Session, table: Table, since: str, name: str | None, limit: int) -> list[Row]:
    """{branch_name, trades, buy_amt, sell_amt, net_amt, codes, is_org} of branches, in 10k CNY, by the sum
    of both sides, largest first. `trades` counts pairs of code and date."""
    deal = deals_of_branches(table, since, name).c
    bought, sold = sa.func.sum(deal.bought), sa.func.sum(deal.sold)
    figures = (sa.func.count(), bought, sold, sa.func.count(deal.code.distinct()), sa.func.max(deal.org))
    totals = sa.select(deal.branch_name, *figures).group_by(deal.branch_name)
    rows = session.run(totals.order_by((bought + sold).desc(), deal.branch_name).limit(limit))
    return [
        {
            "branch_name": branch,
            "trades": int(trades),
            "buy_amt": round(float(bought), 2),
            "sell_amt": round(float(sold), 2),
            "net_amt": round(float(bought) - float(sold), 2),
            "codes": int(codes),
            "is_org": bool(org),
        }
        for branch, trades, bought, sold, codes, org in rows
    ]


def calendar_range(session: Session, call: InterfaceCall) -> Any:
    """Rows of the market between two dates that may be in the future (default: from today on), oldest
    first."""
    since, until = bounds_of(call)
    if since is None and until is None:
        since = call.today
    table = call.table
    order = [str(table.date_column), *(one for one in table.key if one != table.date_column)]
    of = between(table, since, until)
    return public_rows(session, table.name, *of, order=order, limit=call.params["limit"])
