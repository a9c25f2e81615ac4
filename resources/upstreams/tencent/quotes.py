"""qt.gtimg.cn snapshots: `v_<symbol>="f0~f1~...";` per code, GBK.

The record grew over the years, so fields are read from the left and the count is only bounded below.
Two traps decide the layout here: field 44 is the FLOAT cap and 45 the TOTAL cap (one public table has
them swapped; price x shares settles it), and field 6 is lots except on the STAR board (shares).
"""

import math
import re
from collections.abc import Sequence
from datetime import timedelta
from zoneinfo import ZoneInfo

import pandas as pd

from core.errors import PayloadError
from core.market.securities import lot_of_kind
from core.market.symbols import Instrument, instrument
from resources.rejections import accepted_rows, once_each
from resources.transport.request import Request
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import (
    PCT,
    amount,
    check_unit,
    iso_day,
    moment,
    nothing_to_missing,
    number,
    price,
    quoted_limits,
    text_of,
)
from resources.upstreams.parsing.rows import named

CODES_PER_CALL = 60

_STATEMENT = re.compile(r'v_([A-Za-z]{2}[A-Za-z0-9.]+|pv_none_match)="([^"]*)";\s*')
_MARKET_IDS = {"1": "SH", "51": "SZ", "62": "BJ", "100": "HK", "200": "US"}
_STATUS = {"S": "S", "D": "D", "U": "P"}
_NEW_YORK = ZoneInfo("America/New_York")
_HUNDRED_MILLION_TO_WAN = 10_000.0

# A mainland record is whole from here on: the static PE (53) is the last field of the documented core.
_MIN_FIELDS = {"SH": 53, "SZ": 53, "BJ": 53, "HK": 50, "US": 50}

QUOTE_COLUMNS: dict[str, str] = {
    **texts("symbol code market sec_type name trade_date quote_time list_status currency"),
    "is_suspended": "b",
    # CNY (HKD, USD)
    **numbers("price open high low last_close change_amt avg_price limit_up limit_down"),
    # percent
    **numbers("change_pct amplitude_pct turnover_pct dividend_yield"),
    # shares, CNY
    **numbers("volume amount outer_volume inner_volume"),
    **numbers("volume_ratio pe_ttm pe_static pe_dynamic pb"),
    # 10k CNY, shares
    **numbers("total_market_cap float_market_cap total_shares float_shares"),
    **numbers("bid1 bid1_vol bid2 bid2_vol bid3 bid3_vol bid4 bid4_vol bid5 bid5_vol"),
    **numbers("ask1 ask1_vol ask2 ask2_vol ask3 ask3_vol ask4 ask4_vol ask5 ask5_vol"),
    **numbers("high_52w low_52w change_pct_5d change_pct_10d change_pct_20d change_pct_60d change_pct_ytd"),
    **numbers("roe roa beta after_hours_volume after_hours_amount nav iopv premium_pct"),
}


def places(text: str) -> dict[str, int]:
    """`"change_amt 31 pb 46"` as column -> field, for values that need no more than a number."""
    return {column: int(field) for column, field in named(text).items()}


_MAINLAND = places(
    "change_amt 31 change_pct 32 turnover_pct 38 pe_ttm 39 amplitude_pct 43 pb 46 volume_ratio 49 "
    "pe_dynamic 52 pe_static 53 beta 56 change_pct_ytd 62 change_pct_5d 63 dividend_yield 64 roe 65 roa 66 "
    "change_pct_10d 69 change_pct_20d 70 change_pct_60d 71 premium_pct 77"
)
_HONG_KONG = places(
    "change_amt 31 change_pct 32 amplitude_pct 43 dividend_yield 47 volume_ratio 50 pe_ttm 57 pb 58 "
    "turnover_pct 59 change_pct_ytd 61 change_pct_5d 62 roe 64 roa 65 change_pct_10d 66 change_pct_20d 67 "
    "change_pct_60d 68"
)
_US = places(
    "change_amt 31 change_pct 32 turnover_pct 38 pe_ttm 39 pe_static 41 amplitude_pct 43 pb 51 "
    "change_pct_ytd 54 change_pct_5d 55 roe 57 roa 58 change_pct_10d 59 change_pct_20d 60 change_pct_60d 61 "
    "volume_ratio 64"
)


def quotes_request(symbols: Sequence[str]) -> Request:
    """At most 60 symbols; each is validated, since it becomes part of the path."""
    names = ",".join(instrument(symbol).symbol for symbol in symbols)
    return Request("tencent.quote", "quote", f"/q={names}", label=names)


