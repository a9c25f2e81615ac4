"""The portal's data centre: one gateway for all of its reports, distinguished by `reportName`.

Answers are HTTP 200 whatever happened; `code` decides: 0 rows, 9201 truly no rows, 9501 a report, column
or filter that does not exist (a changed contract), 9701 busy. `result: null` alone says nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from core.errors import PayloadError, Permanent, Transient
from resources.rejections import accepted_table, named_by
from resources.transport.request import Request
from resources.upstreams.parsing.payload import json_of, list_of, object_of
from resources.upstreams.parsing.rows import Table

PAGE = 500
"""The largest page that every report honours."""
MOST_PAGES = 100
"""The gateway ends there: page 101 answers no rows and says that there are no pages."""
EVERY_COLUMN = ("ALL",)
"""For reports whose columns have no witness: an unknown name in the list costs the whole answer (9501), a
column that is missing costs that column."""
PUBLIC_TOKEN = "894050c76af8597a853f5b408b759f5d"  # noqa: S105  not a secret: every browser sends it
_CODES = ("SECURITY_CODE", "SCODE", "DIM_SCODE", "SECUCODE")
_OK, _NO_ROWS, _NO_REPORT, _BUSY = 0, 9201, 9501, 9701

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Report:
    """A request to the data centre. `sort` columns make a total order (`-` before a name: descending):
    without one, rows drift between pages while the count stays right. `where` clauses are joined by AND;
    `key` are the columns of the frame by which a row that came twice is found; none where equal rows are
    ordinary. `f10`: a report of the sibling gateway, with the same answers."""

    name: str
    columns: tuple[str, ...]
    where: tuple[str, ...]
    sort: tuple[str, ...]
    key: tuple[str, ...]
    f10: bool = False
    token: bool = False
    """The gateway answers some reports only to callers that send its public token."""


@dataclass(frozen=True)
class Dated:
    """A report that is asked for by days and securities: called with [since, until] (None: no first day) and
    codes (None: all), it is the request. `rows` reads its rows. `day` is the day on the wire, with the column
    of the frame behind it where no table says it; `sort` and `key` are those of `Report`, as words.
    `by_name`: the columns of the table are asked for, else every column. `where` clauses belong to every
    request; `code` is the column of the securities."""

    name: str
    rows: Table | Callable[[Rows], pd.DataFrame]
    day: str
    sort: str
    key: str = ""
    by_name: bool = False
    where: tuple[str, ...] = ()
    code: str = "SECURITY_CODE"

    @property
    def read(self) -> Callable[[Rows], pd.DataFrame]:
        return self.rows.frame if isinstance(self.rows, Table) else self.rows

    @property
    def column(self) -> str:
        """The day in the frame."""
        wire, _, column = self.day.partition(" ")
        fields = self.rows.fields if isinstance(self.rows, Table) else ()
        return column or next(one.column for one in fields if one.wire == wire)

    def __call__(self, since: str | None, until: str, codes: Sequence[str] | None = None) -> Report:
        return self.of(codes, *between(self.day.split()[0], since, until))

    def on(self, day: str, codes: Sequence[str] | None = None) -> Report:
        """The rows of one day."""
        wire = self.day.split()[0]
        report = self.of(codes, on_day(wire, day))
        return replace(report, sort=tuple(name for name in report.sort if name != wire))

    def of(self, codes: Sequence[str] | None, *clauses: str) -> Report:
        """The rows of all days, or of those that the clauses name."""
        columns = self.rows.wire if self.by_name and isinstance(self.rows, Table) else EVERY_COLUMN
        where = (*self.where, *of_codes(codes, self.code), *clauses)
        return Report(self.name, columns, where, tuple(self.sort.split()), tuple(self.key.split()))


def equals(column: str, value: str) -> str:
    """A clause over a text column."""
    return f'({column}="{value}")'


def among(column: str, values: Sequence[str]) -> str:
    quoted = ",".join(f'"{value}"' for value in values)
    return f"({column} in ({quoted}))"


def days_among(column: str, days: Sequence[str]) -> str:
    """A clause over a date column: one of some days."""
    quoted = ",".join(f"'{day}'" for day in days)
    return f"({column} in ({quoted}))"


def on_day(column: str, day: str, operator: str = "=") -> str:
    """A clause over a date column."""
    return f"({column}{operator}'{day}')"


def of_codes(codes: Sequence[str] | None, column: str = "SECURITY_CODE") -> tuple[str, ...]:
    """The clause of some securities; no clause for all of them (None)."""
    return () if codes is None else (among(column, codes),)


def between(column: str, since: str | None, until: str) -> tuple[str, ...]:
    """Clauses over a date column: [since, until] (None: no first day)."""
    first = () if since is None else (on_day(column, since, ">="),)
    return (*first, on_day(column, until, "<="))


def report_request(report: Report, page: int, size: int = PAGE) -> Request:
    """One page of a report."""
    params = (
        ("reportName", report.name),
        ("columns", ",".join(report.columns)),
        ("filter", "".join(report.where)),
        ("sortColumns", ",".join(name.removeprefix("-") for name in report.sort)),
        ("sortTypes", ",".join("-1" if name.startswith("-") else "1" for name in report.sort)),
        ("pageNumber", str(page)),
        ("pageSize", str(size)),
        ("source", "F10" if report.f10 else "WEB"),
        ("client", "PC" if report.f10 else "WEB"),
        *((("token", PUBLIC_TOKEN),) if report.token else ()),
    )
    label = f"{report.name} {''.join(report.where)[:60]} page {page}"
    if report.f10:
        return Request("eastmoney.f10", "f10_report", "/securities/api/data/v1/get", params, label=label)
    return Request("eastmoney.datacenter", "report", "/api/data/v1/get", params, label=label)


def older_request(report: Report, page: int) -> Request:
    """One page of a report in the dialect that the gateway spoke before, and still does: every column, no
    filter, in the order of `sort`."""
    params = (
        ("type", report.name),
        ("sty", "ALL"),
        ("st", ",".join(name.removeprefix("-") for name in report.sort)),
        ("sr", ",".join("-1" if name.startswith("-") else "1" for name in report.sort)),
        ("token", PUBLIC_TOKEN),
        ("p", str(page)),
        ("ps", str(PAGE)),
    )
    return Request(
        "eastmoney.older", "older_report", "/api/data/get", params, label=f"{report.name} page {page}"
    )


@dataclass(frozen=True)
class ReportPage:
    """Rows of one page, and what the gateway says of the whole report. `received`: rows on the wire, of which
    some may be rejected. Length 0 = truly no rows."""

    rows: pd.DataFrame
    pages: int
    count: int
    received: int

    def __len__(self) -> int:
        return self.received


def parse_report(
    body: bytes, what: str, read: Callable[[Rows], pd.DataFrame], *, paged: bool = True
) -> ReportPage:
    """A page, its rows made a frame by `read`. Transient when the gateway is busy, Permanent when the
    report does not exist, PayloadError for any other invalid answer; single invalid rows are left out as
    rejected. Not `paged`: the old dialect of the gateway, which may give no number of pages."""
    document = object_of(json_of(body), what)
    code, message = document.get("code"), str(document.get("message"))[:80]
    if type(code) is not int:
        raise PayloadError(f"{what}: code {code!r}")
    if code == _NO_ROWS:
        return ReportPage(read([]), 0, 0, 0)
    if code == _BUSY:
        raise Transient(f"{what}: busy ({message})")
    if code == _NO_REPORT:
        raise Permanent(f"{what}: report, column or filter is unknown ({message})")
    if code != _OK or document.get("success") is not True:
        raise PayloadError(f"{what}: code {code} ({message})")
    result = object_of(document.get("result"), f"{what} result")
    rows = list_of(result.get("data"), f"{what} data")
    count = result.get("count")
    pages = result.get("pages", None if paged else 0)
    if type(pages) is not int or type(count) is not int or not 0 <= len(rows) <= count:
        raise PayloadError(f"{what}: {len(rows)} rows, pages {pages!r}, count {count!r}")

    def of_objects(raws: Sequence[Any]) -> pd.DataFrame:
        return read([object_of(raw, f"{what} row") for raw in raws])

    return ReportPage(accepted_table(rows, of_objects, what, named_by(*_CODES)), pages, count, len(rows))
