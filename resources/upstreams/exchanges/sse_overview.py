"""Shanghai: the market by class on one date (commonQuery, sqlId ..._CJGK_MRGK_C). 亿元, 亿股, percent.

Known by prose: the figures. Known by what public clients read: `PRODUCT_CODE` and `TRADE_DATE` of a row.
"""

from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.transport.request import Request
from resources.upstreams.exchanges.margin import same_day
from resources.upstreams.exchanges.overview import overview
from resources.upstreams.parsing.payload import (
    amount,
    iso_day,
    json_of,
    list_of,
    number,
    object_of,
    required,
    string_of,
)

CLASSES = {"01": "主板A股", "02": "主板B股", "03": "科创板", "11": "股票回购", "17": "股票"}
"""PRODUCT_CODE -> class."""
_SQL = "COMMON_SSE_SJ_GPSJ_CJGK_MRGK_C"
_FIGURES = {
    "listed_count": "LIST_NUM",
    "total_market_cap_yi": "TOTAL_VALUE",
    "float_market_cap_yi": "NEGO_VALUE",
    "amount_yi": "TRADE_AMT",
    "volume_yi": "TRADE_VOL",
}


def overview_request(day: str) -> Request:
    params = (
        ("sqlId", _SQL),
        ("PRODUCT_CODE", ",".join(CLASSES)),
        ("type", "inParams"),
        ("SEARCH_DATE", day),
    )
    return Request("sse.query", "overview", "/commonQuery.do", params, label=day)


def parse_overview(body: bytes, day: str) -> pd.DataFrame:
    """Columns `OVERVIEW_COLUMNS`; empty on a day without trading or before publication."""
    document = object_of(json_of(body), "SSE overview")
    if document.get("actionErrors"):
        raise PayloadError(f"SSE overview: {str(document['actionErrors'])[:80]}")
    rows = []
    for raw in list_of(document.get("result"), "SSE overview result"):
        row = object_of(raw, "SSE overview row")
        product = string_of(row.get("PRODUCT_CODE"), "SSE overview PRODUCT_CODE")
        if product not in CLASSES:
            raise PayloadError(f"SSE overview: PRODUCT_CODE {product[:10]!r} was not asked for")
        rows.append(_row(row, CLASSES[product], day))
    return overview(rows, "SSE overview")


def _row(row: dict[str, Any], name: str, day: str) -> dict[str, Any]:
    what = f"SSE overview {name}"
    same_day(iso_day(string_of(row.get("TRADE_DATE"), f"{what} TRADE_DATE"), what), day, what)
    made: dict[str, Any] = {"trade_date": day, "exchange": "SSE", "sec_class": name}
    for column, wire in _FIGURES.items():
        if wire not in row:
            raise PayloadError(f"{what}: no field {wire}")
        made[column] = amount(row[wire], f"{what} {wire}")
    required(made["amount_yi"], f"{what} TRADE_AMT")
    made["pe_ratio"] = number(row.get("AVG_PE_RATE"), f"{what} AVG_PE_RATE")
    made["turnover_pct"] = amount(row.get("TOTAL_TO_RATE"), f"{what} TOTAL_TO_RATE")
    return made
