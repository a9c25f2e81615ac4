"""Bodies of 0x053e (five levels) and 0x054c (one level), and the quote head of 0x051d."""

import struct
from datetime import time

from simulated_market.after_hours import stamp
from simulated_market.tdx.encoding import float32, server_time, u16, varint, varints
from simulated_market.tdx.state import RequestView, lot, lots, scaled
from simulated_market.world.model import Quote, Security

PAGE = 80
_STAMPED = time(15, 33), 31
"""When the quotes of a session get their last stamp, and within how many seconds."""
#: Delisted securities answer zeros, and under this code instead of their own (seen on real servers).
_STRAY_CODE = b"600839"
_PREFIX = b"\x01\x36"


def render(view: RequestView, asked: list[tuple[int, str]], *, levels: int) -> bytes:
    """One record for each asked security that the server knows; unknown ones are left out."""
    records = []
    for market, code in asked[:PAGE]:
        security = view.security(market, code)
        if security is None:
            continue
        quote = view.world.quote(security, view.now)
        if quote is None:
            records.append(struct.pack("<B6s", market, _STRAY_CODE) + _zeros(levels))
        else:
            records.append(_head(view, market, code, quote, levels) + _tail(quote, levels))
    return _PREFIX + u16(len(records)) + b"".join(records)


def fields(view: RequestView, quote: Quote, levels: int) -> bytes:
    """Fields 2 to 15 and `levels` book levels: what quotes, snapshots and today's minutes share."""
    security = quote.security
    unit = security.decimals
    price = scaled(quote.price, unit)
    if view.has("negative_price"):
        price = -price
    opened = scaled(quote.open, unit)
    if view.has("swap_open_close"):
        price, opened = opened, price
    # A suspended security has a last close and nothing of the day.
    day = (opened, scaled(quote.high, unit), scaled(quote.low, unit))
    if quote.suspended:
        day = (0, 0, 0)
    volume = lots(quote.volume, security)
    inner = lots(quote.inner_volume, security)
    if view.other_unit(security):
        volume, inner = quote.volume, quote.inner_volume
    last_close = scaled(quote.preclose, unit)
    out = varints(price, last_close - price, *(value - price for value in day))
    # Minus the price on most boards, nothing on ChiNext.
    mirrored = 0 if security.board == "gem" else -price
    stamped = server_time(stamp(quote, view.now, *_STAMPED))
    out += varints(stamped, mirrored, volume, volume % 997) + float32(quote.amount)
    open_hundreds = round(quote.open_amount / 100)
    stock = security.kind != "index"
    out += varints(
        inner, max(0, volume - inner), 0 if stock else open_hundreds, open_hundreds if stock else 0
    )
    return out + _book(quote, price, levels)


def _book(quote: Quote, price: int, levels: int) -> bytes:
    security = quote.security
    if security.kind == "index":
        # Level 1 carries risen and fallen members; limit counts (level 2) are not known to the world.
        return varints(0, 0, quote.up_count, quote.down_count) + bytes(4 * (levels - 1))
    out = b""
    for level in range(levels):
        bid, ask = (side[level] if level < len(side) else None for side in (quote.bids, quote.asks))
        # A missing level has price 0: its difference leads from the price down to nothing.
        out += b"".join(varint((scaled(at[0], security.decimals) if at else 0) - price) for at in (bid, ask))
        out += b"".join(varint(at[1] // lot(security) if at else 0) for at in (bid, ask))
    return out


def _tail(quote: Quote, levels: int) -> bytes:
    speed = max(-32_768, min(32_767, round((quote.speed_pct or 0.0) * 100)))
    active = 0 if quote.security.kind == "index" else _activity(quote)
    if levels > 1:
        return u16(0) + bytes(4) + struct.pack("<hH", speed, active)
    return struct.pack("<HhH12fH", 0, speed, 0, *([0.0] * 12), active)


def _zeros(levels: int) -> bytes:
    """The fields and the tail of a security without a quote."""
    return bytes(19 + 4 * levels + (10 if levels > 1 else 56))


def _activity(quote: Quote) -> int:
    """A counter of updates that grows over the day."""
    return min(0xFFFF, quote.volume // 10_000 + 1)


def head(view: RequestView, market: int, security: Security, quote: Quote, levels: int) -> bytes:
    """The quote head in front of today's minutes: record fields, `levels` levels, u16."""
    return _head(view, market, security.code, quote, levels) + u16(0)


def _head(view: RequestView, market: int, code: str, quote: Quote, levels: int) -> bytes:
    return struct.pack("<B6sH", market, code.encode(), _activity(quote)) + fields(view, quote, levels)
