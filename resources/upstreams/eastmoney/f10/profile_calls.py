"""Calls for company profiles."""

from functools import partial

import pandas as pd

from resources.upstreams.eastmoney.f10 import profile
from resources.upstreams.eastmoney.gateway import Gateway


class ProfileCalls(Gateway):
    """Register data, main business, controller, new shares."""

    def company_survey(self, symbol: str) -> pd.DataFrame:
        """Register data of a company and its issue; at most one row, columns `SURVEY_COLUMNS`. One call."""
        return self._fetcher.call(
            profile.survey_request(symbol), partial(profile.parse_survey, symbol=symbol)
        )

    def main_business(self, symbol: str) -> str | None:
        """The text of the main business. One call."""
        return self._fetcher.call(
            profile.business_request(symbol), partial(profile.parse_business, symbol=symbol)
        )

    def controller(self, symbol: str) -> str | None:
        """Names of the actual controllers. One call."""
        return self._fetcher.call(
            profile.holders_request(symbol), partial(profile.parse_controller, symbol=symbol)
        )

    def offers(self, since: str, until: str) -> pd.DataFrame:
        """New shares that could be applied for between two days; columns `OFFER_COLUMNS`. One call for a
        year."""
        report = profile.offers_report(since, until)
        return self.asked(report, profile.offer_rows, day="apply_date", since=since, until=until)
