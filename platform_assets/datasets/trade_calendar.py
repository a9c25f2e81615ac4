"""ref_trade_calendar: which days are trade dates, with neighbours.

Sources, the better one first: Shenzhen's months, the terminal's list of closed days, the shipped table, the
dates of index bars for days that are over, and the rules of the statutory holidays for what none of them has.
Those rows are provisional (`is_confirmed` false) until the arrangement of their year is out. A published day
stays published while its sources cannot be asked. Hong Kong and New York come from a shipped table alone.
"""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

import pandas as pd

from core.calendar import SHIPPED_UNTIL, shipped_calendar
from core.days import moved
from core.declaration.columns import EVENING, K32, S4, S64, Bool, Date, Model, col, key
from core.declaration.dataset import Dataset, Source
from core.declaration.interfaces import DAY, market
from core.declaration.rules import Partition, Soft
from core.declaration.scope import Context, Scope
from core.declaration.tables import Layer
from core.errors import PayloadError, Unavailable, UpstreamError
from core.market.foreign_days import CLOSED, CONFIRMED_UNTIL, HALF, MARKETS, foreign_days
from core.market.holidays import closed_weekdays, holiday_name
from resources.upstreams.fetch_context import FetchContext

TABLE = "ref_trade_calendar"
RULES = "rules"
_ORDER = ("szse", "tdx", "shipped", "index_bars", RULES)
_FIRST_DAY = "2005-01-01"
"""Days before this are known to the calendar in memory; the table starts where any dataset may start."""
_YEARS_AHEAD = 3
"""The table ends with the third year after the current one."""
_ANNOUNCED_FROM = "-11-01"
"""The arrangement of a year is published in the November before it."""
_SESSIONS = range(225, 262)
"""Trade dates of a whole year: a list of closed days that leaves others is none."""
_INDEX = "sh000001"
_BARS = 800
_BARS_AGREE = 0.98
"""Share of the published days that the bars must agree with: else dates are missing among them."""
_DAY = ["market", "date"]
_COLUMNS = ["market", "date", "is_open", "is_half_day", "is_confirmed"]


class TradeCalendarDay(Model):
    """One calendar day of one market."""

    market: S4 = key("market", isin=["CN", "HK", "US"])
    date: Date = key("calendar day")
    is_open: Bool = col(title="a session is held", nullable=False)
    prev_trade_date: Date = col(title="trade date before this day")
    next_trade_date: Date = col(title="trade date after this day; null beyond the horizon")
    holiday_name: S64 = col(title="name of the closure of a weekday")
    is_half_day: Bool = col(title="the session ends at noon (HK, US)")
    is_confirmed: Bool = col(title="published by the exchange, or over; false: by the rules of the holidays")
    src: K32 = col(title="source that says so: szse, tdx, shipped, index_bars, rules", varies=EVENING)
    disputed_by: S64 = col(title="sources that say the opposite")
    corrected_on: Date = col(title="day on which the opposite of what was stored turned out")


def _last_announced(today: str) -> int:
    """The last year whose arrangement can be out."""
    year = int(today[:4])
    return year + (today >= f"{year}{_ANNOUNCED_FROM}")


def _days(first: str, last: str) -> list[str]:
    """All days from `first` to `last`."""
    return [str(day)[:10] for day in pd.date_range(first, last)]


def _rows(is_open: Mapping[str, bool]) -> pd.DataFrame:
    rows = [("CN", day, state, False, True) for day, state in is_open.items()]
    return pd.DataFrame(rows, columns=_COLUMNS)


def _weekday(day: str) -> bool:
    return date.fromisoformat(day).weekday() < 5


