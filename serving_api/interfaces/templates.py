"""The implementation of each interface template: one executor per template, named as it is."""

import operator
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import isfunction, signature
from types import ModuleType
from typing import Any

from core.calendar import CalendarHorizon
from core.days import is_closed, moved
from core.text_keys import search_key
from platform_assets.compute.dsl.fields import catalogue
from resources.warehouse.stored import ANY, Where, matching, within
from serving_api.db import rows as rows_of
from serving_api.db.adjusted_reads import noting
from serving_api.db.sessions import Session
from serving_api.interfaces import (
    companies,
    economy,
    events,
    indices,
    industries,
    market_days,
    rankings,
    securities,
    windows,
)
from serving_api.interfaces.call import (
    Executor,
    InterfaceCall,
    bounds_of,
    day_of,
    filters_of,
    must_be_period,
    past_bounds_of,
    shown_columns,
    sort_of,
)
from serving_api.interfaces.parameters import MOST_ROWS
from serving_api.stocks.finance import queries as finance
from serving_api.stocks.finance import shapes

_BEFORE = 5
"""Report periods before the oldest one shown, needed for its growth."""
_ON_A_RUNG = ("code", "name", "industry", "zt_stat", "first_seal_time", "seal_fund", "break_times")


def latest(session: Session, call: InterfaceCall) -> Any:
    return rows_of.newest(session, call.table, call.code, call.as_of)


def dated(session: Session, call: InterfaceCall) -> Any:
    """The row of one code on a trade date; its newest when no date is given."""
    if call.params.get("trade_date") is None:
        return latest(session, call)
    day = day_of(session, call)
    rows = rows_of.in_range(session, call.table, call.code, since=day, until=day, limit=1, as_of=call.as_of)
    return rows[0] if rows else None


def batch(session: Session, call: InterfaceCall) -> Any:
    columns = shown_columns(call)
    return rows_of.newest_of_codes(session, call.table, call.params["codes"], call.as_of, columns)


def history(session: Session, call: InterfaceCall) -> Any:
    """Rows of one code, oldest first unless `ascending` is false; of the columns in `fields`, when given."""
    rows = _range(session, call, columns=shown_columns(call) if call.params.get("fields") else None)
    return rows[::-1] if call.params.get("ascending", True) else rows


def periods(session: Session, call: InterfaceCall) -> Any:
    """The newest rows of a code (bars of one period), oldest first unless `ascending` is false. A bar is
    closed or not as of the requested instant, whatever was stored."""
    of, limit = filters_of(call), call.params["periods"]
    rows = rows_of.in_range(session, call.table, call.code, *of, limit=limit, as_of=call.as_of)
    if "is_closed" in call.table.names:
        rows = [{**row, "is_closed": is_closed(str(row["date"]), call.moment)} for row in rows]
    return rows[::-1] if call.params.get("ascending", True) else rows


def newest(session: Session, call: InterfaceCall) -> Any:
    """The newest rows of one code, newest first."""
    limit = call.params["limit"]
    return rows_of.in_range(session, call.table, call.code, limit=limit, as_of=call.as_of)


def single_quarters(session: Session, call: InterfaceCall) -> Any:
    """Single-quarter figures of the newest report periods with their growth, oldest first."""
    count = call.params["periods"] + _BEFORE
    rows = rows_of.in_range(session, call.table, call.code, limit=count, as_of=call.as_of)
    shown = [row["report_period"] for row in rows[: call.params["periods"]]]
    return shapes.quarters(rows, shown[::-1])


def statement(session: Session, call: InterfaceCall) -> Any:
    """Items of one statement in its newest report periods, newest first."""
    return finance.statement(
        session, call.table.name, call.code, call.params["statement"], call.params["periods"]
    )


def indicators(session: Session, call: InterfaceCall) -> Any:
    """Every indicator of the newest report periods of one code, by group."""
    rows = finance.indicators(session, call.code, call.params["periods"])
    periods = [row["report_period"] for row in rows]
    return {"code": call.code, "periods": periods, "groups": shapes.groups(rows)}


def changes(session: Session, call: InterfaceCall) -> Any:
    """Items of one report (default: the newest) with their change from the year before."""
    period = call.params["report_period"]
    if period is not None:
        must_be_period(call, period)
    return finance.changes(session, call.code, period)


def bars(session: Session, call: InterfaceCall) -> Any:
    """Daily bars without suspended days, prices adjusted as requested, oldest first. An adjusted row is
    marked, `factor` says whether its factor is final; its limits are those of the day, unadjusted."""
    adjust, base = call.params["adjust"], None
    with noting() as reads:
        rows = _range(session, call, rows_of.TRADED)[::-1]
        if adjust == "qfq" and call.params.get("end_date"):
            # The adjustment base is the newest bar known, not the last one of the range.
            newest = rows_of.newest(session, call.table, call.code, call.as_of) or {}
            base = newest.get("adj_factor")
    made = windows.with_prices_adjusted(rows, adjust, base)
    if adjust != "none":
        made = [{**row, "factor": reads.factor} for row in made]
    return made


