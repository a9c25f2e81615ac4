"""/risk/*: the stored lists as they were downloaded, single pledges as the portal tells them now."""

import pytest

from tests.pipeline.conftest import TODAY
from tests.serving_api.areas.conftest import FRIDAYS, Topics


def test_the_newest_list_of_pledges_falls_from_the_highest_ratio(topics: Topics) -> None:
    stored = [row for row in topics.rows("raw_risk_pledge") if row["trade_date"] == FRIDAYS[1]]

    reported = topics.reported("/risk/pledge-list", page_size=200)

    assert (reported["date"], reported["total"], reported["page"], reported["page_size"]) == (
        FRIDAYS[1],
        len(stored),
        1,
        200,
    )
    ratios = [row["pledge_ratio"] for row in reported["items"]]
    assert ratios == sorted((row["pledge_ratio"] for row in stored), reverse=True)
    assert len(ratios) > 10
    assert set(reported["items"][0]) >= {"code", "name", "pledge_shares_wan", "industry"}
    assert "batch_id" not in reported["items"][0]


def test_pages_and_filters_cut_the_list(topics: Topics) -> None:
    whole = topics.reported("/risk/pledge-list", page_size=200, sort="code")["items"]
    second = topics.reported("/risk/pledge-list", page_size=5, page=2, sort="code")
    assert second["items"] == whole[5:10]

    least = sorted(row["pledge_ratio"] for row in whole)[-5]
    high = topics.reported("/risk/pledge-list", min_ratio=least)
    assert high["total"] == len(high["items"]) == 5


def test_a_day_between_two_lists_shows_the_one_before(topics: Topics) -> None:
    reported = topics.reported("/risk/pledge-list", date="2026-08-12")
    assert reported["date"] == FRIDAYS[0]
    assert topics.reported("/risk/pledge-list", date="2020-01-01")["items"] == []


@pytest.mark.parametrize(
    ("path", "params", "parameter"),
    [
        ("/risk/pledge-list", {"sort": "-batch_id"}, "sort"),
        ("/risk/pledge-list", {"date": "2026-13-01"}, "date"),
        ("/risk/pledge-list", {"date": "2026-12-01"}, "date"),
        ("/risk/pledge-list", {"page": 0}, "page"),
        ("/risk/comment-list", {"date": "2026-08-16"}, "date"),  # a Sunday
        ("/risk/goodwill-list", {"period": "2026-05-31"}, "period"),
        ("/risk/pledge-detail/60051", {}, "code"),
        ("/convertible-bond/list", {"sort": "items"}, "sort"),
        ("/reit/list", {"sort": "x;DROP"}, "sort"),
        ("/earnings-window/overview", {"period": "2027-06-30"}, "period"),
    ],
)
def test_a_wrong_parameter_is_named(
    topics: Topics, path: str, params: dict[str, str], parameter: str
) -> None:
    answer = topics.get(path, **params)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(f"{parameter}: ")


def test_single_pledges_add_up_to_the_ratio_of_the_week(topics: Topics) -> None:
    compared = 0
    for row in topics.reported("/risk/pledge-list")["items"][:8]:
        reported = topics.reported(f"/risk/pledge-detail/{row['code']}")
        assert reported["ratio_history"][-1] == {"date": FRIDAYS[1], "pledge_ratio": row["pledge_ratio"]}
        running = [one for one in reported["items"] if one["status"] == "未解押"]
        if len(running) == row["pledge_count"]:  # else one has ended since the list
            compared += 1
            shares = sum(one["pledge_shares"] for one in running)
            assert shares == pytest.approx(row["pledge_shares_wan"] * 1e4, rel=1e-3)
    assert compared > 3


def test_a_silent_portal_leaves_the_stored_ratios(topics: Topics) -> None:
    code = topics.reported("/risk/pledge-list")["items"][-1]["code"]
    topics.services.faults.replace([{"upstream": "eastmoney", "call": "report", "kind": "reset", "count": 0}])
    try:
        reported = topics.reported(f"/risk/pledge-detail/{code}")
    finally:
        topics.services.faults.replace([])

    assert reported["items"] == []
    assert len(reported["ratio_history"]) == 2


