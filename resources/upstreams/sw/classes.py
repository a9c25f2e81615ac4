"""Which stock belongs to which industry: two workbooks, one of the classes, one of the stocks.

A stock has a row for each class that it was ever put in; the newest one up to a day is in force. Classes have
codes of six digits (two for the first level, two for the second, two for the third), which are not the codes
of the indices; both know the names.
"""

from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.transport.request import Request
from resources.upstreams.parsing.frames import frame, texts
from resources.upstreams.parsing.payload import iso_day
from resources.upstreams.parsing.xls import book_rows, table_of

CLASS_COLUMNS = texts("class_code l1_name l2_name l3_name")
STOCK_COLUMNS = texts("code in_date class_code")
_FOLDER = "/swindex/pdf/SwClass2021"


def classes_request() -> Request:
    return Request("sw.site", "classes", f"{_FOLDER}/SwClassCode_2021.xls", label="classes")


def stocks_request() -> Request:
    return Request("sw.site", "class_stocks", f"{_FOLDER}/StockClassifyUse_stock.xls", label="stocks")


def parse_classes(body: bytes) -> pd.DataFrame:
    """Classes of the third level; columns `CLASS_COLUMNS`."""
    what = "classes"
    requested = {"code": "行业代码", "l1": "一级行业", "l2": "二级行业", "l3": "三级行业"}
    made: list[dict[str, Any]] = []
    for row in table_of(book_rows(body, what), requested, what):
        code = _digits(row["code"], what)
        if row["l3"]:
            made.append(
                {"class_code": code, "l1_name": row["l1"], "l2_name": row["l2"], "l3_name": row["l3"]}
            )
    rows = frame(made, CLASS_COLUMNS)
    if (
        rows.empty
        or rows["class_code"].duplicated().any()
        or (rows[["l1_name", "l2_name"]] == "").any(axis=None)
    ):
        raise PayloadError("classes: none, one twice, or one without its upper levels")
    return rows


def parse_stocks(body: bytes, day: str) -> pd.DataFrame:
    """The class of every stock that is in force on `day`; columns `STOCK_COLUMNS`."""
    what = "class stocks"
    requested = {"code": "股票代码", "in_date": "计入日期", "class_code": "行业代码"}
    made = [
        {
            "code": _digits(row["code"], what),
            "in_date": iso_day(row["in_date"][:10], f"{what} 计入日期"),
            "class_code": _digits(row["class_code"], what),
        }
        for row in table_of(book_rows(body, what), requested, what)
    ]
    rows = frame(made, STOCK_COLUMNS)
    known = rows[rows["in_date"] <= day].sort_values(["code", "in_date"], kind="stable")
    if known.empty:
        raise PayloadError("class stocks: no stock")
    return known.drop_duplicates("code", keep="last").reset_index(drop=True)


def _digits(text: str, what: str) -> str:
    code = text.zfill(6)
    if len(code) != 6 or not code.isascii() or not code.isdigit():
        raise PayloadError(f"{what}: {text[:20]!r} is no code")
    return code
