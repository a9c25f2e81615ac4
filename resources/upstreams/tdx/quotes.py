"""Snapshots: 0x053e (five levels) and 0x054c (one level), 80 securities a call -> canonical columns.

Prices CNY, volumes in shares (the wire has lots), amounts CNY. Index rows have no book: the wire's
level 1 and 2 volumes hold up/down and limit-up/limit-down counts there.
"""

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import InputError, WrongUnit
from resources.rejections import Odd, reject
from resources.upstreams.tdx.frames import Call
from resources.upstreams.tdx.instruments import GUARDED_KINDS, Instrument
from resources.upstreams.tdx.primitives import (
    SOURCE,
    Columns,
    accepted,
    read_count,
    read_float,
    read_varints,
    require,
    require_amount,
    require_end,
    server_time_text,
)
from resources.upstreams.tdx.units import contradicts, index_factor

PAGE = 80
LEVELS = 5
_HEAD = struct.Struct("<B6sH")
_TAIL = struct.Struct("<hH")
# 0x054c after its single level: u16, speed, u16, 12 floats (turnover-like, meaning unknown), activity.
_SNAPSHOT_TAIL = struct.Struct("<HhH12fH")
_COUNTS = ("up_count", "down_count", "limit_up_count", "limit_down_count")


def schema(levels: int = LEVELS) -> dict[str, str]:
    """Columns and dtypes of a quotes frame."""
    book = {
        f"{side}{level}{suffix}": dtype
        for side in ("bid", "ask")
        for suffix, dtype in (("", "float64"), ("_vol", "int64"))
        for level in range(1, levels + 1)
    }
    return (
        {"code": "str", "market": "str", "symbol": "str"}
        | dict.fromkeys(("price", "last_close", "open", "high", "low"), "float64")
        | {"volume": "int64", "current_volume": "int64", "amount": "float64"}
        | {"inner_volume": "int64", "outer_volume": "int64", "open_amount": "float64"}
        | book
        | {"quote_time": "str", "speed_pct": "float64", "suspended": "bool", "unknown": "bool"}
        | dict.fromkeys(_COUNTS, "int64")
    )


def quotes_call(securities: Sequence[Instrument], *, levels: int = LEVELS) -> Call:
    """Five levels (0x053e) or one (0x054c)."""
    if not 0 < len(securities) <= PAGE:
        raise InputError("symbols", f"{len(securities)} in one call, 1 to {PAGE} are possible")
    name, method = ("quotes", 0x053E) if levels == LEVELS else ("snapshots", 0x054C)
    payload = struct.pack("<8sH", b"\x05", len(securities)) + b"".join(
        struct.pack("<B6s", each.market, each.code.encode()) for each in securities
    )
    symbols = ",".join(each.symbol for each in securities)
    return Call(name, method, payload, f"tdx://{name}?symbols={symbols}", symbols)


@accepted("quotes")
def parse_quotes(
    body: bytes,
    asked: Sequence[Instrument],
    *,
    levels: int = LEVELS,
    decimals: Mapping[str, int] | None = None,
) -> Columns:
    """One row per asked security, in the order of the request.

    No record at all is an empty result. A security that the server left out or answers with zero
    prices is a row with `unknown` True (its record may carry another code, so rows map by position); so is
    one whose own values contradict each other, which is noted as rejected. `decimals` (symbol -> places of
    the security list) overrides the prefix rule. PayloadError for other codes than asked, and when too many
    records are rejected.
    """
    if body == b"\0\0":
        number, pos = 0, 2
    else:
        number, pos = read_count(body, 2), 4
    require(number <= len(asked), f"{number} records, {len(asked)} asked for")
    if number == 0:
        require_end(body, pos)
        return {name: [] for name in schema(levels)}
    rows: list[list[Any]] = []
    odd = Odd()
    waiting = iter(asked)
    remaining = len(asked)
    for index in range(number):
        market, raw_code, _active = _HEAD.unpack_from(body, pos)
        record, pos = _record(body, pos + _HEAD.size, levels)
        # Left-out securities are skipped only as long as enough asked ones remain for the records to come.
        while True:
            require(remaining > 0, f"a record of {raw_code!r} that was not asked for")
            one = next(waiting)
            remaining -= 1
            if (one.market, one.code.encode()) == (market, raw_code) or _is_unknown(record):
                break
            require(
                remaining >= number - index,
                f"a record of {raw_code!r} (market {market}) instead of {one.symbol}",
            )
            rows.append(_unknown_row(one, levels))
        try:
            rows.append(_row(one, record, levels, decimals))
        except (ValueError, WrongUnit) as error:
            rows.append(_unknown_row(one, levels))
            odd.add(one.symbol, error)
    require_end(body, pos)
    rows.extend(_unknown_row(one, levels) for one in waiting)
    reject(odd, number, "quotes")
    names = schema(levels)
    return dict(zip(names, (list(column) for column in zip(*rows, strict=True)), strict=True))


