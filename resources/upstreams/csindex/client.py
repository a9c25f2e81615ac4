"""Calls of the index provider."""

from functools import partial
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.rejections import accepted_rows, named_by, once_each
from resources.transport.request import Request
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import (
    amount,
    iso_day,
    json_of,
    list_of,
    number,
    object_of,
    string_of,
)
from resources.upstreams.parsing.rows import kinds_of, may, named, padded_code, values_of
from resources.upstreams.parsing.xls import book_rows, table_of
from resources.upstreams.upstream_client import UpstreamClient

# -- index-perf: daily bars of one index with its rolling PE (`peg`).

_HUNDRED = 1e6
"""Shares in 10,000 lots."""
_YI = 1e8


def _text(value: Any, what: str) -> str | None:
    return None if value is None else string_of(value, what)


_PERF = (
    *may(_text, indexNameCn="index_name"),
    *may(number, open="open", high="high", low="low", close="close", changePct="change_pct"),
    *may(partial(amount, scale=_HUNDRED), tradingVol="volume"),
    *may(partial(amount, scale=_YI), tradingValue="amount"),
    *may(amount, consNumber="member_count"),
    *may(number, peg="pe_ttm"),
)
PERF_COLUMNS = texts("date") | kinds_of(_PERF)
"""Points, percent, shares, CNY."""


def perf_request(index: str, since: str, until: str) -> Request:
    params = (
        ("indexCode", index),
        ("startDate", since.replace("-", "")),
        ("endDate", until.replace("-", "")),
    )
    return Request(
        "csindex.site",
        "index_perf",
        "/csindex-home/perf/index-perf",
        params,
        label=f"{index} {since}..{until}",
        headers=(("X-Requested-With", "XMLHttpRequest"),),
    )


def parse_perf(body: bytes, index: str, since: str, until: str) -> pd.DataFrame:
    """Columns `PERF_COLUMNS`, oldest first; indices of total return have a close alone."""
    what = f"index-perf {index}"
    document = object_of(json_of(body), what)
    if str(document.get("code")) != "200":
        raise PayloadError(f"{what}: code {document.get('code')!r} {str(document.get('msg'))[:60]}")
    listed = document.get("data")

    def read(raw: Any) -> dict[str, Any]:
        row = object_of(raw, f"{what} row")
        code = string_of(row.get("indexCode"), f"{what} indexCode")
        if code != index:
            raise PayloadError(f"{what}: {code[:20]!r} instead of {index}")
        day = iso_day(string_of(row.get("tradeDate"), f"{what} tradeDate"), f"{what} tradeDate")
        if not since <= day <= until:
            raise PayloadError(f"{what}: a row of {day}, asked was {since}..{until}")
        values = values_of(row, _PERF, what)
        if values["close"] <= 0:
            raise PayloadError(f"{what} {day}: a close that is not above zero")
        return {"date": day, **values}

    raws = [] if listed is None else list_of(listed, f"{what} data")
    rows = frame(accepted_rows(raws, read, what, named_by("tradeDate")), PERF_COLUMNS)
    return once_each(rows, ["date"], what).sort_values("date").reset_index(drop=True)


# -- Workbooks of the index provider: members, weights at the end of a month, ratios of some twenty dates.

MEMBER_COLUMNS: dict[str, str] = {**texts("as_of_date index_name code name"), **numbers("weight_pct")}
RATIO_COLUMNS: dict[str, str] = {**texts("date"), **numbers("pe dividend_yield")}
"""`pe` and `dividend_yield` (percent) by total shares."""
_FOLDER = "/static/html/csindex/public/uploads/file/autofile"
_MEMBER = named("date 日期 index 指数代码 index_name 指数名称 code 成分券代码 name 成分券名称")
_RATIO = named("date 日期 index 指数代码 pe 市盈率1 dividend_yield 股息率1")
_ROUNDING, _HEAVIEST = 1.0, 30.0
"""Percent points by which the weights of an index may miss 100, and by which without a rejected member."""


