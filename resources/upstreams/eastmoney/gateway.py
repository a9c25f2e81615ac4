"""What every call of the portal needs, and the data centre's reports page by page."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from core.clock import Clock
from core.errors import InputError, PayloadError
from resources.rejections import set_aside
from resources.transport.request import Fetcher
from resources.upstreams.eastmoney import data_centre
from resources.upstreams.parsing.paging import pages_joined
from resources.upstreams.upstream_client import UpstreamClient

Rows = Sequence[Mapping[str, Any]]

CODES_PER_CALL = 100
_NO_END = "9999"


class Gateway(UpstreamClient):
    """`clock` is the market clock."""

    source = "eastmoney"

    def __init__(self, fetcher: Fetcher, clock: Clock) -> None:
        super().__init__(fetcher)
        self._clock = clock

    def report(self, report: data_centre.Report, read: Callable[[Rows], pd.DataFrame]) -> pd.DataFrame:
        """All rows of a report, page by page, made a frame by `read`; empty when there are truly none.

        A report that ends before its own count, whose count moves, or that repeats more than single rows is
        a `PayloadError`; one beyond the gateway's 100 pages as well: ask for less of it."""
        parts: list[pd.DataFrame] = []
        received, count = 0, 0
        for page in range(1, data_centre.MOST_PAGES + 1):
            got = self._ask(
                data_centre.report_request(report, page),
                data_centre.parse_report,
                what=f"{report.name} page {page}",
                read=read,
            )
            if page > 1 and got.count != count:
                raise PayloadError(
                    f"{report.name}: count moved from {count} to {got.count}", source=self.source
                )
            count = got.count
            parts.append(got.rows)
            received += len(got)
            if received >= count or not len(got):
                break
        if received != count:
            raise PayloadError(f"{report.name}: {received} of {count} rows", source=self.source)
        return pages_joined(parts, report.key, report.name)

    def asked(
        self,
        report: data_centre.Report,
        read: Callable[[Rows], pd.DataFrame],
        *,
        day: str,
        since: str | None = None,
        until: str | None = None,
        codes: Sequence[str] | None = None,
    ) -> pd.DataFrame:
        """The rows of a report, of the days [since, until] of the column `day` (None: no bound) and of the
        codes that were asked for: at most a hundred. Single other rows are rejected, more are a
        PayloadError."""
        at_most_a_hundred(codes)
        rows = self.report(report, read)
        days = rows[day].fillna(since or "")
        outside = (days < (since or "")) | (days > (until or _NO_END))
        span = since if since == until else f"{since or ''}..{until or ''}"
        reasons = [f"{report.name}: rows of {one}, asked was {span}" for one in days]
        rows = set_aside(rows, outside.to_numpy(), reasons, report.name, [day])
        return self.only_of(rows, codes, report.name)

    def dated(
        self, report: data_centre.Dated, since: str | None, until: str, codes: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """The rows of [since, until], of all securities or of at most a hundred codes; see `asked`."""
        asked = report(since, until, codes)
        return self.asked(asked, report.read, day=report.column, since=since, until=until, codes=codes)

    def on_day(self, report: data_centre.Dated, day: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """The same of one day."""
        asked = report.on(day, codes)
        return self.asked(asked, report.read, day=report.column, since=day, until=day, codes=codes)

    def only_of(self, rows: pd.DataFrame, codes: Sequence[str] | None, what: str) -> pd.DataFrame:
        """The rows of the codes that were asked for. Single other rows are rejected, more are a
        PayloadError."""
        if codes is None:
            return rows
        reasons = [f"{what}: rows of {one}, which was not asked for" for one in rows["code"]]
        return set_aside(rows, ~rows["code"].isin(list(codes)).to_numpy(), reasons, what, ["code"])


def at_most_a_hundred(codes: Sequence[str] | None) -> None:
    """InputError for more codes than one filter holds, or none."""
    if codes is not None and not 1 <= len(codes) <= CODES_PER_CALL:
        raise InputError("codes", f"{len(codes)} codes; 1..{CODES_PER_CALL} are allowed")
