"""Calls of the index provider."""

from functools import partial

import pandas as pd

from resources.transport.request import Fetcher
from resources.upstreams.csindex import history, sheets


class CsindexClient:
    """`fetcher` is a transport bound to the log of one piece of work. Indices are six digits; one that the
    provider does not publish is a `Permanent` (404)."""

    source = "csindex"

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def members(self, index: str) -> pd.DataFrame:
        """Present members without weights; columns `MEMBER_COLUMNS`. One call."""
        return self._fetcher.call(
            sheets.sheet_request("cons", index), partial(sheets.parse_members, index=index, weighted=False)
        )

    def weights(self, index: str) -> pd.DataFrame:
        """Members with their weights at the end of the last month; columns `MEMBER_COLUMNS`. One call."""
        return self._fetcher.call(
            sheets.sheet_request("closeweight", index),
            partial(sheets.parse_members, index=index, weighted=True),
        )

    def ratios(self, index: str) -> pd.DataFrame:
        """PE and yield of the last twenty trade dates or so; columns `RATIO_COLUMNS`. One call."""
        return self._fetcher.call(
            sheets.sheet_request("indicator", index), partial(sheets.parse_ratios, index=index)
        )

    def history(self, index: str, since: str, until: str) -> pd.DataFrame:
        """Bars with the rolling PE between two dates; columns `PERF_COLUMNS`. One call."""
        return self._fetcher.call(
            history.perf_request(index, since, until),
            partial(history.parse_perf, index=index, since=since, until=until),
        )
