"""Calls of the futures exchanges' sites."""

import csv
import io
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlencode

import pandas as pd

from core.errors import PayloadError, Permanent, WrongUnit
from core.market.futures import turnover_fits
from resources.rejections import accepted_rows, once_each
from resources.transport.request import Fetcher, Request
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.paging import no_file
from resources.upstreams.parsing.payload import (
    amount,
    iso_day,
    json_of,
    list_of,
    number,
    object_of,
    ordered_ohlc,
    present,
    price,
    required,
    string_of,
    whole,
)
from resources.upstreams.upstream_client import UpstreamClient

# -- Daily files that are JSON: Shanghai and its energy exchange, Dalian, Guangzhou.

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

    def read(raw: Any) -> dict[str, Any] | None:
        row = object_of(raw, f"{exchange} row")
        month = string_of(row.get("DELIVERYMONTH"), f"{exchange} DELIVERYMONTH").strip()
        product = string_of(row.get("PRODUCTID"), f"{exchange} PRODUCTID").strip()
        if not (month or product):
            raise PayloadError(f"{exchange}: a row of no contract")
        if _is_sum(month) or not product.endswith("_f") or "efp" in month:
            return None
        fields = _asked(row, _SHANGHAI, f"{exchange} {product}{month}")
        label = string_of(row.get("PRODUCTNAME") or "", f"{exchange} PRODUCTNAME").strip() or None
        return contract({**fields, "product": product[:-2], "month": month, "label": label}, exchange, day)

    listed = list_of(document.get("o_curinstrument"), f"{exchange} o_curinstrument")
    return contracts(listed, read, exchange, lambda raw: _stated(raw, "PRODUCTID", "DELIVERYMONTH"))


# -- Dalian (dce) and Guangzhou (gfex)

_DALIAN = re.compile(r"([a-z]{1,2})(\d{4})(F?)")
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
    """Columns `FUTURES_COLUMNS`; texts with `-` for none, `volumn` as it is spelled there. Contracts on the
    mean price of a month (l2602F) are a product of their own (lF)."""
    document = object_of(json_of(body), "dce")
    if document.get("success") is not True:
        raise PayloadError(f"dce: success {document.get('success')!r:.20}")

    def named(row: dict[str, Any]) -> dict[str, str]:
        stated = string_of(row.get("contractId"), "dce contractId").strip()
        found = _DALIAN.fullmatch(stated)
        letters, month, kind = found.groups() if found else (stated, "", "")
        return {"product": f"{letters}{kind}", "month": month, "symbol": stated}

    return _day_quotes(document, "dce", day, named, "contractId")


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

    def named(row: dict[str, Any]) -> dict[str, str]:
        product = string_of(row.get("varietyOrder"), "gfex varietyOrder").strip()
        return {
            "product": product,
            "month": string_of(row.get("delivMonth") or "", "gfex delivMonth").strip(),
        }

    return _day_quotes(document, "gfex", day, named, "varietyOrder", "delivMonth")


def _day_quotes(
    document: dict[str, Any], exchange: str, day: str, named: Callable[[dict[str, Any]], dict[str, str]],
    *names: str,
) -> pd.DataFrame:  # fmt: skip
    """The contracts of the form that both exchanges have. `named`: product, month and symbol of a row;
    `names`: the fields that state them."""

    def read(raw: Any) -> dict[str, Any] | None:
        row = object_of(raw, f"{exchange} row")
        label = string_of(row.get("variety"), f"{exchange} variety").strip()
        of = named(row)
        if not (label or of["product"]):
            raise PayloadError(f"{exchange}: a row of no contract")
        if _is_sum(label):
            return None
        fields = _asked(row, _DAY_QUOTES, f"{exchange} {of['product'][:12]}{of['month']}")
        return contract({**fields, **of, "label": label}, exchange, day)

    listed = list_of(document.get("data") or [], f"{exchange} data")
    return contracts(listed, read, exchange, lambda raw: _stated(raw, *names))


# -- Daily files that are text: the financial futures exchange (CSV in GB 2312) and Zhengzhou (pipes).

