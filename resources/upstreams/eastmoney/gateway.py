"""What every call of the portal needs, and the data centre's reports page by page."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from core.clock import Clock
from core.errors import InputError, PayloadError
from resources.transport.request import Fetcher
from resources.upstreams.eastmoney.reports import gateway
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

    def report(self, report: gateway.Report, read: Callable[[Rows], pd.DataFrame]) -> pd.DataFrame:
        """All rows of a report, page by page, made a frame by `read`; empty when there are truly none.

        A report that ends before its own count, whose count moves, or that repeats a row is a
        `PayloadError`; one beyond the gateway's 100 pages as well: ask for less of it."""
        parts: list[pd.DataFrame] = []
        received, count = 0, 0
        for page in range(1, gateway.MOST_PAGES + 1):
            got = self._ask(
                gateway.report_request(report, page),
                gateway.parse_report,
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
        rows = pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
        if report.key and rows.duplicated(subset=list(report.key)).any():
            raise PayloadError(f"{report.name}: a row came twice", source=self.source)
        return rows

    def asked(
        self,
        report: gateway.Report,
        read: Callable[[Rows], pd.DataFrame],
        *,
        day: str,
        since: str | None = None,
        until: str | None = None,
        codes: Sequence[str] | None = None,
    ) -> pd.DataFrame:
        """The rows of a report, when all of them are of the days [since, until] of the column `day` (None: no
        bound) and of the codes that were asked for: at most a hundred."""
        at_most_a_hundred(codes)
        rows = self.report(report, read)
        days = rows[day].dropna()
        outside = days[(days < (since or "")) | (days > (until or _NO_END))]
        if len(outside):
            span = since if since == until else f"{since or ''}..{until or ''}"
            raise PayloadError(
                f"{report.name}: rows of {outside.iloc[0]}, asked was {span}", source=self.source
            )
        return self.only_of(rows, codes, report.name)

    def dated(
        self, report: gateway.Dated, since: str | None, until: str, codes: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """The rows of [since, until], of all securities or of at most a hundred codes; see `asked`."""
        asked = report(since, until, codes)
        return self.asked(asked, report.read, day=report.column, since=since, until=until, codes=codes)

    def on_day(self, report: gateway.Dated, day: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """The same of one day."""
        asked = report.on(day, codes)
        return self.asked(asked, report.read, day=report.column, since=day, until=day, codes=codes)

    def only_of(self, rows: pd.DataFrame, codes: Sequence[str] | None, what: str) -> pd.DataFrame:
        """The rows, when all of them are of the codes that were asked for."""
        strange = sorted(set(rows["code"]) - set(codes)) if codes is not None else []
        if strange:
            raise PayloadError(f"{what}: rows of {strange[0]}, which was not asked for", source=self.source)
        return rows


def at_most_a_hundred(codes: Sequence[str] | None) -> None:
    """InputError for more codes than one filter holds, or none."""
    if codes is not None and not 1 <= len(codes) <= CODES_PER_CALL:
        raise InputError("codes", f"{len(codes)} codes; 1..{CODES_PER_CALL} are allowed")
