"""clist, ulist.np, slist: rows of f-fields to canonical columns.

One table per kind of row says field -> column, how to read it and by what to scale it. Volumes are
lots on every board (STAR too), amounts and caps CNY. The server silently caps a page at 100 rows.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.errors import InputError, PayloadError
from core.market.symbols import instrument
from resources.rejections import accepted_rows, accepted_table, once_each
from resources.transport.request import Request, pairs
from resources.upstreams.eastmoney.quotes.envelope import PUBLIC_TOKEN, data_of, diff_of, symbol_of
from resources.upstreams.eastmoney.quotes.fields import (
    read_count,
    read_day,
    read_lots,
    read_moment,
    read_net,
    read_price,
    read_ratio,
    read_tally,
    read_text,
    read_wan,
    values_of,
    wire_fields,
)
from resources.upstreams.parsing.frames import frame, texts
from resources.upstreams.parsing.payload import check_unit, number, string_of, whole
from resources.upstreams.parsing.rows import Field, kinds_of, may

PAGE = 100

ALL_A = "m:0+t:6,m:0+t:80,m:1+t:2,m:1+t:23,m:0+t:81+s:2048"
BOARD_FILTERS = {"industry": "m:90+t:2+f:!50", "concept": "m:90+t:3+f:!50", "region": "m:90+t:1+f:!50"}

QUOTE_FIELDS = (
    *may(
        read_price,
        f2="price",
        f17="open",
        f15="high",
        f16="low",
        f18="last_close",
        f350="limit_up",
        f351="limit_down",
    ),
    *may(
        read_ratio, f4="change_amt", f3="change_pct", f7="amplitude_pct", f8="turnover_pct", f22="speed_pct"
    ),
    *may(read_ratio, f11="change_pct_5m", f10="volume_ratio", f9="pe_dynamic", f115="pe_ttm", f23="pb"),
    *may(
        read_ratio, f109="change_pct_5d", f160="change_pct_10d", f110="change_pct_20d", f24="change_pct_60d"
    ),
    *may(read_ratio, f25="change_pct_ytd"),
    *may(read_lots, f5="volume"),
    *may(read_tally, f6="amount"),
    *may(read_wan, f20="total_market_cap", f21="float_market_cap"),
    *may(read_count, f38="total_shares", f39="float_shares"),
    *may(read_day, f26="list_date", f297="trade_date"),
    *may(read_moment, f124="quote_time"),
)
FLOW_FIELDS = (
    *may(read_net, f62="main_net", f66="super_net", f72="large_net", f78="medium_net", f84="small_net"),
    *may(read_ratio, f184="main_net_pct", f69="super_net_pct", f75="large_net_pct", f81="medium_net_pct"),
    *may(read_ratio, f87="small_net_pct"),
    *may(read_tally, f64="super_large_in", f65="super_large_out", f70="large_in", f71="large_out"),
    *may(read_tally, f76="medium_in", f77="medium_out", f82="small_in", f83="small_out"),
)
STOCK_FIELDS = (*QUOTE_FIELDS, *FLOW_FIELDS, *may(read_text, f100="industry", f102="region", f103="concepts"))
BOARD_FIELDS = (
    *may(read_price, f2="price"),
    *may(
        read_ratio,
        f3="change_pct",
        f4="change_amt",
        f8="turnover_pct",
        f109="change_pct_5d",
        f136="leader_pct",
    ),
    *may(read_tally, f6="amount", f104="up_count", f105="down_count", f106="flat_count"),
    *may(read_wan, f20="total_market_cap", f21="float_market_cap"),
    *may(read_net, f62="main_net", f66="super_net", f72="large_net", f78="medium_net", f84="small_net"),
    *may(read_ratio, f184="main_net_pct"),
    *may(
        read_text,
        f128="leader_name",
        f140="leader_code",
        f204="inflow_leader_name",
        f205="inflow_leader_code",
    ),
)
INDEX_FIELDS = (*QUOTE_FIELDS, *may(read_tally, f104="up_count", f105="down_count", f106="flat_count"))
SLIST_FIELDS = (*may(read_ratio, f3="change_pct"), *may(read_text, f128="leader_name"))

_LISTED = "symbol code market sec_type name"
STOCK_COLUMNS = texts(_LISTED) | kinds_of(STOCK_FIELDS) | {"is_suspended": "b"}
QUOTE_COLUMNS = texts(_LISTED) | kinds_of((*INDEX_FIELDS, *FLOW_FIELDS)) | {"is_suspended": "b"}
BOARD_COLUMNS = texts("board_code board_name board_type") | kinds_of(BOARD_FIELDS)
MEMBER_COLUMNS = texts("board_code symbol code market name") | kinds_of(may(read_ratio, f3="change_pct"))
SLIST_COLUMNS = texts("code board_code board_name") | kinds_of(SLIST_FIELDS)


@dataclass(frozen=True)
class ListPage:
    """`total` = rows of the whole list as the server counts them (unreliable for boards). `received`: rows on
    the wire, of which some may be rejected."""

    total: int
    rows: pd.DataFrame
    received: int

    def __len__(self) -> int:
        return self.received


def clist_request(fs: str, names: str, page: int, *, fid: str = "f12", descending: bool = False) -> Request:
    """One page of a list. It is sorted by code, since an unsorted list drifts between pages."""
    return Request(
        "eastmoney.push2",
        "clist",
        "/api/qt/clist/get",
        pairs(
            f"pn={page}&pz={PAGE}&po={'1' if descending else '0'}&np=1&fltt=2&invt=2&fid={fid}&fs={fs}"
            f"&fields={names}&ut={PUBLIC_TOKEN}"
        ),
        label=f"{fs} page={page}",
    )


def parse_page(
    body: bytes,
    what: str,
    read: Callable[[Sequence[Mapping[str, Any]]], pd.DataFrame],
    *,
    known: bool = False,
) -> ListPage:
    """One page as a frame that `read` makes of its raw rows; no data is a page without rows. `known`: there
    is such a list, so that an answer that knows none is a PayloadError."""
    data = data_of(body, what, known=known)
    if data is None:
        return ListPage(0, read([]), 0)
    rows = diff_of(data, what)
    if len(rows) > PAGE:
        raise PayloadError(f"{what}: {len(rows)} rows on a page of {PAGE}")
    total = whole(number(data.get("total"), f"{what} total"), f"{what} total")
    return ListPage(total, accepted_table(rows, read, what, _stated_code), len(rows))


def _stated_code(raw: Mapping[str, Any]) -> object:
    return raw.get("f12")


def ulist_request(symbols: Sequence[str], names: str) -> Request:
    secids = ",".join(instrument(symbol).secid for symbol in symbols)
    return Request(
        "eastmoney.push2",
        "ulist",
        "/api/qt/ulist.np/get",
        (("fltt", "2"), ("invt", "2"), ("np", "1"), ("fields", names), ("secids", secids)),
        label=secids,
    )


def parse_ulist(body: bytes, symbols: Sequence[str]) -> pd.DataFrame:
    """Quotes of named securities; columns `QUOTE_COLUMNS`. Unknown ones have no row."""
    data = data_of(body, "ulist")
    rows = [] if data is None else diff_of(data, "ulist")
    result = accepted_table(
        rows,
        lambda raws: listed_rows(raws, (*INDEX_FIELDS, *FLOW_FIELDS), QUOTE_COLUMNS, "ulist"),
        "ulist",
        _stated_code,
    )
    strangers = set(result["symbol"]) - set(symbols)
    if strangers:
        raise PayloadError(f"ulist: {', '.join(sorted(strangers))} was not asked for")
    return once_each(result, ["symbol"], "ulist")


def slist_request(symbol: str) -> Request:
    what = instrument(symbol)
    return Request(
        "eastmoney.push2",
        "slist",
        "/api/qt/slist/get",
        pairs(f"fltt=2&invt=2&secid={what.secid}&spt=3&pi=0&pz=200&po=1&fields={wire_fields(SLIST_FIELDS)}"),
        label=what.symbol,
    )


def parse_slist(body: bytes, symbol: str) -> pd.DataFrame:
    """The boards of one stock (industry, concept and region mixed); columns `SLIST_COLUMNS`."""
    data = data_of(body, f"slist {symbol}")

    def read(raw: Mapping[str, Any]) -> dict[str, Any]:
        board = _board_code(raw)
        return {
            "code": instrument(symbol).dataset_code,
            "board_code": board,
            "board_name": _name(raw, board),
            **values_of(raw, SLIST_FIELDS, board),
        }

    listed = [] if data is None else diff_of(data, "slist")
    rows = accepted_rows(listed, read, f"slist {symbol}", _stated_code)
    return once_each(frame(rows, SLIST_COLUMNS), ["board_code"], f"slist {symbol}")


def listed_rows(
    raws: Sequence[Mapping[str, Any]], table: Sequence[Field], columns: Mapping[str, str], what: str
) -> pd.DataFrame:
    """Rows of securities. Raises on prices out of order and on volumes in another unit."""
    rows = []
    for raw in raws:
        symbol = _symbol(raw, what)
        listed = instrument(symbol)
        values = values_of(raw, table, symbol)
        if "price" in values and listed.kind in {"stock", "etf", "lof", "reit", "b"}:
            check_unit(
                shares=values.get("volume", math.nan),
                amount_cny=values.get("amount", math.nan),
                low=values.get("low", math.nan),
                high=values.get("high", math.nan),
                what=f"{what} {symbol}",
            )
        if values.get("high", math.nan) < values.get("low", math.nan):
            raise PayloadError(f"{what} {symbol}: high is below low")
        rows.append(
            {
                "symbol": symbol,
                "code": listed.dataset_code,
                "market": listed.market,
                "sec_type": listed.kind,
                "name": _name(raw, symbol),
                # A suspended stock has "-" in place of its price.
                "is_suspended": raw.get("f2") == "-",
                **values,
            }
        )
    return frame(rows, columns)


def stock_rows(raws: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows of the list of all A shares; columns `STOCK_COLUMNS`."""
    return listed_rows(raws, STOCK_FIELDS, STOCK_COLUMNS, "stock list")