FINANCIAL_NAMES = {
    "IF": "沪深300股指", "IH": "上证50股指", "IC": "中证500股指", "IM": "中证1000股指",
    "TS": "2年期国债", "TF": "5年期国债", "T": "10年期国债", "TL": "30年期国债",
}  # fmt: skip
ZHENGZHOU_NAMES = {
    "AP": "苹果", "CF": "棉花", "CJ": "红枣", "CY": "棉纱", "FG": "玻璃", "JR": "粳稻", "LR": "晚籼稻",
    "MA": "甲醇", "OI": "菜油", "PF": "短纤", "PK": "花生", "PL": "丙烯", "PM": "普麦", "PR": "瓶片",
    "PX": "对二甲苯", "RI": "早籼稻", "RM": "菜粕", "RS": "菜籽", "SA": "纯碱", "SF": "硅铁", "SH": "烧碱",
    "SM": "锰硅", "SR": "白糖", "TA": "PTA", "UR": "尿素", "WH": "强麦", "ZC": "动力煤",
}  # fmt: skip
_FUTURE = re.compile(r"([A-Z]{1,2})(\d?)(\d)(\d{2})")
_FINANCIAL = {
    "合约代码": "symbol", "今开盘": "open", "最高价": "high", "最低价": "low", "成交量": "volume",
    "成交金额": "amount", "持仓量": "open_interest", "持仓变化": "oi_change", "今收盘": "close",
    "今结算": "settle", "前结算": "prev_settle",
}  # fmt: skip
_ZHENGZHOU = {
    "合约代码": "symbol", "昨结算": "prev_settle", "今开盘": "open", "最高价": "high", "最低价": "low",
    "今收盘": "close", "今结算": "settle", "成交量(手)": "volume", "持仓量": "open_interest",
    "增减量": "oi_change", "成交额(万元)": "amount",
}  # fmt: skip
_ERROR_PAGE = "您的访问出错了"
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}")


def financial_request(day: str) -> Request:
    compact = day.replace("-", "")
    path = f"/sj/hqsj/rtj/{compact[:6]}/{compact[6:]}/{compact}_1.csv"
    return Request("cffex.daily", "daily", path, label=day)


def parse_financial(body: bytes, day: str) -> pd.DataFrame:
    """Columns `FUTURES_COLUMNS`, without options (IO2609-C-4000) and sums. The file says no date of its
    own."""
    try:
        table = list(csv.reader(io.StringIO(_decoded(body, "cffex"))))
    except csv.Error as error:
        raise PayloadError(f"cffex: no table of separated values: {error}") from error
    return _tabulated(table, _FINANCIAL, "cffex", day, FINANCIAL_NAMES)


def zhengzhou_request(day: str) -> Request:
    path = f"/cn/DFSStaticFiles/Future/{day[:4]}/{day.replace('-', '')}/FutureDataDaily.txt"
    return Request("czce.daily", "daily", path, label=day)


def parse_zhengzhou(body: bytes, day: str) -> pd.DataFrame:
    """Columns `FUTURES_COLUMNS`; the year of a month has one digit. PayloadError for another day, and for the
    error page that comes with status 200."""
    if _ERROR_PAGE.encode() in body or _ERROR_PAGE.encode("gbk") in body:
        raise PayloadError(f"czce: the error page {_ERROR_PAGE} in place of the file")
    lines = _decoded(body, "czce").splitlines()
    dated = _DATED.search(lines[0]) if lines else None
    if dated and dated.group(0) != day:
        raise PayloadError(f"czce answered for {dated.group(0)}, asked was {day}")
    return _tabulated([line.split("|") for line in lines[1:]], _ZHENGZHOU, "czce", day, ZHENGZHOU_NAMES)


def _tabulated(
    lines: list[list[str]], requested: dict[str, str], exchange: str, day: str, names: Mapping[str, str]
) -> pd.DataFrame:
    """The contracts of a table below its heads; lines without a symbol are sums and notes. PayloadError
    without a contract, and where the line of one breaks off."""
    table = [[cell.strip() for cell in line] for line in lines]
    stated = table[0] if table else []
    heads = {requested[head]: at for at, head in enumerate(stated) if head in requested}
    if len(heads) != len(requested):
        raise PayloadError(f"{exchange}: heads {stated[:14]}")
    place, last = heads.pop("symbol"), max(heads.values())

    def read(values: list[str]) -> dict[str, Any] | None:
        if len(values) > last and not any(values):
            raise PayloadError(f"{exchange}: a row of no contract")
        found = _FUTURE.fullmatch(values[place]) if len(values) > place else None
        if found is None:
            return None
        product, decade, year, month = found.groups()
        # One digit is the first such year from today on: no contract runs for ten years.
        today = int(day[:4])
        year = f"{decade}{year}" if decade else f"{(today + (int(year) - today) % 10) % 100:02d}"
        fields: dict[str, Any] = {name: values[at] for name, at in heads.items()}
        fields |= {"product": product, "month": f"{year}{month}", "label": names.get(product)}
        return contract(fields, exchange, day)

    broken = [one for one in table if place < len(one) <= last and _FUTURE.fullmatch(one[place])]
    if broken:
        raise PayloadError(f"{exchange} {broken[0][place]}: {len(broken[0])} values")
    made = contracts(table[1:], read, exchange, lambda values: values[0])
    if made.empty:
        raise PayloadError(f"{exchange}: a file without a contract")
    return made


def _decoded(body: bytes, what: str) -> str:
    found = present(body)
    for encoding in ("utf-8", "gb18030"):
        try:
            return found.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise PayloadError(f"{what}: neither UTF-8 nor GB 18030")


