"""Calls of the social site."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import pandas as pd

from resources.transport.request import Fetcher, Request
from resources.upstreams.xueqiu import follow, hot, quotes
from resources.upstreams.xueqiu.answers import TokenExpired, parse_visit, visit_requests

T = TypeVar("T")


class XueqiuClient:
    """`fetcher` is a transport bound to the log of one piece of work; it keeps the cookies. Frames have
    fixed columns also when empty; units as in the data dictionary."""

    source = "xueqiu"

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def quote(self, symbol: str) -> pd.DataFrame:
        """One instrument; columns `QUOTE_COLUMNS`, no row for an unknown symbol."""
        return self._ask(quotes.quote_request(symbol), partial(quotes.parse_quote, symbol=symbol))

    def hot_list(self) -> pd.DataFrame:
        """The hundred hottest stocks of the mainland; columns `HOT_COLUMNS`, one call."""
        return self._ask(hot.hot_request(), hot.parse_hot)

    def followed(self) -> pd.DataFrame:
        """The hundred stocks of the mainland that most users follow; columns `FOLLOW_COLUMNS`, one call."""
        return self._ask(follow.follow_request(), follow.parse_follow)

    def _ask(self, request: Request, parse: Callable[[bytes], T]) -> T:
        """Ask; without a token that still counts, visit once and ask once more."""
        try:
            return self._fetcher.call(request, parse)
        except TokenExpired:
            for page in visit_requests():
                self._fetcher.call(page, parse_visit)
            return self._fetcher.call(request, parse)
