"""The state of the market at a moment, for live reads: the session, whether prices move, how long an
answer is cached. In the session's terms, lunch is a trading hour."""

from dataclasses import dataclass
from datetime import date, datetime, time

from core.calendar import CalendarHorizon, TradeCalendar
from serving_api.framework.cache_headers import in_trading_hours, ttl_at
from serving_api.live.frame_values import session_date

_TRADED = time(9, 25)
_CLOSE, _SETTLED = time(15, 0), time(15, 5)
"""For five minutes after the close sources still publish the prices of the closing auction: answers
captured then are cached as briefly as in trading hours, and are not yet the day's final answer."""


@dataclass(frozen=True)
class Moment:
    """`session`: the trade date of market reads. `moving`: whether prices may change."""

    now: datetime
    session: str
    moving: bool
    is_trade_date: bool

    @property
    def is_final(self) -> bool:
        """Whether an answer captured now is the final one of `session`."""
        return not self.moving or self.session < self.now.date().isoformat()


def moment_of(now: datetime, calendar: TradeCalendar) -> Moment:
    """Raises CalendarHorizon beyond the calendar's last day."""
    today = now.date().isoformat()
    trade_date = calendar.is_trade_date(today)
    session = market_session(now, calendar)
    moving = in_trading_hours(now, calendar) or (trade_date and _CLOSE <= now.time() < _SETTLED)
    return Moment(now, session, moving, trade_date)


def market_session(now: datetime, calendar: TradeCalendar) -> str:
    """The trade date of figures of the whole market: until the auction's trades at 09:25 nothing has been
    traded, and they are those of the session before. Raises CalendarHorizon."""
    session = session_date(now, calendar)
    early = session == now.date().isoformat() and now.time() < _TRADED
    return calendar.offset(session, -1) if early else session


def cache_seconds(ttl_s: float, moment: Moment, calendar: TradeCalendar) -> float:
    """`ttl_s` while prices move, else the idle time of the specification (at most until the next open)."""
    return ttl_s if moment.moving else ttl_at(ttl_s, moment.now, calendar)


def session_state(now: datetime, calendar: TradeCalendar) -> str:
    """The phase of the session: pre_open, auction (09:15), trading (09:30-11:30, 13:00-15:00), noon_break,
    closed (also on a weekend) or holiday (a weekday without trading). Raises CalendarHorizon."""
    if not calendar.is_trade_date(now.date().isoformat()):
        return "closed" if now.weekday() >= _SATURDAY else "holiday"
    return next(state for until, state in _STATES if now.time() < until)


def next_bounds(now: datetime, calendar: TradeCalendar) -> tuple[datetime | None, datetime | None]:
    """(next start of trading, next end of trading), each strictly after `now`; None beyond the calendar."""
    return _next(now, calendar, (time(9, 30), time(13, 0))), _next(now, calendar, (time(11, 30), _CLOSE))


def _next(now: datetime, calendar: TradeCalendar, times: tuple[time, ...]) -> datetime | None:
    try:
        day = calendar.on_or_after(now.date().isoformat())
        while True:
            for at in times:
                moment = datetime.combine(date.fromisoformat(day), at)
                if moment > now:
                    return moment
            day = calendar.offset(day, 1)
    except CalendarHorizon:
        return None


_SATURDAY = 5
_STATES = (
    (time(9, 15), "pre_open"),
    (time(9, 30), "auction"),
    (time(11, 30), "trading"),
    (time(13, 0), "noon_break"),
    (time(15, 0), "trading"),
    (time.max, "closed"),
)
