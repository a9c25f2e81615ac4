"""Calls about the ratios of markets and boards."""

from collections.abc import Sequence

import pandas as pd

from resources.errors import PayloadError
from resources.upstreams.eastmoney import markets
from resources.upstreams.eastmoney.gateway import Gateway


class MarketCalls(Gateway):
    """Ratios of whole markets and of industry boards."""

    def market_ratios(self, keys: Sequence[str], since: str, until: str) -> pd.DataFrame:
        """PE of some markets (keys of `MARKETS`) between two days; columns `MARKET_COLUMNS`. One call per 500
        rows: ten for ten years of two markets."""
        rows = self.report(markets.markets_report(keys, since, until), markets.market_rows)
        wanted = {markets.MARKETS[one] for one in keys}
        if not set(rows["index_code"]) <= wanted or not rows["date"].between(since, until).all():
            raise PayloadError(f"markets: rows that were not asked for: {since}..{until}", source=self.source)
        return rows

    def board_ratios(self, day: str) -> pd.DataFrame:
        """Ratios of the industry boards on a trade date; columns `BOARD_COLUMNS`. One call."""
        rows = self.report(markets.boards_report(day), markets.board_rows)
        if not rows["date"].eq(day).all():
            raise PayloadError(f"boards: rows not of {day}", source=self.source)
        return rows
