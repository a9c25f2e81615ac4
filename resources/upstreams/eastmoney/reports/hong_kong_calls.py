"""Calls about companies in Hong Kong."""

import re
from collections.abc import Callable, Sequence

import pandas as pd

from core.errors import InputError, PayloadError
from resources.upstreams.eastmoney.gateway import Rows
from resources.upstreams.eastmoney.quotes.funds import ListCalls
from resources.upstreams.eastmoney.reports import hong_kong
from resources.upstreams.eastmoney.reports.gateway import Report

_CODE = re.compile(r"[0-9]{5}")


class HongKongCalls(ListCalls):
    """Codes have five digits; amounts are in the company's own currency."""

    def ah_pairs(self) -> pd.DataFrame:
        """Companies with A shares and shares in Hong Kong, with both current prices; columns
        `hong_kong.PAIRS`. Two calls."""
        return self.clist(hong_kong.PAIR_LIST, hong_kong.PAIR_FIELDS, hong_kong.PAIRS.frame, key="a_code")

    def hk_indicators(self, code: str) -> pd.DataFrame:
        """Annual and half-yearly figures of a company, newest first; columns `hong_kong.INDICATORS`. One
        call."""
        _must_be_code(code)
        report = hong_kong.indicators_report(code)
        return self.asked(report, hong_kong.INDICATORS.frame, day="report_period", codes=[code])

    def hk_statement(self, code: str, statement: str, periods: Sequence[str]) -> pd.DataFrame:
        """Items of one statement (`income`, `balance` or `cashflow`) at period ends, at most five of them;
        columns `hong_kong.ITEMS`. One call."""
        _must_be_code(code)
        if statement not in hong_kong.STATEMENTS:
            raise InputError("statement", f"{statement!r} is none of {', '.join(hong_kong.STATEMENTS)}")
        if not 1 <= len(periods) <= hong_kong.MOST_PERIODS:
            raise InputError("periods", f"{len(periods)} periods; 1..{hong_kong.MOST_PERIODS} are allowed")
        report = hong_kong.items_report(code, statement, periods)
        rows = self.asked(report, hong_kong.ITEMS.frame, day="report_period", codes=[code])
        strange = sorted(set(rows["report_period"]) - set(periods))
        if strange:
            raise PayloadError(f"{report.name}: rows of {strange[0]}", source=self.source)
        return rows

    def hk_dividends(self, code: str) -> pd.DataFrame:
        """Dividends of a company, newest ex-date first; columns `hong_kong.DIVIDENDS`. One call."""
        _must_be_code(code)
        return self._of(code, hong_kong.dividends_report(code), hong_kong.DIVIDENDS.frame)

    def hk_profile(self, code: str) -> pd.DataFrame:
        """Profile and listing date of a company: at most one row, columns `hong_kong.PROFILE`. Two calls."""
        _must_be_code(code)
        company, listed = (
            self._of(code, report, hong_kong.PROFILE.frame) for report in hong_kong.profile_reports(code)
        )
        if company.empty or listed.empty:
            return company if listed.empty else listed
        return company.fillna(listed)

    def _of(self, code: str, report: Report, read: Callable[[Rows], pd.DataFrame]) -> pd.DataFrame:
        rows = self.report(report, read)
        if set(rows["code"]) - {code}:
            raise PayloadError(f"{report.name}: rows of another company than {code}", source=self.source)
        return rows


def _must_be_code(code: str) -> None:
    if not _CODE.fullmatch(code):
        raise InputError("code", f"{code[:20]!r} is no code of Hong Kong; five digits are allowed")
