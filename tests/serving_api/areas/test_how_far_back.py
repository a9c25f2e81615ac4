"""Histories of funds, bonds, futures, risks, Hong Kong and money flow: how far back they say they reach."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from core.calendar import shipped_calendar
from tests.serving_api.areas.handmade import Handmade, handmade

DAY = "2026-08-20"
DATES = shipped_calendar().last(40, DAY)
FIRST = DATES[0]
WEEKS = shipped_calendar().last(120, DAY)
PERIODS = ("2024-12-31", "2025-06-30", "2025-12-31", "2026-06-30")
BOND, REIT, STOCK, YOUNG, HK = "113050", "508000", "600519", "600999", "00700"


def bar(code: str, day: str) -> dict[str, Any]:
    prices = dict.fromkeys(("open", "high", "low", "close"), 10.0)
    return {"code": code, "date": day, "market": "SH", "sec_type": "stock", "volume": 100, **prices}


def contract(symbol: str, day: str) -> dict[str, Any]:
    product = symbol.rstrip("0123456789")
    return {"symbol": symbol, "date": day, "product": product, "exchange": "CFFEX", "close": 9.0,
            "is_main": True}  # fmt: skip


def statement(day: str, *, has_cashflow: bool) -> dict[str, Any]:
    lines = [{"item": "营业额", "value": 1.0}]
    reported = {"income": lines} | ({"cashflow": lines} if has_cashflow else {})
    return {"code": HK, "report_period": day, "name": "腾讯", "currency": "CNY",
            "items": json.dumps(reported)}  # fmt: skip


def fill(reported: Handmade) -> None:
    """Forty trade dates of everything, two of what is young."""
    held = [bar(code, day) for code in (BOND, REIT, STOCK) for day in DATES]
    reported.put("fusion_kline_daily", [*held, *(bar(YOUNG, day) for day in DATES[-2:])])
    reported.put("raw_reit", [{"code": REIT, "trade_date": DAY, "premium_pct": 1.0}])
    reported.put("raw_convertible_bond", [{"code": BOND, "trade_date": DAY, "price": 10.0}])
    reported.put(
        "raw_futures",
        [*(contract("IF2609", day) for day in DATES), *(contract("IH2609", day) for day in DATES)],
    )
    reported.put(
        "fusion_index_daily", [{"code": "sh000300", "date": day, "close": 10.0} for day in DATES[5:]]
    )
    reported.put(
        "raw_risk_pledge", [{"code": STOCK, "trade_date": day, "pledge_ratio": 1.0} for day in WEEKS]
    )
    reported.put(
        "raw_risk_pledge", [{"code": YOUNG, "trade_date": day, "pledge_ratio": 1.0} for day in DATES]
    )
    reported.put(
        "raw_risk_goodwill", [{"code": STOCK, "report_period": day, "goodwill": 1.0} for day in PERIODS]
    )
    reported.put("raw_risk_comment", [{"code": STOCK, "trade_date": day} for day in DATES])
    reported.put("raw_hk_finance", [statement(day, has_cashflow=day in PERIODS[1:3]) for day in PERIODS])
    reported.put("fusion_fund_flow", [{"code": STOCK, "date": day, "main_net": 1.0} for day in DATES])


@pytest.fixture(scope="module")
def market(shared_warehouse_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Handmade]:
    with handmade(shared_warehouse_url, tmp_path_factory.mktemp("data"), DAY) as made:
        fill(made)
        yield made


def cut(given: int, asked: int, first: str, what: str = "trade dates") -> str:
    return f"{given} of {asked} {what} are stored; the first stored date is {first}"


PLEDGES = "/risk/pledge-detail/"
CASES: list[tuple[str, dict[str, Any], str, str | None]] = [
    ("/futures/IF2609/kline", {"days": 40}, FIRST, None),
    ("/futures/if/kline", {"days": 41}, FIRST, cut(40, 41, FIRST)),
    ("/futures/basis", {"days": 35}, DATES[5], None),
    ("/futures/basis", {"days": 40}, DATES[5], cut(35, 40, DATES[5])),
    (f"/reit/{REIT}/history", {"days": 40}, FIRST, None),
    (f"/reit/{REIT}/history", {"days": 250}, FIRST, cut(40, 250, FIRST, "bars")),
    (f"/convertible-bond/{BOND}/history", {"days": 40}, FIRST, None),
    (f"/convertible-bond/{BOND}/history", {"days": 250}, FIRST, cut(40, 250, FIRST)),
    (f"{PLEDGES}{STOCK}", {}, WEEKS[0], None),
    (f"{PLEDGES}{YOUNG}", {}, FIRST, cut(40, 104, FIRST, "weekly lists")),
    (f"/risk/goodwill-detail/{STOCK}", {"limit": 4}, PERIODS[0], None),
    (f"/risk/goodwill-detail/{STOCK}", {}, PERIODS[0], cut(4, 12, PERIODS[0], "report periods")),
    (f"/risk/comment-detail/{STOCK}", {"days": 40}, FIRST, None),
    (f"/risk/comment-detail/{STOCK}", {"days": 41}, FIRST, cut(40, 41, FIRST)),
    (f"/hk-finance/{HK}/indicators", {"periods": 4}, PERIODS[0], None),
    (f"/hk-finance/{HK}/indicators", {"periods": 8}, PERIODS[0], cut(4, 8, PERIODS[0], "report periods")),
    (f"/hk-finance/{HK}/statements", {"periods": 4}, PERIODS[0], None),
    (f"/hk-finance/{HK}/statements", {"periods": 5}, PERIODS[0], cut(4, 5, PERIODS[0], "report periods")),
    (f"/realtime/money-flow/{STOCK}", {"days": 40}, FIRST, None),
    (f"/realtime/money-flow/{STOCK}", {"days": 41}, FIRST, cut(40, 41, FIRST)),
]


@pytest.mark.parametrize(("path", "params", "first", "note"), CASES)
def test_an_answer_says_how_far_back_it_reaches(
    market: Handmade, path: str, params: dict[str, Any], first: str, note: str | None
) -> None:
    reported = market.reported(path, **params)

    assert (reported["first_date"], reported["note"]) == (first, note)


@pytest.mark.parametrize(
    "path",
    [
        "/futures/cu/kline",
        "/reit/508999/history",
        f"/reit/{STOCK}/history",  # has bars, but is no REIT
        f"/convertible-bond/{STOCK}/history",
        f"{PLEDGES}600000",
        "/risk/goodwill-detail/600000",
        "/risk/comment-detail/600000",
        "/hk-finance/00001/indicators",
        "/hk-finance/00001/statements",
        "/realtime/money-flow/600000",
    ],
)
def test_nothing_stored_is_said(market: Handmade, path: str) -> None:
    reported = market.reported(path)

    assert (reported["first_date"], reported["note"]) == (None, "nothing is stored yet")


def test_a_basis_without_data_gives_the_reason(market: Handmade) -> None:
    # Bars without a close of their index, and a product that settles on no index.
    for product in ("IH", "au"):
        reported = market.reported("/futures/basis", product=product)

        assert (reported["items"], reported["first_date"]) == ([], None)
        assert reported["note"] == reported["reason"]


def test_a_reit_of_an_earlier_time_counts_what_was_known(market: Handmade) -> None:
    what = "bars of that time"
    # The bars were stored on the newest date: before it nobody knew them.
    for day, given in ((DATES[30], 0), (DAY, 40)):
        reported = market.reported(f"/reit/{REIT}/history", days=50, as_of=day)

        assert (reported["first_date"], reported["note"]) == (FIRST, cut(given, 50, FIRST, what))


def test_a_statement_missing_in_newer_periods_comes_from_older_ones(market: Handmade) -> None:
    path = f"/hk-finance/{HK}/statements"
    whole = market.reported(path, statement="cashflow", periods=2)
    less = market.reported(path, statement="cashflow", periods=4)

    assert whole["periods"] == less["periods"] == [PERIODS[2], PERIODS[1]]
    assert (whole["first_date"], whole["note"]) == (PERIODS[1], None)
    assert less["note"] == cut(2, 4, PERIODS[1], "report periods")


EARLY = "2026-01-05"
LISTS = [
    ("/convertible-bond/list", {"date": EARLY}, DAY),
    ("/risk/pledge-list", {"date": EARLY}, WEEKS[0]),
    ("/risk/pledge-industry", {"date": EARLY}, WEEKS[0]),
    ("/risk/comment-list", {"date": EARLY}, FIRST),
    ("/risk/goodwill-list", {"period": "2024-06-30"}, PERIODS[0]),
    ("/risk/goodwill-industry", {"period": "2024-06-30"}, PERIODS[0]),
]


@pytest.mark.parametrize(("path", "early", "first"), LISTS)
def test_a_list_of_a_day_before_the_first_one_says_so(
    market: Handmade, path: str, early: dict[str, str], first: str
) -> None:
    newest, before = market.reported(path), market.reported(path, **early)
    (day,) = early.values()

    assert (newest["first_date"], newest["note"]) == (first, None)
    assert before["items"] == []
    assert before["note"] == f"nothing is stored of {day}; the first stored date is {first}"
    assert before["first_date"] == first
