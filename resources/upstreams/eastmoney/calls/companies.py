"""Calls about companies: what they announce, who holds them, their capital, business and profile."""

from collections.abc import Sequence
from functools import partial

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.f10 import operations, profile, top_holders
from resources.upstreams.eastmoney.gateway import Gateway, at_most_a_hundred
from resources.upstreams.eastmoney.reports import capital, companies, consensus, holdings
from resources.upstreams.parsing.frames import concat


class CompanyCalls(Gateway):
    """Announcements, holders, capital, business, profiles."""

    def holder_counts(
        self, since: str | None, until: str, codes: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Holder counts whose notice came out in [since, until] (None: ever), of every security or of at
        most 100 codes; columns `holdings.HOLDERS`. One call per 500 rows: one for an ordinary day, about ten
        at the end of April."""
        return self.dated(holdings.holder_report, since, until, codes)

    def dividends(self, since: str | None, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Dividends whose newest notice (plan, meeting or implementation) came out in [since, until] (None:
        ever), of every security or of at most 100 codes; columns `DIVIDEND_COLUMNS`. One call per 500 rows:
        one for an ordinary day."""
        return self.dated(companies.dividend_report, since, until, codes)

    def dividends_ex(self, since: str | None, until: str) -> pd.DataFrame:
        """Dividends with an ex-date in [since, until], of every security; columns `DIVIDEND_COLUMNS`. One
        call per 500 rows: one for an ordinary month, six in June."""
        return self.dated(companies.ex_dividend_report, since, until)

    def executive_trades(
        self, since: str | None, until: str, codes: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Trades of executives in their own company on the days of [since, until] (None: ever), in every
        security or in at most 100 codes; columns `holdings.TRADES`. One call per 500 rows: one for a week."""
        return self.dated(holdings.trades_report, since, until, codes)

    def surveys(self, since: str | None, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Named visitors of companies whose notice came out in [since, until] (None: ever), of every security
        or of at most 100 codes; columns `companies.VISITORS` and `content`. Two reports, one call per 500
        rows: about four for an ordinary day, twenty in the weeks after a report season."""
        visitors = self.dated(companies.visitors_report, since, until, codes)
        contents = self.dated(companies.texts_report, since, until, codes)
        visit = ["code", "survey_date", "ann_date"]
        named = visitors[visitors["org_name"].notna()]
        return named.merge(contents.drop_duplicates(subset=visit), how="left", on=visit)

    def org_holdings(self, period: str, org_type: str) -> pd.DataFrame:
        """Shares that one kind of institution (a value of `holdings.ORG_TYPES`) held of every security at
        the end of a report period; columns `holdings.HOLDINGS`. At most eleven calls."""
        report = holdings.holdings_report(period, org_type)
        rows = self.asked(report, holdings.HOLDINGS.frame, day="report_period", since=period, until=period)
        if not rows["org_type"].eq(org_type).all():
            raise PayloadError(f"{report.name}: rows not of {org_type}", source=self.source)
        return rows

    def org_holdings_of(self, codes: Sequence[str], since: str, until: str) -> pd.DataFrame:
        """Shares that institutions of all kinds held of at most 100 codes at the ends of the report periods
        in [since, until]; columns `holdings.HOLDINGS`."""
        return self.dated(holdings.holdings_of_report, since, until, codes)

    # --- holders, shares, operations and prospects

    def top_holders(self, kind: str, period: str) -> pd.DataFrame:
        """The ten largest holders of every company at the end of a report period, of all shares (`top10`) or
        of the float (`float10`); columns `top_holders.HOLDER_COLUMNS`. Two slices by rank, since a period
        has more rows than the gateway pages: up to 110 calls."""
        read = partial(top_holders.holder_rows, kind=kind)
        parts = [
            self.asked(
                top_holders.holders_report(kind, period, part),
                read,
                day="report_period",
                since=period,
                until=period,
            )
            for part in top_holders.LISTS[kind].slices
        ]
        return concat(parts, top_holders.HOLDER_COLUMNS)

    def top_holders_of(self, kind: str, codes: Sequence[str], since: str, until: str) -> pd.DataFrame:
        """The same of at most 100 companies at the ends of all periods in [since, until]. About three calls
        for a company and twelve years."""
        report = top_holders.holders_of_report(kind, codes, since, until)
        read = partial(top_holders.holder_rows, kind=kind)
        return self.asked(report, read, day="report_period", since=since, until=until, codes=codes)

    def fund_positions(self, symbol: str, periods: Sequence[str]) -> pd.DataFrame:
        """Funds that held a company at the ends of some report periods; columns `top_holders.POSITIONS`. One
        call per 500 of them."""
        report = top_holders.positions_report(symbol, periods)
        read = partial(top_holders.position_rows, symbol=symbol)
        ends = {"since": min(periods), "until": max(periods)}
        return self.asked(report, read, day="report_period", codes=[symbol[2:]], **ends)

    def share_changes(
        self, since: str | None, until: str, codes: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Changes of the share capital on the days of [since, until] (None: ever), of every company or of at
        most 100; columns `capital.EQUITY`. One call for some days of the market, about six for all changes
        of 100 companies."""
        return self.dated(capital.equity_report, since, until, codes)

    def buybacks(self, since: str | None, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Buybacks with their newest state, announced on the days of [since, until] (None: ever), of every
        company or of at most 100; columns `capital.BUYBACKS`. One call for some days."""
        return self.dated(capital.buybacks_report, since, until, codes)

    def operations(self, symbol: str) -> pd.DataFrame:
        """Revenue, cost and profit of one company by industry, product and region, all report periods;
        columns `OPERATION_COLUMNS`. One call."""
        return self._ask(operations.operations_request(symbol), operations.parse_operations, symbol=symbol)

    def consensus(self, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Mean earnings per share that brokers expect, of every company that they follow or of at most 100;
        columns `CONSENSUS_COLUMNS`. About seven calls."""
        at_most_a_hundred(codes)
        rows = self.report(consensus.consensus_report(codes), consensus.consensus_rows)
        return consensus.by_year(self.only_of(rows, codes, "RPT_WEB_RESPREDICT"))

    # --- profiles

    def company_survey(self, symbol: str) -> pd.DataFrame:
        """Register data of a company and its issue; at most one row, columns `SURVEY_COLUMNS`. One call."""
        return self._ask(profile.survey_request(symbol), profile.parse_survey, symbol=symbol)

    def main_business(self, symbol: str) -> str | None:
        """The text of the main business. One call."""
        return self._ask(profile.business_request(symbol), profile.parse_business, symbol=symbol)

    def controller(self, symbol: str) -> str | None:
        """Names of the actual controllers. One call."""
        return self._ask(profile.holders_request(symbol), profile.parse_controller, symbol=symbol)

    def offers(self, since: str, until: str) -> pd.DataFrame:
        """New shares that could be applied for between two days; columns `companies.OFFERS`. One call for a
        year."""
        return self.dated(companies.offers_report, since, until)
