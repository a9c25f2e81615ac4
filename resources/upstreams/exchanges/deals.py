"""Block trades of the exchanges: the common parts of both answers."""

import math
from typing import Any

import pandas as pd

from core.errors import PayloadError
from core.market.securities import board_of
from resources.upstreams.exchanges.margin import code_of, name_of
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import grouped_amount, iso_day, price, required, string_of, ungrouped

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
    code = code_of(fields["code"], f"{exchange} block trade")
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
        "name": name_of(fields["name"], f"{what} name"),
        "price": paid,
        "volume": round(figures[0] * WAN),
        "amount": round(figures[1] * WAN, 2),
        "buyer": _branch(fields["buyer"], f"{what} buyer"),
        "seller": _branch(fields["seller"], f"{what} seller"),
    }


def a_shares(rows: list[dict[str, Any]], market: str) -> pd.DataFrame:
    """A frame of `DEAL_COLUMNS` without funds and B shares."""
    return frame([row for row in rows if board_of(row["code"], market)], DEAL_COLUMNS)


def _branch(value: Any, what: str) -> str | None:
    return None if value is None else string_of(value, what).strip() or None
