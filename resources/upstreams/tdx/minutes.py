"""Minute series: 0x0fb4 (a past date), 0x051d (today, two layouts), 0x0537 (today, with averages).

Canonical columns: datetime (end of the minute), price CNY, average CNY (0x0537 only, else NaN), volume
in shares (the wire has lots).
"""

import struct

from resources.upstreams.tdx.frames import Call
from resources.upstreams.tdx.instruments import Instrument
from resources.upstreams.tdx.primitives import (
    Columns,
    accepted,
    minute_text,
    read_count,
    read_float,
    read_varint,
    read_varints,
    require,
    require_end,
)

ROWS = 240
SCHEMA = {"datetime": "str", "price": "float64", "average": "float64", "volume": "int64"}
_MORNING_ROWS = 120
_HEAD_LEVELS = 3


def history_call(what: Instrument, yyyymmdd: int) -> Call:
    payload = struct.pack("<IB6s", yyyymmdd, what.market, what.code.encode())
    return Call(
        "history_minutes",
        0x0FB4,
        payload,
        f"tdx://history_minutes?symbol={what.symbol}&date={yyyymmdd}",
        what.symbol,
    )


def today_call(what: Instrument) -> Call:
    payload = struct.pack("<H6sI", what.market, what.code.encode(), 0)
    return Call("minutes", 0x051D, payload, f"tdx://minutes?symbol={what.symbol}", what.symbol)


def averages_call(what: Instrument) -> Call:
    payload = struct.pack("<H6sHH", what.market, what.code.encode(), 0, 0xBA00)
    return Call("minutes_new", 0x0537, payload, f"tdx://minutes_new?symbol={what.symbol}", what.symbol)


@accepted("minutes of a past date")
def parse_history(body: bytes, what: Instrument, day: str, decimals: int | None = None) -> Columns:
    """Rows of `day` ('YYYY-MM-DD'). A day without trading is an empty result."""
    if _is_nothing(body):
        return _columns([], [], what, day, decimals)
    number = read_count(body)
    read_float(body, 2)
    return _cumulative(body, 6, number, what=what, day=day, decimals=decimals)


@accepted("minutes of today")
def parse_today(body: bytes, what: Instrument, day: str, decimals: int | None = None) -> Columns:
    """Both layouts: plain rows (up to about 2019), or a quote head before the rows."""
    if _is_nothing(body):
        return _columns([], [], what, day, decimals)
    number, pos = read_count(body), 4
    if body[5:11] == what.code.encode():
        require(body[4] == what.market, f"market {body[4]} instead of {what.symbol}")
        pos = 13
        _, pos = read_varints(body, pos, 9)
        read_float(body, pos)
        _, pos = read_varints(body, pos + 4, 4 + 4 * _HEAD_LEVELS)
        pos += 2
    return _cumulative(body, pos, number, what=what, day=day, decimals=decimals)


@accepted("minutes of today with averages")
def parse_averages(body: bytes, what: Instrument, day: str, decimals: int | None = None) -> Columns:
    """Every row but the first is a difference to the first row, not to the one before it."""
    if _is_nothing(body):
        return _columns([], [], what, day, decimals)
    number, pos = read_count(body), 4
    require(number <= ROWS, f"{number} minutes in a day")
    prices: list[int] = []
    averages: list[int] = []
    volumes: list[int] = []
    for _ in range(number):
        (price, average, volume), pos = read_varints(body, pos, 3)
        prices.append(price + prices[0] if prices else price)
        averages.append(average + averages[0] if averages else average)
        volumes.append(volume)
    require_end(body, pos)
    columns = _columns(prices, volumes, what, day, decimals)
    # Averages carry two decimals more than prices.
    scale = 100 * 10 ** (what.decimals if decimals is None else decimals)
    columns["average"] = [average / scale for average in averages]
    return columns


def _is_nothing(body: bytes) -> bool:
    return body in (b"\0\0", b"\0" * 4, b"\0" * 6)


def _cumulative(
    body: bytes, pos: int, number: int, *, what: Instrument, day: str, decimals: int | None
) -> Columns:
    require(number <= ROWS, f"{number} minutes in a day")
    prices, volumes, price = [], [], 0
    for _ in range(number):
        step, pos = read_varint(body, pos)
        (_unknown, volume), pos = read_varints(body, pos, 2)
        price += step
        prices.append(price)
        volumes.append(volume)
    require_end(body, pos)
    return _columns(prices, volumes, what, day, decimals)


def _columns(
    prices: list[int], volumes: list[int], what: Instrument, day: str, decimals: int | None
) -> Columns:
    require(min(prices, default=0) >= 0, "negative price")
    require(min(volumes, default=0) >= 0, "negative volume")
    scale = 10 ** (what.decimals if decimals is None else decimals)
    return {
        "datetime": [f"{day} {row_time(row)}:00" for row in range(len(prices))],
        "price": [price / scale for price in prices],
        "average": [float("nan")] * len(prices),
        "volume": [volume * what.lot for volume in volumes],
    }


def row_time(row: int) -> str:
    """Row 0 ends at 09:31, row 119 at 11:30, row 120 at 13:01, row 239 at 15:00."""
    return minute_text(571 + row if row < _MORNING_ROWS else 781 + row - _MORNING_ROWS)
