"""How each kind of interface is answered: one executor per template."""

import re
from collections.abc import Mapping
from typing import Any

from core.calendar import CalendarHorizon
from core.days import is_closed, moved
from core.text_keys import search_key
from platform_assets.compute.dsl.fields import catalogue
from serving_api.db.sessions import Session
from serving_api.interfaces import companies, economy, industries, market_days, queries, securities, windows
from serving_api.interfaces.call import (
    Executor,
    Question,
    bounds_of,
    columns_of,
    day_of,
    filters_of,
    must_be_period,
    sort_of,
)
from serving_api.interfaces.events import queries as events
from serving_api.interfaces.indices import queries as indices
from serving_api.interfaces.indices import series
from serving_api.interfaces.parameters import MOST_ROWS
from serving_api.interfaces.patterns import patterns_by_date
from serving_api.interfaces.rankings import queries as rankings
from serving_api.stocks.finance import queries as finance
from serving_api.stocks.finance import shapes

_BEFORE = 5
"""Report periods behind the oldest one shown that its growth looks at."""
_ON_A_RUNG = (
    "code", "name", "industry", "zt_stat", "first_seal_time", "seal_fund", "break_times",
)  # fmt: skip
_WHOLE_MARKET = 20_000
_TRADED = "(is_suspended IS NULL OR is_suspended=0)"


def latest(session: Session, asked: Question) -> Any:
    return queries.newest(session, asked.table, asked.code, asked.as_of)


def dated(session: Session, asked: Question) -> Any:
    """The row of one code on a trade date; its newest where none is asked for."""
    if asked.params.get("trade_date") is None:
        return latest(session, asked)
    day = day_of(session, asked)
    rows = queries.in_range(
        session, asked.table, asked.code, since=day, until=day, limit=1, as_of=asked.as_of
    )
    return rows[0] if rows else None


def batch(session: Session, asked: Question) -> Any:
    columns = columns_of(asked)
    return queries.newest_of_codes(session, asked.table, asked.params["codes"], asked.as_of, columns)


def history(session: Session, asked: Question) -> Any:
    """Rows of one code, oldest first unless `ascending` is false; of the columns in `fields`, where given."""
    rows = _range(session, asked)
    if asked.params.get("fields"):
        names = columns_of(asked)
        rows = [{name: row[name] for name in names} for row in rows]
    return rows[::-1] if asked.params.get("ascending", True) else rows


def periods(session: Session, asked: Question) -> Any:
    """The newest rows of a code (bars of one period), oldest first unless `ascending` is false. A bar is
    closed or not at the moment that is asked about, whatever was stored of it."""
    rows = queries.in_range(
        session,
        asked.table,
        asked.code,
        limit=asked.params["periods"],
        as_of=asked.as_of,
        equal=filters_of(asked),
    )
    if "is_closed" in asked.table.names:
        rows = [{**row, "is_closed": is_closed(str(row["date"]), asked.moment)} for row in rows]
    return rows[::-1] if asked.params.get("ascending", True) else rows


def newest(session: Session, asked: Question) -> Any:
    """The newest rows of one code, newest first."""
    limit = asked.params["limit"]
    return queries.in_range(session, asked.table, asked.code, limit=limit, as_of=asked.as_of)


def single_quarters(session: Session, asked: Question) -> Any:
    """Single-quarter figures of the newest report periods with their growth, oldest first."""
    count = asked.params["periods"] + _BEFORE
    rows = queries.in_range(session, asked.table, asked.code, limit=count, as_of=asked.as_of)
    shown = [row["report_period"] for row in rows[: asked.params["periods"]]]
    return shapes.quarters(rows, shown[::-1])


def statement(session: Session, asked: Question) -> Any:
    """Items of one statement in its newest report periods, newest first."""
    return finance.statement(
        session, asked.table.name, asked.code, asked.params["statement"], asked.params["periods"]
    )


def indicators(session: Session, asked: Question) -> Any:
    """Every indicator of the newest report periods of one code, by group."""
    rows = finance.indicators(session, asked.code, asked.params["periods"])
    return {
        "code": asked.code,
        "periods": [row["report_period"] for row in rows],
        "groups": shapes.groups(rows),
    }