def by_date(session: Session, call: InterfaceCall) -> Any:
    """Rows of all codes on one date; only those with `keyword` in one of their texts, when it is given."""
    day = day_of(session, call)
    if day is None:
        return []
    columns = shown_columns(call) if call.params.get("fields") else None
    page = {"limit": call.params.get("limit", MOST_ROWS), "offset": call.params.get("offset", 0)}
    rows = rows_of.on_date(
        session, call.table, day, *_conditions(call), *_chosen(call), sort=sort_of(call), as_of=call.as_of,
        columns=columns, industry=call.params.get("industry_code"), **page,
    )  # fmt: skip
    keyword = call.params.get("keyword")
    return rows if keyword is None else [row for row in rows if _mentions(row, keyword)]


def screen(session: Session, call: InterfaceCall) -> Any:
    """Rows of the newest date that match every part of `keyword`: a condition on a column (`pe_ttm<20`),
    or a word that one of its texts contains. Parts are separated by commas."""
    day = day_of(session, call)
    if day is None:
        return []
    conditions, words = _parts(call)
    limit = rows_of.WHOLE_MARKET if words else call.params["limit"]
    rows = rows_of.on_date(
        session, call.table, day, *conditions, sort=sort_of(call), limit=limit, as_of=call.as_of
    )
    shown = shown_columns(call)
    fitting = [row for row in rows if all(_mentions(row, word) for word in words)]
    return [{name: row[name] for name in shown} for row in fitting[: call.params["limit"]]]


def every(session: Session, call: InterfaceCall) -> Any:
    """Every row of a small table, by its key."""
    order = call.table.key
    return rows_of.public_rows(session, call.table.name, order=order, limit=MOST_ROWS)


def limit_ladder(session: Session, call: InterfaceCall) -> Any:
    """{trade_date, total, highest, levels[{limit_days, count, stocks[{code, name, industry, zt_stat,
    first_seal_time, seal_fund, break_times}]}]} of the sealed limit-ups, the longest streak first; {}
    when no date is stored."""
    day = day_of(session, call)
    if day is None:
        return {}
    sealed, sort = ANY.pool == "up", "first_seal_time"
    rows = rows_of.on_date(session, call.table, day, sealed, sort=sort, limit=MOST_ROWS, as_of=call.as_of)
    levels: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        if row["limit_days"] is not None:
            levels.setdefault(row["limit_days"], []).append({name: row[name] for name in _ON_A_RUNG})
    return {
        "trade_date": day,
        "total": len(rows),
        "highest": max(levels, default=0),
        "levels": [
            {"limit_days": days, "count": len(stocks), "stocks": stocks}
            for days, stocks in sorted(levels.items(), reverse=True)
        ],
    }


def headlines(session: Session, call: InterfaceCall) -> Any:
    """Notices, articles and the like, newest first: of a code, between two dates or on one (default: the
    newest with any), of one kind, with a word in their title."""
    since, until = past_bounds_of(call, "date")
    day = call.params.get("date")
    if "date" in call.interface.params:
        day = day or (rows_of.newest_date(session, call.table, call.as_of) or "")[:10]
        if not day:
            return []
        since = until = day
    kind = call.params.get("ann_type") or call.params.get("news_type")
    given: dict[str, Any] = {name: call.params.get(name) for name in ("code", "keyword", "limit")}
    offset = call.params.get("offset", 0)
    return rows_of.headlines(
        session, call.table, since=since, until=until, kind=kind, offset=offset, as_of=call.as_of, **given
    )


def schedule(session: Session, call: InterfaceCall) -> Any:
    """Planned events of one quarter end (default: the newest with any), in the order of their dates, which
    may be in the future."""
    since, until = bounds_of(call)
    table, period = call.table, call.params["report_period"]
    if period is None:
        period = session.first(table.name, "report_period", order=[ANY.report_period.desc()])
    if period is None:
        return []
    of = [ANY.report_period == period, *rows_of.between(table, since, until)]
    order, limit = [str(table.date_column), "code"], call.params["limit"]
    return rows_of.public_rows(session, table.name, *of, order=order, limit=limit)


def market_totals(session: Session, call: InterfaceCall) -> Any:
    """Sums of the markets by date, oldest first; of one exchange when it is given."""
    exchange = call.params.get("exchange")
    between = rows_of.between(call.table, *bounds_of(call))
    if exchange is not None and exchange not in _TOTALS:
        raise call.bad("exchange", f"{exchange} has no totals; one of {', '.join(_TOTALS)} is allowed")
    codes = list(_TOTALS.values()) if exchange is None else [_TOTALS[exchange]]
    return _newest(session, call, [ANY.code.in_(codes), *between], call.params["limit"])


