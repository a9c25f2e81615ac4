"""Files with damaged bytes are read, or refused by an error of ours; nothing else is raised."""

import random
import struct
from collections.abc import Callable
from typing import Any

import pytest

from core.errors import PlatformError
from resources.upstreams.tdx_packages.client import TdxPackagesClient, parse_list, parse_state
from resources.upstreams.tdx_packages.day_files import read_day
from resources.upstreams.tdx_packages.day_packages import read_date
from resources.upstreams.tdx_packages.events import read_events
from resources.upstreams.tdx_packages.minute_files import read_minutes
from resources.upstreams.tdx_packages.reports import read_reports
from tests.upstreams.tdx_packages.written import date_members, event_file, flat_bars, report_file, zipped

EXAMPLES = 400
DAY = "2026-03-18"
BARS = {f"sh60000{at}": (10.0, 10.0, 10.5, 9.5, 10.1, 1000, 10_100.0) for at in range(5)}
MEMBERS = date_members(DAY, BARS | {"sz000001": (1.0, 1.0, 1.0, 1.0, 1.0, 1, 1.0)})
DAYS = flat_bars(1013, 10.13, range(20240102, 20240130))
MINUTES = b"".join(
    struct.pack("<HHfffffII", 17 * 2048 + 423, 571 + at, 10, 10, 10, 10, 1e4, 1000, 0) for at in range(50)
)
STATE = b'window.HSJDAY_SOFT_SIZE="524.45MB";\nwindow.HSJDAY_SOFT_TIME="2026-09-17 15:59:01";'


class Answer:
    """A fetcher whose every answer is one body."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def call(self, request: object, parse: Callable[[bytes], Any]) -> Any:
        return parse(self._body)


def read_figures(content: bytes) -> None:
    reports = read_reports(content)
    assert len(reports.announced) == len(reports.column(1)) == len(reports.codes)


FILES: dict[str, tuple[bytes, Callable[[bytes], object]]] = {
    "package of a date": (zipped(MEMBERS), lambda body: TdxPackagesClient(Answer(body)).date_bars(DAY)),
    ".md1": (MEMBERS["sh260318.md1"], lambda body: read_date(MEMBERS | {"sh260318.md1": body}, DAY)),
    ".cod": (MEMBERS["sh260318.cod"], lambda body: read_date(MEMBERS | {"sh260318.cod": body}, DAY)),
    ".day of a stock": (DAYS, lambda body: read_day(body, "sh600000")),
    ".day of an index": (flat_bars(361760, 1313.0), lambda body: read_day(body, "sh000001")),
    ".day of a bond": (flat_bars(11850, 118.5), lambda body: read_day(body, "sh113050")),
    ".lc1": (MINUTES, lambda body: read_minutes(body, "sh688001", ".lc1")),
    "gbbq": (event_file([(1, "600519", 20260630, 1, 1.0, 0.0, 0.0, 0.0)] * 9), read_events),
    "gpcw": (report_file(20260331, {"600519": {1: 1.0}, "000001": {2: 3.0}}, columns=320), read_figures),
    "state": (STATE, parse_state),
    "list": (b"gpcw20260331.zip," + b"a" * 32 + b",1024\r\n", parse_list),
}


def damaged(content: bytes, draws: random.Random) -> bytes:
    body = bytearray(content)
    for _ in range(draws.choice((1, 3, 20))):
        at, kind = draws.randrange(len(body) + 1), draws.randrange(4)
        if kind == 0:
            body[at : at + 1] = bytes([draws.randrange(256)])
        elif kind == 1 and draws.random() < 0.3:
            del body[at:]
        elif kind == 2:
            body[at:at] = draws.randbytes(4)
        else:
            body[at : at + 4] = b"\xff\xff\xff\xff"
    return bytes(body)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FILES)
def test_damaged_bytes_raise_nothing_but_our_errors(name: str) -> None:
    content, read = FILES[name]
    read(content)
    draws, refused = random.Random(name), 0
    for _ in range(EXAMPLES):
        try:
            read(damaged(content, draws))
        except PlatformError:
            refused += 1
    assert refused > EXAMPLES / 4