def changes(session: Session, asked: Question) -> Any:
    """Items of one report (default: the newest) with their change on the year before."""
    period = asked.params["report_period"]
    if period is not None:
        must_be_period(asked, period)
    return finance.changes(session, asked.code, period)


def bars(session: Session, asked: Question) -> Any:
    """Daily bars without suspended days, prices adjusted as asked, oldest first. An adjusted row says so:
    its limits are those of the day, untouched."""
    rows = _range(session, asked, also=_TRADED)[::-1]
    adjust, base = asked.params["adjust"], None
    if adjust == "qfq" and asked.params.get("end_date"):
        # The base is the newest bar known, not the last one of the range.
        newest = queries.newest(session, asked.table, asked.code, asked.as_of) or {}
        base = newest.get("adj_factor")
    return windows.with_prices_adjusted(rows, adjust, base)


def by_date(session: Session, asked: Question) -> Any:
    """Rows of all codes on one date; of those with `keyword` in one of their texts, where it is given."""
    day = day_of(session, asked)
    if day is None:
        return []
    rows = queries.on_date(
        session,
        asked.table,
        day,
        sort=sort_of(asked),
        limit=asked.params.get("limit", MOST_ROWS),
        offset=asked.params.get("offset", 0),
        as_of=asked.as_of,
        columns=columns_of(asked) if asked.params.get("fields") else None,
        also=[*_conditions(asked), *((name, "=", value) for name, value in _chosen(asked).items())],
        industry=asked.params.get("industry_code"),
    )
    keyword = asked.params.get("keyword")
    return rows if keyword is None else [row for row in rows if _mentions(row, keyword)]


def screen(session: Session, asked: Question) -> Any:
    """Rows of the newest date that fulfil every part of `keyword`: a condition on a column (`pe_ttm<20`), or
    a word that stands in one of its texts. Parts are separated by commas."""
    day = day_of(session, asked)
    if day is None:
        return []
    conditions, words = _parts(asked)
    rows = queries.on_date(
        session,
        asked.table,
        day,
        sort=sort_of(asked),
        limit=_WHOLE_MARKET if words else asked.params["limit"],
        offset=0,
        as_of=asked.as_of,
        also=conditions,
    )
    shown = columns_of(asked)
    fitting = [row for row in rows if all(_mentions(row, word) for word in words)]
    return [{name: row[name] for name in shown} for row in fitting[: asked.params["limit"]]]


def every(session: Session, asked: Question) -> Any:
    """Every row of a small table, by its key."""
    order = ", ".join(asked.table.key)
    return queries.public_rows(session, asked.table.name, order=order, limit=MOST_ROWS)


def limit_ladder(session: Session, asked: Question) -> Any:
    """{trade_date, total, highest, levels[{limit_days, count, stocks[{code, name, industry, zt_stat,
    first_seal_time, seal_fund, break_times}]}]} of the sealed limit-ups, the highest streak first; {} where
    no date is stored."""
    day = day_of(session, asked)
    if day is None:
        return {}
    rows = queries.on_date(
        session,
        asked.table,
        day,
        sort="first_seal_time",
        limit=MOST_ROWS,
        offset=0,
        as_of=asked.as_of,
        also=[("pool", "=", "up")],
    )
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


def headlines(session: Session, asked: Question) -> Any:
    """Notices, articles and the like, newest first: of a code, between two dates or on one (default: the
    newest that has any), of one kind, with a word in their title."""
    since, until = bounds_of(asked)
    day = asked.params.get("date")
    for name, given in (("start_date", since), ("end_date", until), ("date", day)):
        if given is not None and given > asked.today:
            raise asked.bad(name, f"{given} lies in the future")
    if "date" in asked.interface.params:
        day = day or (queries.newest_date(session, asked.table, asked.as_of) or "")[:10]
        if not day:
            return []
        since = until = day
    return queries.headlines(
        session,
        asked.table,
        code=asked.params.get("code"),
        since=since,
        until=until,
        kind=asked.params.get("ann_type") or asked.params.get("news_type"),
        keyword=asked.params.get("keyword"),
        limit=asked.params["limit"],
        offset=asked.params.get("offset", 0),
        as_of=asked.as_of,
    )


def schedule(session: Session, asked: Question) -> Any:
    """What is planned for one quarter end (default: the newest that has any), in the order of the dates;
    they may lie ahead."""
    since, until = bounds_of(asked)
    period = asked.params["report_period"]
    return queries.planned(session, asked.table, period, since, until, asked.params["limit"])


