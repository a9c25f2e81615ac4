"""Calls of the topic portal."""

from functools import partial
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.transport.request import Fetcher
from resources.upstreams.ths import limits, worth


class ThsClient:
    """`fetcher` is a transport bound to the log of one piece of work. Codes are six digits. Frames have
    fixed columns also when empty; units as in the data dictionary."""

    source = "ths"

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def limit_pool(self, pool: str, day: str) -> pd.DataFrame:
        """Stocks `up` at the limit with the text of the reason, `broken` or `down`, on one date of the last
        year, without Beijing; columns `LIMIT_COLUMNS`, one call per 200 stocks."""
        rows: list[dict[str, Any]] = []
        received, total = 0, None
        for page in range(1, limits.MOST_PAGES + 1):
            got = self._fetcher.call(
                limits.limit_request(pool, day, page), partial(limits.parse_limits, pool=pool, day=day)
            )
            if total not in {None, got.total}:
                raise PayloadError(
                    f"{pool} pool: total moved from {total} to {got.total}", source=self.source
                )
            total = got.total
            rows += got.rows
            received += len(got)
            if received >= total or not len(got):
                break
        if received != total:
            raise PayloadError(f"{pool} pool: {received} of {total} rows", source=self.source)
        return limits.limit_rows(rows, f"{pool} pool")

    def daily_bars(self, symbol: str, count: int = 140) -> pd.DataFrame:
        """The newest unadjusted daily bars of a security of Shanghai or Shenzhen, at least `count` of those
        there are, at most 1,800, one call; columns `BAR_COLUMNS`."""
        return self._fetcher.call(
            limits.bars_request(symbol, count), partial(limits.parse_bars, symbol=symbol)
        )

    def hot_list(self) -> pd.DataFrame:
        """The hundred most looked-at stocks of the day so far; columns `HOT_COLUMNS`, one call."""
        return self._fetcher.call(worth.hot_request(), worth.parse_hot)

    def strong_stocks(self, day: str) -> pd.DataFrame:
        """Strong stocks of a date with the topics behind them; columns `STRONG_COLUMNS`, one call."""
        return self._fetcher.call(worth.strong_request(day), partial(worth.parse_strong, day=day))

    def eps_consensus(self, code: str) -> pd.DataFrame:
        """Earnings that brokers expect of one company by year; columns `WORTH_COLUMNS`, one call. Empty
        without forecasts."""
        return self._fetcher.call(worth.worth_request(code), partial(worth.parse_worth, code=code))
