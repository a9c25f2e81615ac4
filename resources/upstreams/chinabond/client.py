"""Calls of the bond depository's site."""

from datetime import date, timedelta
from functools import partial

import pandas as pd

from resources.transport.request import Fetcher
from resources.upstreams.chinabond import curve
from resources.upstreams.parsing.frames import concat


class ChinabondClient:
    """`fetcher` is a transport bound to the log of one piece of work."""

    source = "chinabond"

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def government_curve(self, since: str, until: str) -> pd.DataFrame:
        """Yields of Chinese government bonds of eight tenors by date, oldest first; columns
        `CURVE_COLUMNS`, percent. One call per 360 days."""
        parts = []
        first, last = date.fromisoformat(since), date.fromisoformat(until)
        while first <= last:
            end = min(last, first + timedelta(days=curve.MOST_DAYS))
            asked = (first.isoformat(), end.isoformat())
            parse = partial(curve.parse_curve, since=asked[0], until=asked[1])
            parts.append(self._fetcher.call(curve.curve_request(*asked), parse))
            first = end + timedelta(days=1)
        return concat(parts, curve.CURVE_COLUMNS)
