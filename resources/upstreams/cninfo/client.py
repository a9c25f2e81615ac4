"""Calls of the disclosure platform: request -> fetch -> parse, one method per call."""

from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.rejections import once_each
from resources.upstreams.cninfo import announcements as calls
from resources.upstreams.cninfo import records
from resources.upstreams.cninfo.announcements import CATEGORIES, MOST_PAGES, PAGE, Query
from resources.upstreams.eastmoney.reports.companies import SCHEDULE
from resources.upstreams.parsing.frames import frame
from resources.upstreams.parsing.paging import Page, collected
from resources.upstreams.parsing.texts import notice_frame
from resources.upstreams.upstream_client import UpstreamClient


class CninfoClient(UpstreamClient):
    source = "cninfo"

    def orgs(self) -> pd.DataFrame:
        """Code, platform id and short name of every listed company, one call; columns `ORG_COLUMNS`."""
        return self._ask(calls.orgs_request(), calls.parse_orgs)

    def announcements(self, since: str, until: str, stock: str = "") -> pd.DataFrame:
        """Notices disclosed between two dates, of all companies or of one (`600519,gssh0600519`); columns
        `NOTICE_COLUMNS`. One call per 30 notices: 40 to 100 for a date.

        The platform returns at most 100 pages per request. A longer list is requested in halves of its dates,
        and one date category by category; it is refused when the categories do not make up its count."""
        rows = self._rows(Query(since, until, stock))
        return notice_frame(rows, f"notices {since}..{until} {stock}")

    def industry_ratios(self, scheme: str, day: str, now: datetime) -> pd.DataFrame:
        """PE of the industries of a classification (csrc, cni) on a trade date; columns `RATIO_COLUMNS`,
        empty while they are not out. `now`: the market's time, which the request bears. One call."""
        return self._ask(records.ratios_request(scheme, day, now), records.parse_ratios, day=day)

    def disclosure_schedule(self, period: str) -> pd.DataFrame:
        """Planned and actual disclosure dates of a quarter end, all companies, one call per 1,000; columns
        `reports.companies.SCHEDULE`."""
        what = f"schedule {period}"

        def ask(page: int) -> Page:
            request = records.schedule_request(period, page)
            return self._ask(request, records.parse_schedule, period=period)

        rows = collected(ask, what, most_pages=records.MOST_PAGES, key=("code",))
        return once_each(frame(rows, SCHEDULE.columns), ["code"], what)

    def holder_counts(self, period: str, now: datetime) -> pd.DataFrame:
        """Holder counts of a quarter end, all companies that have published them, without the day of the
        notice, one call; columns `records.HOLDER_COLUMNS`."""
        parse = partial(records.parse_holders, period=period)
        return self._ask(records.holders_request(period, now), parse)

    def share_changes(self, code: str, since: str, until: str, now: datetime) -> pd.DataFrame:
        """Changes of one company's share capital, one call; columns `records.EQUITY_COLUMNS`."""
        parse = partial(records.parse_equity, code=code)
        return self._ask(records.equity_request(code, since, until, now), parse)

    def newest(self, since: str, until: str) -> Page:
        """The newest notices disclosed between two dates, at most 30, and how many there are; one call."""
        return self._page(Query(since, until, ""), 1)

    def _page(self, query: Query, page: int) -> Page:
        return self._ask(calls.announcements_request(query, page), calls.parse_announcements, query=query)

    def _rows(self, query: Query) -> list[dict[str, Any]]:
        first = self._page(query, 1)
        if first.total <= PAGE * MOST_PAGES:
            return self._all(query, first)
        if query.since < query.until:
            before, after = _halves(query)
            return [*self._rows(before), *self._rows(after)]
        return self._by_category(query, first)

    def _all(self, query: Query, first: Page) -> list[dict[str, Any]]:
        """All pages. Notices appear while a list is read: when the count changed, it is read once more."""
        try:
            return self._collected(query, first)
        except PayloadError as error:
            again = self._page(query, 1)
            if again.total == first.total:
                raise error from None
            return self._collected(query, again)

    def _collected(self, query: Query, first: Page) -> list[dict[str, Any]]:
        ask = partial(self._page, query)
        return collected(
            ask, f"notices {query.what}", most_pages=MOST_PAGES, first=first, key=("ann_id", "code")
        )

    def _by_category(self, query: Query, first: Page) -> list[dict[str, Any]]:
        """The first pages of the whole list and the lists of all categories, each notice once."""
        found = {(row["ann_id"], row["code"]): row for row in first.rows}
        for number in range(2, MOST_PAGES + 1):
            found |= {(row["ann_id"], row["code"]): row for row in self._page(query, number).rows}
        for category in CATEGORIES:
            part = Query(query.since, query.until, query.stock, category)
            opened = self._page(part, 1)
            found |= {(row["ann_id"], row["code"]): row for row in self._all(part, opened)}
        known = len({ann_id for ann_id, _ in found})
        if known < first.total:
            raise PayloadError(f"notices {query.what}: {known} of {first.total} rows", source=self.source)
        return list(found.values())


def _halves(query: Query) -> tuple[Query, Query]:
    first, last = date.fromisoformat(query.since), date.fromisoformat(query.until)
    middle = first + (last - first) // 2
    return (
        Query(query.since, middle.isoformat(), query.stock, query.category),
        Query((middle + timedelta(days=1)).isoformat(), query.until, query.stock, query.category),
    )
