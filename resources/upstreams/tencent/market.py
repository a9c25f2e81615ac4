"""Whole-market ranking and transaction ticks of the quote site."""

import re
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from core.errors import InputError, PayloadError
from core.market.securities import lot_of_kind
from core.market.symbols import instrument
from resources.rejections import accepted_rows, named_by
from resources.transport.request import Request, pairs
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import (
    AMT,
    amount,
    list_of,
    number,
    object_of,
    price,
    required,
    string_of,
    text_of,
    whole,
)
from resources.upstreams.parsing.rows import kinds_of, may, values_of
from resources.upstreams.tencent.bars import data_of

RANK_PAGE = 200

_wan = partial(amount, scale=1e4)
_RANK = (
    *may(price, zxj="price"),
    *may(number, zd="change_amt", zdf="change_pct", hsl="turnover_pct", lb="volume_ratio", pn="pb"),
    # The upstream's names of volume and amount are swapped.
    *may(partial(amount, scale=100), turnover="volume"),
    *may(_wan, volume="amount", zsz="total_market_cap", ltsz="float_market_cap"),
    *may(partial(number, digits=AMT, scale=1e4), zljlr="main_net"),
)
RANK_COLUMNS = texts("symbol code market name") | kinds_of(_RANK)
TICK_COLUMNS: dict[str, str] = {
    **texts("code time side"),
    "seq": "i",
    **numbers("price change_amt volume amount"),
}

_SYMBOL = re.compile(r"\A(sh|sz|bj)\d{6}\Z")
_TICKS = re.compile(r'\Av_detail_data_(\w+)=\[(\d+),"([^"]*)"\];?\Z')


@dataclass(frozen=True)
class RankPage:
    """`total` = rows of the whole list, of which `rows` is one page. `received`: rows on the wire, of which
    some may be rejected."""

    total: int
    rows: pd.DataFrame
    received: int

    def __len__(self) -> int:
        return self.received


def rank_request(offset: int) -> Request:
    return Request(
        "tencent.finance",
        "rank",
        "/cgi/cgi-bin/rank/hs/getBoardRankList",
        pairs(
            f"_appver=11.17.0&board_code=aStock&sort_type=price&direct=down&offset={offset}&count={RANK_PAGE}"
        ),
        label=f"offset={offset}",
    )


def parse_rank(body: bytes) -> RankPage:
    """`turnover` is the volume in lots and `volume` the amount in 10k CNY: upstream names are swapped."""
    data = data_of(body, "rank")
    if "total" not in data:
        raise PayloadError("rank: no total")

    def read(raw: Any) -> dict[str, Any]:
        item = object_of(raw, "rank row")
        symbol = string_of(item.get("code"), "rank code")
        if _SYMBOL.match(symbol) is None:
            raise PayloadError(f"rank: {symbol!r} is no symbol")
        what = instrument(symbol)
        return {
            "symbol": symbol,
            "code": what.dataset_code,
            "market": what.market,
            "name": string_of(item.get("name"), "rank name"),
            **values_of(item, _RANK, symbol),
        }

    raws = list_of(data.get("rank_list"), "rank_list")
    rows = frame(accepted_rows(raws, read, "rank", named_by("code")), RANK_COLUMNS)
    return RankPage(whole(number(data["total"], "rank total"), "rank total"), rows, len(raws))


def ticks_request(symbol: str, page: int) -> Request:
    what = instrument(symbol)
    if page < 0:
        raise InputError("page", f"{page} is below 0")
    return Request(
        "tencent.ticks",
        "ticks",
        "/data/index.php",
        (("appn", "detail"), ("action", "data"), ("c", what.symbol), ("p", str(page))),
        label=f"{what.symbol} page={page}",
    )


def parse_ticks(body: bytes, symbol: str, page: int) -> pd.DataFrame:
    """Columns `TICK_COLUMNS`: volume shares, amount CNY, side B, S or M. The page after the last one
    is an empty body."""
    what = instrument(symbol)
    if not body.strip():
        return frame([], TICK_COLUMNS)
    match = _TICKS.match(text_of(body, "gb18030"))
    if match is None:
        raise PayloadError(f"{symbol}: ticks are malformed")
    if match.group(1) != symbol or int(match.group(2)) != page:
        raise PayloadError(f"{symbol}: ticks are those of {match.group(1)} page {match.group(2)}")
    # Lots on every board [assumed for STAR]; bonds trade in lots of 10.
    lot = lot_of_kind(what.kind)
    rows = []
    for line in filter(None, match.group(3).split("|")):
        parts = line.split("/")
        if len(parts) != 7 or re.fullmatch(r"\d\d:\d\d:\d\d", parts[1]) is None or parts[6] not in "BSM":
            raise PayloadError(f"{symbol}: tick {line!r}")
        rows.append(
            {
                "code": what.dataset_code,
                "seq": whole(number(parts[0], "tick number"), "tick number"),
                "time": parts[1],
                "price": required(price(parts[2], "tick price"), "tick price"),
                "change_amt": number(parts[3], "tick change"),
                "volume": required(amount(parts[4], "tick volume", scale=lot), "tick volume"),
                "amount": required(amount(parts[5], "tick amount"), "tick amount"),
                "side": parts[6],
            }
        )
    return frame(rows, TICK_COLUMNS)
