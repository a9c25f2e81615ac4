"""Calls about events of trade dates: margin trading, billboard, block trades, releases of shares."""

from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd

from core.errors import PayloadError, Permanent
from core.market.securities import is_a_share
from resources.upstreams.eastmoney.gateway import Gateway, Rows
from resources.upstreams.eastmoney.reports import billboard, gateway, lockup, margin
from resources.upstreams.eastmoney.reports import block_trades as deals
from resources.upstreams.parsing.frames import concat


class EventCalls(Gateway):
    """Figures and events of trade dates."""

    def margin(self, day: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Margin trading of every security (or of at most 100 codes) on one trade date; columns
        `MARGIN_COLUMNS`. About 8 calls for the market, one for codes."""
        report = margin.margin_report(day, codes)
        return self.asked(report, margin.margin_rows, day="date", since=day, until=day, codes=codes)

    def margin_history(self, since: str, until: str, codes: Sequence[str]) -> pd.DataFrame:
        """The same of at most 100 codes on all dates of a range: about one call for 500 rows."""
        report = margin.margin_history_report(since, until, codes)
        return self.asked(report, margin.margin_rows, day="date", since=since, until=until, codes=codes)

    def billboard(self, since: str, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Listings of A shares on the exchanges' billboard between two dates, of the market or of at most
        100 codes; columns `LISTING_COLUMNS`. One call for about six dates of the market."""
        return self._events(billboard.listings_report, billboard.listing_rows, since, until, codes)

    def billboard_seats(self, since: str, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """The seats of those listings; columns `SEAT_COLUMNS`. About two calls for a date of the market.
        Where the report of all seats is gone, or has another form, from those of the two sides."""
        try:
            return self._events(billboard.seats_report, billboard.seat_rows, since, until, codes)
        except (Permanent, PayloadError) as refused:
            reason = refused
        sides = [
            billboard.ranked(
                self._events(
                    partial(billboard.side_report, side),
                    partial(billboard.side_rows, side=side),
                    since,
                    until,
                    codes,
                )
            )
            for side in billboard.SIDE_REPORTS
        ]
        if not any(len(side) for side in sides):
            raise reason
        return concat(sides, billboard.SEAT_COLUMNS)

    def block_trades(self, since: str, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Block trades in A shares between two dates, of the market or of at most 100 codes; columns
        `DEAL_COLUMNS`. One or two calls for a date of the market."""
        return self._events(deals.deals_report, deals.deal_rows, since, until, codes)

    def lockups(self, since: str, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Releases of locked A shares between two dates, also planned ones, of the market or of at most 100
        codes; columns `LOCKUP_COLUMNS`. About eight calls for a year of the market."""
        return self._events(lockup.lockup_report, lockup.lockup_rows, since, until, codes, day="free_date")

    def _events(
        self,
        ask: Callable[[str, str, Sequence[str] | None], gateway.Report],
        read: Callable[[Rows], pd.DataFrame],
        since: str,
        until: str,
        codes: Sequence[str] | None,
        day: str = "date",
    ) -> pd.DataFrame:
        """A report over dates; B shares, funds and bonds are left out."""
        report = ask(since, until, codes)
        rows = self.asked(report, read, day=day, since=since, until=until, codes=codes)
        return rows[rows["code"].map(is_a_share).astype(bool)].reset_index(drop=True)
