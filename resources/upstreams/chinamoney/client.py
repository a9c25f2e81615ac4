"""Calls of the interbank market's site."""

from collections.abc import Callable
from datetime import date, timedelta
from functools import partial
from typing import Any

import pandas as pd

from core.errors import InputError, PayloadError, Refused
from resources.transport.request import Fetcher
from resources.upstreams.chinamoney import rates, registration
from resources.upstreams.chinamoney.registration import TurnedAway

_MONTH, _YEAR = 30, 365
"""Days of one request: for 31 the curve's site answers that it returns a month at most."""


class ChinamoneyClient:
    """`fetcher` is a transport bound to the log of one piece of work. Days are ISO dates; percent."""

    source = "chinamoney"

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def closing_curve(self, since: str, until: str) -> pd.DataFrame:
        """Yields to maturity of government bonds by date and years; columns `CURVE_COLUMNS`. At most a
        month; one call per 50 rows, which is one date. Where the site refuses the client, `registered_curve`
        gets the same rows."""
        _bounded(since, until, _MONTH)
        try:
            return self._curve(since, until, rates.GOVERNMENT, refusable=True)
        except TurnedAway:
            return self.registered_curve(since, until)

    def registered_curve(self, since: str, until: str) -> pd.DataFrame:
        """The same rows as a browser gets them: three calls that register the visitor, one for the numbers
        of the curves. Refused when the site still refuses the client."""
        _bounded(since, until, _MONTH)
        for step in registration.registration_requests():
            self._fetcher.call(step, registration.parse_registration)
        curves = self._fetcher.call(registration.curves_request(), registration.parse_curves)
        return self._curve(since, until, registration.government_of(curves), refusable=False)

    def _curve(self, since: str, until: str, bonds: str, *, refusable: bool) -> pd.DataFrame:
        rows: list[dict[str, Any]] = []
        received = 0
        read = partial(rates.parse_curve, since=since, until=until)
        for page in range(1, rates.MOST_PAGES + 1):
            got = self._fetcher.call(
                rates.curve_request(since, until, page, bonds=bonds, refusable=refusable),
                partial(_or_turned_away, read=read) if refusable else read,
            )
            rows += got.rows
            received += len(got)
            missing = 0 if got.total is None else got.total - received
            ended = page >= (got.pages or 0) if got.total is None else missing <= 0
            if missing < 0 or not (ended or len(got)):
                problem = f"{received} of {got.total} rows on page {page} of {got.pages}"
                raise PayloadError(f"closing curve: {problem}", source=self.source)
            if ended:
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


def _or_turned_away(body: bytes, read: Callable[[bytes], rates.RatePage]) -> rates.RatePage:
    try:
        return read(body)
    except Refused as refusal:
        raise TurnedAway(refusal.message) from refusal


def _bounded(since: str, until: str, days: int) -> None:
    if not since <= until <= (date.fromisoformat(since) + timedelta(days=days)).isoformat():
        raise InputError("since", f"{since}..{until} is no span of at most {days} days")
