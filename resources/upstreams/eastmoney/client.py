"""Calls of the portal's quote hosts: request -> fetch -> parse, one method per call."""

from collections.abc import Sequence
from functools import partial

import pandas as pd

from core.errors import InputError
from core.market.symbols import instrument
from resources.upstreams.eastmoney.calls.companies import CompanyCalls
from resources.upstreams.eastmoney.calls.funds import FundCalls
from resources.upstreams.eastmoney.calls.hong_kong import HongKongCalls
from resources.upstreams.eastmoney.calls.macro import MacroCalls
from resources.upstreams.eastmoney.calls.market import MarketCalls
from resources.upstreams.eastmoney.calls.results import ResultCalls
from resources.upstreams.eastmoney.gateway import CODES_PER_CALL
from resources.upstreams.eastmoney.news.calls import PressCalls
from resources.upstreams.eastmoney.quotes import (
    changes,
    fields,
    lists,
    pools,
    popularity,
    security,
    series,
    stock_connect,
)
from resources.upstreams.eastmoney.quotes import foreign_markets as outside
from resources.upstreams.parsing.frames import concat


class EastmoneyClient(
    ResultCalls, CompanyCalls, PressCalls, FundCalls, HongKongCalls, MarketCalls, MacroCalls
):
    """`clock` is the market clock.

    Symbols are `sh600519`. Frames have fixed columns also when empty; units as in the data dictionary.
    """

    # --- lists

    def stock_list(self) -> pd.DataFrame:
        """Every A share with quote, caps, ratios, industry, concepts and today's money flow with its
        in and out sums; columns `STOCK_COLUMNS`. About 56 calls."""
        return self.clist(lists.ALL_A, fields.wire_fields(lists.STOCK_FIELDS), lists.stock_rows, key="symbol")

    def boards(self, kind: str) -> pd.DataFrame:
        """The industry, concept or region boards; columns `BOARD_COLUMNS`."""
        if kind not in lists.BOARD_FILTERS:
            raise InputError("kind", f"{kind!r} is none of {', '.join(lists.BOARD_FILTERS)}")
        names = fields.wire_fields(lists.BOARD_FIELDS)
        read = partial(lists.board_rows, kind=kind)
        return self.clist(lists.BOARD_FILTERS[kind], names, read, key="board_code", complete=False)

    def board_members(self, board_code: str) -> pd.DataFrame:
        """Constituents of one board; columns `MEMBER_COLUMNS`."""
        read = partial(lists.member_rows, board_code=board_code)
        fs = lists.board_filter(board_code)
        return self.clist(fs, "f3,f12,f13,f14", read, key="symbol", complete=False)

    def ulist(self, symbols: Sequence[str]) -> pd.DataFrame:
        """Quotes and money flow of named securities and indices, 100 a call; columns `QUOTE_COLUMNS`."""
        names = fields.wire_fields((*lists.INDEX_FIELDS, *lists.FLOW_FIELDS))
        asked = list(dict.fromkeys(symbols))
        parts = []
        for at in range(0, len(asked), CODES_PER_CALL):
            some = asked[at : at + CODES_PER_CALL]
            parts.append(self._ask(lists.ulist_request(some, names), lists.parse_ulist, symbols=some))
        return concat(parts, lists.QUOTE_COLUMNS)

    def outside(self) -> pd.DataFrame:
        """Six series outside the mainland that its market looks at, one call; columns `OUTSIDE_COLUMNS`."""
        return self._ask(outside.outside_request(), outside.parse_outside)

    def slist(self, symbol: str) -> pd.DataFrame:
        """The boards of one stock, kinds mixed; columns `SLIST_COLUMNS`."""
        return self._ask(lists.slist_request(symbol), lists.parse_slist, symbol=symbol)

    def stock_get(self, symbol: str) -> pd.DataFrame:
        """One security with its book; at most one row, columns `SECURITY_COLUMNS`."""
        return self._ask(security.security_request(symbol), security.parse_security, symbol=symbol)

    # --- pools and rankings

    def limit_pool(self, pool: str, day: str) -> pd.DataFrame:
        """Stocks `up` at the limit, `broken` (touched, not held), `down`, `prev` (the limit-ups of the trade
        date before, with their first seal and boards of that date) or `strong`, on one date of the last
        twenty; columns `POOL_COLUMNS`, one call. Empty where there is none."""
        return self._ask(pools.pool_request(pool, day), pools.parse_pool, pool=pool, day=day)

    def popularity(self) -> pd.DataFrame:
        """The hundred most looked-at stocks of this moment; columns `RANK_COLUMNS`, one call."""
        return self._ask(popularity.ranking_request(), popularity.parse_ranking)

    def stock_changes(self, page: int = 0) -> changes.ChangesPage:
        """A page of 64 anomalies of the session, newest first; columns `CHANGE_COLUMNS`, one call."""
        return self._ask(changes.changes_request(page), changes.parse_changes)

    # --- series

    def kline(
        self, symbol: str, *, klt: int = 101, beg: str = "", end: str = "", limit: int | None = None
    ) -> pd.DataFrame:
        """Unadjusted bars. `klt` 1, 5, 15, 30, 60 minutes (columns `MINUTE_COLUMNS`) or 101 day,
        102 week, 103 month, 104 quarter, 105 half, 106 year (`BAR_COLUMNS`). `beg`, `end` ISO dates."""
        first, last = beg.replace("-", "") or "0", end.replace("-", "") or "20500101"
        request = series.kline_request(instrument(symbol).secid, klt=klt, beg=first, end=last, limit=limit)
        return self._ask(request, series.parse_kline, symbol=symbol, klt=klt, beg=first, end=last)

    def daily_bars(self, symbol: str, beg: str = "", end: str = "") -> pd.DataFrame:
        return self.kline(symbol, klt=101, beg=beg, end=end)

    def trends2(self, symbol: str, days: int = 1) -> pd.DataFrame:
        """One-minute rows of 1..5 dates; columns `TREND_COLUMNS`."""
        return self._ask(series.trends_request(symbol, days), series.parse_trends, symbol=symbol)

    def fund_flow_daily(self, symbol: str) -> pd.DataFrame:
        """Nets of about 120 dates; columns `FLOW_COLUMNS`."""
        what = instrument(symbol)
        return self._flow_days(what.secid, what.dataset_code)

    def board_flow_daily(self, board_code: str) -> pd.DataFrame:
        return self._flow_days(f"90.{board_code}", board_code)

    def fund_flow_minutes(self, symbol: str, second: str = "") -> pd.DataFrame:
        """Today's nets, cumulative; columns `MINUTE_FLOW_COLUMNS`. Of an index: its whole exchange; `second`
        adds a second symbol's."""
        what = instrument(symbol)
        second = instrument(second).secid if second else ""
        return self._ask(
            series.flow_minutes_request(what.secid, second),
            series.parse_flow_minutes,
            secid=what.secid,
            code=what.dataset_code,
        )

    def board_flow_minutes(self, board_code: str) -> pd.DataFrame:
        secid = f"90.{board_code}"
        return self._ask(
            series.flow_minutes_request(secid), series.parse_flow_minutes, secid=secid, code=board_code
        )

    def _flow_days(self, secid: str, code: str) -> pd.DataFrame:
        return self._ask(series.flow_days_request(secid), series.parse_flow_days, secid=secid, code=code)

    # --- stock connect

    def connect_channels(self) -> pd.DataFrame:
        """The four channels of today (kamt); columns `CHANNEL_COLUMNS`, 10k CNY."""
        return self._ask(stock_connect.channels_request(), stock_connect.parse_channels)

    def connect_minutes(self) -> pd.DataFrame:
        """Cumulative nets per minute (kamt.rtmin); columns `connect.MINUTE_COLUMNS`, 10k CNY."""
        return self._ask(stock_connect.minutes_request(), stock_connect.parse_minutes, now=self._clock.now())
