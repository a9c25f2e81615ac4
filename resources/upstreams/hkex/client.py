"""Calls of the Hong Kong exchange's site."""

from functools import partial

import pandas as pd

from core.errors import Permanent
from resources.transport.request import Fetcher
from resources.upstreams.hkex import daily
from resources.upstreams.parsing.frames import frame
from resources.upstreams.parsing.missing_files import no_file
from resources.upstreams.parsing.stock_connect_days import DAY_COLUMNS


class HkexClient:
    """`fetcher` is a transport bound to the log of one piece of work."""

    source = "hkex"

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def connect_day(self, day: str) -> pd.DataFrame:
        """The stock connect on one date by channel, with `north`, the sum of both northbound ones; columns
        `DAY_COLUMNS`, one call. Empty where there is no file: no trading in Hong Kong, not out yet, or
        longer ago than the site keeps."""
        try:
            return self._fetcher.call(daily.daily_request(day), partial(daily.parse_daily, day=day))
        except Permanent as error:
            if not no_file(error):
                raise
            return frame([], DAY_COLUMNS)
