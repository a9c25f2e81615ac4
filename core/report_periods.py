"""Report periods (quarter ends): which are being disclosed on a date, and neighbours. Pure; ISO text."""

from collections.abc import Iterable
from datetime import date

import pandas as pd

from core.days import moved

GRACE_DAYS = 30
"""Days after a deadline in which late reports and first corrections still come."""
_ENDS = ("03-31", "06-30", "09-30", "12-31")
# End of a period -> years until its deadline, and the deadline (annual reports and first quarters share one).
_DEADLINES = {"03-31": (0, 4, 30), "06-30": (0, 8, 31), "09-30": (0, 10, 31), "12-31": (1, 4, 30)}
_TYPES = {"03-31": "Q1", "06-30": "H1", "09-30": "Q3", "12-31": "FY"}


def is_period(day: str) -> bool:
    """Whether a date is a quarter end."""
    return day[5:] in _ENDS


def report_type(period: str) -> str:
    """Q1, H1, Q3 or FY."""
    return _TYPES[period[5:]]


def previous_period(period: str) -> str:
    """The quarter end before."""
    return period_away(period, -1)


def period_away(period: str, count: int) -> str:
    """The quarter end so many quarters later (earlier where `count` is negative)."""
    year, at = divmod(int(period[:4]) * 4 + _ENDS.index(period[5:]) + count, 4)
    return f"{year}-{_ENDS[at]}"


def year_end_before(period: str) -> str:
    """The last annual balance before a period."""
    return f"{int(period[:4]) - 1}-12-31"


def latest_ended(day: str) -> str:
    """The newest quarter end before `day`: on its own last day no figure of a period can be out."""
    year = int(day[:4])
    ends = (f"{one}-{end}" for one in (year, year - 1) for end in reversed(_ENDS))
    return next(end for end in ends if end < day)


def due_on(period: str) -> str:
    """The legal deadline of a period's reports."""
    years, month, last = _DEADLINES[period[5:]]
    return date(int(period[:4]) + years, month, last).isoformat()


def estimated_notice(period: str) -> str:
    """The day from which a report counts as public whose notice no source dates: after the legal deadline."""
    return moved(due_on(period), 1)


def closes_on(period: str, grace: int = GRACE_DAYS) -> str:
    """The last day of a period's disclosure window: the legal deadline and the grace days after it."""
    return moved(due_on(period), grace)


def phase_of(period: str, day: str) -> str:
    """`pre`, `in` or `post`: whether `day` is before the disclosure of a period, within it until the legal
    deadline, or after it."""
    if day <= period:
        return "pre"
    return "in" if day <= due_on(period) else "post"


def next_period(period: str) -> str:
    """The quarter end after."""
    return period_away(period, 1)


def periods_due(day: str, grace: int = GRACE_DAYS) -> tuple[str, ...]:
    """Periods in their disclosure window on `day`, oldest first: annual reports and first quarters until
    30 April, half years until 31 August, third quarters until 31 October, each and the grace days more.
    Between the windows there is none."""
    found = []
    period = latest_ended(day)
    while closes_on(period, grace) >= day:
        found.append(period)
        period = previous_period(period)
    return tuple(reversed(found))


def open_report_periods(day: str) -> tuple[str, ...]:
    """`periods_due`; between the windows the latest ended period."""
    return periods_due(day) or (latest_ended(day),)


def open_on_any(days: Iterable[str]) -> tuple[str, ...]:
    """Periods that are open on at least one of the dates, oldest first."""
    return tuple(sorted({period for day in days for period in open_report_periods(day)}))


def possible_notice(stated: pd.Series, ends: pd.Series) -> pd.Series:
    """The stated days of notice (None: none) without those before the end of what they report on: such a day
    is another notice's, and the report was not public then."""
    days = stated.astype(object).where(stated.notna(), None)
    return days.where(~(days.fillna("9999-12-31") < ends.astype(object)), None)


def public_from(stated: pd.Series, ends: pd.Series) -> pd.Series:
    """The stated days of notice; the day after the end of what is reported where the stated one is before
    that end."""
    days = stated.astype(object).where(stated.notna(), None)
    early = days.notna() & possible_notice(days, ends).isna()
    return days.where(~early, ends.where(early).map(lambda end: moved(end, 1), na_action="ignore"))
