"""Calendars of Hong Kong and New York: weekdays less the closed days of a shipped table, with its half days.

The table was made with exchange_calendars 4.13 (Apache-2.0; XHKG, XNYS) in November 2026: what happened
before, typhoons included, and the rules of the exchanges after it. No source corrects it, so days after the
years that the exchanges had announced are provisional.
"""

import csv
from datetime import date, timedelta
from functools import cache
from importlib import resources as files

from core import data

MARKETS = ("HK", "US")
FIRST_DAY, LAST_DAY = "2016-01-01", "2049-12-31"
CONFIRMED_UNTIL = "2026-12-31"
OPEN, HALF, CLOSED = "open", "half", "closed"


@cache
def _exceptions() -> dict[tuple[str, str], str]:
    text = files.files(data).joinpath("exceptional_days_hk_us.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {(row["market"], row["date"]): HALF if row["is_open"] == "1" else CLOSED for row in rows}


def foreign_days(market: str, last: str) -> dict[str, str]:
    """Day (ISO) -> open, half or closed, from FIRST_DAY to `last`, LAST_DAY at most."""
    known, day, found = _exceptions(), date.fromisoformat(FIRST_DAY), {}
    while (text := day.isoformat()) <= min(last, LAST_DAY):
        found[text] = known.get((market, text), OPEN if day.weekday() < 5 else CLOSED)
        day += timedelta(days=1)
    return found
