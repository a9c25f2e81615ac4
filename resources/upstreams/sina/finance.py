"""getFinanceReport2022: one statement of one company, by report period.

The documented fields are the title and the value of an item; other fields are not read.
"""

from typing import Any

import pandas as pd

from core.errors import InputError, PayloadError
from core.market.symbols import instrument
from resources.transport.request import Request, pairs
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import iso_day, json_of, list_of, number, object_of, string_of

STATEMENT_COLUMNS: dict[str, str] = {**texts("code report_period statement item"), **numbers("value")}
"""`item` a column of fusion_finance_indicator, `value` CNY, cumulative in the year."""
MOST_PERIODS = 20
_SOURCES = {"balance": "fzb", "income": "lrb", "cashflow": "llb"}
ITEMS: dict[str, dict[str, str]] = {
    "income": {
        "营业总收入": "revenue",
        "归属于母公司所有者的净利润": "net_profit",
        "归属于母公司股东的净利润": "net_profit",
        "营业利润": "operating_profit",
        "利润总额": "total_profit",
    },
    "balance": {"资产总计": "total_assets", "负债合计": "total_liabilities"},
    "cashflow": {
        "经营活动产生的现金流量净额": "operating_cash_flow",
        "投资活动产生的现金流量净额": "investing_cash_flow",
        "筹资活动产生的现金流量净额": "financing_cash_flow",
    },
}
"""Statement -> title -> item."""
_OF_BANKS = {"营业收入": "revenue"}
"""Marks a title that financial companies do not have."""


def statement_request(symbol: str, statement: str, periods: int) -> Request:
    """The newest periods of `balance`, `income` or `cashflow`. Raises InputError."""
    if statement not in _SOURCES:
        raise InputError("statement", f"{statement!r} is none of {', '.join(_SOURCES)}")
    if not 1 <= periods <= MOST_PERIODS:
        raise InputError("periods", f"{periods} is not within 1..{MOST_PERIODS}")
    params = pairs(
        f"paperCode={instrument(symbol).symbol}&source={_SOURCES[statement]}&type=0&page=1&num={periods}"
    )
    path = "/cn/api/openapi.php/CompanyFinanceService.getFinanceReport2022"
    return Request("sina.finance", "statement", path, params, label=f"{symbol} {statement}")


def parse_statement(body: bytes, symbol: str, statement: str) -> pd.DataFrame:
    """Columns `STATEMENT_COLUMNS`, newest period first; only the items of `ITEMS`. Empty for a company
    without reports."""
    label = f"{symbol} {statement}"
    result = object_of(object_of(json_of(body), label).get("result"), f"{label} result")
    data = object_of(result.get("data"), f"{label} data")
    found = data.get("report_list")
    if found == [] or found is None:
        return frame([], STATEMENT_COLUMNS)
    code = instrument(symbol).dataset_code
    rows: list[dict[str, Any]] = []
    for period, report in sorted(object_of(found, f"{label} report_list").items(), reverse=True):
        day = iso_day(period, f"{label} period")
        if day[5:] not in {"03-31", "06-30", "09-30", "12-31"}:
            raise PayloadError(f"{label}: {day} is no end of a quarter")
        items = list_of(object_of(report, f"{label} {day}").get("data"), f"{label} {day} data")
        for name, value in _known(items, statement, f"{label} {day}").items():
            row = {"code": code, "report_period": day, "statement": statement, "item": name, "value": value}
            rows.append(row)
    return frame(rows, STATEMENT_COLUMNS)


def _known(items: list[Any], statement: str, label: str) -> dict[str, float]:
    """Item -> value of the titles that we know."""
    titles = ITEMS[statement]
    values: dict[str, float] = {}
    spare: dict[str, float] = {}
    for raw in items:
        item = object_of(raw, f"{label} item")
        # Headings are counted ('一、营业总收入') in some reports and not in others.
        title = string_of(item.get("item_title"), f"{label} item_title").rpartition("、")[2].strip()
        into = values if title in titles else spare if title in _OF_BANKS else None
        if into is None:
            continue
        name = titles.get(title) or _OF_BANKS[title]
        value = number(item.get("item_value"), f"{label} {title}", digits=2)
        if name in into:
            raise PayloadError(f"{label}: {name} appears twice")
        into[name] = value
    return {**spare, **values} if statement == "income" else values
