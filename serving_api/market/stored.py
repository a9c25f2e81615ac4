"""/market reads of stored data: the trading calendar, intraday breadth, the news ticker."""

import calendar as months
from datetime import date, datetime
from typing import Annotated, Any

from fastapi import Query
from pydantic import AfterValidator

from core.calendar import CalendarHorizon, TradeCalendar
from platform_assets.datasets.news import News
from platform_assets.datasets.trade_calendar import TradeCalendarDay
from resources.warehouse.stored import stored, within
from serving_api.db.request_notes import current_security
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import reach
from serving_api.framework.parameters import CODE_PATTERN
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.live.admin_reads.service import live_of
from serving_api.live.session_state import session_state
from serving_api.market import schemas
from serving_api.market.schemas import SAMPLE, SAMPLES

router = area_router(f"{PREFIX}/market", "market: live reads")

DAYS = stored("ref_trade_calendar", TradeCalendarDay)
NEWS = stored("fusion_news", News)


@router.get("/breadth-intraday", response_model=schemas.BreadthSeries)
@serves(tables=(SAMPLES,))
async def breadth_intraday(
    call: Anyone, days: Annotated[int, Query(ge=1, le=60, description="newest trade dates")] = 5
) -> Answer:
    """How many stocks rose and fell, every five minutes of the newest sessions, the running one included."""
    rows = await read_or([], call.state.reading.point(_samples, call.state.since(days)))
    items = [schemas.BreadthPoint.model_validate(row) for row in rows]
    found = len({str(row["trade_date"]) for row in rows})
    history = await reach(call.state, SAMPLES, found, asked=days)
    return Answer({"items": items, "days": found, "total": len(items), **history})


def _samples(session: Session, since: str) -> list[dict[str, Any]]:
    columns = ("trade_date", *SAMPLE)
    return session.dicts(
        SAMPLES, SAMPLES.c.trade_date >= since, columns=columns, order=[SAMPLES.c.sample_time]
    )


@router.get("/calendar", response_model=schemas.MarketCalendar)
async def calendar(
    call: Anyone,
    year: Annotated[int | None, Query(ge=1990, le=2100, description="default: this year")] = None,
    month: Annotated[int | None, Query(ge=1, le=12, description="default: this month")] = None,
) -> Answer:
    """A month of the trading calendar, and the current phase of the session."""
    now = call.state.clock.now()
    year, month = year or now.year, month or now.month
    days = [date(year, month, day).isoformat() for day in range(1, months.monthrange(year, month)[1] + 1)]
    names = await read_or({}, call.state.reading.point(_holidays, days[0], days[-1]))
    known = call.state.calendar
    listed = [
        {
            "date": day,
            "is_open": _is_open(known, day),
            "is_confirmed": known.is_confirmed(day),
            "holiday_name": names.get(day),
        }
        for day in days
    ]
    return Answer({**_now(now, call.state.calendar), "days": listed})


def _now(now: datetime, calendar: TradeCalendar) -> dict[str, Any]:
    today = now.date().isoformat()
    reported: dict[str, Any] = {
        "today": today,
        "is_trade_day": _is_open(calendar, today),
        "state": None,
        "prev_trade_date": None,
        "next_trade_date": None,
        "is_confirmed": calendar.is_confirmed(today),
    }
    try:
        reported["state"] = session_state(now, calendar)
        before = calendar.on_or_before(today)
        reported["prev_trade_date"] = calendar.offset(before, -1) if before == today else before
        after = calendar.on_or_after(today)
        reported["next_trade_date"] = calendar.offset(after, 1) if after == today else after
        reported["is_confirmed"] = calendar.is_confirmed(reported["next_trade_date"])
    except CalendarHorizon:
        pass  # the rest stays unknown
    return reported


def _is_open(calendar: TradeCalendar, day: str) -> bool | None:
    try:
        return calendar.is_trade_date(day)
    except CalendarHorizon:
        return None


def _holidays(session: Session, since: str, until: str) -> dict[str, str]:
    of = [DAYS.c.market == "CN", *within(DAYS.c.date, since, until)]
    named = [DAYS.c.holiday_name.is_not(None)]
    rows = session.rows(DAYS, *of, *named, columns=("date", "holiday_name"))
    return {str(day): str(name) for day, name in rows}


def _code_or_none(text: str) -> str:
    return current_security(text) if text else text


@router.get("/news-marquee", response_model=schemas.Marquee)
async def news_marquee(
    call: Anyone,
    code: Annotated[
        str,
        Query(pattern=f"{CODE_PATTERN}|^$", description="6-digit code; empty: none"),
        AfterValidator(_code_or_none),
    ] = "",
    name: Annotated[str, Query(max_length=32, description="name of a company; empty: none")] = "",
    limit: Annotated[int, Query(ge=1, le=200, description="newest items")] = 50,
) -> Answer:
    """The newest flash news, together with the stored news of a code. Items that contain the code or the
    name are marked. Text from outside: escape it."""
    answer = await call.state.part(live_of).global_news(limit)
    items = [
        schemas.MarqueeItem.model_validate({**row, "related": _names(row, code, name)})
        for row in answer.value
    ]
    if code:
        items += await read_or([], call.state.reading.point(_news, code, limit))
    items.sort(key=lambda item: str(item.time), reverse=True)
    return Answer({"items": items[:limit], "total": len(items[:limit])}, headers=answer.headers)


def _names(row: dict[str, Any], code: str, name: str) -> bool:
    if code and code in row["codes"]:
        return True
    text = f"{row['title']} {row['content'] or ''}"
    return bool((name and name in text) or (code and code in text))


def _news(session: Session, code: str, limit: int) -> list[schemas.MarqueeItem]:
    of = [NEWS.c.code == code, NEWS.c.news_type == "news"]
    columns = ("title_key", "pub_time", "title", "url", "source")
    rows = session.rows(NEWS, *of, columns=columns, order=[NEWS.c.pub_time.desc()], limit=limit)
    return [
        schemas.MarqueeItem(id=key, time=at, title=title, url=url, source=source, related=True)
        for key, at, title, url, source in rows
    ]
