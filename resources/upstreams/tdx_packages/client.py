"""Calls of the publisher's site: the state of the package of all bars, files in parts, lists of reports.

A file is asked for in parts of `PART` bytes, so that a download can go on where it was, and no answer is held
against the time that a quote may take.
"""

import hashlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import pandas as pd

from core.errors import NotServed, PayloadError, Permanent, Refused, Transient
from resources.transport.request import Request, pairs
from resources.upstreams.tdx_packages import archives
from resources.upstreams.tdx_packages.arrays import SOURCE, damaged
from resources.upstreams.tdx_packages.day_packages import date_of, read_date
from resources.upstreams.tdx_packages.reports import ListedReport, read_report_list
from resources.upstreams.upstream_client import UpstreamClient

PART = 2 << 20
"""Bytes of a part."""
MOST_PACKAGE = 1 << 30
_TIME = re.compile(r"HSJDAY_SOFT_TIME\s*=\s*[\"'](\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[\"']")
_SIZE = re.compile(r"HSJDAY_SOFT_SIZE\s*=\s*[\"']([\d.,]+)\s*(MB|M|B)?[\"']", re.IGNORECASE)
_UNITS = {"MB": 1 << 20, "M": 1 << 20, "B": 1, "": 1}
_ZIP_START = b"PK"


@dataclass(frozen=True)
class RemoteFile:
    """A file of the publisher; `address` is for a person who downloads it by hand. `usual`: bytes that it has
    about, for a plan."""

    site: str
    call: str
    path: str
    address: str
    usual: int = 3 << 20


ALL_BARS = RemoteFile(
    "tdx_packages.bars",
    "all_bars",
    "/vipdoc/hsjday.zip",
    "https://www.tdx.com.cn/article/vipdata.html",
    525 << 20,
)
USUAL_BARS = 35_000_000
"""Bars that it holds about."""
EVENTS = RemoteFile(
    "tdx_packages.files",
    "events",
    "/products/data/data/dbf/gbbq.zip",
    "https://www.tdx.com.cn/products/data/data/dbf/gbbq.zip",
)


def date_file(day: str) -> RemoteFile:
    """The package of a trade date (ISO)."""
    path = f"/products/data/data/g4day/{day.replace('-', '')}.zip"
    return RemoteFile("tdx_packages.files", "date_bars", path, f"https://www.tdx.com.cn{path}")


USUAL_REPORTS = 148
"""Report files that are listed, of the usual size each."""


def report_file(name: str) -> RemoteFile:
    path = f"/tdxfin/{name}"
    return RemoteFile("tdx_packages.reports", "reports", path, f"http://down.tdx.com.cn:8001{path}", 2 << 20)


@dataclass(frozen=True)
class Announced:
    """What the site says of the package of all bars: when it was made (Shanghai), and its bytes, perhaps
    rounded to a hundredth of 2**20."""

    made: datetime
    size: int

    @property
    def day(self) -> str:
        """The newest trade date that must be inside (ISO)."""
        return self.made.date().isoformat()

    @property
    def version(self) -> str:
        return f"{self.made:%Y%m%d%H%M%S}"


def parse_state(body: bytes) -> Announced:
    """The two assignments of the script, in any order. Refused for a page."""
    text = body.decode("utf-8", errors="replace")
    made, size = _TIME.search(text), _SIZE.search(text)
    if made is None or size is None:
        _must_be_no_page(body, ALL_BARS)
        raise damaged(f"state of the package: {text[:80]!r} names no time and size")
    try:
        moment = datetime.fromisoformat(made[1])
        number = float(size[1].replace(",", ""))
    except ValueError:
        raise damaged(f"state of the package: {text[:80]!r}") from None
    return Announced(moment, round(number * _UNITS[(size[2] or "").upper()]))


def _must_be_no_page(body: bytes, file: RemoteFile) -> None:
    if body.lstrip()[:1] == b"<":
        raise Refused(
            "the site answers with a page for browsers instead of the file: download it by hand from "
            f"{file.address} and give it to `ashare import`",
            source=SOURCE,
        )


