"""Bodies of 0x000f (capital changes), 0x0010 (finance), 0x02cf and 0x02d0 (company text)."""

import struct
import zlib

from resources.simulated_market.tdx.encoding import NO_DATA, cell, float32, u16
from resources.simulated_market.tdx.state import RequestView
from resources.simulated_market.world.model import Finance, Security

_SHARES = 10_000
#: Money travels in thousands of CNY (the recorded samples, not the old descriptions).
_MONEY = 1000
_SECTION_GAP = b"\r\n"


def xdxr(view: RequestView, market: int, security: Security) -> bytes:
    code = security.code.encode()
    events = view.series(view.world.exrights(security, view.now))
    head = struct.pack("<HB6sH", 1, market, code, len(events))
    return head + b"".join(
        struct.pack("<B6sBIB4f", market, code, 0, event.date, event.category, *event.values)
        for event in events
    )


def finance(view: RequestView, market: int, security: Security) -> bytes:
    found = view.world.finance(security, view.now)
    if found is None:
        return NO_DATA
    head = struct.pack("<HB6s", 1, market, security.code.encode())
    dates = struct.pack(
        "<fHHII",
        found.float_shares / _SHARES,
        _number(security.region, 32),
        _number(security.industry, 400),
        found.published,
        security.list_date,
    )
    return head + dates + float32(*_floats(found))


def _floats(found: Finance) -> tuple[float, ...]:
    """The 30 numbers in wire order; unknown ones are 0, as on the wire."""
    unknown = 0.0
    money = [
        found.total_assets,
        found.current_assets,
        found.fixed_assets,
        unknown,  # intangible assets
    ]
    flows = [
        found.current_liabilities,
        found.long_liabilities,
        found.capital_reserve,
        found.net_assets,
        found.revenue,
        unknown,  # profit of the main business
        unknown,  # receivables
        found.operating_profit,
        unknown,  # investment income
        found.operating_cash_flow,
        unknown,  # total cash flow
        unknown,  # inventory
        found.total_profit,
        found.net_profit,  # after tax
        found.net_profit,
        found.undistributed,
    ]
    shares = (found.total_shares / _SHARES, *[unknown] * 5)
    return (
        *shares,
        found.eps,
        *(value / _MONEY for value in money),
        float(found.holders),
        *(value / _MONEY for value in flows),
        found.bvps,
        float(found.months),
    )


def _number(name: str, size: int) -> int:
    """A stable number for a region or industry; 0 = none."""
    return zlib.crc32(name.encode()) % size + 1 if name else 0


def sections(view: RequestView, security: Security) -> bytes:
    """0x02cf: where each section begins in the company's file, and how long it is."""
    records = []
    start = 0
    for title, text in view.world.company_text(security, view.now).items():
        size = len(text.encode("gb18030"))
        records.append(struct.pack("<64s80sII", cell(title, 64), _file_name(security), start, size))
        start += size + len(_SECTION_GAP)
    return u16(len(records)) + b"".join(records)


def text(
    view: RequestView, market: int, security: Security, file_name: str, start: int, length: int
) -> bytes:
    """0x02d0: `length` bytes of the company's file, which may begin or end inside a character."""
    content = b""
    if file_name.encode() == _file_name(security):
        parts = view.world.company_text(security, view.now).values()
        content = _SECTION_GAP.join(part.encode("gb18030") for part in parts)
    piece = content[start : start + min(length, 0xFFFF - 12)]
    return struct.pack("<H6sHH", market, security.code.encode(), 0, len(piece)) + piece


def _file_name(security: Security) -> bytes:
    return f"{security.code}.txt".encode()