def around_today(session: Session, call: InterfaceCall) -> Any:
    """Rows of one code from some days ago to some days ahead, oldest first."""
    since = moved(call.today, -call.params["days"])
    until = moved(call.today, call.params["forward_days"])
    rows = rows_of.in_range(
        session, call.table, call.code, since=since, until=until, limit=MOST_ROWS, as_of=call.as_of
    )
    return rows[::-1]


def calendar(session: Session, call: InterfaceCall) -> Any:
    """Calendar days of a market, oldest first, future days included."""
    of = [ANY.market == call.params["market"], *rows_of.between(call.table, *bounds_of(call))]
    return _newest(session, call, of, MOST_ROWS)


def _newest(session: Session, call: InterfaceCall, of: Sequence[Where], limit: int) -> list[rows_of.Row]:
    """The newest `limit` rows that meet the conditions, oldest first."""
    order = rows_of.newest_first(call.table)
    return rows_of.public_rows(session, call.table.name, *of, order=order, limit=limit)[::-1]


def latest_trade_date(session: Session, call: InterfaceCall) -> Any:
    """The newest trade date up to today; null when no calendar is stored."""
    market = call.params["market"]
    if market != "CN":
        open_days = [ANY.market == market, ANY.is_open == 1, ANY.date <= call.today]
        return session.first(call.table.name, "date", *open_days, order=[ANY.date.desc()])
    try:
        return call.calendar.on_or_before(call.today)
    except CalendarHorizon:
        return None


_TOTALS = {"SSE": "TOTAL_SH", "SZSE": "TOTAL_SZ", "BSE": "TOTAL_BJ"}
"""Exchange -> the code under which a table stores the sum of its market."""
_CONDITION = re.compile(r"(\w+)\s*(<=|>=|<|>|=)\s*(-?\d+(?:\.\d+)?)")
_SIGNS: Mapping[str, Callable[[Any, float], Where]] = {
    "<": operator.lt, "<=": operator.le, "=": operator.eq, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def _range(
    session: Session, call: InterfaceCall, *also: Where, columns: Sequence[str] | None = None
) -> list[rows_of.Row]:
    since, until = past_bounds_of(call)
    return rows_of.in_range(
        session, call.table, call.code, *also, *filters_of(call), since=since, until=until,
        limit=call.params["limit"], as_of=call.as_of, columns=columns,
    )  # fmt: skip


def _chosen(call: InterfaceCall) -> list[Where]:
    """As `filters_of`, with the code column: for rows of one date that is a filter as well."""
    name = rows_of.code_column(call.table)
    return [*filters_of(call), *matching(ANY[name], call.params.get(name))]


def _mentions(row: rows_of.Row, keyword: str) -> bool:
    sought = search_key(keyword)
    return any(isinstance(value, str) and sought in search_key(value) for value in row.values())


def _parts(call: InterfaceCall) -> tuple[list[Where], list[str]]:
    """The conditions and the words of `keyword`. A ratio of 0 or less is not meaningful: it meets no
    condition."""
    conditions: list[Where] = []
    words = []
    for part in filter(None, search_key(call.params["keyword"] or "").split(",")):
        found = _CONDITION.fullmatch(part)
        if found is None:
            words.append(part)
            continue
        column, sign, value = found.groups()
        if column not in rows_of.number_columns(call.table):
            raise call.bad("keyword", f"{column[:40]!r} is no column of numbers of {call.table.name}")
        conditions.append(_SIGNS[sign](ANY[column], float(value)))
        field = catalogue().find(column)
        if field is not None and field.positive:
            conditions.append(ANY[column] > 0.0)
    return conditions, words


def _conditions(call: InterfaceCall) -> list[Where]:
    low, high = call.params.get("min_premium"), call.params.get("max_premium")
    if low is not None and high is not None and low > high:
        raise call.bad("min_premium", f"{low} is above max_premium {high}")
    return within(ANY.premium_pct, low, high)


def _executors(module: ModuleType) -> Iterator[tuple[str, Executor]]:
    """The public functions (session, call) of a module, by name."""
    for name, one in vars(module).items():
        own = isfunction(one) and one.__module__ == module.__name__ and not name.startswith("_")
        if own and [*signature(one).parameters] == ["session", "call"]:
            yield name, one


_MODULES = (
    companies, economy, events, indices, industries, market_days, rankings, securities, windows,
)  # fmt: skip
EXECUTORS: Mapping[str, Executor] = {
    name: one for module in (sys.modules[__name__], *_MODULES) for name, one in _executors(module)
}
"""Template of an interface -> its executor, the function of that name."""
