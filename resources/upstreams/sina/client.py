"""Calls of the second quote site."""

from collections.abc import Sequence
from functools import partial

import pandas as pd

from resources.upstreams.eastmoney.news.articles import FLASH_COLUMNS
from resources.upstreams.parsing.frames import concat
from resources.upstreams.sina import bars, finance, flows, live, outside, quotes
from resources.upstreams.upstream_client import UpstreamClient


class SinaClient(UpstreamClient):
    """Symbols are `sh600519`. Frames have fixed columns also when empty; units as in the data dictionary."""

    source = "sina"

    def quotes(self, symbols: Sequence[str]) -> pd.DataFrame:
        """Snapshots, 400 symbols a call; columns `QUOTE_COLUMNS`. Unknown symbols have no row."""
        asked = list(dict.fromkeys(symbols))
        parts = []
        for at in range(0, len(asked), quotes.CODES_PER_CALL):
            some = asked[at : at + quotes.CODES_PER_CALL]
            parse = partial(quotes.parse_quotes, symbols=some)
            parts.append(self._ask(quotes.quotes_request(some), parse))
        return concat(parts, quotes.QUOTE_COLUMNS)

    def outside(self) -> pd.DataFrame:
        """Six series outside the mainland that its market looks at, one call; columns `OUTSIDE_COLUMNS`."""
        return self._ask(outside.outside_request(), outside.parse_outside)

    def daily_bars(self, symbol: str, count: int = 640) -> pd.DataFrame:
        """The newest unadjusted daily bars, at most 1,023, without amounts; columns `BAR_COLUMNS`."""
        return self._ask(bars.bars_request(symbol, count), bars.parse_bars, symbol=symbol)

    def minute_bars(self, symbol: str, minutes: int = 5, count: int = 1023) -> pd.DataFrame:
        """The newest bars of 5, 15, 30 or 60 minutes, at most 1,023, without amounts; columns
        `MINUTE_COLUMNS`."""
        return self._ask(
            bars.bars_request(symbol, count, minutes), bars.parse_minute_bars, symbol=symbol, minutes=minutes
        )

    def fund_flow(self, symbol: str, days: int = 60) -> pd.DataFrame:
        """Money flow of a stock on the newest trade dates, at most 120; columns `FLOW_COLUMNS`, one call."""
        return self._ask(flows.flow_request(symbol, days), flows.parse_flow, symbol=symbol)

    def statement(self, symbol: str, statement: str, periods: int = 8) -> pd.DataFrame:
        """Known items of `balance`, `income` or `cashflow` of the newest periods; columns
        `STATEMENT_COLUMNS`."""
        return self._ask(
            finance.statement_request(symbol, statement, periods),
            finance.parse_statement,
            symbol=symbol,
            statement=statement,
        )

    def flashes(self, since: str, most: int) -> pd.DataFrame:
        """Flash news from the newest back to the time `since`, at most `most`, newest first; columns
        `eastmoney.news.FLASH_COLUMNS`. One call per 20 items."""
        parts: list[pd.DataFrame] = []
        received, page = 0, 1
        while received < most:
            got = self._ask(live.feed_request(page), live.parse_feed)
            parts.append(got[got["pub_time"] >= since])
            received, page = received + len(got), page + 1
            # A page may be short of a row that was rejected; the list goes on.
            if got.empty or len(parts[-1]) < len(got):
                break
        # Items that were put up meanwhile push others onto the next page once more.
        return concat(parts, FLASH_COLUMNS).drop_duplicates("flash_id", ignore_index=True).head(most)