def exchange_months(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Shenzhen's months from the current one to the end of the last year whose arrangement is out, a call
    each. An undecided month comes empty or with all weekdays open: one counts as published that shows a
    closed weekday, and one without a holiday of its own when another month of its year does."""
    last = _last_announced(ctx.today)
    months = [str(one) for one in pd.period_range(ctx.today[:7], f"{last}-12", freq="M")]
    found = {
        frame["date"].iloc[0][:7]: dict(zip(frame["date"], frame["is_open"].astype(bool), strict=True))
        for frame in ctx.each(ctx.szse.month_days, months)
        if len(frame)
    }
    shown = {month for month, days in found.items() if not all(days[day] for day in days if _weekday(day))}
    out = {month[:4] for month in shown}
    expected = {day[:7] for year in range(int(ctx.today[:4]), last + 1) for day in closed_weekdays(year)}
    published = {
        day: state
        for month, days in found.items()
        if month in shown or (month not in expected and month[:4] in out)
        for day, state in days.items()
    }
    if not published:
        raise PayloadError("no month is published", source="szse")
    return _rows(published)


def terminal_years(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The years that the terminal lists, one file. A year that is not over counts as published when its
    arrangement can be out and closed days of each holiday are among its days."""
    listed = ctx.tdx.closed_days()
    years = listed.groupby("year")["date"].agg(set)
    is_open: dict[str, bool] = {}
    for year, closed in years.items():
        if not int(_FIRST_DAY[:4]) <= int(year) <= _last_announced(ctx.today):
            continue
        if int(year) >= int(ctx.today[:4]) and not _is_whole(int(year), closed):
            continue
        days = {day: _weekday(day) and day not in closed for day in _days(f"{year}-01-01", f"{year}-12-31")}
        if sum(days.values()) not in _SESSIONS:
            raise PayloadError(f"{sum(days.values())} trade dates in {year}", source="tdx")
        is_open |= days
    return _rows(is_open)


def _is_whole(year: int, closed: Iterable[str]) -> bool:
    """Whether each holiday that closes weekdays by the rules has a closed day in its list."""
    expected = closed_weekdays(year)
    named = {holiday_name(day) for day in closed}
    return set(expected.values()) <= named


def shipped_days(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The table that comes with the project, and days by the rules after it."""
    return _expected(ctx.today)


def _expected(today: str) -> pd.DataFrame:
    """What is known without asking anybody: the shipped table, and weekdays less the statutory holidays."""
    days = _days(_FIRST_DAY, f"{int(today[:4]) + _YEARS_AHEAD}-12-31")
    known = shipped_calendar()
    rows = _rows({day: known.is_trade_date(day) for day in days})
    rows["is_confirmed"] = rows["date"] <= SHIPPED_UNTIL
    foreign = [
        (market, day, state != CLOSED, state == HALF, day <= CONFIRMED_UNTIL)
        for market in MARKETS
        for day, state in foreign_days(market, days[-1]).items()
    ]
    rows = pd.concat([rows, pd.DataFrame(foreign, columns=_COLUMNS)], ignore_index=True)
    return rows.assign(src=rows["is_confirmed"].map({True: "shipped", False: RULES}))


def index_dates(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Days up to the newest bar of the main index: those with a bar were trade dates, the others were none.
    One call."""
    try:
        dates = ctx.tdx.index_bars(_INDEX, "day", _BARS)["date"]
    except (UpstreamError, PayloadError, Unavailable):
        if ctx.direct:
            raise
        since = ctx.calendar.last(_BARS, ctx.today)[0]
        dates = ctx.tencent.daily_bars(_INDEX, start=since, end=ctx.today, count=_BARS)["date"]
    over = {str(day) for day in dates if str(day) <= ctx.today}
    if not over:
        raise PayloadError(f"no bar of {_INDEX}", source="index_bars")
    is_open = {day: day in over for day in _days(min(over), max(over))}
    known = [day for day in is_open if ctx.calendar.is_confirmed(day)]
    same = sum(ctx.calendar.is_trade_date(day) == is_open[day] for day in known)
    if same < _BARS_AGREE * len(known):
        raise PayloadError(
            f"bars of {_INDEX} contradict {len(known) - same} published days", source="index_bars"
        )
    return _rows(is_open)


def reconciled(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """One row per day: of its best source, with the names of those that say the opposite. What a source
    published earlier holds while it does not speak."""
    stored = context.read(TABLE, columns=(*_COLUMNS, "src", "corrected_on"))
    before = {(row.market, row.date): row for row in stored.itertuples(index=False)}
    kept = stored[stored["is_confirmed"].astype(bool) & stored["date"].isin(rows["date"])][[*_COLUMNS, "src"]]
    said = pd.concat([rows[[*_COLUMNS, "src"]], kept], ignore_index=True)
    said = said.drop_duplicates([*_DAY, "src"], keep="first")
    said["rank"] = said["src"].map({name: place for place, name in enumerate(_ORDER)})
    said = said.sort_values([*_DAY, "rank"], kind="stable")
    best = said.drop_duplicates(_DAY, keep="first")
    beside = said.merge(best[[*_DAY, "is_open"]], on=_DAY, suffixes=("", "_best"))
    against = beside[(beside["is_open"] != beside["is_open_best"]) & (beside["src"] != RULES)]
    disputes = against.groupby(_DAY, as_index=False).agg(disputed_by=("src", ", ".join))
    decided = best.drop(columns="rank").merge(disputes, on=_DAY, how="left").set_index(_DAY)
    made = rows.drop_duplicates(_DAY).sort_values(_DAY, kind="stable").reset_index(drop=True)
    for name in (*_COLUMNS[2:], "src", "disputed_by"):
        made[name] = decided[name].astype(object).where(decided[name].notna(), None).to_list()
    made["corrected_on"] = [
        _corrected_on(before.get((market, day)), bool(is_open), context.today)
        for market, day, is_open in made[[*_DAY, "is_open"]].itertuples(index=False, name=None)
    ]
    parts = [_with_neighbours(part.copy()) for _, part in made.groupby("market", sort=False)]
    return pd.concat(parts, ignore_index=True)


def _corrected_on(stored: Any, is_open: bool, today: str) -> str | None:
    """The day of the last correction of a day."""
    if stored is None:
        return None
    if bool(stored.is_open) != is_open:
        return today
    return None if pd.isna(stored.corrected_on) else str(stored.corrected_on)


def _with_neighbours(days: pd.DataFrame) -> pd.DataFrame:
    """Trade dates before and after each day of one market, and the names of the mainland's closed weekdays;
    `days` ascending."""
    open_dates, mainland = days["date"].where(days["is_open"].astype(bool)), days["market"].iloc[0] == "CN"
    before, following = open_dates.ffill().shift(), open_dates.bfill().shift(-1)
    if mainland:
        before = before.fillna(shipped_calendar().on_or_before(moved(str(days["date"].iloc[0]), -1)))
    days["prev_trade_date"] = before.astype(object).where(before.notna(), None)
    days["next_trade_date"] = following.astype(object).where(following.notna(), None)
    days["holiday_name"] = [
        holiday_name(day) if mainland and not is_open and _weekday(day) else None
        for day, is_open in zip(days["date"], days["is_open"], strict=True)
    ]
    return days


def sources_agree(rows: pd.DataFrame, context: Context) -> pd.Series:
    return rows["disputed_by"].isna()


DATASET = Dataset(
    name="trade_calendar",
    subject="securities",
    title="Trade calendar",
    layer=Layer.REF,
    model=TradeCalendarDay,
    partition=Partition.SNAPSHOT,
    sources=(
        Source("szse", exchange_months),
        Source("tdx", terminal_years),
        Source("index_bars", index_dates),
        Source("shipped", shipped_days),
    ),
    combine="all",
    derive=(reconciled,),
    soft=(Soft(sources_agree, "sources of the calendar disagree about a day"),),
    reads_own_past=True,
    of_stocks=False,
    tasks=("calendar_sync", "eod_core"),
    interfaces=(
        market("get_trade_calendar", "calendar", "trade calendar days of a market", ttl=86400).takes(
            market="CN", start_date=DAY, end_date=DAY
        ),
        market(
            "get_latest_trade_date",
            "latest_trade_date",
            "newest trade date that is not after today",
            ttl=60,
            returns="string",
        ).takes(market="CN"),
    ),
)
