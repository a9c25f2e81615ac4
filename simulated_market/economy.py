"""The economy around a sample market: monthly figures with the moments of their release, yields, rates.

Every figure is a smooth line and a small draw of its own name and period, so that all upstreams agree and any
date can be computed alone. Nothing is shown before its release.
"""

import calendar
import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from simulated_market.days import dates_between
from simulated_market.wire import View
from simulated_market.world.dates import date_of, number_of

FIRST_YEAR = 2008
CURVE_OUT = "18:00"
"""China's curve of a date; the one of the United States is out at 07:00 of the day after."""
FOREIGN_OUT = time(7, 0)
SHIBOR_OUT = "11:00"
_MONTHS = 12


def draw(name: str, at: int) -> float:
    """A number within -1 and 1 that belongs to a name and a place."""
    return zlib.crc32(f"{name}|{at}".encode()) / 0x7FFF_FFFF - 1


@dataclass(frozen=True)
class Line:
    """A level with a slow swing, a growth a year and a small draw."""

    name: str
    level: float
    swing: float = 0.0
    cycle: float = 47.0
    jitter: float = 0.0
    growth: float = 0.0

    def at(self, place: int) -> float:
        turned = place + zlib.crc32(self.name.encode()) % 40
        wave = self.level + self.swing * math.sin(2 * math.pi * turned / self.cycle)
        grown: float = wave * (1 + self.growth) ** (place / _MONTHS)
        return grown + self.jitter * draw(self.name, place)


def months(until: date) -> Iterator[tuple[int, date]]:
    """(place, first day) of every month since `FIRST_YEAR` that has begun."""
    for place in range((until.year - FIRST_YEAR) * _MONTHS + until.month):
        yield place, date(FIRST_YEAR + place // _MONTHS, place % _MONTHS + 1, 1)


def released(month: date, day: int, hour: str, after: int = 1) -> datetime:
    """`hour` of the `day` of the month that is `after` months later; day 0 is the last of it."""
    total = month.year * _MONTHS + month.month - 1 + after
    year, number = total // _MONTHS, total % _MONTHS + 1
    last = calendar.monthrange(year, number)[1]
    return datetime.combine(date(year, number, min(day, last) or last), time.fromisoformat(hour))


def next_day(day: date, view: View) -> bool:
    """Whether a figure of a foreign date is out."""
    return datetime.combine(day + timedelta(days=1), FOREIGN_OUT) <= view.now


def weekdays(since: date, until: date) -> Iterator[date]:
    """Monday to Friday without the first of January, the fourth of July and Christmas, newest first."""
    day = until
    while day >= since:
        if day.weekday() < 5 and (day.month, day.day) not in {(1, 1), (7, 4), (12, 25)}:
            yield day
        day -= timedelta(days=1)


def china_dates(view: View, since: date, until: date, hour: str) -> list[date]:
    """Trade dates of which `hour` has passed, newest first."""
    return [date_of(day) for day in reversed(dates_between(view, number_of(since), number_of(until), hour))]


def china_span(view: View, params: Mapping[str, str], hour: str, most: timedelta) -> list[date] | None:
    """`china_dates` of `startDate` and `endDate`; None for a span that is too long or no span."""
    try:
        since, until = (date.fromisoformat(params.get(name, "")) for name in ("startDate", "endDate"))
    except ValueError:
        return None
    return china_dates(view, since, until, hour) if until - since <= most else None


def government_yield(country: str, years: float, day: date) -> float:
    """Percent with four decimals; longer bonds yield more."""
    place = day.toordinal()
    base, slope = {"cn": (1.45, 0.28), "us": (3.7, 0.22)}[country]
    level = base + 0.35 * math.sin(place / 410) + 0.08 * math.sin(place / 37) + 0.015 * draw(country, place)
    return round(level + slope * math.log1p(years), 4)


def interbank_rate(tenor: str, day: date) -> float:
    """SHIBOR, percent with three decimals."""
    steps = ("on", "1w", "2w", "1m", "3m", "6m", "9m", "1y")
    place = day.toordinal()
    level = 1.35 + 0.2 * math.sin(place / 290) + 0.03 * draw("shibor", place)
    return round(level + 0.05 * steps.index(tenor), 3)


def prime_rates(month: date) -> tuple[float, float]:
    """LPR of one and of five years: a tenth less every autumn, never below 2.5."""
    cuts = max(0, (month.year - 2019) * _MONTHS + month.month - 10) // _MONTHS
    one = round(max(2.5, 4.2 - 0.15 * cuts), 2)
    return one, round(one + 0.6, 2)


def prime_days(view: View) -> list[date]:
    """The twentieth of every month since September 2019 (the next Monday after a week end), newest first."""
    found = []
    for _, month in months(view.now.date()):
        day = month.replace(day=20)
        day += timedelta(days=(7 - day.weekday()) if day.weekday() > 4 else 0)
        if day >= date(2019, 9, 20) and datetime.combine(day, time(9, 0)) <= view.now:
            found.append(day)
    return found[::-1]
