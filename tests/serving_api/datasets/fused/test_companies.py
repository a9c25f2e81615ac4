"""Holder counts and dividends of a stock, and over all stocks, read on both engines."""

import pytest

from core.calendar import shipped_calendar
from tests.serving_api.conftest import Bench
from tests.serving_api.datasets.fused.conftest import MAOTAI, PINGAN, TODAY, get, results

DAYS = shipped_calendar().last(60, TODAY)
HOLDER = f"/datamgr/fusion/stock/{MAOTAI}/holder"
DIVIDEND = f"/datamgr/fusion/stock/{MAOTAI}/dividend"


def call(fused: Bench, name: str, **params: object) -> object:
    answer = fused.api.post("/datamgr/fusion/call", json={"interface": name, "params": params})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def refusal(fused: Bench, name: str, **params: object) -> str:
    answer = fused.api.post("/datamgr/fusion/call", json={"interface": name, "params": params})
    assert answer.status_code == 422
    return answer.text


def test_counts_are_oldest_first_and_twenty_by_default(fused: Bench) -> None:
    rows = results(fused, HOLDER)

    assert len(rows) == 20
    assert [row["date"] for row in rows] == sorted(row["date"] for row in rows)
    assert list(rows[0])[:5] == ["date", "holder_num", "change_num", "change_ratio", "avg_shares"]
    assert rows[-1]["holder_num"] == 100_029
    assert {"ann_date", "total_shares", "quality"} <= set(rows[0])
    assert results(fused, HOLDER, periods=2) == rows[-2:]
    assert results(fused, HOLDER, as_of="2026-07-29") == []
    assert results(fused, "/datamgr/fusion/stock/300750/holder") == []


@pytest.mark.parametrize("periods", [0, 61])
def test_periods_beyond_their_bounds_are_refused(fused: Bench, periods: int) -> None:
    answer = get(fused, HOLDER, periods=periods)

    assert answer.status_code == 422
    assert "periods" in answer.text


def test_dividends_are_newest_plan_first(fused: Bench) -> None:
    rows = results(fused, DIVIDEND)

    assert [row["ann_date"] for row in rows] == ["2026-07-29", "2026-03-27", "2025-11-06", "2025-04-03"]
    assert list(rows[0])[:5] == ["ex_date", "bonus_rmb", "transfer_ratio", "bonus_ratio", "progress"]
    assert (rows[0]["ex_date"], rows[0]["progress"]) == (None, "预案")
    assert (rows[1]["ex_date"], rows[1]["bonus_rmb"]) == ("2026-06-25", 280.0)
    assert results(fused, DIVIDEND, as_of="2026-07-29") == []
    assert "as_of" in get(fused, DIVIDEND, as_of="soon").text


def test_reads_of_companies_need_an_administrator(fused: Bench) -> None:
    for path in (HOLDER, DIVIDEND):
        assert fused.api.get(path).status_code == 401


def test_interfaces_of_one_code(fused: Bench) -> None:
    assert call(fused, "get_holder", code=MAOTAI)["holder_num"] == 100_029
    oldest_first = call(fused, "get_holder_history", code=MAOTAI, periods=3)
    assert [row["holder_num"] for row in oldest_first] == [100_027, 100_028, 100_029]
    assert call(fused, "get_holder_history", code=MAOTAI, periods=3, ascending=False) == oldest_first[::-1]
    newest = call(fused, "get_dividend_history", code=MAOTAI, limit=2)
    assert [row["report_period"] for row in newest] == ["2026-06-30", "2025-12-31"]


def test_ranks_look_at_the_newest_count_of_every_code(fused: Bench) -> None:
    assert [row["code"] for row in call(fused, "get_holder_rank")] == [MAOTAI, PINGAN]
    falling = call(fused, "get_holder_rank", sort="-change_ratio", limit=1)
    assert [(row["code"], row["holder_num"]) for row in falling] == [(PINGAN, 100_001)]
    assert "sort" in refusal(fused, "get_holder_rank", sort="code")
    assert "sort" in refusal(fused, "get_holder_rank", sort="change_ratio; DROP TABLE x")


def test_the_calendar_of_ex_dates_looks_ahead(fused: Bench) -> None:
    assert [row["ex_date"] for row in call(fused, "get_dividend_calendar")] == ["2026-09-02"]
    window = {"start_date": "2025-12-01", "end_date": "2026-06-30"}
    assert [row["ex_date"] for row in call(fused, "get_dividend_calendar", **window)] == [
        "2025-12-19",
        "2026-06-25",
    ]
    assert "start_date" in refusal(
        fused, "get_dividend_calendar", start_date="2026-07-01", end_date="2026-06-30"
    )


def test_trailing_yields_add_up_a_year_of_ex_dates(fused: Bench) -> None:
    assert call(fused, "get_dividend_yield_rank") == [
        {
            "code": MAOTAI,
            "dividend_yield": 3.7,
            "bonus_rmb": 519.57,
            "dividends": 2,
            "name": "贵州茅台",
            "ex_date": "2026-06-25",
        }
    ]


def test_trades_and_visits_are_newest_first(fused: Bench) -> None:
    rows = call(fused, "get_executive_holding", code=MAOTAI, limit=2)
    assert [row["change_shares"] for row in rows] == [400, 300]
    assert len(call(fused, "get_org_survey", code=PINGAN)) == 12
    assert [row["survey_date"] for row in call(fused, "get_org_survey", code=PINGAN, limit=3)] == [
        DAYS[-2]
    ] * 3


def test_the_most_visited_codes_of_the_last_days(fused: Bench) -> None:
    assert call(fused, "get_org_survey_rank") == [
        {"code": PINGAN, "visitors": 3, "visits": 1, "survey_date": DAYS[-2]},
        {"code": MAOTAI, "visitors": 2, "visits": 1, "survey_date": DAYS[-3]},
    ]
    assert [row["visitors"] for row in call(fused, "get_org_survey_rank", days=365, limit=1)] == [12]
    assert "days" in refusal(fused, "get_org_survey_rank", days=0)


def test_trades_and_visits_are_counted_for_a_code(fused: Bench) -> None:
    counted = results(fused, f"/datamgr/stats/{MAOTAI}")

    assert {"raw_executive_holding", "raw_org_survey", "fusion_holder", "fusion_dividend"} <= set(
        str(counted).replace("'", " ").split()
    )


def test_holdings_of_institutions_by_period_and_kind(fused: Bench) -> None:
    rows = call(fused, "get_holding_org", code=MAOTAI, periods=2)
    assert [(row["report_period"], row["org_type"]) for row in rows] == [
        ("2026-06-30", "all"),
        ("2026-06-30", "fund"),
        ("2026-03-31", "all"),
        ("2026-03-31", "fund"),
    ]
    funds = call(fused, "get_holding_org", code=MAOTAI, org_type="fund")
    assert [row["report_period"] for row in funds] == ["2026-06-30", "2026-03-31", "2025-12-31"]
    assert call(fused, "get_holding_org", code=PINGAN) == []
    assert "org_type" in refusal(fused, "get_holding_org", code=MAOTAI, org_type="hedge")