def sheet_request(kind: str, index: str) -> Request:
    """`kind` cons, closeweight or indicator; `index` six digits."""
    path = f"{_FOLDER}/{kind}/{index}{kind}.xls"
    return Request("csindex.files", kind, path, label=index)


def parse_members(body: bytes, index: str, *, weighted: bool) -> pd.DataFrame:
    """Columns `MEMBER_COLUMNS`, all of one date. PayloadError for another index, a duplicate member, several
    dates, or weights that do not make 100."""
    what = f"{'weights' if weighted else 'members'} {index}"
    requested = {**_MEMBER, "weight": "权重"} if weighted else _MEMBER

    def read(row: dict[str, str]) -> dict[str, Any]:
        _of(row["index"], index, what)
        weight = number(row["weight"], f"{what} weight") if weighted else float("nan")
        if weight < 0 or weight > 100:
            raise PayloadError(f"{what}: a weight of {weight}")
        return {
            "as_of_date": iso_day(row["date"], f"{what} date"),
            "index_name": row["index_name"] or None,
            "code": padded_code(row["code"], what),
            "name": row["name"] or None,
            "weight_pct": weight,
        }

    listed = table_of(book_rows(body, what), requested, what)
    rows = frame(accepted_rows(listed, read, what, named_by("code")), MEMBER_COLUMNS)
    if rows.empty:
        raise PayloadError(f"{what}: no member")
    rows = once_each(rows, ["code"], what)
    if rows["as_of_date"].nunique() != 1:
        raise PayloadError(f"{what}: several dates")
    least = 100 - (_ROUNDING if len(rows) == len(listed) else _HEAVIEST)
    if weighted and not least <= rows["weight_pct"].sum() <= 100 + _ROUNDING:
        raise PayloadError(f"{what}: the weights make {rows['weight_pct'].sum():.2f}")
    return rows


def parse_ratios(body: bytes, index: str) -> pd.DataFrame:
    """Columns `RATIO_COLUMNS`, oldest date first."""
    what = f"ratios {index}"

    def read(row: dict[str, str]) -> dict[str, Any]:
        _of(row["index"], index, what)
        return {
            "date": iso_day(row["date"], f"{what} date"),
            "pe": number(row["pe"], f"{what} 市盈率1"),
            "dividend_yield": number(row["dividend_yield"], f"{what} 股息率1"),
        }

    listed = table_of(book_rows(body, what), _RATIO, what)
    rows = frame(accepted_rows(listed, read, what, named_by("date")), RATIO_COLUMNS)
    return once_each(rows, ["date"], what).sort_values("date").reset_index(drop=True)


def _of(stated: str, index: str, what: str) -> None:
    if stated.zfill(6) != index:
        raise PayloadError(f"{what}: {stated[:20]!r} instead of {index}")


class CsindexClient(UpstreamClient):
    """Indices are six digits; one that the provider does not publish is a `Permanent` (404)."""

    source = "csindex"

    def members(self, index: str) -> pd.DataFrame:
        """Present members without weights; columns `MEMBER_COLUMNS`. One call."""
        return self._ask(sheet_request("cons", index), parse_members, index=index, weighted=False)

    def weights(self, index: str) -> pd.DataFrame:
        """Members with their weights at the end of the last month; columns `MEMBER_COLUMNS`. One call."""
        return self._ask(sheet_request("closeweight", index), parse_members, index=index, weighted=True)

    def ratios(self, index: str) -> pd.DataFrame:
        """PE and yield of the last twenty trade dates or so; columns `RATIO_COLUMNS`. One call."""
        return self._ask(sheet_request("indicator", index), parse_ratios, index=index)

    def history(self, index: str, since: str, until: str) -> pd.DataFrame:
        """Bars with the rolling PE between two dates; columns `PERF_COLUMNS`. One call."""
        return self._ask(perf_request(index, since, until), parse_perf, index=index, since=since, until=until)
