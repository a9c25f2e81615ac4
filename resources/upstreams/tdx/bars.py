"""Bars: 0x052d (differences) and 0x0523 (absolute prices) -> canonical columns.

Units out: prices CNY (index points) with three decimals at most, volume in shares, amount CNY.
Prices on the wire are always thousandths. Volume units by call and category (wire document, 1.9):
day, week, month, quarter and year count lots, minute categories shares (bonds: lots); index bars
count 100 lots in the former and lots in the latter; 0x0523 counts shares (indices: lots).
"""

import struct
from dataclasses import dataclass

from core.errors import InputError, PayloadError
from core.market.securities import CB
from resources.upstreams.tdx.frames import Call
from resources.upstreams.tdx.instruments import GUARDED_KINDS, UNKNOWN_KINDS, Instrument
from resources.upstreams.tdx.primitives import (
    SOURCE,
    Columns,
    accepted,
    date_text,
    minute_text,
    packed_date_text,
    read_count,
    read_varints,
    require,
    require_amount,
    require_end,
)
from resources.upstreams.tdx.units import contradicts, contradicts_index, require_units

PAGE = 800
MAX_START = 0xFFFF
_PRICE_SCALE = 1000
# Until 1992 shares had par values of 10 and 100 CNY: the mean price of an index was of another order.
_INDEX_GUARD_FROM = "1993"
_TIME_PAIR = struct.Struct("<HH")
_TIME_DATE = struct.Struct("<I")
_VOLUME_AMOUNT = struct.Struct("<ff")
_UP_DOWN = struct.Struct("<HH")


@dataclass(frozen=True)
class Period:
    """`category` on the wire; `intraday` bars carry minutes and count shares."""

    name: str
    category: int
    intraday: bool


PERIODS = {
    name: Period(name, category, intraday)
    for name, category, intraday in (
        ("5m", 0, True),
        ("15m", 1, True),
        ("30m", 2, True),
        ("60m", 3, True),
        ("1m", 8, True),
        ("day", 9, False),
        ("week", 5, False),
        ("month", 6, False),
        ("quarter", 10, False),
        ("year", 11, False),
    )
}
_VALUES = dict.fromkeys(("open", "high", "low", "close"), "float64") | {
    "volume": "int64",
    "amount": "float64",
}


def period(name: str) -> Period:
    try:
        return PERIODS[name]
    except KeyError:
        raise InputError("period", f"{name!r} is not one of {', '.join(PERIODS)}") from None


def schema(of: Period, *, index: bool) -> dict[str, str]:
    """Columns and dtypes of a bars frame."""
    counts = {"up_count": "int64", "down_count": "int64"} if index else {}
    return {"datetime" if of.intraday else "date": "str"} | _VALUES | counts


def bars_call(what: Instrument, of: Period, start: int, count: int) -> Call:
    """0x052d. `start` counts back from the newest bar."""
    payload = struct.pack(
        "<H6sHHHHIIH", what.market, what.code.encode(), of.category, 1, start, count, 0, 0, 0
    )
    name = f"index_bars_{of.name}" if what.is_index else f"bars_{of.name}"
    request = f"tdx://bars?symbol={what.symbol}&category={of.category}&start={start}&count={count}"
    return Call(name, 0x052D, payload, request, f"{what.symbol} start={start}")


def absolute_call(what: Instrument, of: Period, start: int, count: int, adjust: int = 0) -> Call:
    """0x0523. `adjust` 0 none, 1 forward, 2 backward; the platform asks for 0 alone."""
    payload = struct.pack(
        "<H6sHHHHH8s", what.market, what.code.encode(), of.category, 1, start, count, adjust, b""
    )
    request = f"tdx://bars_absolute?symbol={what.symbol}&category={of.category}&start={start}&count={count}&adjust={adjust}"
    return Call(f"bars_absolute_{of.name}", 0x0523, payload, request, f"{what.symbol} start={start}")


