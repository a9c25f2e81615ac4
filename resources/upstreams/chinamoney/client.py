"""Calls of the interbank market's site."""

from datetime import date, timedelta
from functools import partial
from typing import Any

import pandas as pd

from resources.errors import InputError, PayloadError
from resources.transport.request import Fetcher
from resources.upstreams.chinamoney import rates

_MONTH, _YEAR = 31, 365


class ChinamoneyClient:
    """`fetcher` is a transport bound to the log of one piece of work. Days are ISO dates; percent."""

    source = "chinamoney"

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def closing_curve(self, since: str, until: str) -> pd.DataFrame:
        """Yields to maturity of government bonds by date and years; columns `CURVE_COLUMNS`. At most a
        month; one call per 50 rows, which is one date."""
        _bounded(since, until, _MONTH)
        rows: list[dict[str, Any]] = []
        received = 0
        for page in range(1, rates.MOST_PAGES + 1):
            got = self._fetcher.call(
                rates.curve_request(since, until, page), partial(rates.parse_curve, since=since, until=until)
            )
            rows += got.rows
            received += len(got)
            if received >= (got.total or 0) or not len(got):
                if received != got.total:
                    raise PayloadError(f"closing curve: {received} of {got.total} rows", source=self.source)
                return rates.curve_frame(rows)
        raise PayloadError(f"closing curve: more than {rates.MOST_PAGES} pages", source=self.source)

    def shibor(self, since: str, until: str) -> pd.DataFrame:
        """SHIBOR of every tenor by date; columns `RATE_COLUMNS`. At most a year, one call."""
        _bounded(since, until, _YEAR)
        return self._fetcher.call(
            rates.shibor_request(since, until), partial(rates.parse_shibor, since=since, until=until)
        )

    def lpr(self, since: str, until: str) -> pd.DataFrame:
        """Loan prime rates of 1 and 5 years by date; columns `RATE_COLUMNS`. At most a year, one call."""
        _bounded(since, until, _YEAR)
        return self._fetcher.call(
            rates.lpr_request(since, until), partial(rates.parse_lpr, since=since, until=until)
        )


def _bounded(since: str, until: str, days: int) -> None:
    if not since <= until <= (date.fromisoformat(since) + timedelta(days=days)).isoformat():
        raise InputError("since", f"{since}..{until} is no span of at most {days} days")
