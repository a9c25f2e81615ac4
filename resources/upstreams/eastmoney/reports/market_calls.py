"""Calls about the ratios of markets and boards."""

from collections.abc import Sequence

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.gateway import Gateway
from resources.upstreams.eastmoney.reports import markets, valuations


class MarketCalls(Gateway):
    """Ratios of stocks, whole markets and industry boards."""

    def market_ratios(self, keys: Sequence[str], since: str, until: str) -> pd.DataFrame:
        """PE of some markets (keys of `MARKETS`) between two days; columns `MARKET_COLUMNS`. One call per 500
        rows: ten for ten years of two markets."""
        rows = self.report(markets.markets_report(keys, since, until), markets.market_rows)
        requested = {markets.MARKETS[one] for one in keys}
        if not set(rows["index_code"]) <= requested or not rows["date"].between(since, until).all():
            raise PayloadError(f"markets: rows that were not asked for: {since}..{until}", source=self.source)
        return rows

    def valuations(self, since: str, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Ratios and caps of every stock between two trade dates, or of some; columns `VALUATION_COLUMNS`.
        Twelve calls for a date of the market."""
        rows = self.report(valuations.valuations_report(since, until, codes), valuations.valuation_rows)
        if not rows["date"].between(since, until).all():
            raise PayloadError(f"valuations: rows not of {since}..{until}", source=self.source)
        return rows

    def board_ratios(self, day: str) -> pd.DataFrame:
        """Ratios of the industry boards on a trade date; columns `BOARD_COLUMNS`. One call."""
        rows = self.report(markets.boards_report(day), markets.board_rows)
        if not rows["date"].eq(day).all():
            raise PayloadError(f"boards: rows not of {day}", source=self.source)
        return rows
