"""Calls of the quote site: request -> fetch -> parse, one method per call."""

from collections.abc import Sequence

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.parsing.frames import concat
from resources.upstreams.parsing.paging import pages_joined
from resources.upstreams.tencent import bars, flows, intraday, market, quotes
from resources.upstreams.upstream_client import UpstreamClient

_MOST_RANK_PAGES = 100
_MOST_TICK_PAGES = 300


class TencentClient(UpstreamClient):
    """Symbols are `sh600519`, `hk00700`, `usAAPL`. Frames have fixed columns also when empty; units as in the
    data dictionary."""

    source = "tencent"

    def quotes(self, symbols: Sequence[str]) -> pd.DataFrame:
        """Snapshots, 60 symbols a call; columns `QUOTE_COLUMNS`. Unknown symbols have no row."""
        asked = list(dict.fromkeys(symbols))
        parts = []
        for at in range(0, len(asked), quotes.CODES_PER_CALL):
            some = asked[at : at + quotes.CODES_PER_CALL]
            request = quotes.quotes_request(some)
            parts.append(self._ask(request, quotes.parse_quotes, symbols=some))
        return concat(parts, quotes.QUOTE_COLUMNS)

    def bars(
        self, symbol: str, *, period: str = "day", start: str = "", end: str = "", count: int = 640
    ) -> pd.DataFrame:
        """Unadjusted day, week or month bars, oldest first; columns `BAR_COLUMNS`.

        `start`, `end` ISO dates; at most 2,000 rows, counted back from `end`."""
        request = bars.bars_request(symbol, period=period, start=start, end=end, count=count)
        return self._ask(
            request, lambda body: bars.parse_bars(body, symbol, period=period, start=start, end=end)
        )

    def daily_bars(self, symbol: str, start: str = "", end: str = "", count: int = 640) -> pd.DataFrame:
        return self.bars(symbol, period="day", start=start, end=end, count=count)

    def exrights(self, symbol: str, start: str, end: str) -> pd.DataFrame:
        """Dividends that the daily bars of [start, end] are marked with; columns `EXRIGHT_COLUMNS`."""
        request = bars.bars_request(symbol, period="day", start=start, end=end, count=bars.MOST_BARS)
        return self._ask(request, lambda body: bars.parse_exrights(body, symbol))

    def minute_bars(self, symbol: str, minutes: int = 5, count: int = 320) -> pd.DataFrame:
        """Bars of 1, 5, 15, 30 or 60 minutes; columns `MINUTE_COLUMNS`, `amount` missing."""
        request = bars.minute_bars_request(symbol, minutes, count)
        return self._ask(request, lambda body: bars.parse_minute_bars(body, symbol, minutes))

    def intraday(self, symbol: str) -> pd.DataFrame:
        """Today's one-minute line; columns `LINE_COLUMNS`."""
        request = intraday.intraday_request(symbol)
        return self._ask(request, lambda body: intraday.parse_intraday(body, symbol))

    def five_day(self, symbol: str) -> pd.DataFrame:
        """The one-minute lines of the last five trade dates, oldest first."""
        request = intraday.five_day_request(symbol)
        return self._ask(request, lambda body: intraday.parse_five_day(body, symbol))

    def fund_flow(self, symbol: str, days: int = 20) -> flows.FundFlowTab:
        """Today's money flow, its minute curve and the main net of up to 50 days."""
        return self._ask(flows.flow_request(symbol, days), lambda body: flows.parse_flow(body, symbol))

    def rank(self) -> pd.DataFrame:
        """All A shares, highest price first; columns `RANK_COLUMNS`. A short list is a `PayloadError`."""
        parts: list[pd.DataFrame] = []
        received = 0
        for _ in range(_MOST_RANK_PAGES):
            page = self._ask(market.rank_request(received), market.parse_rank)
            parts.append(page.rows)
            received += len(page)
            if received >= page.total:
                break
            if not len(page):
                raise PayloadError(f"rank: {received} of {page.total} rows", source=self.source)
        return pages_joined(parts, ["symbol"], "rank")

    def ticks(self, symbol: str) -> pd.DataFrame:
        """All transactions of the newest day (published after 16:00); columns `TICK_COLUMNS`."""
        parts: list[pd.DataFrame] = []
        for page in range(_MOST_TICK_PAGES):
            part = self._ask(market.ticks_request(symbol, page), market.parse_ticks, symbol=symbol, page=page)
            if not len(part):
                break
            parts.append(part)
        return concat(parts, market.TICK_COLUMNS)
