"""Calls about companies that are asked by the day of a notice: holders, dividends, insiders, visits."""

from collections.abc import Sequence
from functools import partial

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.gateway import Gateway
from resources.upstreams.eastmoney.reports import dividends, holders, insiders, institutions, surveys


class CompanyCalls(Gateway):
    """Holders, dividends, trades of executives, visits, institutions."""

    def holder_counts(
        self, since: str | None, until: str, codes: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Holder counts whose notice came out in [since, until] (None: ever), of every security or of at
        most 100 codes; columns `HOLDER_COLUMNS`. One call per 500 rows: one for an ordinary day, about ten
        at the end of April."""
        report = holders.holder_report(since, until, codes)
        return self.asked(report, holders.holder_rows, day="ann_date", since=since, until=until, codes=codes)

    def dividends(self, since: str | None, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Dividends whose newest notice (plan, meeting or implementation) came out in [since, until] (None:
        ever), of every security or of at most 100 codes; columns `DIVIDEND_COLUMNS`. One call per 500 rows:
        one for an ordinary day."""
        report = dividends.dividend_report(since, until, codes)
        return self.asked(
            report, dividends.dividend_rows, day="notice_date", since=since, until=until, codes=codes
        )

    def executive_trades(
        self, since: str | None, until: str, codes: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Trades of executives in their own company on the days of [since, until] (None: ever), in every
        security or in at most 100 codes; columns `TRADE_COLUMNS`. One call per 500 rows: one for a week."""
        report = insiders.trades_report(since, until, codes)
        return self.asked(
            report, insiders.trade_rows, day="change_date", since=since, until=until, codes=codes
        )

    def surveys(self, since: str | None, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Named visitors of companies whose notice came out in [since, until] (None: ever), of every
        security or of at most 100 codes; columns `VISIT_COLUMNS` and `content`. Two reports, one call per 500
        rows: about four for an ordinary day, twenty in the weeks after a report season."""
        bounds = partial(self.asked, day="ann_date", since=since, until=until, codes=codes)
        visitors = bounds(surveys.visitors_report(since, until, codes), surveys.visitor_rows)
        contents = bounds(surveys.texts_report(since, until, codes), surveys.text_rows)
        visit = ["code", "survey_date", "ann_date"]
        named = visitors[visitors["org_name"].notna()]
        return named.merge(contents.drop_duplicates(subset=visit), how="left", on=visit)

    def org_holdings(self, period: str, org_type: str) -> pd.DataFrame:
        """Shares that one kind of institution (a value of `institutions.ORG_TYPES`) held of every security at
        the end of a report period; columns `HOLDING_COLUMNS`. At most eleven calls."""
        report = institutions.holdings_report(period, org_type)
        rows = self.asked(report, institutions.holding_rows, day="report_period", since=period, until=period)
        if not rows["org_type"].eq(org_type).all():
            raise PayloadError(f"{report.name}: rows not of {org_type}", source=self.source)
        return rows

    def org_holdings_of(self, codes: Sequence[str], since: str, until: str) -> pd.DataFrame:
        """Shares that institutions of all kinds held of at most 100 codes at the ends of the report periods
        in [since, until]; columns `HOLDING_COLUMNS`."""
        report = institutions.holdings_of_report(codes, since, until)
        return self.asked(
            report, institutions.holding_rows, day="report_period", since=since, until=until, codes=codes
        )
