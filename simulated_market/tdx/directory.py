"""Bodies of 0x044e (count), 0x0450 and 0x044d (list): the market's securities between category rows."""

import struct
from dataclasses import dataclass

from simulated_market.tdx.encoding import cell, u16
from simulated_market.tdx.state import MARKETS, RequestView, lot
from simulated_market.world.model import PRICE_UNIT, Security

PAGE = 1000
PAGE_NEW = 1600
# Real lists begin with rows that count a category and are no securities.
_CATEGORIES = {"SZ": (("395001", "主板Ａ股", "main"), ("395004", "创业板", "gem"))}


@dataclass(frozen=True)
class _Entry:
    code: str
    name: str
    lot: int
    decimals: int
    security: Security | None
    pre_close: float = 0.0


def count(view: RequestView, market: int) -> bytes:
    return u16(len(_entries(view, market)))


def page(view: RequestView, market: int, start: int, limit: int, *, new: bool) -> bytes:
    """Records from `start`, at most `limit`. Under `cut_list` the list ends early while its count stays."""
    entries, limit = _entries(view, market), min(limit, PAGE_NEW)
    if view.has("cut_list"):
        entries = entries[: int(view.arg("rows", 100))]
    rows = view.series(entries[start : start + limit])[:limit]
    return u16(len(rows)) + b"".join(_record(view, entry, new=new) for entry in rows)


def _record(view: RequestView, entry: _Entry, *, new: bool) -> bytes:
    pre_close = entry.pre_close
    if entry.security is not None:
        quote = view.world.quote(entry.security, view.now)
        pre_close = quote.preclose / PRICE_UNIT if quote is not None else 0.0
    code = entry.code.encode()
    if new:
        name = cell(entry.name, 16)
        return struct.pack("<6sH16sfBfHH", code, entry.lot, name, 0.0, entry.decimals, pre_close, 0, 0)
    name = cell(entry.name, 8)
    return struct.pack("<6sH8s4sBf4s", code, entry.lot, name, b"", entry.decimals, pre_close, b"")


def _entries(view: RequestView, market: int) -> list[_Entry]:
    if market >= len(MARKETS):
        return []
    listed = [each for each in view.world.securities(view.now) if each.market == MARKETS[market]]
    heads = [
        _Entry(code, name, 100, 2, None, float(sum(each.board == board for each in listed)))
        for code, name, board in _CATEGORIES.get(MARKETS[market], ())
    ]
    return heads + [
        _Entry(each.code, view.world.name(each, view.now), lot(each), each.decimals, each) for each in listed
    ]
