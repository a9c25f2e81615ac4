"""ref_trade_calendar: which days are trade dates, with neighbours. Seeded from the shipped table."""

import pandas as pd

from core.days import moved
from core.declaration.columns import S4, S64, Bool, Date, Model, col, key
from core.declaration.dataset import Dataset, Source
from core.declaration.rules import Partition, interfaces
from core.declaration.scope import Scope
from core.declaration.tables import Layer
from resources.upstreams.fetch_context import FetchContext

_FIRST_DAY = "2005-01-01"
"""Days before this are known to the calendar in memory; the table starts where any dataset may start."""


class TradeCalendarDay(Model):
    """One calendar day of one market."""

    market: S4 = key("market", isin=["CN", "HK", "US"])
    date: Date = key("calendar day")
    is_open: Bool = col(title="a session is held", nullable=False)
    prev_trade_date: Date = col(title="trade date before this day")
    next_trade_date: Date = col(title="trade date after this day; null beyond the horizon")
    holiday_name: S64 = col(title="name of the closure", no_source="no holiday names in the shipped table")
    is_half_day: Bool = col(title="the session ends at noon (HK, US)")
    is_confirmed: Bool = col(title="published by the exchange, not a forecast")


def shipped_days(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Every calendar day up to the horizon."""
    calendar = ctx.calendar
    day, previous = _FIRST_DAY, calendar.on_or_before(moved(_FIRST_DAY, -1))
    rows = []
    while day <= calendar.horizon:
        is_open = calendar.is_trade_date(day)
        following = moved(day, 1)
        rows.append(
            {
                "market": "CN",
                "date": day,
                "is_open": is_open,
                "prev_trade_date": previous,
                "next_trade_date": calendar.on_or_after(following) if day < calendar.horizon else None,
                "is_half_day": False,
                "is_confirmed": day[:4] <= ctx.today[:4],
            }
        )
        previous = day if is_open else previous
        day = following
    return pd.DataFrame(rows)


DATASET = Dataset(
    name="trade_calendar",
    subject="securities",
    title="Trade calendar",
    layer=Layer.REF,
    model=TradeCalendarDay,
    partition=Partition.SNAPSHOT,
    sources=(Source("shipped", shipped_days),),
    tasks=("eod_core",),
    interfaces=interfaces("""
        get_trade_calendar(market=CN start_date? end_date?): market calendar, 86400 s
            trade calendar days of a market
        get_latest_trade_date(market=CN): market latest_trade_date -> string, 60 s
            newest trade date that is not after today
    """),
)
