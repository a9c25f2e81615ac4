"""Files whose format is known: the terminal publisher's packages and what an installation keeps on disk.

A folder, a zip or a single file is looked through; each file in it is known by its name, and what it holds by
reading it. No mapping is needed. What cannot be imported is left out, with the reason.
"""

import hashlib
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from core.errors import InputError, PayloadError
from core.market import securities
from core.market.symbols import instrument
from platform_assets.datasets.index_daily import INDICES
from platform_assets.pipeline.imports.files import SourceFile, file_hash
from resources.upstreams.tdx_packages import archives, day_packages, minute_files
from resources.upstreams.tdx_packages.day_files import symbol_of

DAILY_BARS, INDEX_BARS, EVENTS, REPORTS = "kline_daily", "index_daily", "exright", "finance_indicator"
ORDER = (EVENTS, DAILY_BARS, INDEX_BARS, REPORTS)
"""Datasets in the order in which they are imported: bars take their factors from the stored events."""
KNOWN = "vipdoc, T0002/hq_cache, hsjday.zip, a day package, gpcw*.zip, gbbq, sh600000.day"
_HELD = frozenset({securities.STOCK, securities.ETF, securities.LOF, securities.REIT, securities.CB})
_REPORT_FILE = re.compile(r"gpcw\d{8}\.dat")
_REPORT_ZIP = re.compile(r"gpcw\d{8}\.zip")
_NO_MINUTES = "minute bars: no dataset keeps those of files"
_SETTINGS = "settings of the terminal: the platform asks the terminal for them"


@dataclass(frozen=True)
class Piece:
    """One file, on disk or in a zip; `name` is its place in what was given, with `/` between folders.
    `read` raises PayloadError, or OSError for one on disk."""

    name: str
    size: int
    read: Callable[[], bytes]

    @property
    def own_name(self) -> str:
        return self.name.rpartition("/")[2].lower()


@dataclass
class Package:
    """What a path holds. `pieces`: dataset -> its files; `left_out`: file -> why it is not imported;
    `others`: how many files are of no known format."""

    path: Path
    pieces: dict[str, list[Piece]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    others: int = 0

    @property
    def label(self) -> str:
        return self.path.name

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the file that was given; of a folder, of the names and hashes of the files that are
        read."""
        if self.path.is_file():
            return file_hash([SourceFile(self.label, self.path, self.path.stat().st_size)])
        own = [(one.name, hashlib.sha256(one.read()).hexdigest()) for one in self._all]
        return hashlib.sha256("\n".join(f"{name} {digest}" for name, digest in own).encode()).hexdigest()

    @property
    def _all(self) -> list[Piece]:
        return [piece for dataset in ORDER for piece in self.pieces.get(dataset, [])]

    @property
    def count(self) -> int:
        """How many files are read."""
        return len(self._all)

    def of(self, dataset: str) -> list[SourceFile]:
        return [SourceFile(one.name, self.path, one.size) for one in self.pieces[dataset]]


@contextmanager
def looked_through(path: Path) -> Iterator[Package]:
    """The package at a path, which stays open. InputError when nothing of it is known, or a zip breaks the
    limits of one."""
    if not path.exists():
        raise InputError("file", f"{path} is not there")
    found = Package(path)
    with ExitStack() as opened:
        try:
            for pieces in _groups(path, opened):
                _sort(found, pieces)
            if not found.pieces:
                why = next(iter(found.left_out.values()), f"known are {KNOWN}; another file needs a --map")
                raise InputError("file", f"{path.name} holds nothing that can be imported: {why}")
            yield found
        except PayloadError as error:
            raise InputError("file", error.message) from None
        except OSError as error:
            raise InputError("file", f"{path.name} cannot be read ({error.strerror or error})") from None


def _groups(path: Path, opened: ExitStack) -> Iterator[list[Piece]]:
    """The files of a path; those of each zip in a group of their own."""
    if path.is_file():
        yield from _of_file(path, path.name, opened)
        return
    loose: list[Piece] = []
    for one in sorted(path.rglob("*")):
        name = one.relative_to(path).as_posix()
        if one.is_symlink() or not one.is_file() or one.name.startswith("."):
            continue
        if one.suffix.lower() == ".zip":
            yield from _of_file(one, name, opened)
        else:
            loose.append(Piece(name, one.stat().st_size, one.read_bytes))
    yield loose


def _of_file(path: Path, name: str, opened: ExitStack) -> Iterator[list[Piece]]:
    if path.suffix.lower() != ".zip":
        yield [Piece(name, path.stat().st_size, path.read_bytes)]
        return
    yield from _of_zip(opened.enter_context(archives.opened(path, name)), opened)


def _of_zip(archive: archives.Archive, opened: ExitStack) -> Iterator[list[Piece]]:
    """The members of a zip, and those of the reports' zips in it."""
    own = []
    for name in archive.names:
        place = f"{archive.label}/{name}"
        if _REPORT_ZIP.fullmatch(name.rpartition("/")[2].lower()):
            inner = archives.opened(io.BytesIO(archive.read(name)), place)
            yield from _of_zip(opened.enter_context(inner), opened)
        else:
            own.append(Piece(place, archive.size(name), lambda name=name: archive.read(name)))  # type: ignore[misc]
    yield own


def _sort(found: Package, pieces: Sequence[Piece]) -> None:
    """Adds each piece to the files of its dataset, to those that are left out, or to the others."""
    day = day_packages.date_of([one.own_name for one in pieces])
    if day is not None:
        found.pieces.setdefault(DAILY_BARS, []).extend(pieces)
        return
    for piece in pieces:
        name = piece.own_name
        if name.endswith(".day"):
            _sort_day(found, piece)
        elif name == "gbbq":
            found.pieces.setdefault(EVENTS, []).append(piece)
        elif _REPORT_FILE.fullmatch(name):
            found.pieces.setdefault(REPORTS, []).append(piece)
        elif name.endswith(tuple(minute_files.MINUTES)):
            found.left_out[piece.name] = _NO_MINUTES
        elif name == "zhb.zip":
            found.left_out[piece.name] = _SETTINGS
        else:
            found.others += 1


def _sort_day(found: Package, piece: Piece) -> None:
    try:
        symbol = symbol_of(piece.name)
    except PayloadError as error:
        found.left_out[piece.name] = f"a name of no mainland security ({error.message})"
        return
    if is_held(symbol):
        found.pieces.setdefault(DAILY_BARS, []).append(piece)
    elif symbol in INDICES:
        found.pieces.setdefault(INDEX_BARS, []).append(piece)
    else:
        kind = instrument(symbol).kind
        found.left_out[piece.name] = f"no dataset holds daily bars of this kind ({kind})"


def is_held(symbol: str) -> bool:
    """Whether the daily bars of a security are held: stocks, ETFs, LOFs, REITs, convertible bonds."""
    return symbol[2:].isdigit() and instrument(symbol).kind in _HELD
