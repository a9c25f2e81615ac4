"""Calls of the futures exchanges' sites."""

from collections.abc import Callable, Mapping
from functools import partial

import pandas as pd

from core.errors import Permanent
from resources.transport.request import Fetcher, Request
from resources.upstreams.futures import listed, written
from resources.upstreams.futures.contracts import FUTURES_COLUMNS
from resources.upstreams.parsing.frames import frame
from resources.upstreams.parsing.missing_files import no_file

Call = tuple[Callable[[str], Request], Callable[..., pd.DataFrame]]
CALLS: Mapping[str, Call] = {
    "shfe": (
        partial(listed.shanghai_request, "shfe"),
        partial(listed.parse_shanghai, exchange="shfe"),
    ),
    "ine": (partial(listed.shanghai_request, "ine"), partial(listed.parse_shanghai, exchange="ine")),
    "cffex": (written.financial_request, written.parse_financial),
    "dce": (listed.dalian_request, listed.parse_dalian),
    "czce": (written.zhengzhou_request, written.parse_zhengzhou),
    "gfex": (listed.guangzhou_request, listed.parse_guangzhou),
}
"""Exchange -> how its daily file is asked for and read."""


class FuturesClient:
    """`fetcher` is a transport bound to the log of one piece of work, `exchange` one of `CALLS`."""

    def __init__(self, fetcher: Fetcher, exchange: str) -> None:
        self._fetcher = fetcher
        self.source = exchange

    def daily(self, day: str) -> pd.DataFrame:
        """Every contract of the exchange on one trade date, one call; columns `FUTURES_COLUMNS`. The night
        before belongs to the date. Empty where there is no file: no trading, or not out yet."""
        ask, parse = CALLS[self.source]
        try:
            return self._fetcher.call(ask(day), partial(parse, day=day))
        except Permanent as error:
            if not no_file(error):
                raise
            return frame([], FUTURES_COLUMNS)
