"""Transactions 0x0fc5 (today), 0x0fb5 and 0x0fc6 (a past date) and the call auction 0x056a.

Canonical columns: date, time, price CNY, volume in shares (the wire has lots), orders (NaN where the
call has none), side 0 buy, 1 sell, 2 auction or neutral, others as delivered.
"""

import struct
from dataclasses import dataclass

from resources.upstreams.tdx.frames import Call
from resources.upstreams.tdx.instruments import Instrument
from resources.upstreams.tdx.primitives import (
    Columns,
    accepted,
    minute_text,
    read_count,
    read_float,
    read_varints,
    require,
    require_end,
)

PAGE_TODAY = 1800
PAGE_HISTORY = 2000
AUCTION_ROWS = 500
SCHEMA = {
    "date": "str",
    "time": "str",
    "price": "float64",
    "volume": "int64",
    "orders": "float64",
    "side": "int64",
}
AUCTION_SCHEMA = {"time": "str", "price": "float64", "matched_volume": "int64", "unmatched_volume": "int64"}
_MINUTE = struct.Struct("<H")
_AUCTION = struct.Struct("<HfIiBB")


@dataclass(frozen=True)
class Form:
    """How one of the three calls writes a row. `trailer` is what follows the varints."""

    name: str
    method: int
    page: int
    dated: bool
    orders: bool
    side_is_u16: bool


TODAY = Form("transactions", 0x0FC5, PAGE_TODAY, dated=False, orders=True, side_is_u16=False)
HISTORY = Form("history_transactions", 0x0FB5, PAGE_HISTORY, dated=True, orders=False, side_is_u16=False)
HISTORY_ORDERS = Form("history_orders", 0x0FC6, PAGE_HISTORY, dated=True, orders=True, side_is_u16=True)


def transactions_call(form: Form, what: Instrument, start: int, count: int, yyyymmdd: int = 0) -> Call:
    """`start` counts back from the newest transaction."""
    if form.dated:
        payload = struct.pack("<IH6sHH", yyyymmdd, what.market, what.code.encode(), start, count)
        request = f"tdx://{form.name}?symbol={what.symbol}&date={yyyymmdd}&start={start}&count={count}"
    else:
        payload = struct.pack("<H6sHH", what.market, what.code.encode(), start, count)
        request = f"tdx://{form.name}?symbol={what.symbol}&start={start}&count={count}"
    return Call(form.name, form.method, payload, request, f"{what.symbol} start={start}")


@accepted("transactions")
def parse_transactions(
    body: bytes, form: Form, what: Instrument, day: str, *, limit: int, decimals: int | None = None
) -> Columns:
    """One page, oldest first. Prices accumulate inside the page; times may not fall."""
    columns: Columns = {name: [] for name in SCHEMA}
    number = read_count(body)
    if body in (b"\0\0", b"\0" * 6):
        return columns
    require(number <= limit, f"{number} rows, {limit} asked for")
    pos = 2
    if form.dated:
        read_float(body, pos)
        pos += 4
    scale = 10 ** (what.decimals if decimals is None else decimals)
    price, last = 0, 0
    for _ in range(number):
        minutes = _MINUTE.unpack_from(body, pos)[0]
        require(minutes >= last, f"{minute_text(minutes)} follows {minute_text(last)}")
        last = minutes
        step, volume, orders, side, pos = _row(body, pos + 2, form)
        price += step
        require(price >= 0 and volume >= 0, f"price {price}, volume {volume}")
        columns["time"].append(f"{minute_text(minutes)}:00")
        columns["price"].append(price / scale)
        columns["volume"].append(volume * what.lot)
        columns["orders"].append(orders)
        columns["side"].append(side)
    require_end(body, pos)
    columns["date"] = [day] * number
    return columns


def _row(body: bytes, pos: int, form: Form) -> tuple[int, int, float, int, int]:
    if form.side_is_u16:
        (step, volume, orders), pos = read_varints(body, pos, 3)
        return step, volume, float(orders), _MINUTE.unpack_from(body, pos)[0], pos + 2
    if form.orders:
        (step, volume, orders, side, _zero), pos = read_varints(body, pos, 5)
        return step, volume, float(orders), side, pos
    (step, volume, side, _zero), pos = read_varints(body, pos, 4)
    return step, volume, float("nan"), side, pos


def auction_call(what: Instrument) -> Call:
    payload = struct.pack("<H6sIIIII", what.market, what.code.encode(), 0, 3, 0, 0, AUCTION_ROWS)
    return Call("auction", 0x056A, payload, f"tdx://auction?symbol={what.symbol}", what.symbol)


@accepted("call auction")
def parse_auction(body: bytes, what: Instrument) -> Columns:
    """Rows of both auctions of the day. `unmatched_volume` is positive for a queue of buyers, negative
    for one of sellers; shares. Read as 32 bits: 16-bit readers flip the sign above 32,767 lots."""
    number = read_count(body)
    require(number <= AUCTION_ROWS, f"{number} rows, {AUCTION_ROWS} asked for")
    require_end(body, 2 + number * _AUCTION.size)
    columns: Columns = {name: [] for name in AUCTION_SCHEMA}
    for pos in range(2, len(body), _AUCTION.size):
        minutes, _price, matched, unmatched, _zero, second = _AUCTION.unpack_from(body, pos)
        price = read_float(body, pos + 2)
        require(price >= 0, f"price {price}")
        require(second < 60, f"second {second}")
        columns["time"].append(f"{minute_text(minutes)}:{second:02d}")
        columns["price"].append(round(price, what.decimals))
        columns["matched_volume"].append(matched * what.lot)
        columns["unmatched_volume"].append(unmatched * what.lot)
    return columns
