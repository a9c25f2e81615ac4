"""Calls about the economy: reports of the data centre, rates between banks, exchange rates."""

from collections.abc import Sequence
from functools import partial

import pandas as pd

from resources.upstreams.eastmoney import economy, futures, levels, mutual, series
from resources.upstreams.eastmoney.gateway import Gateway


class MacroCalls(Gateway):
    """Figures of countries and of whole markets."""

    def economy(self, report: str, since: str | None = None) -> pd.DataFrame:
        """All periods of a report of `economy.REPORTS`, or those from a day on, newest first; columns
        `economy.economy_columns(report)` with figures as on the wire. One call per 500 periods."""
        return self.report(economy.economy_report(report, since), partial(economy.economy_rows, name=report))

    def interbank_rates(self, since: str) -> pd.DataFrame:
        """SHIBOR of every tenor from a day on; columns `INTERBANK_COLUMNS`. One call per 62 days."""
        return self.report(economy.interbank_report(since), economy.interbank_rows)

    def foreign_values(self, country: str, indicators: Sequence[str], since: str) -> pd.DataFrame:
        """Monthly values of a country's series with the day of their publication; columns
        `FOREIGN_COLUMNS`. One call per 500 values."""
        report = economy.foreign_report(country, indicators, since)
        return self.report(report, partial(economy.foreign_rows, series=indicators))

    def connect_days(self, since: str, until: str) -> pd.DataFrame:
        """The stock connect by date and channel; columns `connect_days.DAY_COLUMNS`. One call per 100
        dates."""
        return self.report(mutual.mutual_report(since, until), mutual.mutual_rows)

    def futures_bars(self, secid: str, since: str, until: str) -> pd.DataFrame:
        """Daily bars of one futures contract with open interest; columns `FUTURES_BAR_COLUMNS`, one call."""
        request = futures.bars_request(secid, since.replace("-", ""), until.replace("-", ""))
        return self._fetcher.call(request, partial(futures.parse_bars, secid=secid, since=since, until=until))

    def levels(self, secid: str, since: str, until: str) -> pd.DataFrame:
        """Daily levels of an exchange rate or a foreign index by the portal's own number; columns
        `LEVEL_COLUMNS`, one call."""
        request = series.kline_request(
            secid, klt=101, beg=since.replace("-", ""), end=until.replace("-", ""), limit=None
        )
        return self._fetcher.call(
            request, partial(levels.parse_levels, secid=secid, since=since, until=until)
        )