def board_rows(raws: Sequence[Mapping[str, Any]], kind: str) -> pd.DataFrame:
    """Rows of boards; columns `BOARD_COLUMNS`."""
    rows = []
    for raw in raws:
        board = _board_code(raw)
        rows.append(
            {
                "board_code": board,
                "board_name": _name(raw, board),
                "board_type": kind,
                **values_of(raw, BOARD_FIELDS, board),
            }
        )
    return frame(rows, BOARD_COLUMNS)


def member_rows(raws: Sequence[Mapping[str, Any]], board_code: str) -> pd.DataFrame:
    """Constituents of a board; columns `MEMBER_COLUMNS`. B shares stay: the caller knows its universe."""
    listed = listed_rows(raws, may(read_ratio, f3="change_pct"), STOCK_COLUMNS, f"board {board_code}")
    return listed.assign(board_code=board_code)[list(MEMBER_COLUMNS)]


def board_filter(board_code: str) -> str:
    if not (board_code.startswith("BK") and board_code[2:].isalnum() and len(board_code) <= 10):
        raise InputError("board_code", f"{board_code!r} is no board code like BK0428")
    return f"b:{board_code}+f:!50"


def _symbol(raw: Mapping[str, Any], what: str) -> str:
    return symbol_of(raw.get("f12"), raw.get("f13"), what)


def _board_code(raw: Mapping[str, Any]) -> str:
    code = raw.get("f12")
    if not isinstance(code, str) or not code.startswith("BK"):
        raise PayloadError(f"boards: {code!r} is no board code")
    return code


def _name(raw: Mapping[str, Any], owner: str) -> str:
    name = string_of(raw.get("f14"), f"{owner} name").strip()
    if not name:
        raise PayloadError(f"{owner}: no name")
    return name
