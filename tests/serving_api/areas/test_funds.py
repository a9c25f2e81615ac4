"""Convertible bonds, REITs, ETFs and the earnings window."""

import math

import pytest

from tests.pipeline.conftest import TODAY
from tests.serving_api.areas.conftest import Topics


def bond_of(topics: Topics) -> str:
    code: str = topics.rows("raw_convertible_bond")[0]["code"]
    return code


def test_bonds_of_a_date(topics: Topics) -> None:
    reported = topics.reported("/convertible-bond/list")
    assert (reported["date"], reported["total"]) == (TODAY, len(reported["items"]))
    for row in reported["items"]:
        value = 100 / row["convert_price"] * row["stock_price"]
        assert row["convert_value"] == pytest.approx(value, rel=1e-4)
        assert row["premium_pct"] == pytest.approx((row["price"] / value - 1) * 100, abs=0.01)
        assert row["double_low"] == pytest.approx(row["price"] + row["premium_pct"])
        assert math.isfinite(row["ytm_pct"])
        assert row["remain_size_yi"] is None
    rating = reported["items"][0]["rating"]
    assert topics.reported("/convertible-bond/list", rating=rating)["total"] > 0
    assert topics.reported("/convertible-bond/list", rating="CCC")["items"] == []
    assert topics.reported("/convertible-bond/list", max_premium=-99)["items"] == []


def test_the_bond_market_in_figures(topics: Topics) -> None:
    rows = topics.reported("/convertible-bond/list")["items"]
    reported = topics.reported("/convertible-bond/overview")
    assert (reported["date"], reported["count"]) == (TODAY, len(rows))
    assert reported["up"] + reported["down"] <= reported["count"]
    assert reported["amount_yi"] == pytest.approx(sum(row["amount"] for row in rows) / 1e8, abs=1e-4)
    assert reported["low_price_count"] == sum(row["price"] < 100 for row in rows)


def test_one_bond(topics: Topics) -> None:
    code = bond_of(topics)
    reported = topics.reported(f"/convertible-bond/{code}")
    assert reported["latest"]["code"] == code
    assert reported["info"]["stock_code"] == reported["stock"]["code"]
    assert reported["stock"]["price"] == pytest.approx(reported["latest"]["stock_price"])
    assert topics.reported("/convertible-bond/999999") == {}

    history = topics.reported(f"/convertible-bond/{code}/history")["items"]
    assert len(history) == 10  # bars of ten dates, the premium of the newest one
    assert [one["premium_pct"] is None for one in history] == [True] * 9 + [False]
    assert history[-1]["close"] == reported["latest"]["price"]

    events = topics.reported(f"/convertible-bond/{code}/events")
    kinds = [one["type"] for one in events["items"]]
    assert {"上市", "到期"} <= set(kinds)
    assert ("强赎" in kinds) == (
        reported["latest"]["stock_price"] >= reported["latest"]["force_redeem_price"]
    )
    assert topics.reported("/convertible-bond/999999/events")["items"] == []


def test_reits(topics: Topics) -> None:
    reported = topics.reported("/reit/list")
    row = reported["items"][0]
    assert (reported["total"], reported["date"]) == (len(reported["items"]), TODAY)
    assert reported["total"] > 1
    assert row["premium_pct"] is not None
    assert row["nav"] > 0
    assert row["market_cap_yi"] == pytest.approx(row["price"] * row["total_shares"] / 1e8, abs=0.01)

    one = topics.reported(f"/reit/{row['code']}")
    assert (one["name"], one["latest"]) == (row["name"], row)
    assert topics.reported("/reit/999999") == {"code": "999999", "name": None, "latest": {}, "info": {}}

    bars = topics.reported(f"/reit/{row['code']}/history")
    assert bars["adjust"] == "none"
    assert (bars["items"][-1]["close"], bars["items"][-1]["premium_pct"]) == (
        row["price"],
        row["premium_pct"],
    )
    assert topics.reported("/reit/600040/history")["items"] == []  # a stock


def test_bars_of_etfs_alone(topics: Topics) -> None:
    etf = topics.rows("raw_fund_etf")[0]
    reported = topics.reported(f"/fusion/fund/etf-kline/{etf['code']}")
    assert (reported["total"], reported["adjust"], reported["_source"]) == (
        len(reported["items"]),
        "qfq",
        "fusion",
    )
    assert reported["name"] == etf["name"]
    assert reported["items"][-1]["date"] == TODAY
    stock = topics.reported("/fusion/fund/etf-kline/600040")
    assert (stock["items"], stock["_source"], stock["name"]) == ([], None, None)
    assert (stock["first_date"], stock["note"]) == (None, "600040 is not known as an ETF or LOF")
    first = reported["items"][0]["date"]
    assert reported["first_date"] == first
    assert reported["note"] == f"{reported['total']} of 250 bars are stored; the first stored date is {first}"
    before = topics.reported(f"/fusion/fund/etf-kline/{etf['code']}", as_of="2026-08-20")
    assert before["items"] == []  # the master of that day was not known
    assert before["as_of"].startswith("2026-08-20T23:59:59")


def test_units_of_past_dates_are_those_of_the_exchange(topics: Topics) -> None:
    rows = topics.rows("raw_fund_etf")
    past = [row for row in rows if row["trade_date"] < TODAY]
    assert {row["src"] for row in past} == {"sse"}
    assert all(row["code"].startswith("5") and row["total_shares"] > 0 for row in past)
    assert {row["fund_type"] for row in rows} == {"etf", "lof"}


def test_the_earnings_window(topics: Topics) -> None:
    reported = topics.reported("/earnings-window/overview")
    plans = [row for row in topics.rows("cninfo_periodic_report") if row["report_period"] == "2026-06-30"]
    assert (reported["period"], reported["phase"]) == ("2026-06-30", "in")
    counts = reported["counts"]
    assert counts["scheduled"] == len(plans)
    out = sum(row["actual_date"] is not None and row["actual_date"] <= TODAY for row in plans)
    assert counts["disclosed"] == out > 0
    assert all(TODAY <= one["date"] <= "2026-08-31" for one in reported["upcoming"])
    assert len(reported["upcoming"]) == len(plans) - out
    assert [one["date"] for one in reported["upcoming"]] == sorted(
        one["date"] for one in reported["upcoming"]
    )
    assert reported["latestDate"] <= TODAY
    assert counts["forecast"] >= sum(reported["forecasts"].values())
    middles = [one["change_pct_mid"] for one in reported["top"]]
    assert middles == sorted(middles, reverse=True)

    coming = topics.reported("/earnings-window/overview", period="2026-09-30")
    assert (coming["phase"], coming["counts"]["disclosed"]) == ("pre", 0)
    assert topics.reported("/earnings-window/overview", period="2026-03-31")["phase"] == "post"
