"""Calls about companies that are asked by the day of a notice: holders, dividends, insiders, visits."""

from collections.abc import Sequence

import pandas as pd

from resources.errors import PayloadError
from resources.upstreams.eastmoney import dividends, holders, insiders, institutions, surveys
from resources.upstreams.eastmoney.gateway import Gateway, at_most_a_hundred


class CompanyCalls(Gateway):
    """Holders, dividends, trades of executives, visits, institutions."""

    def holder_counts(
        self, since: str | None, until: str, codes: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Holder counts whose notice came out in [since, until] (None: ever), of every security or of at
        most 100 codes; columns `HOLDER_COLUMNS`. One call per 500 rows: one for an ordinary day, about ten
        at the end of April."""
        at_most_a_hundred(codes)
        rows = self.report(holders.holder_report(since, until, codes), holders.holder_rows)
        return self._asked(rows, "ann_date", since, until, codes, what="holders")

    def dividends(self, since: str | None, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Dividends whose newest notice (plan, meeting or implementation) came out in [since, until] (None:
        ever), of every security or of at most 100 codes; columns `DIVIDEND_COLUMNS`. One call per 500 rows:
        one for an ordinary day."""
        at_most_a_hundred(codes)
        rows = self.report(dividends.dividend_report(since, until, codes), dividends.dividend_rows)
        return self._asked(rows, "notice_date", since, until, codes, what="dividends")

    def executive_trades(
        self, since: str | None, until: str, codes: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Trades of executives in their own company on the days of [since, until] (None: ever), in every
        security or in at most 100 codes; columns `TRADE_COLUMNS`. One call per 500 rows: one for a week."""
        at_most_a_hundred(codes)
        rows = self.report(insiders.trades_report(since, until, codes), insiders.trade_rows)
        return self._asked(rows, "change_date", since, until, codes, what="executives")

    def surveys(self, since: str | None, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Named visitors of companies whose notice came out in [since, until] (None: ever), of every
        security or of at most 100 codes; columns `VISIT_COLUMNS` and `content`. Two questions, one call per
        500 rows: about four for an ordinary day, twenty in the weeks after a report season."""
        at_most_a_hundred(codes)
        visitors = self.report(surveys.visitors_report(since, until, codes), surveys.visitor_rows)
        told = self.report(surveys.texts_report(since, until, codes), surveys.text_rows)
        visit = ["code", "survey_date", "ann_date"]
        named = visitors[visitors["org_name"].notna()]
        rows = named.merge(told.drop_duplicates(subset=visit), how="left", on=visit)
        return self._asked(rows, "ann_date", since, until, codes, what="surveys")

    def org_holdings(self, period: str, org_type: str) -> pd.DataFrame:
        """Shares that one kind of institution (a value of `institutions.ORG_TYPES`) held of every security at
        the end of a report period; columns `HOLDING_COLUMNS`. At most eleven calls."""
        rows = self.report(institutions.holdings_report(period, org_type), institutions.holding_rows)
        if not (rows["report_period"].eq(period).all() and rows["org_type"].eq(org_type).all()):
            raise PayloadError(f"institutions: rows not of {period} {org_type}", source=self.source)
        return rows

    def org_holdings_of(self, codes: Sequence[str], since: str, until: str) -> pd.DataFrame:
        """Shares that institutions of all kinds held of at most 100 codes at the ends of the report periods
        in [since, until]; columns `HOLDING_COLUMNS`."""
        at_most_a_hundred(codes)
        report = institutions.holdings_of_report(codes, since, until)
        rows = self.report(report, institutions.holding_rows)
        return self._asked(rows, "report_period", since, until, codes, what="institutions")

    def _asked(
        self,
        rows: pd.DataFrame,
        column: str,
        since: str | None,
        until: str,
        codes: Sequence[str] | None,
        *,
        what: str,
    ) -> pd.DataFrame:
        """The rows, when all of them are of the days and codes that were asked for."""
        days = rows[column].dropna()
        strange = days[(days > until) | (days < (since or ""))]
        if len(strange):
            raise PayloadError(
                f"{what}: rows of {strange.iloc[0]}, asked was {since}..{until}", source=self.source
            )
        if codes is not None and not set(rows["code"]) <= set(codes):
            raise PayloadError(f"{what}: rows of codes that were not asked for", source=self.source)
        return rows