@accepted("bars")
def parse_bars(
    body: bytes, what: Instrument, of: Period, *, limit: int = PAGE, absolute: bool = False
) -> Columns:
    """One page, oldest first. PayloadError when the layout of the other kind fits (an index served
    under a stock's code, or the reverse), times do not rise, prices are negative or the unit is wrong."""
    number = read_count(body)
    require(number <= limit, f"{number} rows, {limit} asked for")
    try:
        columns = _decode(body, number, what, of, absolute=absolute, index=what.is_index)
    except (IndexError, struct.error, ValueError) as first:
        if what.kind in UNKNOWN_KINDS and not absolute:
            # Instruments that no prefix rule knows may be indices: the exact end decides.
            columns = _decode(body, number, what, of, absolute=False, index=True)
            del columns["up_count"], columns["down_count"]
            return columns
        raise PayloadError(f"bars of {what.symbol}: {first}", source=SOURCE) from first
    _guard(columns, what)
    return columns


def _decode(
    body: bytes, number: int, what: Instrument, of: Period, *, absolute: bool, index: bool
) -> Columns:
    columns: Columns = {name: [] for name in schema(of, index=index)}
    times = columns["datetime" if of.intraday else "date"]
    opens, highs, lows, closes = (columns[name] for name in ("open", "high", "low", "close"))
    volumes, amounts = columns["volume"], columns["amount"]
    factor = volume_factor(what, of, absolute=absolute, index=index)
    pos, base, previous = 2, 0, ""
    for _ in range(number):
        moment = _time(body, pos, of)
        require(moment > previous, f"{moment} follows {previous}")
        previous = moment
        (d_open, d_close, d_high, d_low), pos = read_varints(body, pos + 4, 4)
        if absolute:
            start, close, high, low = d_open, d_close, d_high, d_low
        else:
            start = base + d_open
            close, high, low = start + d_close, start + d_high, start + d_low
            base = close
        require(min(start, close, high, low) >= 0, f"{moment}: negative price")
        volume, amount = _VOLUME_AMOUNT.unpack_from(body, pos)
        pos += 8
        require(volume >= 0, f"{moment}: negative volume")
        times.append(moment)
        opens.append(start / _PRICE_SCALE)
        highs.append(high / _PRICE_SCALE)
        lows.append(low / _PRICE_SCALE)
        closes.append(close / _PRICE_SCALE)
        volumes.append(round(volume) * factor)
        amounts.append(require_amount(amount))
        if index:
            up, down = _UP_DOWN.unpack_from(body, pos)
            columns["up_count"].append(up)
            columns["down_count"].append(down)
            pos += 4
    require_end(body, pos)
    return columns


def _time(body: bytes, pos: int, of: Period) -> str:
    if of.intraday:
        day, minutes = _TIME_PAIR.unpack_from(body, pos)
        return f"{packed_date_text(day)} {minute_text(minutes)}:00"
    return date_text(_TIME_DATE.unpack_from(body, pos)[0])


def volume_factor(what: Instrument, of: Period, *, absolute: bool, index: bool) -> int:
    """Shares in one unit of the wire's volume."""
    if index:
        return 100 if of.intraday or absolute else 10_000
    if absolute:
        return 1
    if of.intraday:
        return what.lot if what.kind == CB else 1
    return what.lot


def _guard(columns: Columns, what: Instrument) -> None:
    rows = zip(columns["volume"], columns["amount"], columns["low"], columns["high"], strict=True)
    if what.is_index:
        times = next(iter(columns.values()))
        bad = sum(
            contradicts_index(volume, amount)
            for moment, (volume, amount, _, _) in zip(times, rows, strict=True)
            if moment >= _INDEX_GUARD_FROM
        )
    elif what.kind in GUARDED_KINDS:
        bad = sum(contradicts(volume, amount, low, high, what.lot) for volume, amount, low, high in rows)
    else:
        return
    require_units(f"bars of {what.symbol}", bad, sum(volume > 0 for volume in columns["volume"]))


def mend_noon(columns: Columns, today: str) -> Columns:
    """Today's last bar of the morning carries 13:00 when it is fetched in the afternoon; no bar ends then."""
    wrong, right = f"{today} 13:00:00", f"{today} 11:30:00"
    if "datetime" in columns and wrong in columns["datetime"] and right not in columns["datetime"]:
        columns["datetime"] = [right if moment == wrong else moment for moment in columns["datetime"]]
    return columns
