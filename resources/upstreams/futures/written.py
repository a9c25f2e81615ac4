"""Daily files that are text: the financial futures exchange (CSV in GB 2312) and Zhengzhou (pipes)."""

import csv
import io
import re
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.transport.request import Request
from resources.upstreams.futures.contracts import contract, contracts
from resources.upstreams.parsing.payload import present

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
_FUTURE = re.compile(r"([A-Z]{1,2})(\d{4})")
_FINANCIAL = {
    "合约代码": "symbol", "今开盘": "open", "最高价": "high", "最低价": "low", "成交量": "volume",
    "成交金额": "amount", "持仓量": "open_interest", "持仓变化": "oi_change", "今收盘": "close",
    "今结算": "settle", "前结算": "prev_settle",
}  # fmt: skip
_SHORT = re.compile(r"([A-Z]{2})(\d)(\d{2})")
_ZHENGZHOU = {
    "合约代码": "symbol", "昨结算": "prev_settle", "今开盘": "open", "最高价": "high", "最低价": "low",
    "今收盘": "close", "今结算": "settle", "成交量(手)": "volume", "持仓量": "open_interest",
    "增减量": "oi_change", "成交额(万元)": "amount",
}  # fmt: skip
_NOTHING = "您的访问出错了"
_DATED = re.compile(r"(\d{4})-(\d{2})-(\d{2})")


def financial_request(day: str) -> Request:
    compact = day.replace("-", "")
    path = f"/sj/hqsj/rtj/{compact[:6]}/{compact[6:]}/{compact}_1.csv"
    return Request("cffex.daily", "daily", path, label=day)


def parse_financial(body: bytes, day: str) -> pd.DataFrame:
    """Columns `FUTURES_COLUMNS`, without options and sums. The file says no date of its own."""
    text = _decoded(body, ("gb18030",), "cffex")
    try:
        table = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text))]
    except csv.Error as error:
        raise PayloadError(f"cffex: no table of separated values: {error}") from error
    heads = _heads(table[0] if table else [], _FINANCIAL, "cffex")
    rows = []
    for values in table[1:]:
        found = _FUTURE.fullmatch(values[heads["symbol"]]) if len(values) > heads["symbol"] else None
        if found is None:
            continue  # sums, and options (IO2609-C-4000)
        product, month = found.groups()
        fields = _values(values, heads, f"cffex {product}{month}")
        label = FINANCIAL_NAMES.get(product)
        rows.append(contract({**fields, "product": product, "month": month, "label": label}, "cffex", day))
    if not rows:
        raise PayloadError("cffex: a file without a contract")
    return contracts(rows, "cffex")


def zhengzhou_request(day: str) -> Request:
    path = f"/cn/DFSStaticFiles/Future/{day[:4]}/{day.replace('-', '')}/FutureDataDaily.txt"
    return Request("czce.daily", "daily", path, label=day)


def parse_zhengzhou(body: bytes, day: str) -> pd.DataFrame:
    """Columns `FUTURES_COLUMNS`; the year of a month has one digit. PayloadError for another day; empty for
    the page that says that there is none."""
    if _NOTHING.encode() in body or _NOTHING.encode("gbk") in body:
        return contracts([], "czce")
    lines = _decoded(body, ("utf-8", "gb18030"), "czce").splitlines()
    dated = _DATED.search(lines[0]) if lines else None
    if dated and dated.group(0) != day:
        raise PayloadError(f"czce answered for {dated.group(0)}, asked was {day}")
    table = [[cell.strip() for cell in line.split("|")] for line in lines[1:]]
    heads = _heads(table[0] if table else [], _ZHENGZHOU, "czce")
    rows = []
    for values in table[1:]:
        found = _SHORT.fullmatch(values[heads["symbol"]]) if len(values) > heads["symbol"] else None
        if found is None:
            continue  # sums and notes
        product, digit, month = found.groups()
        fields = _values(values, heads, f"czce {product}{digit}{month}")
        label = ZHENGZHOU_NAMES.get(product)
        full = f"{_year(int(digit), int(day[:4])) % 100:02d}{month}"
        rows.append(contract({**fields, "product": product, "month": full, "label": label}, "czce", day))
    if not rows:
        raise PayloadError("czce: a file without a contract")
    return contracts(rows, "czce")


def _year(digit: int, today: int) -> int:
    """The first year from `today` on that ends with the digit: no contract runs for ten years."""
    return today + (digit - today) % 10


def _decoded(body: bytes, encodings: tuple[str, ...], what: str) -> str:
    found = present(body)
    for encoding in encodings:
        try:
            return found.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise PayloadError(f"{what}: neither {' nor '.join(encodings)}")


def _heads(heads: list[str], requested: dict[str, str], what: str) -> dict[str, int]:
    """Place of each requested column."""
    place = {requested[head]: at for at, head in enumerate(heads) if head in requested}
    if len(place) != len(requested):
        raise PayloadError(f"{what}: heads {heads[:14]}")
    return place


def _values(values: list[str], heads: dict[str, int], what: str) -> dict[str, Any]:
    if len(values) <= max(heads.values()):
        raise PayloadError(f"{what}: {len(values)} values")
    return {name: values[at] for name, at in heads.items() if name != "symbol"}
