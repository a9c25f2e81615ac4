"""Checks that the finance portal serves the running session: its boards carry no date."""

from collections.abc import Iterable

from core.errors import PayloadError
from serving_api.live.clients import EASTMONEY
from serving_api.live.data_types import ReadContext
from serving_api.live.frame_values import Row, records

MARKETS = ("sh000001", "sz399001")
"""Indices whose turnover and flow are those of the two exchanges."""


def check_portal(context: ReadContext) -> None:
    """One call: the portal's main indices. Raises PayloadError when they are of another session."""
    check_dates(records(context.client(EASTMONEY).ulist(list(MARKETS))), context.session)


def check_dates(rows: Iterable[Row], session: str) -> None:
    """Raises PayloadError when no row is of the session: suspended stocks keep an older date."""
    dates = {str(row["trade_date"]) for row in rows}
    if session not in dates:
        raise PayloadError(f"the portal serves {max(dates, default='nothing')}, not {session}")
