"""Shenzhen: a month of the exchange's calendar (`onepersistenthour/monthList`).

`{"data": [{"jyrq": "2027-01-04", "jybz": "1", "zrxh": 2}, …], "nowdate": "…"}`, a row for every day of the
month; `jybz` 1 is a session. Months that are not decided yet come empty or with all weekdays open: whether a
month is published is for the reader to judge.
"""

from calendar import monthrange
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.transport.request import Request
from resources.upstreams.parsing.frames import frame
from resources.upstreams.parsing.payload import iso_day, json_of, list_of, object_of, promised, string_of

COLUMNS = {"date": "s", "is_open": "b"}
_OPEN = {"1": True, "0": False}


def month_request(month: str) -> Request:
    path = "/api/report/exchange/onepersistenthour/monthList"
    return Request("szse.calendar", "month_days", path, (("month", month),), label=month)


def parse_month(body: bytes, month: str) -> pd.DataFrame:
    """All days of the month, ascending; no row where the exchange has none of it. PayloadError for a part of
    a month, another month, or a session on a weekend."""
    what = f"SZSE calendar {month}"
    raws = list_of(object_of(json_of(body), what).get("data"), what)
    rows = sorted((_day(object_of(raw, what), what) for raw in raws), key=lambda row: str(row["date"]))
    year, number = int(month[:4]), int(month[5:7])
    promised_days = [f"{month}-{day:02d}" for day in range(1, monthrange(year, number)[1] + 1)]
    if rows and [row["date"] for row in rows] != promised_days:
        raise PayloadError(f"{what}: {len(rows)} days, {len(promised_days)} are in the month")
    return frame(rows, COLUMNS)


def _day(row: dict[str, Any], what: str) -> dict[str, Any]:
    promised(row, ("jyrq", "jybz"), what)
    day = iso_day(string_of(row["jyrq"], f"{what} jyrq"), f"{what} jyrq")
    state = str(row["jybz"]).strip()
    if state not in _OPEN:
        raise PayloadError(f"{what}: jybz {state[:8]!r} of {day} is neither 0 nor 1")
    if _OPEN[state] and pd.Timestamp(day).dayofweek > 4:
        raise PayloadError(f"{what}: a session on {day}, a weekend")
    return {"date": day, "is_open": _OPEN[state]}
