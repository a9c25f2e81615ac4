"""The first day of a stock that is listed again has no limits; any other day beyond its limits keeps them."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.calendar import shipped_calendar
from platform_assets.datasets.kline_daily import AWAY, listed_again

DAY = "2021-08-10"
CALENDAR = shipped_calendar()
SINCE = CALENDAR.offset(DAY, -AWAY)
USUAL: dict[str, Any] = {
    "code": "000792", "date": DAY, "sec_type": "stock", "is_suspended": False, "high": 43.9, "low": 32.41,
    "volume": 785246064.0,
}  # fmt: skip


def reported(
    *stored: tuple[str, str, float], up: float = 9.72, listed: str | None = "1997-09-04", **row: Any
) -> bool:
    """`stored`: (code, date, volume) of bars."""
    held = pd.DataFrame(list(stored), columns=["code", "date", "volume"])
    master = pd.DataFrame({"code": ["000792"], "list_date": [listed]})

    def read(table: str, **asked: Any) -> pd.DataFrame:
        if table == "fusion_stock_master":
            return master
        within = held[(held["date"] >= asked["since"]) & (held["date"] <= asked.get("until", "9999"))]
        codes = asked.get("codes")
        return within if codes is None else within[within["code"].isin(codes)]

    context: Any = SimpleNamespace(read=read, calendar=CALENDAR)
    rows = pd.DataFrame([USUAL | row])
    return bool(listed_again(rows, np.array([up]), np.array([7.96]), context)[0])


MARKET = ("600519", SINCE, 1e6)


def test_no_trade_for_long_and_a_price_beyond_the_limits() -> None:
    assert reported(MARKET)
    assert reported(MARKET, ("000792", CALENDAR.offset(SINCE, -3), 1e6))  # the trade before is older
    assert reported(("000792", SINCE, 0.0))  # suspended dates with a row


@pytest.mark.parametrize(
    "changed",
    [
        {"up": 43.9, "low": 7.96},  # a long suspension for another reason ends with the ordinary limits
        {"up": float("nan"), "low": 7.96},
        {"sec_type": "etf"},
        {"is_suspended": True},
        {"listed": SINCE},  # a new listing has rules of its own
        {"listed": None},
    ],
)
def test_nothing_else_lifts_the_limits(changed: dict[str, Any]) -> None:
    assert not reported(MARKET, **changed)


def test_who_traded_a_while_ago_keeps_its_limits() -> None:
    assert not reported(MARKET, ("000792", CALENDAR.offset(DAY, -1), 5e6))
    assert not reported(MARKET, ("000792", SINCE, 5e6))


def test_without_bars_of_so_long_ago_nothing_is_said() -> None:
    assert not reported()
    assert not reported(("600519", CALENDAR.offset(DAY, -1), 1e6))
