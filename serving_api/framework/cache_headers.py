"""Cache-Control and ETag: how long an answer may be kept, and when it need not be sent again."""

import hashlib
from collections.abc import Iterable
from datetime import datetime, time

from core.calendar import CalendarHorizon, TradeCalendar

NO_STORE = "no-store"
PUBLIC = "public, no-cache"
PRIVATE = "private, no-cache"
CHART_TRADING = "public, max-age=30"
CHART_IDLE = "public, max-age=300"

IDLE_TTL = 3600
_OPEN, _CLOSE = time(9, 15), time(15, 0)


def in_trading_hours(now: datetime, calendar: TradeCalendar) -> bool:
    """09:15 to 15:00 of a trade date, lunch included. False beyond the calendar's horizon."""
    if not _OPEN <= now.time() < _CLOSE:
        return False
    try:
        return calendar.is_trade_date(now.date().isoformat())
    except CalendarHorizon:
        return False


def before_open(now: datetime, calendar: TradeCalendar) -> bool:
    """A trade date before 09:15: no price of it is known yet."""
    try:
        return now.time() < _OPEN and calendar.is_trade_date(now.date().isoformat())
    except CalendarHorizon:
        return False


def idle_ttl(now: datetime, calendar: TradeCalendar) -> int:
    """Seconds outside trading hours: an hour, but before the open of a trade date no longer than to it."""
    left = (datetime.combine(now.date(), _OPEN) - now).total_seconds()
    return min(IDLE_TTL, max(1, int(left))) if before_open(now, calendar) else IDLE_TTL


def ttl_at(seconds: float, now: datetime, calendar: TradeCalendar) -> int:
    """Whole `seconds` in trading hours, else `idle_ttl`."""
    return int(seconds) if in_trading_hours(now, calendar) else idle_ttl(now, calendar)


def chart_policy(now: datetime, calendar: TradeCalendar) -> str:
    """Daily bars: 30 s while they move, 300 s otherwise."""
    return CHART_TRADING if in_trading_hours(now, calendar) else CHART_IDLE


def weak_etag(token: str, path: str, query: Iterable[tuple[str, str]]) -> str:
    """Of the tables' version and the normalised request; the bodies differ in `query_time` alone."""
    text = "\n".join([token, path, *(f"{name}={value}" for name, value in sorted(query))])
    return f'W/"{hashlib.blake2b(text.encode(), digest_size=12).hexdigest()}"'


def is_match(if_none_match: str | None, etag: str, *, answered: bool = False) -> bool:
    """Weak comparison with a list of tags. `*` means any existing answer, so it matches only where the
    request is known to have one (`answered`): it is valid, and nothing is missing."""
    if not if_none_match:
        return False
    opaque = etag.removeprefix("W/")
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return opaque in tags or (answered and "*" in tags)
