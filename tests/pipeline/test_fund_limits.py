"""Limits of funds in the bars: 20 percent on the STAR and ChiNext boards, or none where it is not known."""

from types import SimpleNamespace
from typing import Any

import pandas as pd

from platform_assets.datasets.kline_daily import add_limits
from serving_api.live.quotes import limits
from serving_api.live.symbols import Listed

DAY = "2024-01-04"
FUNDS = {
    ("588000", "SH"): "科创50ETF",
    ("159915", "SZ"): "创业板ETF",
    ("159919", "SZ"): "沪深300ETF",
    ("159783", "SZ"): None,
    ("161022", "SZ"): "创业板LOF",
}


def context() -> Any:
    spans = pd.DataFrame(
        [(code, "1990-12-19", None, name, False) for (code, _), name in FUNDS.items() if name],
        columns=["code", "valid_from", "valid_to", "name", "is_st"],
    )
    tables = {"ref_name_history": spans, "fusion_stock_master": pd.DataFrame(columns=["code", "list_date"])}
    calendar = SimpleNamespace(
        offset=lambda day, by: "2023-12-20", last=lambda count, day: ["2023-12-20", day]
    )
    return SimpleNamespace(
        read=lambda table, **asked: tables[table],
        calendar=calendar,
        scope=SimpleNamespace(since=DAY),
        notes={},
    )


def bars() -> pd.DataFrame:
    rows = [
        {
            "code": code,
            "market": market,
            "sec_type": "etf",
            "date": DAY,
            "last_close": 1.0,
            "is_suspended": False,
        }
        for code, market in FUNDS
    ]
    prices = {"open": 1.0, "close": 1.1, "high": 1.1, "low": 0.99, "limit_up": None, "limit_down": None}
    return pd.DataFrame(rows).assign(**prices)


def test_a_fund_at_10_percent_is_sealed_only_where_that_is_its_limit() -> None:
    made = add_limits(bars(), context()).set_index("code")

    assert made["limit_up"].dropna().to_dict() == {"588000": 1.2, "159915": 1.2, "159919": 1.1}
    assert made.loc["159919", "limit_status"] == "up"
    assert made.loc["588000", "limit_status"] == "none"
    assert pd.isna(made.loc["159783", "limit_status"])
    assert pd.isna(made.loc["161022", "limit_status"])


def test_live_limits_go_by_the_fund() -> None:
    calendar = SimpleNamespace(between=lambda since, until: [])
    reported = {
        code: limits(Listed(f"{market.lower()}{code}", code, name), 1.0, DAY, calendar)  # type: ignore[arg-type]
        for (code, market), name in FUNDS.items()
    }

    assert reported == {
        "588000": (1.2, 0.8), "159915": (1.2, 0.8), "159919": (1.1, 0.9),
        "159783": (None, None), "161022": (None, None),
    }  # fmt: skip
