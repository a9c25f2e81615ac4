"""Daily files that are JSON: Shanghai and its energy exchange, Dalian, Guangzhou."""

import json
from typing import Any
from urllib.parse import urlencode

import pandas as pd

from core.errors import PayloadError
from resources.transport.request import Request
from resources.upstreams.futures.contracts import contract, contracts
from resources.upstreams.parsing.payload import iso_day, json_of, list_of, object_of, string_of

_SUMS = ("小计", "合计", "总计")
_JSON = (("Content-Type", "application/json"),)
_FORM = (
    ("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8"),
    ("X-Requested-With", "XMLHttpRequest"),
)


def _asked(row: dict[str, Any], names: dict[str, str], what: str) -> dict[str, Any]:
    gone = [wire for wire in names.values() if wire not in row]
    if gone:
        raise PayloadError(f"{what}: no field {', '.join(gone)}")
    return {name: row[wire] for name, wire in names.items()}


def _is_sum(text: str) -> bool:
    return not text or any(mark in text for mark in _SUMS)


# -- Shanghai (shfe) and its international energy exchange (ine)

_SHANGHAI = {
    "open": "OPENPRICE", "high": "HIGHESTPRICE", "low": "LOWESTPRICE", "close": "CLOSEPRICE",
    "settle": "SETTLEMENTPRICE", "prev_settle": "PRESETTLEMENTPRICE", "volume": "VOLUME",
    "open_interest": "OPENINTEREST", "oi_change": "OPENINTERESTCHG", "amount": "TURNOVER",
}  # fmt: skip


def shanghai_request(exchange: str, day: str) -> Request:
    path = f"/data/tradedata/future/dailydata/kx{day.replace('-', '')}.dat"
    return Request(f"{exchange}.daily", "daily", path, label=day)


def parse_shanghai(body: bytes, exchange: str, day: str) -> pd.DataFrame:
    """Columns `FUTURES_COLUMNS`, without sums and exchanges for physicals. PayloadError for another day."""
    document = object_of(json_of(body), exchange)
    stated = document.get("report_date")
    if stated and iso_day(string_of(stated, f"{exchange} report_date"), f"{exchange} report_date") != day:
        raise PayloadError(f"{exchange} answered for {stated}, asked was {day}")
    rows = []
    for raw in list_of(document.get("o_curinstrument"), f"{exchange} o_curinstrument"):
        row = object_of(raw, f"{exchange} row")
        month = string_of(row.get("DELIVERYMONTH"), f"{exchange} DELIVERYMONTH").strip()
        product = string_of(row.get("PRODUCTID"), f"{exchange} PRODUCTID").strip()
        if _is_sum(month) or not product.endswith("_f") or "efp" in month:
            continue
        fields = _asked(row, _SHANGHAI, f"{exchange} {product}{month}")
        label = string_of(row.get("PRODUCTNAME") or "", f"{exchange} PRODUCTNAME").strip() or None
        rows.append(
            contract({**fields, "product": product[:-2], "month": month, "label": label}, exchange, day)
        )
    return contracts(rows, exchange)


# -- Dalian (dce) and Guangzhou (gfex)

_DAY_QUOTES = {
    "open": "open", "high": "high", "low": "low", "close": "close", "settle": "clearPrice",
    "prev_settle": "lastClear", "volume": "volumn", "open_interest": "openInterest", "oi_change": "diffI",
    "amount": "turnover",
}  # fmt: skip


def dalian_request(day: str) -> Request:
    asked = {
        "varietyId": "all", "tradeDate": day.replace("-", ""), "tradeType": "1", "lang": "zh",
        "statisticsType": "0", "contractId": "", "optionSeries": "",
    }  # fmt: skip
    return Request(
        "dce.daily",
        "daily",
        "/dcereport/publicweb/dailystat/dayQuotes",
        label=day,
        method="POST",
        headers=_JSON,
        content=json.dumps(asked, separators=(",", ":")).encode(),
    )


def parse_dalian(body: bytes, day: str) -> pd.DataFrame:
    """Columns `FUTURES_COLUMNS`; texts with `-` for none, `volumn` as it is spelled there."""
    document = object_of(json_of(body), "dce")
    if document.get("success") is not True:
        raise PayloadError(f"dce: success {document.get('success')!r:.20}")
    rows = []
    for raw in list_of(document.get("data") or [], "dce data"):
        row = object_of(raw, "dce row")
        label = string_of(row.get("variety"), "dce variety").strip()
        if _is_sum(label):
            continue
        contract_id = string_of(row.get("contractId"), "dce contractId").strip()
        fields = _asked(row, _DAY_QUOTES, f"dce {contract_id[:12]}")
        rows.append(
            contract(
                {**fields, "product": contract_id[:-4], "month": contract_id[-4:], "label": label}, "dce", day
            )
        )
    return contracts(rows, "dce")


def guangzhou_request(day: str) -> Request:
    return Request(
        "gfex.daily",
        "daily",
        "/u/interfacesWebTiDayQuotes/loadList",
        label=day,
        method="POST",
        headers=_FORM,
        content=urlencode({"trade_date": day.replace("-", ""), "trade_type": "0"}).encode(),
    )


def parse_guangzhou(body: bytes, day: str) -> pd.DataFrame:
    """Columns `FUTURES_COLUMNS`."""
    document = object_of(json_of(body), "gfex")
    if str(document.get("code")) != "0":
        raise PayloadError(f"gfex: code {document.get('code')!r:.20}")
    rows = []
    for raw in list_of(document.get("data") or [], "gfex data"):
        row = object_of(raw, "gfex row")
        label = string_of(row.get("variety"), "gfex variety").strip()
        if _is_sum(label):
            continue
        product = string_of(row.get("varietyOrder"), "gfex varietyOrder").strip()
        month = string_of(row.get("delivMonth"), "gfex delivMonth").strip()
        fields = _asked(row, _DAY_QUOTES, f"gfex {product}{month}")
        rows.append(contract({**fields, "product": product, "month": month, "label": label}, "gfex", day))
    return contracts(rows, "gfex")