def parse_quotes(body: bytes, symbols: Sequence[str]) -> pd.DataFrame:
    """One row per known symbol, in the order of the answer. Unknown symbols have no row."""
    text = text_of(body, "gb18030")
    asked = frozenset(symbols)
    records: list[tuple[str, list[str]]] = []
    at = 0
    while at < len(text):
        statement = _STATEMENT.match(text, at)
        if statement is None:
            raise PayloadError(f"quote: no statement at character {at}: {text[at : at + 40]!r}")
        at = statement.end()
        symbol, record = statement.group(1), statement.group(2)
        if symbol == "pv_none_match" or not record:
            continue
        if symbol not in asked:
            raise PayloadError(f"quote: {symbol} was not asked for")
        records.append((symbol, record.split("~")))
    rows = accepted_rows(records, lambda one: parse_record(*one), "quote", lambda one: one[0])
    return once_each(frame(rows, QUOTE_COLUMNS), ["symbol"], "quote")


def parse_record(symbol: str, fields: Sequence[str]) -> dict[str, object]:
    """One record as canonical values. Raises `PayloadError` when it is not the record of `symbol`."""
    what = instrument(symbol)
    if len(fields) < _MIN_FIELDS[what.market]:
        raise PayloadError(f"quote {symbol}: only {len(fields)} fields")
    check_identity(what, fields)
    if what.market == "HK":
        return _foreign(what, fields, _HONG_KONG, volume=6, shares=(69, 70), high_low=(48, 49), mean=73)
    if what.market == "US":
        return _foreign(what, fields, _US, volume=36, shares=(62, 63), high_low=(48, 49), mean=67)
    return _mainland(what, fields)


def check_identity(what: Instrument, fields: Sequence[str]) -> None:
    """The record must be that of `what`: same code, same market, an index only where one was asked for."""
    code = fields[2].partition(".")[0] if what.market == "US" and what.kind != "index" else fields[2]
    if code.lstrip(".") != what.code.partition(".")[0].lstrip("."):
        raise PayloadError(f"{what.symbol}: the record is that of code {fields[2]!r}")
    market = _MARKET_IDS.get(fields[0])
    if market is not None and market != what.market:
        raise PayloadError(f"{what.symbol}: the record is that of market {market}")
    kind = fields[61] if len(fields) > 61 else ""
    if what.market in {"SH", "SZ"} and kind and (kind == "ZS") != (what.kind == "index"):
        raise PayloadError(f"{what.symbol}: the record is that of a {kind}")


def lot_of(what: Instrument) -> int:
    """Shares per unit of field 6 and of bar volumes: lots, but shares on STAR and abroad.

    Convertible bonds trade in lots of 10."""
    if what.is_star or what.market in {"HK", "US"}:
        return 1
    return lot_of_kind(what.kind)


def _mainland(what: Instrument, fields: Sequence[str]) -> dict[str, object]:
    lot = lot_of(what)
    money = _money(what, fields)
    row = _common(what, fields)
    row |= {name: _value(fields, at, name, what) for name, at in _MAINLAND.items()}
    row |= {
        "list_status": _STATUS.get(fields[40], "L"),
        "volume": _amount(fields, 6, "volume", what, lot),
        "outer_volume": _amount(fields, 7, "outer_volume", what, lot),
        "inner_volume": _amount(fields, 8, "inner_volume", what, lot),
        "amount": money,
        "float_market_cap": nothing_to_missing(_amount(fields, 44, "cap", what, _HUNDRED_MILLION_TO_WAN)),
        "total_market_cap": nothing_to_missing(_amount(fields, 45, "cap", what, _HUNDRED_MILLION_TO_WAN)),
        **_limits(fields, what, _float(row["last_close"])),
        "avg_price": _price(fields, 51, "avg_price", what),
        "after_hours_amount": _amount(fields, 58, "after_hours_amount", what, 10_000.0),
        "after_hours_volume": _amount(fields, 59, "after_hours_volume", what, lot),
        "high_52w": _price(fields, 67, "high_52w", what),
        "low_52w": _price(fields, 68, "low_52w", what),
        "float_shares": nothing_to_missing(_amount(fields, 72, "float_shares", what, 1)),
        "total_shares": nothing_to_missing(_amount(fields, 73, "total_shares", what, 1)),
        "iopv": _price(fields, 78, "iopv", what),
        "nav": _price(fields, 81, "nav", what),
        "currency": _field(fields, 82) or None,
    }
    if what.kind == "index":
        # -1 and 0 mean 'not applicable'; the exchange's shares are no shares of an index.
        row |= {"pb": math.nan, "float_shares": math.nan, "total_shares": math.nan}
    elif what.kind not in {"stock", "b"}:
        row["pb"] = math.nan
    row |= _book(what, fields)
    if what.kind in {"stock", "b", "etf", "lof", "cb"}:
        check_unit(
            shares=_float(row["volume"]),
            amount_cny=_float(row["amount"]),
            low=_float(row["low"]),
            high=_float(row["high"]),
            what=f"quote {what.symbol}",
        )
    traded = _float(row["volume"]) > 0
    if traded and _float(row["high"]) < _float(row["low"]):
        raise PayloadError(f"quote {what.symbol}: high is below low")
    clock = str(row["quote_time"] or "")[11:16]
    row["is_suspended"] = row["list_status"] == "S" or (
        what.kind == "stock" and not traded and math.isnan(_float(row["open"])) and clock >= "09:30"
    )
    return row