# -- One contract on one date: what the daily files of the six exchanges have in common.
# Points, contracts (counted once) and 10k CNY. A contract without a trade has no open, high and low.

FUTURES_COLUMNS: dict[str, str] = {
    **texts("symbol date product exchange name"),
    **numbers("open high low close settle prev_settle volume_contracts open_interest oi_change amount_wan"),
}
_PRODUCT = re.compile(r"[A-Za-z]{1,3}")
_MONTH = re.compile(r"\d{2}(0[1-9]|1[0-2])")
R = TypeVar("R")


def contract(fields: dict[str, Any], exchange: str, day: str) -> dict[str, Any]:
    """A row of `FUTURES_COLUMNS` of product, month (YYMM), symbol (by default both), label (Chinese name or
    None), and the texts or numbers open, high, low, close, settle, prev_settle, volume, open_interest,
    oi_change, amount (10k CNY). PayloadError for prices that do not enclose each other and a turnover
    that does not fit them."""
    product, month = fields["product"], fields["month"]
    what = f"{exchange} {str(product)[:8]}{str(month)[:8]}"
    if not _PRODUCT.fullmatch(str(product)) or not _MONTH.fullmatch(str(month)):
        raise PayloadError(f"{what} is no contract")
    volume = whole(amount(plain(fields["volume"]), f"{what} volume"), f"{what} volume")
    held = whole(amount(plain(fields["open_interest"]), f"{what} open interest"), f"{what} open interest")
    prices = {
        name: _level(fields[name], f"{what} {name}")
        for name in ("open", "high", "low", "close", "settle", "prev_settle")
    }
    if volume:
        ordered_ohlc((prices["open"], prices["high"], prices["low"], prices["close"]), what)
        required(prices["settle"], f"{what} settle")
    else:
        prices |= dict.fromkeys(("open", "high", "low"), math.nan)
    turnover = amount(plain(fields["amount"]), f"{what} amount")
    if not turnover_fits(product, turnover * 1e4, volume, prices["low"], prices["high"]):
        raise WrongUnit(f"{what}: turnover {turnover:g} wan of {volume} contracts: another unit")
    label = fields.get("label")
    return {
        "symbol": fields.get("symbol") or f"{product}{month}",
        "date": day,
        "product": product,
        "exchange": exchange.upper(),
        "name": f"{label}{month}" if label else None,
        **prices,
        "volume_contracts": volume,
        "open_interest": held,
        "oi_change": number(plain(fields["oi_change"]), f"{what} change of open interest"),
        "amount_wan": turnover,
    }


def contracts(
    raws: Sequence[R],
    read: Callable[[R], dict[str, Any] | None],
    exchange: str,
    item: Callable[[R], object],
) -> pd.DataFrame:
    """Columns `FUTURES_COLUMNS`; None of a row that is no contract. Single rows that fail validation are
    rejected, and a contract counts once."""
    rows = [row for row in accepted_rows(raws, read, exchange, item) if row is not None]
    return once_each(frame(rows, FUTURES_COLUMNS), ["symbol"], exchange)


def _stated(raw: Any, *names: str) -> str:
    """The contract that a row says it is of."""
    return "".join(str(raw.get(name) or "").strip() for name in names) if isinstance(raw, dict) else ""


def plain(value: Any) -> Any:
    """Without thousands commas and blanks."""
    return value.replace(",", "").strip() if isinstance(value, str) else value


def _level(value: Any, what: str) -> float:
    """A price; 0 says that there was none."""
    found = price(plain(value), what)
    return math.nan if found == 0 else found


Call = tuple[Callable[[str], Request], Callable[..., pd.DataFrame]]
CALLS: Mapping[str, Call] = {
    "shfe": (partial(shanghai_request, "shfe"), partial(parse_shanghai, exchange="shfe")),
    "ine": (partial(shanghai_request, "ine"), partial(parse_shanghai, exchange="ine")),
    "cffex": (financial_request, parse_financial),
    "dce": (dalian_request, parse_dalian),
    "czce": (zhengzhou_request, parse_zhengzhou),
    "gfex": (guangzhou_request, parse_guangzhou),
}
"""Exchange -> how its daily file is asked for and read."""


class FuturesClient(UpstreamClient):
    """`exchange` is one of `CALLS`."""

    def __init__(self, fetcher: Fetcher, exchange: str) -> None:
        super().__init__(fetcher)
        self.source = exchange

    def daily(self, day: str) -> pd.DataFrame:
        """Every contract of the exchange on one trade date, one call; columns `FUTURES_COLUMNS`. The night
        before belongs to the date. Empty where there is no file: no trading, or not out yet."""
        ask, parse = CALLS[self.source]
        try:
            return self._ask(ask(day), parse, day=day)
        except Permanent as error:
            if not no_file(error):
                raise
            return frame([], FUTURES_COLUMNS)
