"""Closed weekdays of the mainland exchanges as the rules of the statutory holidays give them.

The arrangement of a year is published in the November before it; until then these rules stand in. Since 2025
they are: eight days from the eve of the Spring Festival, five from 1 May, seven from 1 October (eight, if
the Mid-Autumn Festival falls into them), and for each other holiday one day or, next to a weekend or one day
from it, the three days that join both. Lunar dates come from a table up to 2099.
"""

import csv
from datetime import date, timedelta
from functools import cache
from importlib import resources as files

from core import data

SPRING, QINGMING, LABOUR = "春节", "清明节", "劳动节"
DRAGON_BOAT, MID_AUTUMN, NATIONAL, NEW_YEAR = "端午节", "中秋节", "国庆节", "元旦"
LAST_YEAR = 2099
_SATURDAY = 5


@cache
def lunar_festivals() -> dict[int, tuple[date, date, date]]:
    """Year -> days of the Spring Festival, the Dragon Boat and the Mid-Autumn Festival."""
    text = files.files(data).joinpath("lunar_festivals.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {
        int(row.pop("year")): (
            date.fromisoformat(row["spring_festival"]),
            date.fromisoformat(row["dragon_boat"]),
            date.fromisoformat(row["mid_autumn"]),
        )
        for row in rows
    }


def qingming(year: int) -> date:
    """Day of the solar term, 2000 to 2099."""
    place = year % 100
    return date(year, 4, int(place * 0.2422 + 4.81) - place // 4)


def _days(first: date, count: int) -> list[date]:
    return [first + timedelta(days=step) for step in range(count)]


def _single(day: date) -> list[date]:
    """The days off for a holiday of one day."""
    first = {0: -2, 1: -2, 2: 0, 3: 0, 4: 0, 5: 0, 6: -1}[day.weekday()]
    return _days(day + timedelta(days=first), 1 if day.weekday() == 2 else 3)


@cache
def holidays(year: int) -> dict[str, list[date]]:
    """Name -> days off by the rules, weekends among them, of the holidays of a year in 2000..2099. A day can
    lie outside the year."""
    spring, dragon_boat, mid_autumn = lunar_festivals()[year]
    autumn, national = _single(mid_autumn), _days(date(year, 10, 1), 7)
    if date(year, 9, 30) <= mid_autumn <= date(year, 10, 8):
        autumn = national = _days(min(mid_autumn, national[0]), 8)
    return {
        NEW_YEAR: _single(date(year, 1, 1)),
        SPRING: _days(spring - timedelta(days=1), 8),
        QINGMING: _single(qingming(year)),
        LABOUR: _days(date(year, 5, 1), 5),
        DRAGON_BOAT: _single(dragon_boat),
        MID_AUTUMN: autumn,
        NATIONAL: national,
    }


@cache
def closed_weekdays(year: int) -> dict[str, str]:
    """Closed day beside weekends (ISO) -> name of its holiday, by the rules."""
    near = [kept for kept in (year, year + 1) if kept <= LAST_YEAR]
    found = {
        day.isoformat(): name
        for one in near
        for name, days in holidays(one).items()
        for day in days
        if day.year == year and day.weekday() < _SATURDAY
    }
    return dict(sorted(found.items()))


def holiday_name(day: str) -> str | None:
    """The holiday that a closed weekday (ISO) belongs to: by the rules, else the nearest one within a week,
    since arrangements are longer or shifted in some years."""
    year = int(day[:4])
    if not 2000 <= year <= LAST_YEAR:
        return None
    named = closed_weekdays(year).get(day)
    if named is not None:
        return named
    this = date.fromisoformat(day)
    distances = [
        (min(abs((one - this).days) for one in days), name)
        for near in (year, year + 1)
        if near <= LAST_YEAR
        for name, days in holidays(near).items()
    ]
    distance, name = min(distances)
    return name if distance <= 7 else None


def provisional_dates(first: date, last: date) -> list[str]:
    """Weekdays from `first` to `last` (within 2000..2099) less the holidays by the rules, ISO, ascending."""
    found = []
    day = first
    while day <= last:
        if day.weekday() < _SATURDAY and day.isoformat() not in closed_weekdays(day.year):
            found.append(day.isoformat())
        day += timedelta(days=1)
    return found
