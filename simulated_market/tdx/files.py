"""Bodies of 0x02c5 (file meta) and 0x06b9 (file content), and the files themselves.

block_gn.dat holds the world's concepts, block_zs.dat its indices, block_fg.dat styles that follow from
names and listing dates; tdxhy.cfg and tdxzs.cfg its industries and the codes of all block indices.
zhb.zip packs the terminal's settings, among them profile.dat: former names up to the day before; and
needini.dat: closed days beside weekends.
"""

import hashlib
import io
import struct
import threading
import zipfile
from collections.abc import Iterable
from datetime import date

from simulated_market.arrangements import YEARS_AHEAD, announced_year, closed_days
from simulated_market.finance import FinanceBook
from simulated_market.tdx.encoding import cell
from simulated_market.tdx.state import MARKETS, RequestView
from simulated_market.tdx_packages.responder import ReportFiles
from simulated_market.wire import View
from simulated_market.world.dates import date_of

CHUNK = 30_000
_REPORTS = "tdxfin/"
_HEADER = b"Registry ver:1.0 (1999-9-28)"
_HEADER_SIZE = 384
_CAPACITY = 400
_BLOCK_KIND = 2
_NEW_LISTING_DAYS = 365
# Kind -> first code and type number of tdxzs.cfg.
_KINDS = {"region": (880_201, 3), "industry": (880_301, 2), "concept": (880_501, 4)}


class Files:
    """Builds each file once a day of the world; clients read it in many chunks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._built: dict[tuple[str, date], bytes] = {}
        self._reports = ReportFiles(FinanceBook())

    def meta(self, view: RequestView, name: str) -> bytes:
        content = self._content(view, name)
        digest = hashlib.md5(content, usedforsecurity=False).hexdigest().encode()
        return struct.pack("<I1s32s1s", len(content), b"\0", digest, b"\0")

    def chunk(self, view: RequestView, name: str, start: int, size: int) -> bytes:
        piece = self._content(view, name)[start : start + min(size, CHUNK)]
        return struct.pack("<I", len(piece)) + piece

    def _content(self, view: RequestView, name: str) -> bytes:
        builder = _BUILDERS.get(name)
        if builder is None and not name.startswith(_REPORTS):
            return b""
        key = (name, view.now.date())
        with self._lock:
            if key not in self._built:
                self._built = {old: body for old, body in self._built.items() if old[1] == key[1]}
                self._built[key] = self._report(view, name) if builder is None else builder(view)
            return self._built[key]

    def _report(self, view: RequestView, name: str) -> bytes:
        return self._reports.content(View(view.world, view.now), name.removeprefix(_REPORTS))


def _block_file(blocks: list[tuple[str, list[str]]]) -> bytes:
    out = bytearray(_HEADER.ljust(_HEADER_SIZE, b"\0") + struct.pack("<H", len(blocks)))
    for name, codes in blocks:
        # The format has room for 400 members; the rest of a larger block is cut.
        kept = codes[:_CAPACITY]
        out += struct.pack("<9sHH", cell(name, 9), len(kept), _BLOCK_KIND)
        out += b"".join(code.encode() + b"\0" for code in kept).ljust(_CAPACITY * 7, b"\0")
    return bytes(out)


def _concepts(view: RequestView) -> bytes:
    boards = [each for each in view.world.boards(view.now) if each.kind == "concept"]
    return _block_file([(board.name, [symbol[2:] for symbol in board.members]) for board in boards])


def _indices(view: RequestView) -> bytes:
    codes = [each.code for each in view.world.securities(view.now) if each.kind == "index"]
    return _block_file([("精选指数", codes)])


def _styles(view: RequestView) -> bytes:
    today = view.now.date().toordinal()
    special, fresh = [], []
    for each in view.world.securities(view.now):
        if each.kind != "stock":
            continue
        if "ST" in view.world.name(each, view.now):
            special.append(each.code)
        if today - date_of(each.list_date).toordinal() <= _NEW_LISTING_DAYS:
            fresh.append(each.code)
    return _block_file([("ST板块", special), ("次新股", fresh)])


def _industry_lines(view: RequestView) -> bytes:
    keys = _industry_keys(view)
    return _text(
        f"{MARKETS.index(each.market)}|{each.code}|{keys.get(each.industry, '')}|||"
        for each in view.world.securities(view.now)
        if each.kind == "stock"
    )


def _industry_keys(view: RequestView) -> dict[str, str]:
    names = sorted({each.industry for each in view.world.securities(view.now) if each.industry})
    return {name: f"T{at // 20 + 1:02d}{at % 20 + 1:02d}" for at, name in enumerate(names)}


def _index_lines(view: RequestView) -> bytes:
    keys = _industry_keys(view)
    named: dict[str, list[str]] = {"industry": list(keys)}
    for board in view.world.boards(view.now):
        if board.kind != "industry":
            named.setdefault(board.kind, []).append(board.name)
    lines = []
    for kind, names in named.items():
        first, number = _KINDS[kind]
        for code, name in enumerate(names, start=first):
            key = keys.get(name, name) if kind == "industry" else name
            lines.append(f"{name}|{code}|{number}|1|0|{key}")
    return _text(lines)


def _former_names(view: RequestView) -> bytes:
    """Records of 64 bytes: market, code, name in 8 bytes, first date of the next name. The package is made
    in the night, so that a change of today is not in it yet."""
    out = b""
    for each in view.world.renames(view.now):
        if each.date < view.today:
            market, code = MARKETS.index(each.symbol[:2].upper()), each.symbol[2:].encode()
            out += struct.pack("<B6sx8sxI43x", market, code, cell(each.old_name, 8), each.date)
    return out


def _closed_days(view: RequestView) -> bytes:
    """A line for each year from 1991 on; of years that are not announced yet only what is closed in any."""
    announced = announced_year(view.now)
    years = range(1991, announced + YEARS_AHEAD + 1)
    lines = ["[Holiday]", f"NUM={len(years)}"]
    for place, year in enumerate(years, start=1):
        days = closed_days(year) if year <= announced else [f"{year}-01-01", f"{year}-10-01"]
        named = "".join(f"{day[5:7]}{day[8:]}," for day in days)
        lines.append(f"Y{place}={year},{named}")
    return _text([*lines, "[Other]", "NUM=0"])


def _package(view: RequestView) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for name, builder in _PACKED.items():
            # A fixed date: the package is a function of the world and the day.
            package.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), builder(view))
    return buffer.getvalue()


def _text(lines: Iterable[str]) -> bytes:
    return "".join(line + "\r\n" for line in lines).encode("gb18030")


_PACKED = {
    "profile.dat": _former_names,
    "needini.dat": _closed_days,
    "tdxhy.cfg": _industry_lines,
    "tdxzs.cfg": _index_lines,
}
_BUILDERS = {
    "zhb.zip": _package,
    "block_gn.dat": _concepts,
    "block_zs.dat": _indices,
    "block_fg.dat": _styles,
    "tdxhy.cfg": _industry_lines,
    "tdxzs.cfg": _index_lines,
}