def market_totals(session: Session, asked: Question) -> Any:
    """Sums of the markets by date, oldest first; of one exchange where it is named."""
    exchange = asked.params.get("exchange")
    since, until = bounds_of(asked)
    if exchange is not None and exchange not in queries.TOTALS:
        raise asked.bad(
            "exchange", f"{exchange} has no totals; one of {', '.join(queries.TOTALS)} is allowed"
        )
    requested = list(queries.TOTALS) if exchange is None else [exchange]
    rows = queries.totals(session, asked.table, requested, since, until, asked.params["limit"])
    return rows[::-1]


def rank(session: Session, asked: Question) -> Any:
    """The newest row of every code, in the order of a column."""
    sort, limit = asked.params["sort"], asked.params["limit"]
    if not rankings.is_rankable(asked.table, sort.removeprefix("-")):
        raise asked.bad("sort", f"{sort[:40]!r} is no column of numbers or dates of {asked.table.name}")
    return rankings.newest_ranked(session, asked.table, sort, limit, asked.instant_day, asked.as_of)


def ex_dates(session: Session, asked: Question) -> Any:
    """Dividends with an ex-date in a window, which may lie ahead; from today on when it has no begin."""
    since, until = bounds_of(asked)
    if since is None:
        since = asked.instant_day if until is None else min(asked.instant_day, until)
    return rankings.ex_dates(session, asked.table, since, until, asked.params["limit"], asked.as_of)


def most_visited(session: Session, asked: Question) -> Any:
    """Codes by the number of their visitors in the last days."""
    days, limit = asked.params["days"], asked.params["limit"]
    return rankings.most_visited(session, asked.table, asked.today, days, limit)


def yield_rank(session: Session, asked: Question) -> Any:
    """The highest trailing dividend yields."""
    limit = asked.params["limit"]
    return rankings.trailing_yields(session, asked.table, asked.instant_day, limit, asked.as_of)


def seats(session: Session, asked: Question) -> Any:
    """Seats of one code on a date (default: its newest), by reason, side and rank."""
    day = asked.params["trade_date"]
    if day is not None and day > asked.today:
        raise asked.bad("trade_date", f"{day} lies in the future")
    return events.seats(session, asked.table, asked.code, day)


def branch_totals(session: Session, asked: Question) -> Any:
    """What branches bought and sold in the last days, those that dealt most first."""
    since = moved(asked.today, -asked.params["days"])
    return events.branch_totals(
        session, asked.table, since, asked.params["branch_name"], asked.params["limit"]
    )


def branch_trades(session: Session, asked: Question) -> Any:
    """Seats of branches whose name holds a text, in the last days, newest first."""
    since = moved(asked.today, -asked.params["days"])
    return events.branch_trades(
        session, asked.table, since, asked.params["branch_name"], asked.params["limit"]
    )


def around_today(session: Session, asked: Question) -> Any:
    """Rows of one code from some days ago to some days ahead, oldest first."""
    since = moved(asked.today, -asked.params["days"])
    until = moved(asked.today, asked.params["forward_days"])
    rows = queries.in_range(
        session, asked.table, asked.code, since=since, until=until, limit=MOST_ROWS, as_of=asked.as_of
    )
    return rows[::-1]


def calendar_range(session: Session, asked: Question) -> Any:
    """Rows of the market between two dates that may lie ahead (default: from today on), oldest first."""
    since, until = bounds_of(asked)
    if since is None and until is None:
        since = asked.today
    return events.between(session, asked.table, since, until, asked.params["limit"])


def calendar(session: Session, asked: Question) -> Any:
    """Calendar days of a market, oldest first; those to come belong to it."""
    since, until = bounds_of(asked)
    return queries.calendar_days(session, asked.table, asked.params["market"], since, until, MOST_ROWS)


def latest_trade_date(session: Session, asked: Question) -> Any:
    """The newest trade date up to today; null where no calendar is known."""
    market = asked.params["market"]
    if market != "CN":
        return queries.last_open_day(session, asked.table, market, asked.today)
    try:
        return asked.calendar.on_or_before(asked.today)
    except CalendarHorizon:
        return None


