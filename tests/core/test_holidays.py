"""The rules of the statutory holidays, against the arrangements of past years and against the moon."""

import math
from datetime import date, datetime, timedelta

import pytest

from core.calendar import CalendarHorizon, published_dates, shipped_calendar
from core.market.holidays import LAST_YEAR, closed_weekdays, holiday_name, holidays, lunar_festivals

PUBLISHED = frozenset(published_dates())


def _arranged(year: int) -> list[str]:
    """Closed weekdays of a year as the exchanges held it."""
    days = (date(year, 1, 1) + timedelta(days=step) for step in range(366))
    return [
        day.isoformat()
        for day in days
        if day.year == year and day.weekday() < 5 and day.isoformat() not in PUBLISHED
    ]


@pytest.mark.parametrize("year", [2020, 2024, 2025, 2026])
def test_the_rules_give_the_arrangement_of_a_past_year(year: int) -> None:
    assert list(closed_weekdays(year)) == _arranged(year)


@pytest.mark.parametrize("year", range(2016, 2027))
def test_they_miss_no_closed_day_of_ten_years_but_one(year: int) -> None:
    """Where an arrangement was shorter, a day is expected to be closed that was open."""
    missed = set(_arranged(year)) - set(closed_weekdays(year))

    assert missed <= {"2018-04-30"}


def test_the_coming_years() -> None:
    assert " ".join(day[5:] for day in closed_weekdays(2027)) == (
        "01-01 02-05 02-08 02-09 02-10 02-11 02-12 04-05 05-03 05-04 05-05 06-09 09-15 10-01 10-04 10-05 "
        "10-06 10-07"
    )
    assert " ".join(day[5:] for day in closed_weekdays(2028)) == (
        "01-03 01-25 01-26 01-27 01-28 01-31 02-01 04-03 04-04 05-01 05-02 05-03 05-04 05-05 05-29 10-02 "
        "10-03 10-04 10-05 10-06"
    )


@pytest.mark.parametrize("year", [2027, 2031, 2038, LAST_YEAR])
def test_every_holiday_has_days_off(year: int) -> None:
    named = holidays(year)

    assert {len(days) for days in named.values()} <= {1, 3, 5, 7, 8}
    assert len(named) == 7
    assert 230 <= len(shipped_calendar().between(f"{year}-01-01", f"{year}-12-31")) <= 250


def test_the_name_of_a_closed_day() -> None:
    assert holiday_name("2027-02-08") == "春节"
    assert holiday_name("2026-10-07") == "国庆节"
    assert holiday_name("2015-09-03") is None


def _new_moon(number: int) -> datetime:
    """The new moon `number` after that of January 2000 in Beijing (Meeus, Astronomical Algorithms, 49)."""
    t = number / 1236.85
    day = 2451550.09766 + 29.530588861 * number + 0.00015437 * t * t
    sun = math.radians(2.5534 + 29.10535670 * number)
    moon = math.radians(201.5643 + 385.81693528 * number + 0.0107582 * t * t)
    node = math.radians(160.7108 + 390.67050284 * number - 0.0016118 * t * t)
    e = 1 - 0.002516 * t
    day += (
        -0.40720 * math.sin(moon) + 0.17241 * e * math.sin(sun) + 0.01608 * math.sin(2 * moon)
        + 0.01039 * math.sin(2 * node) + 0.00739 * e * math.sin(moon - sun)
        - 0.00514 * e * math.sin(moon + sun) + 0.00208 * e * e * math.sin(2 * sun)
        - 0.00111 * math.sin(moon - 2 * node) - 0.00057 * math.sin(moon + 2 * node)
        + 0.00056 * e * math.sin(2 * moon + sun) - 0.00042 * math.sin(3 * moon)
    )  # fmt: skip
    return datetime(2000, 1, 1, 12) + timedelta(days=day - 2451545.0, hours=8)


def test_lunar_months_begin_with_the_new_moon() -> None:
    """Within an hour of midnight the moment itself would have to be known better."""
    moons = [_new_moon(number) for number in range(1240)]
    begins = {moon.date() for moon in moons}
    doubtful = {moon.date() for moon in moons if moon.hour in (0, 23)}
    near = {day + timedelta(days=step) for day in doubtful for step in (-1, 0, 1)}

    wrong = [
        first
        for spring, boat, autumn in lunar_festivals().values()
        for first in (spring, boat - timedelta(days=4), autumn - timedelta(days=14))
        if first not in begins and first not in near
    ]

    assert wrong == []
    assert all(date(year, 1, 21) <= days[0] <= date(year, 2, 21) for year, days in lunar_festivals().items())


def test_the_calendar_goes_on_after_the_shipped_table_and_says_so() -> None:
    calendar = shipped_calendar()

    assert calendar.on_or_after("2026-12-31") == "2026-12-31"
    assert calendar.offset("2026-12-31", 1) == "2027-01-04"
    assert (calendar.is_confirmed("2026-12-31"), calendar.is_confirmed("2027-01-01")) == (True, False)
    assert calendar.is_trade_date("2028-03-01")
    assert calendar.between("2027-02-04", "2027-02-15") == ["2027-02-04", "2027-02-15"]
    assert calendar.days_left("2027-01-05") == -5
    with pytest.raises(CalendarHorizon, match="2100-01-04 is unknown"):
        calendar.is_trade_date("2100-01-04")
    with pytest.raises(CalendarHorizon, match="1990-12-18 is before it"):
        calendar.on_or_before("1990-12-18")