def test_industries_hold_every_company_once(topics: Topics) -> None:
    pledges = topics.reported("/risk/pledge-industry")
    listed = topics.reported("/risk/pledge-list", page_size=200)
    assert sum(one["company_count"] for one in pledges["items"]) == listed["total"]
    assert sum(one["pledge_market_value"] for one in pledges["items"]) == pytest.approx(
        sum(row["pledge_market_value"] for row in listed["items"])
    )

    goodwill = topics.reported("/risk/goodwill-industry")
    stored = topics.rows("raw_risk_goodwill")
    assert goodwill["period"] == "2026-06-30"
    assert sum(one["company_count"] for one in goodwill["items"]) == len(stored)
    assert sum(one["goodwill"] for one in goodwill["items"]) == pytest.approx(
        sum(row["goodwill"] for row in stored)
    )


def test_goodwill_of_a_period_and_of_a_company(topics: Topics) -> None:
    reported = topics.reported("/risk/goodwill-list", period="2026-06-30")
    shares = [row["goodwill_equity_ratio_pct"] for row in reported["items"]]
    assert reported["total"] == len(shares) > 10
    assert shares == sorted(shares, reverse=True)

    code = reported["items"][0]["code"]
    assert topics.reported(f"/risk/goodwill-detail/{code}")["items"] == [reported["items"][0]]
    assert topics.reported("/risk/goodwill-detail/999999")["items"] == []


def test_marks_of_the_market_and_of_a_stock(topics: Topics) -> None:
    reported = topics.reported("/risk/comment-list", date=TODAY, page_size=200)
    assert [row["rank_no"] for row in reported["items"]] == list(range(1, reported["total"] + 1))

    row = reported["items"][0]
    one = topics.reported(f"/risk/comment-detail/{row['code']}")
    assert one["latest"] == row
    assert one["score"] == [{"date": TODAY, "score": row["total_score"]}]
    assert one["participation"] == [{"date": TODAY, "org_participation_pct": row["org_participation_pct"]}]
    unknown = topics.reported("/risk/comment-detail/999999")
    assert (unknown["latest"], unknown["score"]) == ({}, [])


def test_the_wide_table_shows_pledge_and_goodwill(topics: Topics) -> None:
    wide = {row["code"]: row for row in topics.rows("fusion_stock_wide")}
    pledged = {
        row["code"]: row["pledge_ratio"]
        for row in topics.rows("raw_risk_pledge")
        if row["trade_date"] == FRIDAYS[1]
    }
    assert {code: row["pledge_ratio"] for code, row in wide.items()} == {
        code: pledged.get(code) for code in wide
    }
    goodwill = {row["code"]: row["goodwill_equity_ratio_pct"] for row in topics.rows("raw_risk_goodwill")}
    assert {code: row["goodwill_ratio"] for code, row in wide.items()} == {
        code: goodwill.get(code) for code in wide
    }
    assert len(set(wide) & set(pledged)) > 10


def test_the_catalog_reads_the_same_rows(topics: Topics) -> None:
    def call(interface: str, **params: object) -> list[dict[str, object]]:
        answer = topics.api.post("/datamgr/fusion/call", json={"interface": interface, "params": params})
        assert answer.status_code == 200, answer.text
        found: list[dict[str, object]] = answer.json()["results"]
        return found

    ranked = topics.reported("/risk/pledge-list", page_size=10)["items"]
    assert call("get_pledge_rank", limit=10) == ranked
    code = str(ranked[0]["code"])
    assert [row["trade_date"] for row in call("get_pledge", code=code)] == list(FRIDAYS)
    assert call("get_goodwill_rank", limit=3) == topics.reported("/risk/goodwill-list", page_size=3)["items"]
    assert (
        call("get_stock_comment_rank", limit=3) == topics.reported("/risk/comment-list", page_size=3)["items"]
    )
    etf = str(topics.rows("raw_fund_etf")[0]["code"])
    assert call("get_etf_share_history", etf_code=etf)[-1]["trade_date"] == TODAY
    bars = topics.reported(f"/fusion/fund/etf-kline/{etf}")["items"]
    assert [row["close"] for row in call("get_etf_kline", etf_code=etf)] == [bar["close"] for bar in bars]
