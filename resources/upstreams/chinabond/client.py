"""Calls of the bond depository's site."""

from datetime import date, timedelta
from functools import partial
from typing import Any

import pandas as pd

from core.errors import PayloadError, Refused, Transient
from resources.rejections import accepted_rows, once_each
from resources.transport.request import Request, pairs
from resources.upstreams.parsing.frames import concat, frame, numbers, texts
from resources.upstreams.parsing.html_tables import html_tables
from resources.upstreams.parsing.payload import iso_day, number
from resources.upstreams.upstream_client import UpstreamClient

# -- Yield curves by date (historyQuery), a page with tables. Percent; less than a year a call.

MOST_DAYS = 360
CURVE = "中债国债收益率曲线"
TENORS = {
    "3月": "m3", "6月": "m6", "1年": "y1", "3年": "y3",
    "5年": "y5", "7年": "y7", "10年": "y10", "30年": "y30",
}  # fmt: skip
"""Head of a column -> its name."""
CURVE_COLUMNS: dict[str, str] = {**texts("date"), **numbers(" ".join(TENORS.values()))}
_NAME, _DAY = "曲线名称", "日期"
_LARGEST = 30.0


def curve_request(since: str, until: str) -> Request:
    params = pairs(f"startDate={since}&endDate={until}&gjqx=0&qxId=ycqx&locale=cn_ZH")
    path = "/cbweb-pbc-web/pbc/historyQuery"
    return Request("chinabond.yield", "history", path, params, label=f"{since}..{until}")


def parse_curve(body: bytes, since: str, until: str) -> pd.DataFrame:
    """Columns `CURVE_COLUMNS`, oldest first. Refused for a page without any table, PayloadError for one that
    breaks off, has other columns, or is of other days."""
    text = body.strip()
    if not text:
        raise Transient("empty body")
    try:
        page = text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PayloadError(f"not utf-8: {error.reason} at byte {error.start}") from error
    if "<table" not in page.lower():
        if page.startswith("<"):
            raise Refused("a page instead of data")
        raise PayloadError("yield curves: no page with tables")
    if not page.lower().endswith("</html>"):
        raise PayloadError("yield curves: the page breaks off")
    for table in html_tables(page):
        at = next((place for place, row in enumerate(table) if _NAME in row and _DAY in row), None)
        if at is not None:
            return _curve(table[at], table[at + 1 :], since, until)
    raise PayloadError("yield curves: no table with the heads of the curves")


def _curve(heads: list[str], table: list[list[str]], since: str, until: str) -> pd.DataFrame:
    place = {TENORS[head]: at for at, head in enumerate(heads) if head in TENORS}
    if len(place) != len(TENORS):
        raise PayloadError(f"yield curves: heads {heads[:12]}")
    name, day = heads.index(_NAME), heads.index(_DAY)

    def read(values: list[str]) -> dict[str, Any] | None:
        if len(values) != len(heads):
            raise PayloadError(f"yield curves: {len(values)} values under {len(heads)} heads")
        if values[name] != CURVE:
            return None
        date = iso_day(values[day], "yield curve date")
        if not since <= date <= until:
            raise PayloadError(f"yield curves: answered for {date}, asked was {since}..{until}")
        row: dict[str, Any] = {"date": date}
        for tenor, at in place.items():
            row[tenor] = _percent(values[at], f"yield {date} {tenor}")
        return row

    made = accepted_rows(table, read, "yield curves", lambda values: values[day] if day < len(values) else "")
    rows = sorted((row for row in made if row is not None), key=lambda row: str(row["date"]))
    return once_each(frame(rows, CURVE_COLUMNS), ["date"], "yield curves")


def _percent(text: str, what: str) -> float:
    value = number(text, what)
    if abs(value) > _LARGEST:
        raise PayloadError(f"{what}: {text!r} is no percentage: another unit")
    return value


class ChinabondClient(UpstreamClient):
    source = "chinabond"

    def government_curve(self, since: str, until: str) -> pd.DataFrame:
        """Yields of Chinese government bonds of eight tenors by date, oldest first; columns
        `CURVE_COLUMNS`, percent. One call per 360 days."""
        parts = []
        first, last = date.fromisoformat(since), date.fromisoformat(until)
        while first <= last:
            end = min(last, first + timedelta(days=MOST_DAYS))
            asked = (first.isoformat(), end.isoformat())
            parse = partial(parse_curve, since=asked[0], until=asked[1])
            parts.append(self._ask(curve_request(*asked), parse))
            first = end + timedelta(days=1)
        return concat(parts, CURVE_COLUMNS)
