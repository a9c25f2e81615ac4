"""Calls about the holders, shares, operations and prospects of companies."""

from collections.abc import Sequence
from functools import partial

import pandas as pd

from resources.upstreams.eastmoney.f10 import equity, operations, positions, top_holders
from resources.upstreams.eastmoney.gateway import Gateway, at_most_a_hundred
from resources.upstreams.eastmoney.reports import buybacks, consensus
from resources.upstreams.parsing.frames import concat


class F10Calls(Gateway):
    """Top holders, funds, share capital, buybacks, composition of the business, consensus."""

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
        """Funds that held a company at the ends of some report periods; columns `POSITION_COLUMNS`. One call
        per 500 of them."""
        report = positions.positions_report(symbol, periods)
        read = partial(positions.position_rows, symbol=symbol)
        ends = {"since": min(periods), "until": max(periods)}
        return self.asked(report, read, day="report_period", codes=[symbol[2:]], **ends)

    def share_changes(
        self, since: str | None, until: str, codes: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Changes of the share capital on the days of [since, until] (None: ever), of every company or of at
        most 100; columns `EQUITY_COLUMNS`. One call for some days of the market, about six for all changes
        of 100 companies."""
        report = equity.equity_report(since, until, codes)
        return self.asked(
            report, equity.equity_rows, day="change_date", since=since, until=until, codes=codes
        )

    def buybacks(self, since: str | None, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Buybacks with their newest state, announced on the days of [since, until] (None: ever), of every
        company or of at most 100; columns `BUYBACK_COLUMNS`. One call for some days."""
        report = buybacks.buybacks_report(since, until, codes)
        return self.asked(
            report, buybacks.buyback_rows, day="update_date", since=since, until=until, codes=codes
        )

    def operations(self, symbol: str) -> pd.DataFrame:
        """Revenue, cost and profit of one company by industry, product and region, all report periods;
        columns `OPERATION_COLUMNS`. One call."""
        return self._fetcher.call(
            operations.operations_request(symbol), partial(operations.parse_operations, symbol=symbol)
        )

    def consensus(self, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Mean earnings per share that brokers expect, of every company that they follow or of at most 100;
        columns `CONSENSUS_COLUMNS`. About seven calls."""
        at_most_a_hundred(codes)
        rows = self.report(consensus.consensus_report(codes), consensus.consensus_rows)
        return consensus.by_year(self.only_of(rows, codes, "RPT_WEB_RESPREDICT"))
