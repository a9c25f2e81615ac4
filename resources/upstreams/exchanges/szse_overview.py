"""Shenzhen: the market by class on one date (ShowReport 1803_sczm), as a workbook. 元, unless a head says
亿元."""

import re

import pandas as pd

from core.errors import PayloadError
from resources.transport.request import Request
from resources.upstreams.exchanges.margin import name_of
from resources.upstreams.exchanges.overview import STOCKS, overview
from resources.upstreams.exchanges.sheet import sheet_rows
from resources.upstreams.parsing.payload import grouped_amount

_HEADS = {
    "证券类别": "sec_class",
    "数量": "listed_count",
    "成交金额": "amount_yi",
    "总市值": "total_market_cap_yi",
    "流通市值": "float_market_cap_yi",
}
_UNITS = {"元": 1e-8, "亿元": 1.0, "只": 1.0}
_HEAD = re.compile(r"([^(（]+)(?:[(（](.+)[)）])?")


def overview_request(day: str) -> Request:
    params = (("SHOWTYPE", "xlsx"), ("CATALOGID", "1803_sczm"), ("TABKEY", "tab1"), ("txtQueryDate", day))
    return Request("szse.report", "overview", "/api/report/ShowReport", params, label=day)


def parse_overview(body: bytes, day: str) -> pd.DataFrame:
    """Columns `OVERVIEW_COLUMNS`, volume, PE and turnover missing; empty on a day without trading or before
    publication. The workbook has no date of its own."""
    table = sheet_rows(body, "SZSE overview")
    if not table:
        raise PayloadError("SZSE overview: no heads")
    place: dict[str, tuple[int, float]] = {}
    for at, text in enumerate(table[0]):
        found = _HEAD.fullmatch(text.strip())
        column = _HEADS.get(found.group(1).strip()) if found else None
        if found and column:
            place[column] = (at, _unit(column, found.group(2)))
    if len(place) != len(_HEADS):
        raise PayloadError(f"SZSE overview: heads {table[0][:8]}")
    rows = []
    for values in table[1:]:
        if not any(values):
            continue
        padded = [*values, *[""] * len(table[0])]
        name = name_of(padded[place["sec_class"][0]], "SZSE overview 证券类别")
        row: dict[str, object] = {"trade_date": day, "exchange": "SZSE", "sec_class": name}
        for column, (at, unit) in place.items():
            if column != "sec_class":
                row[column] = grouped_amount(padded[at], f"SZSE overview {name} {column}", scale=unit)
        rows.append(row)
    if rows and STOCKS not in {row["sec_class"] for row in rows}:
        raise PayloadError(f"SZSE overview: no class {STOCKS}")
    return overview(rows, "SZSE overview")


def _unit(column: str, unit: str | None) -> float:
    if column in {"sec_class", "listed_count"}:
        return 1.0
    if unit is not None and unit not in _UNITS:
        raise PayloadError(f"SZSE overview: {column} in {unit[:10]!r}")
    return _UNITS[unit or "元"]
