"""Calls of the telegraph."""

from datetime import UTC, datetime, timedelta

import pandas as pd

from core.clock import Clock
from resources.transport.request import Fetcher
from resources.upstreams.cls import roll
from resources.upstreams.eastmoney.news.articles import FLASH_COLUMNS
from resources.upstreams.parsing.frames import concat


class ClsClient:
    """`fetcher` is a transport bound to the log of one piece of work; the newest items are those before
    now."""

    source = "cls"

    def __init__(self, fetcher: Fetcher, clock: Clock) -> None:
        self._fetcher = fetcher
        self._clock = clock

    def flashes(self, since: str, most: int) -> pd.DataFrame:
        """Flash news from the newest back to the time `since`, at most `most`, newest first; columns
        `FLASH_COLUMNS`. One call per 20 items."""
        parts: list[pd.DataFrame] = []
        before, received = _second(self._clock.now().isoformat()), 0
        while received < most:
            page = self._fetcher.call(roll.roll_request(before), roll.parse_roll)
            received += len(page)
            parts.append(page[page["pub_time"] >= since])
            if len(page) < roll.PAGE or len(parts[-1]) < len(page):
                break
            oldest = _second(str(page["pub_time"].iloc[-1]))
            # The same mark again would ask the same page for ever.
            if oldest == before:
                break
            before = oldest
        return concat(parts, FLASH_COLUMNS).drop_duplicates("flash_id", ignore_index=True).head(most)


def _second(local: str) -> str:
    when = datetime.fromisoformat(local) - timedelta(hours=8)
    return str(int(when.replace(tzinfo=UTC).timestamp()))
