"""Interfaces over the billboard's seats and dated events of the market."""

from typing import Any

from core.days import moved
from core.declaration.tables import Table
from serving_api.db.rows import Row, between, public_rows
from serving_api.db.sessions import Session
from serving_api.interfaces.call import InterfaceCall, bounds_of

_ESCAPE = "!"


def seats(session: Session, call: InterfaceCall) -> Any:
    """Seats of one code on a date (default: its newest), by reason, side and rank."""
    day, name, of = call.params["trade_date"], call.table.name, {"code": call.code}
    if day is not None and day > call.today:
        raise call.bad("trade_date", f"{day} lies in the future")
    if day is None:
        day = session.first(name, "trade_date", of, order="trade_date DESC")
    if day is None:
        return []
    return public_rows(session, name, of={**of, "trade_date": day}, order="reason_key, side, rank_no")


def branch_trades(session: Session, call: InterfaceCall) -> Any:
    """Seats of branches whose name contains a text, in the last days, newest first."""
    return public_rows(
        session,
        call.table.name,
        where=f"trade_date>=? AND branch_name LIKE ? ESCAPE '{_ESCAPE}'",
        values=(_since(call), _holding(call.params["branch_name"])),
        order="trade_date DESC, code, reason_key, side, rank_no",
        limit=call.params["limit"],
    )


def branch_totals(session: Session, call: InterfaceCall) -> Any:
    """Amounts bought and sold by branches in the last days, largest sums first."""
    name, limit = call.params["branch_name"], call.params["limit"]
    return totals_of_branches(session, call.table, _since(call), name, limit)


def _since(call: InterfaceCall) -> str:
    return moved(call.today, -call.params["days"])


def deals_of_branches(table: Table, since: str, name: str | None) -> tuple[str, list[str]]:
    """(a SELECT of branch_name, code, trade_date, bought, sold, org, its values): the deals of each branch
    whose name contains a text in a code on a date since `since`, 10k CNY.

    A branch on both sides of a listing is counted once; institutions, many under one name, by their
    figures. The listings of one code and date overlap: the largest is counted."""
    where, values = "trade_date>=?", [since]
    if name is not None:
        where += f" AND branch_name LIKE ? ESCAPE '{_ESCAPE}'"
        values.append(_holding(name))
    seat = (
        "SELECT DISTINCT branch_name, code, trade_date, reason_key, is_org, COALESCE(buy_amt, 0) AS bought, "
        f"COALESCE(sell_amt, 0) AS sold FROM {table.name} WHERE {where}"
    )
    listing = (
        "SELECT branch_name, code, trade_date, reason_key, SUM(bought) AS bought, SUM(sold) AS sold, "
        f"MAX(is_org) AS org FROM ({seat}) AS seat GROUP BY branch_name, code, trade_date, reason_key"
    )
    deal = (
        "SELECT branch_name, code, trade_date, MAX(bought) AS bought, MAX(sold) AS sold, MAX(org) AS org "
        f"FROM ({listing}) AS listing GROUP BY branch_name, code, trade_date"
    )
    return deal, values


def totals_of_branches(session: Session, table: Table, since: str, name: str | None, limit: int) -> list[Row]:
    """{branch_name, trades, buy_amt, sell_amt, net_amt, codes, is_org} of branches, in 10k CNY, by the sum
    of both sides, largest first. `trades` counts pairs of code and date."""
    deal, values = deals_of_branches(table, since, name)
    rows = session.run(
        "SELECT branch_name, COUNT(*), SUM(bought), SUM(sold), COUNT(DISTINCT code), MAX(org) "
        f"FROM ({deal}) AS deal GROUP BY branch_name ORDER BY SUM(bought) + SUM(sold) DESC, branch_name "
        f"LIMIT {int(limit)}",
        tuple(values),
    )
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
    order = ", ".join([str(table.date_column), *(one for one in table.key if one != table.date_column)])
    of = between(table, since, until)
    return public_rows(session, table.name, of=of, order=order, limit=call.params["limit"])


def _holding(text: str) -> str:
    """A LIKE pattern for texts that contain `text` literally."""
    for sign in (_ESCAPE, "%", "_"):
        text = text.replace(sign, _ESCAPE + sign)
    return f"%{text}%"