# Fields 2-10 of a record (price .. current volume), amount, fields 12-15 with the book behind, speed.
_Record = tuple[list[int], float, list[int], int]


def _record(body: bytes, pos: int, levels: int) -> tuple[_Record, int]:
    head, pos = read_varints(body, pos, 9)
    amount = read_float(body, pos)
    book, pos = read_varints(body, pos + 4, 4 + 4 * levels)
    if levels == LEVELS:
        _, pos = read_varints(body, pos + 2, 4)
        speed, _active = _TAIL.unpack_from(body, pos)
        pos += _TAIL.size
    else:
        speed = _SNAPSHOT_TAIL.unpack_from(body, pos)[1]
        pos += _SNAPSHOT_TAIL.size
    return (head, amount, book, speed), pos


def _is_unknown(record: _Record) -> bool:
    price, last_close, opened = record[0][:3]
    return price + last_close == 0 and price + opened == 0


def _unknown_row(one: Instrument, levels: int) -> list[Any]:
    zeros: list[Any] = [0.0] * 5 + [0, 0, 0.0, 0, 0, 0.0] + ([0.0] * levels + [0] * levels) * 2
    return [one.code, one.symbol[:2].upper(), one.symbol, *zeros, None, 0.0, False, True, 0, 0, 0, 0]


def _row(one: Instrument, record: _Record, levels: int, decimals: Mapping[str, int] | None) -> list[Any]:
    """The canonical row. ValueError when its values deny each other, WrongUnit when its volume is in another
    unit than its amount."""
    head, raw_amount, numbers, speed = record
    if _is_unknown(record):
        return _unknown_row(one, levels)
    # Minus the price; 0 on rows of ChiNext, as recorded.
    require(head[6] in {0, -head[0]}, f"price {head[0]}, check value {head[6]}")
    places = decimals.get(one.symbol, one.decimals) if decimals is not None else one.decimals
    scale = 10**places
    base, amount = head[0], require_amount(raw_amount)
    price, last_close, opened, high, low = (
        value / scale for value in (base, base + head[1], base + head[2], base + head[3], base + head[4])
    )
    require(min(price, last_close, opened, high, low) >= 0, f"{one.symbol}: negative price")
    require(head[7] >= 0 and min(numbers[:2]) >= 0, f"{one.symbol}: negative volume")
    # `current volume` of sector indices is an amount, so its sign and size say nothing here.
    lot = index_factor(head[7], amount) if one.is_index else one.lot
    volume = head[7] * lot
    inner, outer = numbers[0] * lot, numbers[1] * lot
    open_amount = float(numbers[3] or (numbers[2] if one.is_index else 0)) * 100
    book = numbers[4:]
    counts = [0, 0, 0, 0]
    if one.is_index:
        counts[: 2 * min(levels, 2)] = [book[at] for at in ((2, 3, 6, 7) if levels > 1 else (2, 3))]
        prices: list[Any] = [0.0] * levels
        sides = [prices, [0] * levels, prices, [0] * levels]
    else:
        sides = [
            [
                (base + delta) / scale if size else 0.0
                for delta, size in zip(book[0::4], book[2::4], strict=True)
            ],
            [size * lot for size in book[2::4]],
            [
                (base + delta) / scale if size else 0.0
                for delta, size in zip(book[1::4], book[3::4], strict=True)
            ],
            [size * lot for size in book[3::4]],
        ]
    row = [one.code, one.symbol[:2].upper(), one.symbol, price, last_close, opened, high, low]
    row += [volume, head[8] * lot, amount, inner, outer, open_amount]
    for side in sides:
        row += side
    row += [server_time_text(head[5]), speed / 100, opened == 0 and last_close > 0, False, *counts]
    wrong = one.kind in GUARDED_KINDS and contradicts(volume, amount, low, high, lot)
    if wrong:
        raise WrongUnit("amount / volume contradicts the prices (lots or shares?)", source=SOURCE)
    return row
