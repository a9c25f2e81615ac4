"""Calls of the classification's site."""

from functools import partial
from typing import Any

import pandas as pd

from resources.transport.request import Fetcher, Request
from resources.upstreams.parsing.paging import Page, collected
from resources.upstreams.sw import classes, indices
from resources.upstreams.sw.envelope import page_of

_MOST_PAGES = 60


class SwClient:
    """`fetcher` is a transport bound to the log of one piece of work. `level` is l1, l2 or l3."""

    source = "sw"

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def current(self, level: str) -> pd.DataFrame:
        """The current values of the indices of a level; columns `CURRENT_COLUMNS`. One call per 50 indices:
        ten for the three levels."""

        def ask(page: int) -> Request:
            return indices.current_request(level, page)

        return indices.current_rows(self._pages(ask, f"current {level}", indices.CURRENT_PAGE), level)

    def report(self, level: str, since: str, until: str) -> pd.DataFrame:
        """The daily analysis of a level between two dates; columns `REPORT_COLUMNS`. One call per 200 rows: a
        date of the three levels is four. Long ranges time out: ask for a month."""

        def ask(page: int) -> Request:
            return indices.report_request(level, since, until, page)

        rows = self._pages(ask, f"report {level} {since}..{until}", indices.REPORT_PAGE)
        return indices.report_rows(rows, level, since, until)

    def trend(self, code: str) -> pd.DataFrame:
        """The whole past of one index; columns `TREND_COLUMNS`. One call."""
        return self._fetcher.call(indices.trend_request(code), partial(indices.parse_trend, code=code))

    def classes(self) -> pd.DataFrame:
        """The classes of the third level with the names of all three; columns `CLASS_COLUMNS`. One call."""
        return self._fetcher.call(classes.classes_request(), classes.parse_classes)

    def stocks(self, day: str) -> pd.DataFrame:
        """The class of every stock in force on a day; columns `STOCK_COLUMNS`. One call."""
        return self._fetcher.call(classes.stocks_request(), partial(classes.parse_stocks, day=day))

    def _pages(self, request: Any, what: str, size: int) -> list[dict[str, Any]]:
        def ask(page: int) -> Page:
            return self._fetcher.call(request(page), partial(page_of, what=what, size=size))

        return collected(ask, what, most_pages=_MOST_PAGES)