def parse_part(body: bytes, file: RemoteFile, start: int) -> bytes:
    """A part of a zip. Refused for a page; of the first part the first bytes are those of a zip."""
    if not body:
        raise Transient(f"{file.path}: empty answer")
    if start == 0:
        _must_be_no_page(body, file)
        if not body.startswith(_ZIP_START):
            raise damaged(f"{file.path}: {body[:8]!r} is no begin of a zip")
    if len(body) > PART:
        raise damaged(f"{file.path}: {len(body)} bytes of {PART} asked for; the site serves no parts")
    return body


def parse_list(body: bytes) -> list[ListedReport]:
    _must_be_no_page(body, report_file("gpcw.txt"))
    return read_report_list(body)


def parse_date(body: bytes, file: RemoteFile, day: str) -> pd.DataFrame:
    """The rows of `date_bars` from the package of that trade date (ISO)."""
    _must_be_no_page(body, file)
    with archives.opened(io.BytesIO(body), file.path) as archive:
        members = {name.rpartition("/")[2].lower(): archive.read(name) for name in archive.names}
    if date_of(list(members)) != day:
        raise damaged(f"{file.path}: holds {', '.join(sorted(members)[:6])}")
    rows = pd.DataFrame(read_date(members, day))
    rows["code"], rows["market"] = rows["symbol"].str[2:], rows["symbol"].str[:2].str.upper()
    return rows


class TdxPackagesClient(UpstreamClient):
    source = SOURCE

    def announced(self) -> Announced:
        """When the package of all bars was made, and its size."""
        request = Request("tdx_packages.bars", "state", "/vipdoc/_hsjdayinfo.js")
        return self._ask(request, parse_state)

    def parts(self, file: RemoteFile, *, start: int = 0, version: str = "") -> Iterator[bytes]:
        """The bytes of a file from `start` on, part by part. `version` goes into the query: a cache between
        has no older object of it. Permanent (404) when the site does not have the file."""
        params = pairs(f"v={version}") if version else ()
        while True:
            headers = (("Range", f"bytes={start}-{start + PART - 1}"), ("Accept-Encoding", "identity"))
            request = Request(
                file.site, file.call, file.path, params, label=f"{file.path} from {start}", headers=headers
            )
            try:
                part = self._ask(request, partial(parse_part, file=file, start=start))
            except Permanent as error:
                if start and "416" in error.message:
                    return  # the file ends with the part before
                raise
            yield part
            start += len(part)
            if len(part) < PART:
                return

    def file(self, file: RemoteFile, *, most: int, version: str = "") -> bytes:
        """A whole file of at most so many bytes."""
        content = b""
        for part in self.parts(file, version=version):
            content += part
            if len(content) > most:
                raise damaged(f"{file.path}: more than {most} bytes")
        return content

    def date_bars(self, day: str) -> pd.DataFrame:
        """Bars of every security that the package of a trade date has: symbol, code, market, last_close
        (quoted), open, high, low, close, volume (shares), amount (CNY); of a suspended one volume 0 at the
        previous close. NotServed when it is not out."""
        file = date_file(day)
        request = Request(file.site, file.call, file.path)
        try:
            return self._ask(request, partial(parse_date, file=file, day=day))
        except Permanent as error:
            raise NotServed(f"{file.path}: {error.message}", source=SOURCE) from error

    def report_list(self) -> list[ListedReport]:
        """Every report file with its period, hash and size."""
        request = Request("tdx_packages.reports", "report_list", "/tdxfin/gpcw.txt")
        return self._ask(request, parse_list)

    def report(self, listed: ListedReport) -> bytes:
        """A report file, of the size and hash that the list says."""
        return checked(listed, self.file(report_file(listed.name), most=listed.size))


def checked(listed: ListedReport, content: bytes) -> bytes:
    """The content, if it is what the list says. PayloadError otherwise."""
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    if len(content) != listed.size or digest != listed.md5:
        raise PayloadError(
            f"{listed.name}: {len(content)} bytes, MD5 {digest}; the list says {listed.size}, {listed.md5}",
            source=SOURCE,
        )
    return content
