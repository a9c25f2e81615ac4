"""Downloads into a folder: they go on where they were, and a file has its name when it is checked."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from core.errors import PayloadError, PlatformError, Unavailable, UpstreamError
from resources.upstreams.tdx.client import TdxClient
from resources.upstreams.tdx_packages import archives
from resources.upstreams.tdx_packages.arrays import damaged, iso
from resources.upstreams.tdx_packages.client import (
    ALL_BARS,
    EVENTS,
    MOST_PACKAGE,
    Announced,
    RemoteFile,
    TdxPackagesClient,
    checked,
    date_file,
)
from resources.upstreams.tdx_packages.day_files import RECORD
from resources.upstreams.tdx_packages.day_packages import date_of
from resources.upstreams.tdx_packages.events import read_events
from resources.upstreams.tdx_packages.reports import ListedReport, read_report_list

Progress = Callable[[int, int], None]
"""Gets (bytes that are there, bytes in all)."""
_ROUNDING = 0.01
"""Share by which a size may differ from the announced one, which is rounded."""
_WITNESSES = ("sh000001.day", "sz399001.day")
"""Members whose newest bar says of which date a package is: indices have no suspension."""
_LIST = "gpcw.txt"
_ABSENT = (UpstreamError, PayloadError, Unavailable)


def all_bars(client: TdxPackagesClient, folder: Path, report: Progress) -> Path:
    """`hsjday-<when it was made>.zip`. PayloadError for another size than announced, a damaged zip, or an
    older object of a cache; then nothing of it is kept."""
    announced = client.announced()
    target = folder / f"hsjday-{announced.version}.zip"
    if target.exists():
        return target
    for older in folder.glob("hsjday-*.part"):
        if older.stem != target.stem:
            older.unlink()

    def check(path: Path) -> None:
        _must_be_announced(path, announced)

    return _download(client, ALL_BARS, target, announced.size, check, report, version=announced.version)


def events(client: TdxPackagesClient, folder: Path, day: str, report: Progress) -> Path:
    """`gbbq-<day>.zip`, of today (ISO)."""
    target = folder / f"gbbq-{day.replace('-', '')}.zip"
    return target if target.exists() else _download(client, EVENTS, target, 0, _must_hold_events, report)


def date_package(client: TdxPackagesClient, folder: Path, day: str, report: Progress) -> Path:
    """`YYYYMMDD.zip` of a trade date (ISO). Permanent (404) when it is not out."""
    target = folder / f"{day.replace('-', '')}.zip"

    def check(path: Path) -> None:
        with archives.opened(path, path.name) as archive:
            if date_of([name.rpartition("/")[2] for name in archive.names]) != day:
                raise damaged(f"{path.name}: is no package of {day}")

    return target if target.exists() else _download(client, date_file(day), target, 0, check, report)


def reports(client: TdxPackagesClient, terminal: TdxClient, folder: Path, report: Progress) -> list[Path]:
    """Every `gpcwYYYYMMDD.zip` of the list that is not there with its size and hash: from the site, else from
    the terminal's servers. The files are those of the list."""
    try:
        listed = client.report_list()
    except _ABSENT:
        listed = read_report_list(terminal.file(f"tdxfin/{_LIST}"))
    paths = []
    for number, one in enumerate(listed, start=1):
        path = folder / one.name
        if not _is_there(one, path):
            _write(path, _report(client, terminal, one))
        paths.append(path)
        report(number, len(listed))
    return paths


def _report(client: TdxPackagesClient, terminal: TdxClient, listed: ListedReport) -> bytes:
    try:
        return client.report(listed)
    except _ABSENT as error:
        try:
            return checked(listed, terminal.file(f"tdxfin/{listed.name}"))
        except _ABSENT:
            raise error from None


def _is_there(listed: ListedReport, path: Path) -> bool:
    if not path.exists() or path.stat().st_size != listed.size:
        return False
    try:
        checked(listed, path.read_bytes())
    except PayloadError:
        return False
    return True


def _download(
    client: TdxPackagesClient,
    file: RemoteFile,
    target: Path,
    size: int,
    check: Callable[[Path], None],
    report: Progress,
    *,
    version: str = "",
) -> Path:
    """The file at `target`, once `check` has passed; what fails it is deleted. `size`: expected bytes, 0 when
    it is not known."""
    part = target.with_suffix(".part")
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        done = part.stat().st_size if part.exists() else 0
        with part.open("ab") as handle:
            for piece in client.parts(file, start=done, version=version):
                handle.write(piece)
                handle.flush()
                done += len(piece)
                report(done, max(size, done))
                if done > MOST_PACKAGE:
                    raise damaged(f"{target.name}: more than {MOST_PACKAGE} bytes")
        check(part)
        os.replace(part, target)
    except PayloadError:
        part.unlink(missing_ok=True)
        raise
    except OSError as error:
        raise PlatformError(f"{part} cannot be written ({error.strerror})") from None
    return target


def _write(path: Path, content: bytes) -> None:
    part = path.with_suffix(".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        os.replace(part, path)
    except OSError as error:
        raise PlatformError(f"{path} cannot be written ({error.strerror})") from None


def _must_be_announced(path: Path, announced: Announced) -> None:
    size = path.stat().st_size
    if abs(size - announced.size) > max(_ROUNDING * announced.size, 1 << 14):
        raise damaged(f"hsjday.zip: {size} bytes, announced are {announced.size}")
    with archives.opened(path, "hsjday.zip") as archive:
        newest = max((_newest(archive.read(name)) for name in archive.names if _is_witness(name)), default=0)
    if not newest:
        raise damaged(f"hsjday.zip: holds neither {' nor '.join(_WITNESSES)}")
    if iso(newest) < announced.day:
        raise damaged(
            f"hsjday.zip: its newest bar is of {iso(newest)}, announced is {announced.made}: a cache between "
            "has an older object; try again later"
        )


def _is_witness(name: str) -> bool:
    return name.rpartition("/")[2].lower() in _WITNESSES


def _newest(content: bytes) -> int:
    bars = np.frombuffer(content[: len(content) // RECORD.itemsize * RECORD.itemsize], dtype=RECORD)
    return int(bars["date"][-1]) if len(bars) else 0


def _must_hold_events(path: Path) -> None:
    with archives.opened(path, path.name) as archive:
        if "gbbq" not in archive.names:
            raise damaged(f"{path.name}: has no member gbbq")
        read_events(archive.read("gbbq"))
