"""Calls about the market by trade date: events, risks of companies, ratios of stocks, markets and boards."""

from collections.abc import Sequence

import pandas as pd

from core.errors import PayloadError, Permanent
from core.market.securities import is_a_share
from resources.upstreams.eastmoney import data_centre
from resources.upstreams.eastmoney.gateway import Gateway, at_most_a_hundred
from resources.upstreams.eastmoney.reports import billboard, capital, markets, risks, trading
from resources.upstreams.parsing.frames import concat


class MarketCalls(Gateway):
    """Events, risks and ratios."""

    def margin(self, day: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Margin trading of every security (or of at most 100 codes) on one trade date; columns
        `trading.MARGIN`. About 8 calls for the market, one for codes."""
        return self.on_day(trading.margin_report, day, codes)

    def margin_history(self, since: str, until: str, codes: Sequence[str]) -> pd.DataFrame:
        """The same of at most 100 codes on all dates of a range: about one call for 500 rows."""
        return self.dated(trading.margin_report, since, until, codes)

    def billboard(self, since: str, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Listings of A shares on the exchanges' billboard between two dates, of the market or of at most
        100 codes; columns `billboard.LISTINGS`. One call for about six dates of the market."""
        return self._events(billboard.listings_report, since, until, codes)

    def billboard_seats(self, since: str, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """The seats of those listings; columns `SEAT_COLUMNS`. About two calls for a date of the market.
        Where the report of all seats is gone, or has another form, from those of the two sides."""
        try:
            return self._events(billboard.seats_report, since, until, codes)
        except (Permanent, PayloadError) as refused:
            reason = refused
        sides = [
            billboard.ranked(self._events(billboard.side_report(side), since, until, codes))
            for side in billboard.SIDE_REPORTS
        ]
        if not any(len(side) for side in sides):
            raise reason
        return concat(sides, billboard.SEAT_COLUMNS)

    def block_trades(self, since: str, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Block trades in A shares between two dates, of the market or of at most 100 codes; columns
        `trading.BLOCK_TRADES`. One or two calls for a date of the market."""
        return self._events(trading.block_trades_report, since, until, codes)

    def lockups(self, since: str, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Releases of locked A shares between two dates, also planned ones, of the market or of at most 100
        codes; columns `capital.LOCKUPS`. About eight calls for a year of the market."""
        return self._events(capital.lockup_report, since, until, codes)

    def _events(
        self, report: data_centre.Dated, since: str, until: str, codes: Sequence[str] | None
    ) -> pd.DataFrame:
        """A report over dates; B shares, funds and bonds are left out."""
        rows = self.dated(report, since, until, codes)
        return rows[rows["code"].map(is_a_share).astype(bool)].reset_index(drop=True)

    # --- risks of companies

    def pledges(self, since: str, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Pledged shares on the days of [since, until] that have a list (one a week), of every company or of
        at most 100 codes; columns `risks.PLEDGES`. About six calls for a week of the market."""
        return self.dated(risks.pledges_report, since, until, codes)

    def pledge_events(self, code: str) -> pd.DataFrame:
        """Every pledge of shares of one company, the newest notice first; columns `risks.PLEDGE_EVENTS`.
        One call per 500 pledges."""
        report = risks.pledge_events_report(code)
        return self.asked(report, risks.PLEDGE_EVENTS.frame, day="ann_date", codes=[code])

    def goodwill(self, period: str) -> pd.DataFrame:
        """Companies with goodwill in a report period; columns `risks.GOODWILL`. About six calls."""
        return self.on_day(risks.goodwill_report, period)

    def goodwill_of(self, codes: Sequence[str]) -> pd.DataFrame:
        """Goodwill of at most 100 codes in all their periods; columns `risks.GOODWILL`. About ten calls
        for a hundred."""
        at_most_a_hundred(codes)
        report = risks.goodwill_report.of(codes)
        return self.asked(report, risks.GOODWILL.frame, day="report_period", codes=codes)

    def comments(self, day: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """The portal's marks of every stock, or of at most 100 codes, on the newest session; columns
        `risks.COMMENTS`. Eleven calls for the market. Empty for an older day: the report keeps none."""
        return self.on_day(risks.comments_report, day, codes)

    # --- ratios

    def market_ratios(self, keys: Sequence[str], since: str, until: str) -> pd.DataFrame:
        """PE of some markets (keys of `MARKETS`) between two days; columns `markets.MARKET_RATIOS`. One call
        per 500 rows: ten for ten years of two markets."""
        rows = self.report(markets.markets_report(keys, since, until), markets.MARKET_RATIOS.frame)
        requested = {markets.MARKETS[one] for one in keys}
        if not set(rows["index_code"]) <= requested or not rows["date"].between(since, until).all():
            raise PayloadError(f"markets: rows that were not asked for: {since}..{until}", source=self.source)
        return rows

    def valuations(self, since: str, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Ratios and caps of every stock between two trade dates, or of some; columns `trading.VALUATIONS`.
        Twelve calls for a date of the market."""
        return self.dated(trading.valuations_report, since, until, codes)

    def board_ratios(self, day: str) -> pd.DataFrame:
        """Ratios of the industry boards on a trade date; columns `markets.BOARD_RATIOS`. One call."""
        return self.on_day(markets.boards_report, day)
