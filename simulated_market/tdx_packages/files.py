"""Writes the publisher's files from a world: `.day`, the package of a date, `gbbq`, `gpcw`."""

import hashlib
import io
import struct
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import numpy as np
from cryptography.hazmat.decrepit.ciphers.algorithms import Blowfish
from cryptography.hazmat.primitives.ciphers import Cipher, modes

from core.arrays import Ints
from simulated_market.finance import Result
from simulated_market.world.model import PRICE_UNIT, Bars, ExRight, Security, World

_DAY = struct.Struct("<IIIIIfII")
_EVENT = struct.Struct("<B7sIB4f")
_EVENT_KEY = b"770303770222"
_MARKETS = ("SZ", "SH", "BJ")
_LARGE = 1 << 32
_COLUMNS = 584
_BLOCK, _CODE_RECORD = 512, 150


def decimals_in_files(security: Security) -> int:
    """Digits behind the point of a price: three of funds, bonds and B shares."""
    return 3 if security.kind in ("etf", "lof", "reit", "cb", "b") else 2


def day_file(security: Security, bars: Bars, until: int) -> bytes:
    """Records up to a date (YYYYMMDD). A suspended day has none; an index counts lots, and its members that
    rose and fell are in the last word."""
    step = PRICE_UNIT // 10 ** decimals_in_files(security)
    is_index = security.kind == "index"
    out = bytearray()
    for at in np.flatnonzero(bars.traded & (bars.date <= until)).tolist():
        prices = ((int(one[at]) + step // 2) // step for one in (bars.open, bars.high, bars.low, bars.close))
        volume, last = int(bars.volume[at]), 0x10000
        if is_index:
            volume //= 100
            last = min(int(bars.up_count[at]), 0xFFFF) | min(int(bars.down_count[at]), 0xFFFF) << 16
        elif volume >= _LARGE:
            volume, last = volume // 100, 0xC3640000 | volume % 100
        out += _DAY.pack(int(bars.date[at]), *prices, float(bars.amount[at]), volume, last)
    return bytes(out)


def all_days(world: World, now: datetime, until: int) -> bytes:
    """`hsjday.zip`: a `.day` of every security, under names with backslashes."""
    members = {}
    for one in world.securities(now):
        content = day_file(one, world.bars(one, now), until)
        if content:
            market = one.market.lower()
            members[f"{market}\\lday\\{one.symbol}.day"] = content
    return zipped(members)


def date_package(world: World, now: datetime, day: int) -> bytes:
    """`g4day`: six members. The blocks of `.md1` are in another order than the codes of `.cod`."""
    listed = [one for one in world.securities(now) if one.list_date <= day]
    members = {}
    for market in ("sh", "sz", "bj"):
        own = [one for one in listed if one.market.lower() == market]
        codes, blocks = bytearray(), bytearray(_BLOCK * (len(own) + 1))
        for number, one in enumerate(own):
            place = len(own) - number
            record = bytearray(_CODE_RECORD)
            struct.pack_into("<6s", record, 0, one.code.encode())
            struct.pack_into("<H", record, 32, place)
            codes += record
            _put_bar(blocks, place * _BLOCK, world.bars(one, now), day)
        name = f"{market}{day % 1_000_000:06d}"
        members[f"{name}.cod"], members[f"{name}.md1"] = bytes(codes), bytes(blocks)
    return zipped(members)


def _put_bar(blocks: bytearray, start: int, bars: Bars, day: int) -> None:
    """One block; of a suspended security only the previous close is in it."""
    places = np.flatnonzero(bars.date == day)
    if not len(places):
        return
    at = int(places[0])
    struct.pack_into("<d", blocks, start + 4, int(bars.preclose[at]) / PRICE_UNIT)
    if not bars.traded[at]:
        return
    for offset, column in zip((12, 20, 28, 36), (bars.open, bars.high, bars.low, bars.close), strict=True):
        struct.pack_into("<d", blocks, start + offset, int(column[at]) / PRICE_UNIT)
    struct.pack_into("<Q", blocks, start + 56, int(bars.volume[at]))
    struct.pack_into("<d", blocks, start + 72, float(bars.amount[at]))


def events(records: Iterable[tuple[Security, ExRight]]) -> bytes:
    """`gbbq`: the first three blocks of eight bytes of each record enciphered, its words turned around."""
    cipher = Cipher(Blowfish(_EVENT_KEY), modes.ECB()).encryptor()  # noqa: S305  as the publisher does it
    out = []
    for security, event in records:
        market = _MARKETS.index(security.market)
        clear = _EVENT.pack(market, security.code.encode(), event.date, event.category, *event.values)
        turned = struct.pack(">6I", *struct.unpack("<6I", clear[:24]))
        coded = struct.unpack(">6I", cipher.update(turned))
        out.append(struct.pack("<6I", *coded) + clear[24:])
    return struct.pack("<I", len(out)) + b"".join(out)


def reports(period: int, results: Sequence[Result], known: Sequence[str]) -> bytes:
    """`gpcw` of a period: a record of every company in `known`, zeros where it has not reported."""
    by_code = {one.security.code: one for one in results}
    head = struct.pack("<hIHIII", 1, period, len(known), 11 << 16, _COLUMNS * 4, 0)
    first = len(head) + 11 * len(known)
    index, body = bytearray(), bytearray()
    for code in known:
        index += struct.pack("<6s1sI", code.encode(), b"\0", first + len(body))
        cells = {} if code not in by_code else _cells(by_code[code])
        body += struct.pack(f"<{_COLUMNS}f", *(cells.get(at) or 0.0 for at in range(1, _COLUMNS + 1)))
    return head + bytes(index) + bytes(body)


def _cells(one: Result) -> Mapping[int, float | None]:
    """Number of a column, from 1 -> its value."""
    report = one.report
    return {
        1: one.eps, 4: one.bvps, 8: one.cash, 11: one.receivables, 17: one.inventory,
        21: one.current_assets, 27: report.fixed_assets, 35: one.goodwill, 40: report.total_assets,
        41: one.short_loans, 54: one.current_liabilities, 55: one.long_loans, 63: report.total_liabilities,
        72: report.net_assets, 74: report.revenue, 77: one.selling, 78: one.administration, 80: one.interest,
        86: report.operating_profit, 92: report.total_profit, 95: report.net_profit, 96: report.net_profit,
        107: report.operating_cash_flow, 114: one.investment, 119: one.investing, 128: one.financing,
        202: one.gross_margin, 206: one.deducted, 238: float(one.shares), 242: float(report.holders),
        271: report.net_assets, 281: one.roe, 314: float(one.notice % 1_000_000),
    }  # fmt: skip


def report_lines(files: Mapping[str, bytes]) -> bytes:
    """`gpcw.txt`: name, MD5 and size of each file."""
    lines = [
        f"{name},{hashlib.md5(content, usedforsecurity=False).hexdigest()},{len(content)}"
        for name, content in files.items()
    ]
    return "\r\n".join(lines).encode()


def zipped(members: Mapping[str, bytes]) -> bytes:
    """A zip with the names as they are, backslashes too; equal for equal members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.filename, entry.compress_type = name, zipfile.ZIP_DEFLATED
            file.writestr(entry, content)
    return buffer.getvalue()


def period_ends(dates: Ints, today: int) -> list[int]:
    """Quarter ends from the first year of the world to the next one to come, which holds its place."""
    years = range(int(dates[0]) // 10_000, today // 10_000 + 2)
    ends = [year * 10_000 + end for year in years for end in (331, 630, 930, 1231)]
    ended = [end for end in ends if end < today]
    return [*ended, *ends[len(ended) : len(ended) + 1]]
