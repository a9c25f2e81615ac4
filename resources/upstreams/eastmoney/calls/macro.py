"""Calls about the economy: reports of the data centre, rates between banks, exchange rates."""

from collections.abc import Sequence
from functools import partial

import pandas as pd

from core.errors import PayloadError, Permanent
from resources.upstreams.eastmoney import data_centre
from resources.upstreams.eastmoney.gateway import Gateway
from resources.upstreams.eastmoney.quotes import futures, series
from resources.upstreams.eastmoney.reports import economy, stock_connect
from resources.upstreams.parsing.paging import pages_joined


class MacroCalls(Gateway):
    """Figures of countries and of whole markets."""

    def economy(self, report: str, since: str | None = None) -> pd.DataFrame:
        """All periods of a report of `economy.REPORTS`, or those from a day on, newest first; columns
        `economy.economy_columns(report)` with figures as on the wire. One call per 500 periods.

        A report that the gateway no longer knows, or answers in another form, is requested in the gateway's
        older dialect where a public client does so too."""
        try:
            asked = economy.economy_report(report, since)
            return self.report(asked, partial(economy.economy_rows, name=report))
        except (PayloadError, Permanent):
            if report not in economy.IN_OLDER_DIALECT:
                raise
            return self.economy_older(report, since)

    def economy_older(self, report: str, since: str | None = None) -> pd.DataFrame:
        """The same rows as `economy`, in the older dialect, which is asked without a filter: newest first,
        until a page reaches `since`."""
        asked = economy.economy_report(report)
        read = partial(data_centre.parse_report, what=report, read=partial(economy.economy_rows, name=report))
        parts: list[pd.DataFrame] = []
        received = 0
        for page in range(1, data_centre.MOST_PAGES + 1):
            got = self._ask(data_centre.older_request(asked, page), read, paged=False)
            parts.append(got.rows)
            received += len(got)
            if received >= got.count or (since is not None and len(got) and got.rows["date"].min() < since):
                break
            if not len(got):
                raise PayloadError(f"{report}: {received} of {got.count} rows", source=self.source)
        rows = pages_joined(parts, ["date"], report)
        return rows if since is None else rows[rows["date"] >= since].reset_index(drop=True)

    def interbank_rates(self, since: str) -> pd.DataFrame:
        """SHIBOR of every tenor from a day on; columns `INTERBANK_COLUMNS`. One call per 62 days."""
        return self.report(economy.interbank_report(since), economy.interbank_rows)

    def foreign_values(self, country: str, indicators: Sequence[str], since: str) -> pd.DataFrame:
        """Monthly values of a country's series with the day of their publication; columns
        `FOREIGN_COLUMNS`. One call per 500 values."""
        report = economy.foreign_report(country, indicators, since)
        return self.report(report, partial(economy.foreign_rows, series=indicators))

    def connect_days(self, since: str, until: str) -> pd.DataFrame:
        """The stock connect by date and channel, columns `connect_days.DAY_COLUMNS`: a call per 100 dates."""
        return self.report(stock_connect.mutual_report(since, until), stock_connect.mutual_rows)

    def futures_bars(self, secid: str, since: str, until: str) -> pd.DataFrame:
        """Daily bars of one futures contract with open interest; columns `FUTURES_BAR_COLUMNS`, one call."""
        request = futures.bars_request(secid, since.replace("-", ""), until.replace("-", ""))
        return self._ask(request, futures.parse_bars, secid=secid, since=since, until=until)

    def levels(self, secid: str, since: str, until: str) -> pd.DataFrame:
        """Daily levels of an exchange rate or a foreign index by the portal's own number; columns
        `LEVEL_COLUMNS`, one call."""
        request = series.kline_request(
            secid, klt=101, beg=since.replace("-", ""), end=until.replace("-", ""), limit=None
        )
        return self._ask(request, futures.parse_levels, secid=secid, since=since, until=until)
