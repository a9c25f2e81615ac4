"""Bodies of 0x000f (capital changes), 0x0010 (finance), 0x02cf and 0x02d0 (company text)."""

import struct
import zlib
from collections.abc import Sequence

from simulated_market.tdx.encoding import NO_DATA, cell, float32, u16
from simulated_market.tdx.state import RequestView
from simulated_market.world.model import ExRight, Finance, Security

_SHARES = 10_000
#: Money travels in thousands of CNY (the recorded samples, not the old descriptions).
_MONEY = 1000
_ASSETS = "total_assets current_assets fixed_assets -"
"""In wire order, as `_FLOWS`; `-` is not known to the world: intangible assets."""
_FLOWS = (
    "current_liabilities long_liabilities capital_reserve net_assets revenue - - operating_profit - "
    "operating_cash_flow - - total_profit net_profit net_profit undistributed"
)
"""Not known: profit of the main business, receivables, investment income, total cash flow, inventory. The
first net profit is that after tax."""
_SECTION_GAP = b"\r\n"


def xdxr(view: RequestView, market: int, security: Security) -> bytes:
    code = security.code.encode()
    events = view.series(_known(view, security))
    head = struct.pack("<HB6sH", 1, market, code, len(events))
    return head + b"".join(
        struct.pack("<B6sBIB4f", market, code, 0, event.date, event.category, *event.values)
        for event in events
    )


def _known(view: RequestView, security: Security) -> Sequence[ExRight]:
    """The records that the server has by now: a late one from the session after its ex-date on."""
    events = [one for one in view.world.exrights(security, view.now) if not one.late or one.date < view.today]
    if view.has("late_record") and view.arg("code", security.code) == security.code:
        events = [event for event in events if event.date <= view.begun(1 + int(view.arg("days", 1)))]
    return events


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
    assets, flows = (
        [getattr(found, name) / _MONEY if name != "-" else 0.0 for name in names.split()]
        for names in (_ASSETS, _FLOWS)
    )
    shares = (found.total_shares / _SHARES, *[0.0] * 5)
    counts = (float(found.holders), *flows, found.bvps, float(found.months))
    return (*shares, found.eps, *assets, *counts)


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
