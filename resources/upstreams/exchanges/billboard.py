"""The exchanges' own billboards: the common parts of both answers."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.errors import PayloadError
from core.market.securities import board_of
from resources.upstreams.parsing.frames import frame, numbers, texts

BILLBOARD_COLUMNS: dict[str, str] = {
    **texts("code date reason name"),
    **numbers("amount net_buy buy_amt sell_amt deal_amt net_ratio_pct deal_ratio_pct"),
}
"""`amount` CNY, the other sums 10k CNY, ratios percent."""
BILLBOARD_SEAT_COLUMNS: dict[str, str] = {
    **texts("date code reason side branch_name"),
    **numbers("rank_no buy_amt sell_amt net_amt buy_ratio_pct sell_ratio_pct"),
}
"""`side` buy or sell; sums 10k CNY, shares of the turnover percent. A row holds only the amount of its own
side."""
_CHEAPEST, _DEAREST = 0.01, 5_000.0
"""CNY a share: amount / volume outside of it is in another unit."""


@dataclass(frozen=True)
class Board:
    """One answer: listings with the keys of `BILLBOARD_COLUMNS`, seats with those of
    `BILLBOARD_SEAT_COLUMNS`."""

    listings: list[dict[str, Any]]
    seats: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.listings)


def shown_name(text: str, what: str) -> str:
    """A name of the page without entities and blanks."""
    name = "".join(html.unescape(text).split())
    if not name:
        raise PayloadError(f"{what} is empty")
    return name


def in_one_unit(amount: float, volume: float, what: str) -> None:
    """PayloadError when CNY and shares make no price."""
    if volume > 0 and not _CHEAPEST <= amount / volume <= _DEAREST:
        raise PayloadError(f"{what}: {amount:.0f} CNY for {volume:.0f} shares: another unit")


def a_share_listings(rows: Sequence[dict[str, Any]], market: str, what: str) -> pd.DataFrame:
    """A frame of `BILLBOARD_COLUMNS` without funds, bonds and B shares. A listing that came twice is
    refused."""
    made = frame([row for row in rows if board_of(row["code"], market)], BILLBOARD_COLUMNS)
    if made.duplicated(["code", "date", "reason"]).any():
        raise PayloadError(f"{what}: a listing came twice")
    return made