def _foreign(
    what: Instrument,
    fields: Sequence[str],
    table: dict[str, int],
    *,
    volume: int,
    shares: tuple[int, int],
    high_low: tuple[int, int],
    mean: int,
) -> dict[str, object]:
    row = _common(what, fields)
    row |= {name: _value(fields, at, name, what) for name, at in table.items()}
    currency = _field(fields, 75) if what.market == "HK" else _field(fields, 35)
    row |= {
        "list_status": "L",
        "is_suspended": False,
        "volume": _amount(fields, volume, "volume", what, 1),
        "amount": _amount(fields, 37, "amount", what, 1),
        "float_market_cap": nothing_to_missing(_amount(fields, 44, "cap", what, _HUNDRED_MILLION_TO_WAN)),
        "total_market_cap": nothing_to_missing(_amount(fields, 45, "cap", what, _HUNDRED_MILLION_TO_WAN)),
        "total_shares": nothing_to_missing(_amount(fields, shares[0], "total_shares", what, 1)),
        "float_shares": nothing_to_missing(_amount(fields, shares[1], "float_shares", what, 1)),
        "high_52w": _price(fields, high_low[0], "high_52w", what),
        "low_52w": _price(fields, high_low[1], "low_52w", what),
        "avg_price": _price(fields, mean, "avg_price", what),
        "currency": currency or None,
    }
    return row


def _common(what: Instrument, fields: Sequence[str]) -> dict[str, object]:
    day, when = _time(what, fields[30])
    return {
        "symbol": what.symbol, "code": what.dataset_code, "market": what.market, "sec_type": what.kind,
        "name": fields[1], "trade_date": day, "quote_time": when, "price": _price(fields, 3, "price", what),
        "last_close": _price(fields, 4, "last_close", what), "open": _price(fields, 5, "open", what),
        "high": _price(fields, 33, "high", what), "low": _price(fields, 34, "low", what),
    }  # fmt: skip


def _time(what: Instrument, text: str) -> tuple[str | None, str | None]:
    """(trade date, quote time in Asia/Shanghai); a security that never traded has neither."""
    if not text:
        return None, None
    if what.market == "US":
        local = moment(text, "%Y-%m-%d %H:%M:%S", f"quote {what.symbol} time")
        offset = _NEW_YORK.utcoffset(local) or timedelta(hours=-5)
        return local.date().isoformat(), (local - offset + timedelta(hours=8)).isoformat(" ")
    pattern = "%Y/%m/%d %H:%M:%S" if what.market == "HK" else "%Y%m%d%H%M%S"
    local = moment(text, pattern, f"quote {what.symbol} time")
    return iso_day(local.date().isoformat(), "trade date"), local.isoformat(" ")


def _money(what: Instrument, fields: Sequence[str]) -> float:
    """CNY from `price/volume/amount` (35); 37 holds the same in 10k CNY, rounded."""
    if fields[35]:
        parts = fields[35].split("/")
        if len(parts) != 3:
            raise PayloadError(f"quote {what.symbol}: field 35 is {fields[35]!r}")
        return amount(parts[2], f"quote {what.symbol} amount")
    return _amount(fields, 37, "amount", what, 10_000.0)


def _book(what: Instrument, fields: Sequence[str]) -> dict[str, object]:
    """Five levels a side; book volumes are lots on every board. An empty level is missing."""
    book: dict[str, object] = {}
    lot = lot_of_kind(what.kind)
    for side, start in (("bid", 9), ("ask", 19)):
        for level in range(5):
            at = start + 2 * level
            book[f"{side}{level + 1}"] = _price(fields, at, side, what)
            size = _amount(fields, at + 1, f"{side} volume", what, lot)
            book[f"{side}{level + 1}_vol"] = nothing_to_missing(size)
    return book


def _limits(fields: Sequence[str], what: Instrument, last_close: float) -> dict[str, float]:
    quoted = (number(_field(fields, at), f"quote {what.symbol} field {at}") for at in (47, 48))
    up, down = (value if value > 0 else math.nan for value in quoted)
    return dict(zip(("limit_up", "limit_down"), quoted_limits(up, down, last_close), strict=True))


def _field(fields: Sequence[str], at: int) -> str:
    return fields[at] if at < len(fields) else ""


def _value(fields: Sequence[str], at: int, name: str, what: Instrument) -> float:
    return number(_field(fields, at), f"quote {what.symbol} {name}", digits=PCT)


def _price(fields: Sequence[str], at: int, name: str, what: Instrument) -> float:
    return nothing_to_missing(price(_field(fields, at), f"quote {what.symbol} {name}"))


def _amount(fields: Sequence[str], at: int, name: str, what: Instrument, scale: float) -> float:
    return amount(_field(fields, at), f"quote {what.symbol} {name}", scale=scale)


def _float(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


__all__ = ["CODES_PER_CALL", "QUOTE_COLUMNS", "check_identity", "lot_of", "parse_quotes", "quotes_request"]
