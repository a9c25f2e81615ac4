"""Downloads of the publisher: in parts where a range is asked for, as its servers give them."""

import re
import threading
from collections.abc import Callable
from datetime import datetime, time

import numpy as np

from simulated_market.finance import FinanceBook
from simulated_market.shared_facts import Books
from simulated_market.tdx_packages import files
from simulated_market.wire import HttpRequest, Reply, Route, View, route
from simulated_market.world.dates import number_of
from simulated_market.world.model import World

_ZIP = "application/zip"
_ANNOUNCED = time(15, 59, 1)
"""When the package of all bars is out on a trade date."""
_DATE_OUT = time(18, 0)
_RANGE = re.compile(r"bytes=(\d+)-(\d*)")
_ABSENT = Reply(b"<html><body>404 Not Found</body></html>", "text/html", 404)
_REPORT = re.compile(r"gpcw(\d{8})\.zip")
_PERIODS = 16
"""Report periods that are served."""


class ReportFiles:
    """`gpcw.txt` and the files that it lists; the terminal's servers hand out the same."""

    def __init__(self, finance: FinanceBook) -> None:
        self._finance = finance

    def content(self, view: View, name: str) -> bytes:
        """A file by its name; b'' when there is none."""
        ends = files.period_ends(view.world.trade_dates(), number_of(view.now))[-_PERIODS:]
        if name == "gpcw.txt":
            return files.report_lines({f"gpcw{end}.zip": self._file(view, end) for end in ends})
        match = _REPORT.fullmatch(name)
        return self._file(view, int(match[1])) if match and int(match[1]) in ends else b""

    def _file(self, view: View, period: int) -> bytes:
        known = [one.code for one in view.world.securities(view.now) if one.kind == "stock"]
        content = files.reports(period, self._finance.of_period(view, period), known)
        return files.zipped({f"gpcw{period}.dat": content})


class TdxPackagesResponder:
    """Keeps the package of all bars of one date: it is asked for in many parts."""

    upstream = "tdx_packages"

    def __init__(self, books: Books) -> None:
        self._reports = ReportFiles(books.finance)
        self._lock = threading.Lock()
        self._held: tuple[object, bytes] = ((), b"")

    @property
    def routes(self) -> tuple[Route, ...]:
        data = r"/products/data/data"
        return (
            route("state", r"/vipdoc/_hsjdayinfo\.js", self._state),
            route("all_bars", r"/vipdoc/hsjday\.zip", self._all_bars),
            route("date_bars", data + r"/g4day/\d{8}\.zip", self._date_bars),
            route("events", data + r"/dbf/gbbq\.zip", self._events),
            route("report_list", r"/tdxfin/gpcw\.txt", self._report_list),
            route("reports", r"/tdxfin/gpcw\d{8}\.zip", self._report),
        )

    def _state(self, request: HttpRequest, view: View) -> Reply:
        day = announced(view.world, view.now)
        text = f"{day // 10_000}-{day // 100 % 100:02d}-{day % 100:02d} {_ANNOUNCED}"
        size = f"{len(self._package(view)) / (1 << 20):.2f}MB"
        script = f'/* state */\nwindow.HSJDAY_SOFT_TIME="{text}";\nwindow.HSJDAY_SOFT_SIZE="{size}";\n'
        return Reply(script.encode(), "application/javascript")

    def _package(self, view: View) -> bytes:
        day = announced(view.world, view.now)
        return self._kept(("bars", id(view.world), day), lambda: files.all_days(view.world, view.now, day))

    def _kept(self, key: object, make: Callable[[], bytes]) -> bytes:
        with self._lock:
            if self._held[0] != key:
                self._held = key, make()
            return self._held[1]

    def _all_bars(self, request: HttpRequest, view: View) -> Reply:
        return _part(request, self._package(view))

    def _date_bars(self, request: HttpRequest, view: View) -> Reply:
        day = int(request.path[-12:-4])
        newest = newest_date(view.world, view.now, _DATE_OUT)
        if day > newest or day not in view.world.trade_dates():
            return _ABSENT
        return _part(request, files.date_package(view.world, view.now, day))

    def _events(self, request: HttpRequest, view: View) -> Reply:
        known = [
            (security, event)
            for security in view.world.securities(view.now)
            for event in view.world.exrights(security, view.now)
            if not event.late or event.date < number_of(view.now)
        ]
        return _part(request, files.zipped({"gbbq": files.events(known), "zhb.zip": files.zipped({})}))

    def _report_list(self, request: HttpRequest, view: View) -> Reply:
        return Reply(self._reports.content(view, "gpcw.txt"), "text/plain")

    def _report(self, request: HttpRequest, view: View) -> Reply:
        content = self._reports.content(view, request.path.rpartition("/")[2])
        return _part(request, content) if content else _ABSENT


def announced(world: World, now: datetime) -> int:
    """The newest trade date whose package of all bars is out, YYYYMMDD."""
    return newest_date(world, now, _ANNOUNCED)


def newest_date(world: World, now: datetime, out: time) -> int:
    """The newest trade date, of today only from a time of day on, YYYYMMDD; 0 before the first."""
    dates = world.trade_dates()
    today = number_of(now)
    at = int(np.searchsorted(dates, today, side="right")) - 1
    if at >= 0 and int(dates[at]) == today and now.time() < out:
        at -= 1
    return int(dates[at]) if at >= 0 else 0


def _part(request: HttpRequest, content: bytes) -> Reply:
    """The content, or the range of it that is asked for."""
    match = _RANGE.fullmatch(request.headers.get("range", ""))
    if match is None:
        return Reply(content, _ZIP)
    start = int(match[1])
    if start >= len(content):
        return Reply(b"", "text/html", 416, {"Content-Range": f"bytes */{len(content)}"})
    end = min(int(match[2]) if match[2] else len(content) - 1, len(content) - 1)
    where = {"Content-Range": f"bytes {start}-{end}/{len(content)}", "Accept-Ranges": "bytes"}
    return Reply(content[start : end + 1], _ZIP, 206, where)