def index_members(session: Session, asked: Question) -> Any:
    """The newest list of an index or industry, by code."""
    return indices.members(session, asked.params["index_code"], asked.params["provider"])


def index_indicators(session: Session, asked: Question) -> Any:
    """MA, MACD, KDJ, BOLL and RSI of an index on its newest dates, oldest first."""
    return series.indicators(session, asked.code, asked.params["limit"], asked.as_of)[0]


def index_weights(session: Session, asked: Question) -> Any:
    """Members of the newest list with weights, the heaviest first."""
    return indices.weights(session, asked.params["index_code"], asked.params["limit"])


EXECUTORS: Mapping[str, Executor] = {
    "latest": latest,
    "dated": dated,
    "batch": batch,
    "history": history,
    "bars": bars,
    "periods": periods,
    "newest": newest,
    "single_quarters": single_quarters,
    "statement": statement,
    "indicators": indicators,
    "changes": changes,
    "by_date": by_date,
    "patterns_by_date": patterns_by_date,
    "screen": screen,
    "every": every,
    "rank": rank,
    "ex_dates": ex_dates,
    "yield_rank": yield_rank,
    "most_visited": most_visited,
    "headlines": headlines,
    "schedule": schedule,
    "market_totals": market_totals,
    "limit_ladder": limit_ladder,
    "calendar": calendar,
    "latest_trade_date": latest_trade_date,
    "seats": seats,
    "branch_totals": branch_totals,
    "branch_trades": branch_trades,
    "around_today": around_today,
    "calendar_range": calendar_range,
    **companies.EXECUTORS,
    **securities.EXECUTORS,
    **industries.EXECUTORS,
    **windows.EXECUTORS,
    **market_days.EXECUTORS,
    "index_members": index_members,
    "index_indicators": index_indicators,
    "index_weights": index_weights,
    **economy.EXECUTORS,
}

_CONDITION = re.compile(r"(\w+)\s*(<=|>=|<|>|=)\s*(-?\d+(?:\.\d+)?)")
_CONDITIONS = {
    "min_premium": ("premium_pct", ">="),
    "max_premium": ("premium_pct", "<="),
}
"""Parameter of an interface by date -> what it asks of a column."""


def _range(session: Session, asked: Question, also: str = "") -> list[queries.Row]:
    since, until = bounds_of(asked)
    for name, day in (("start_date", since), ("end_date", until)):
        if day is not None and day > asked.today:
            raise asked.bad(name, f"{day} lies in the future")
    return queries.in_range(
        session,
        asked.table,
        asked.code,
        since=since,
        until=until,
        limit=asked.params["limit"],
        as_of=asked.as_of,
        also=also,
        equal=filters_of(asked),
    )


def _chosen(asked: Question) -> dict[str, str]:
    """As `filters_of`, with the column that says whose row it is: of one date that is a choice as well."""
    name = queries.code_column(asked.table)
    given = asked.params.get(name)
    return filters_of(asked) if given is None else {**filters_of(asked), name: given}


def _mentions(row: queries.Row, keyword: str) -> bool:
    sought = search_key(keyword)
    return any(isinstance(value, str) and sought in search_key(value) for value in row.values())


def _parts(asked: Question) -> tuple[list[tuple[str, str, Any]], list[str]]:
    """The conditions and the words of `keyword`. A multiple of 0 or less is none: it meets no condition."""
    conditions: list[tuple[str, str, Any]] = []
    words = []
    for part in filter(None, search_key(asked.params["keyword"] or "").split(",")):
        found = _CONDITION.fullmatch(part)
        if found is None:
            words.append(part)
            continue
        column, sign, value = found.groups()
        if column not in queries.number_columns(asked.table):
            raise asked.bad("keyword", f"{column[:40]!r} is no column of numbers of {asked.table.name}")
        conditions.append((column, sign, float(value)))
        field = catalogue().find(column)
        if field is not None and field.positive:
            conditions.append((column, ">", 0.0))
    return conditions, words


def _conditions(asked: Question) -> list[tuple[str, str, Any]]:
    given = {name: asked.params.get(name) for name in _CONDITIONS}
    low, high = given["min_premium"], given["max_premium"]
    if low is not None and high is not None and low > high:
        raise asked.bad("min_premium", f"{low} is above max_premium {high}")
    return [(*_CONDITIONS[name], value) for name, value in given.items() if value is not None]
