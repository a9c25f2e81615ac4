"""Calls of the topic portal."""

import pandas as pd

from resources.upstreams.parsing.paging import Page, collected
from resources.upstreams.ths import limits, worth
from resources.upstreams.upstream_client import UpstreamClient


class ThsClient(UpstreamClient):
    """Codes are six digits. Frames have fixed columns also when empty; units as in the data dictionary."""

    source = "ths"

    def limit_pool(self, pool: str, day: str) -> pd.DataFrame:
        """Stocks `up` at the limit with the text of the reason, `broken` or `down`, on one date of the last
        year, without Beijing; columns `LIMIT_COLUMNS`, one call per 200 stocks."""

        def ask(page: int) -> Page:
            request = limits.limit_request(pool, day, page)
            return self._ask(request, limits.parse_limits, pool=pool, day=day)

        rows = collected(ask, f"{pool} pool", most_pages=limits.MOST_PAGES, key=("code",))
        return limits.limit_rows(rows, f"{pool} pool")

    def daily_bars(self, symbol: str, count: int = 140) -> pd.DataFrame:
        """The newest unadjusted daily bars of a security of Shanghai or Shenzhen, at least `count` of those
        there are, at most 1,800, one call; columns `BAR_COLUMNS`."""
        return self._ask(limits.bars_request(symbol, count), limits.parse_bars, symbol=symbol)

    def hot_list(self) -> pd.DataFrame:
        """The hundred most looked-at stocks of the day so far; columns `HOT_COLUMNS`, one call."""
        return self._ask(worth.hot_request(), worth.parse_hot)

    def strong_stocks(self, day: str) -> pd.DataFrame:
        """Strong stocks of a date with the topics behind them; columns `STRONG_COLUMNS`, one call."""
        return self._ask(worth.strong_request(day), worth.parse_strong, day=day)

    def eps_consensus(self, code: str) -> pd.DataFrame:
        """Earnings that brokers expect of one company by year; columns `WORTH_COLUMNS`, one call. Empty
        without forecasts."""
        return self._ask(worth.worth_request(code), worth.parse_worth, code=code)
