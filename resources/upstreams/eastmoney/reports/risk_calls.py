"""Calls about risks of companies: pledged shares, goodwill, the portal's marks."""

from collections.abc import Sequence

import pandas as pd

from resources.upstreams.eastmoney.gateway import Gateway, at_most_a_hundred
from resources.upstreams.eastmoney.reports import comments, goodwill, pledges


class RiskCalls(Gateway):
    """Calls for the portal's lists of company risks."""

    def pledges(self, since: str, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Pledged shares on the days of [since, until] that have a list (one a week), of every company or of
        at most 100 codes; columns `PLEDGE_COLUMNS`. About six calls for a week of the market."""
        report = pledges.pledges_report(since, until, codes)
        return self.asked(
            report, pledges.pledge_rows, day="trade_date", since=since, until=until, codes=codes
        )

    def pledge_events(self, code: str) -> pd.DataFrame:
        """Every pledge of shares of one company, the newest notice first; columns `PLEDGE_EVENT_COLUMNS`.
        One call per 500 pledges."""
        report = pledges.pledge_events_report(code)
        return self.asked(report, pledges.pledge_event_rows, day="ann_date", codes=[code])

    def goodwill(self, period: str) -> pd.DataFrame:
        """Companies with goodwill in their report of one period; columns `GOODWILL_COLUMNS`. About six
        calls."""
        report = goodwill.goodwill_report(period)
        return self.asked(report, goodwill.goodwill_rows, day="report_period", since=period, until=period)

    def goodwill_of(self, codes: Sequence[str]) -> pd.DataFrame:
        """Goodwill of at most 100 codes in all their periods; columns `GOODWILL_COLUMNS`. About ten calls
        for a hundred."""
        at_most_a_hundred(codes)
        report = goodwill.goodwill_of_report(codes)
        return self.asked(report, goodwill.goodwill_rows, day="report_period", codes=codes)

    def comments(self, day: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """The portal's marks of every stock, or of at most 100 codes, on the newest session; columns
        `COMMENT_COLUMNS`. Eleven calls for the market. Empty for an older day: the report keeps none."""
        report = comments.comments_report(day, codes)
        return self.asked(report, comments.comment_rows, day="trade_date", since=day, until=day, codes=codes)
