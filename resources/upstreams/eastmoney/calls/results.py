"""Calls about the results of companies: by report period, and pages of one company."""

from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney import data_centre
from resources.upstreams.eastmoney.f10 import pages
from resources.upstreams.eastmoney.gateway import Gateway, Rows
from resources.upstreams.eastmoney.reports import companies, finance
from resources.upstreams.parsing.frames import concat
from resources.upstreams.parsing.paging import pages_joined

_MOST_PAGES = 120
"""Pages of one company's periods that are asked at most."""


class ResultCalls(Gateway):
    """Results, forecasts, disclosure dates."""

    def summaries(self, period: str) -> pd.DataFrame:
        """Key figures of every A share in one report period, cumulative; columns `SUMMARY_COLUMNS` without
        `security_type`. About 11 calls."""
        return self._of_period(finance.summary_report(period), finance.summary_rows, period)

    def summaries_of(self, codes: Sequence[str]) -> pd.DataFrame:
        """The same of at most 100 codes, all periods. About 10 calls for 100 codes."""
        return self._of_codes(finance.summary_report(None, codes), finance.summary_rows, codes)

    def statements(self, period: str) -> pd.DataFrame:
        """Balance, income and cash flow of every A share in one report period; columns `STATEMENT_COLUMNS`.
        About 33 calls."""
        return self._statements(
            lambda name, read: self._of_period(finance.statement_report(name, period), read, period)
        )

    def statements_of(self, codes: Sequence[str]) -> pd.DataFrame:
        """The same of at most 100 codes, all periods. About 30 calls for 100 codes."""
        return self._statements(
            lambda name, read: self._of_codes(finance.statement_report(name, None, codes), read, codes)
        )

    def _statements(self, ask: Callable[[str, Callable[[Rows], pd.DataFrame]], pd.DataFrame]) -> pd.DataFrame:
        parts = [
            finance.long_statement(ask(name, partial(finance.statement_rows, statement=name)), name)
            for name in finance.STATEMENTS
        ]
        return concat(parts, finance.STATEMENT_COLUMNS)

    def express(self, period: str) -> pd.DataFrame:
        """Express reports of one report period; columns `EXPRESS_COLUMNS` without `security_type`."""
        return self._of_period(finance.express_report(period), finance.express_rows, period)

    def express_of(self, codes: Sequence[str]) -> pd.DataFrame:
        """Express reports of at most 100 codes, all periods."""
        return self._of_codes(finance.express_report(None, codes), finance.express_rows, codes)

    def forecasts(self, period: str) -> pd.DataFrame:
        """Forecasts of one report period, a row per indicator and notice; columns `FORECAST_COLUMNS` without
        `security_type`."""
        return self._of_period(finance.forecast_report(period), finance.forecast_rows, period)

    def forecasts_of(self, codes: Sequence[str]) -> pd.DataFrame:
        """Forecasts of at most 100 codes, all periods."""
        return self._of_codes(finance.forecast_report(None, codes), finance.forecast_rows, codes)

    def _of_period(
        self, report: data_centre.Report, read: Callable[[Rows], pd.DataFrame], period: str
    ) -> pd.DataFrame:
        rows = self.asked(report, read, day="report_period", since=period, until=period)
        return finance.of_shares(rows)

    def _of_codes(
        self, report: data_centre.Report, read: Callable[[Rows], pd.DataFrame], codes: Sequence[str]
    ) -> pd.DataFrame:
        return finance.of_shares(self.asked(report, read, day="report_period", codes=codes))

    # --- pages of one company

    def main_indicators(self, symbol: str) -> pd.DataFrame:
        """Every report period of one company with all its indicators, newest first; columns `MAIN_COLUMNS`.
        One call."""
        parts: list[pd.DataFrame] = []
        received, count = 0, 0
        for page in range(1, _MOST_PAGES + 1):
            got = self._ask(pages.main_request(symbol, page), pages.parse_main, symbol=symbol)
            parts.append(got.rows)
            received, count = received + len(got), got.count
            if received >= count or not len(got):
                break
        if received != count:
            raise PayloadError(f"main indicators {symbol}: {received} of {count} periods", source=self.source)
        return pages_joined(parts, ["report_period"], f"main indicators {symbol}")

    def company_statements(self, symbol: str, periods: int = 20) -> pd.DataFrame:
        """The three statements of one company with every item, of its newest `periods` report periods;
        columns `STATEMENT_COLUMNS`. A call for the form, one per statement for the dates, and one per five
        periods and statement: 16 for five years."""
        kind = self._ask(pages.kind_request(symbol), pages.parse_kind, symbol=symbol)
        parts = []
        for statement in finance.STATEMENTS:
            page = pages.Page(symbol, statement, kind)
            dates = self._ask(pages.dates_request(page), pages.parse_dates, page=page)[:periods]
            for at in range(0, len(dates), pages.DATES_PER_CALL):
                some = dates[at : at + pages.DATES_PER_CALL]
                parts.append(
                    self._ask(
                        pages.statement_request(page, some), pages.parse_statement, page=page, periods=some
                    )
                )
        return concat(parts, finance.STATEMENT_COLUMNS)

    def disclosure_schedule(self, period: str) -> pd.DataFrame:
        """Planned and actual disclosure dates of every company for one quarter end; columns
        `companies.SCHEDULE`. About 11 calls."""
        return self.on_day(companies.schedule_report, period)
