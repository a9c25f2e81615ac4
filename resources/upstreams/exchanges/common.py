"""What the answers of the exchanges share: margin trading, block trades, billboards, the market by class."""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.errors import PayloadError, WrongUnit
from core.market.securities import board_of
from resources.rejections import accepted_rows, named_by, once_each
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import (
    amount,
    grouped_amount,
    iso_day,
    price,
    required,
    string_of,
    ungrouped,
)
from resources.upstreams.parsing.rows import security_code, text_of, text_or_none

MARGIN_COLUMNS: dict[str, str] = {
    **texts("code date exchange name"),
    **numbers("rzye rzmre rzche rqye rqmcl rqchl loan_volume rzrqye"),
}
"""CNY and shares. A row `TOTAL_SH`, `TOTAL_SZ` or `TOTAL_BJ` carries the total of its market."""


def same_day(stated: str, asked: str, what: str) -> str:
    """The stated day when it is the requested one; else PayloadError."""
    if stated != asked:
        raise PayloadError(f"{what} answered for {stated}, asked was {asked}")
    return stated


def figure(value: Any, what: str) -> float:
    """Money or shares that may be missing."""
    return amount(value, what)


def joined(total: list[dict[str, Any]], rows: list[dict[str, Any]], what: str) -> pd.DataFrame:
    """Detail rows below the total of their market, whose financing balance they must not exceed. A code
    that came again is rejected. Nothing at all is an empty frame; half of it is refused."""
    if bool(total) != bool(rows):
        raise PayloadError(f"{what}: {len(total)} totals, {len(rows)} securities")
    return once_each(frame([*total, *rows], MARGIN_COLUMNS), ["code"], what)


# -- Block trades of the exchanges: the common parts of both answers.

DEAL_COLUMNS: dict[str, str] = {
    **texts("code date exchange name buyer seller"),
    **numbers("price volume amount"),
}
"""CNY and shares, as exact as two decimals of 万股 and 万元 are. Equal rows are different deals."""
WAN = 1e4
HALF_DIGIT = 0.0051
"""Half of the last digit of 万股 and 万元 on the wire."""


def deal(fields: dict[str, Any], exchange: str, since: str, until: str) -> dict[str, Any]:
    """A row of `DEAL_COLUMNS` of the texts code, date, name, price (元), volume (万股), amount (万元), buyer
    and seller. PayloadError when price x volume is not the amount, or the date is another one."""
    code = security_code(fields["code"], f"{exchange} block trade")
    what = f"{exchange} block trade {code}"
    day = iso_day(string_of(fields["date"], f"{what} date")[:10], f"{what} date")
    if not since <= day <= until:
        raise PayloadError(f"{what} answered for {day}, asked was {since}..{until}")
    paid = required(price(ungrouped(fields["price"]), f"{what} price"), f"{what} price")
    figures = [
        required(grouped_amount(fields[name], f"{what} {name}"), f"{what} {name}")
        for name in ("volume", "amount")
    ]
    # Price, volume and amount are rounded each for itself.
    slack = HALF_DIGIT * (paid + figures[0] + 1)
    if not math.isclose(paid * figures[0], figures[1], rel_tol=0, abs_tol=slack):
        raise PayloadError(f"{what}: price x 万股 is not 万元: another unit")
    return {
        "code": code,
        "date": day,
        "exchange": exchange,
        "name": text_of(fields["name"], f"{what} name"),
        "price": paid,
        "volume": round(figures[0] * WAN),
        "amount": round(figures[1] * WAN, 2),
        "buyer": text_or_none(fields["buyer"], f"{what} buyer"),
        "seller": text_or_none(fields["seller"], f"{what} seller"),
    }


def a_shares(rows: list[dict[str, Any]], market: str) -> pd.DataFrame:
    """A frame of `DEAL_COLUMNS` without funds and B shares."""
    return frame([row for row in rows if board_of(row["code"], market)], DEAL_COLUMNS)


# -- The exchanges' own billboards: the common parts of both answers.

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
    """A frame of `BILLBOARD_COLUMNS` without funds, bonds and B shares, each listing once."""
    made = frame([row for row in rows if board_of(row["code"], market)], BILLBOARD_COLUMNS)
    return once_each(made, ["code", "date", "reason"], what)


# -- Turnover and value of an exchange's market on one date: the columns of both exchanges' answers.

OVERVIEW_COLUMNS: dict[str, str] = {
    **texts("trade_date exchange sec_class"),
    **numbers("listed_count total_market_cap_yi float_market_cap_yi amount_yi volume_yi pe_ratio"),
    **numbers("turnover_pct"),
}
"""100 million CNY and shares, percent."""
STOCKS = "股票"
_OVERVIEW_CHEAPEST, _OVERVIEW_DEAREST = 0.2, 2000.0


def overview(rows: list[dict[str, Any]], what: str) -> pd.DataFrame:
    """Columns `OVERVIEW_COLUMNS`, each class once. Rejected are classes that float more than there is, or
    whose mean price or turnover of a day are those of another unit."""

    def checked(row: dict[str, Any]) -> dict[str, Any]:
        label = f"{what} {row['sec_class']}"
        total, floating = row.get("total_market_cap_yi", math.nan), row.get("float_market_cap_yi", math.nan)
        if floating > total * 1.001:
            raise PayloadError(f"{label}: the float is worth more than all shares")
        traded, volume = row.get("amount_yi", math.nan), row.get("volume_yi", math.nan)
        if volume > 0 and traded > 0 and not _OVERVIEW_CHEAPEST <= traded / volume <= _OVERVIEW_DEAREST:
            raise WrongUnit(f"{label}: a mean price of {traded / volume:g}: another unit")
        if row["sec_class"] == STOCKS and traded > total:
            raise WrongUnit(f"{label}: more was traded than there is: another unit")
        return row

    made = accepted_rows(rows, checked, what, named_by("sec_class"))
    return once_each(frame(made, OVERVIEW_COLUMNS), ["sec_class"], what)
