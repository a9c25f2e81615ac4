"""Members, ratios and industry indices: each provider for its own, nothing of another day, the fallback."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from platform_assets.compute.industry_returns import next_rows
from platform_assets.compute.percentiles import trailing_percentile
from platform_assets.datasets.stock_industry import level_2_in_one_level_1, sw_level
from simulated_market.world.model import World
from tests.conftest import SQLITE_OFTEN, engine_url
from tests.pipeline.conftest import TODAY, Services, opened_services

BEFORE, MONDAY = "2026-08-20", "2026-08-24"
SW_DOWN = {"upstream": "sw", "kind": "garbage"}
INDEX = "fusion_industry_index"


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def filled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, sample_world: World
) -> Iterator[Services]:
    """A day with members, classification, ratios and industry indices."""
    folder: Path = tmp_path_factory.mktemp("indices")
    database = contextmanager(engine_url)(request.param, folder)
    with database as url, opened_services(url, folder, sample_world) as opened:
        opened.day()
        industries(opened)
        yield opened


def industries(services: Services) -> None:
    services.raw("raw_index_constituent")
    services.stage("stock_industry")
    services.fuse("stock_industry")
    services.raw("raw_index_valuation")
    services.raw("raw_industry_valuation")
    services.fuse("industry_index")


def test_members_of_three_providers(filled: Services) -> None:
    rows = filled.warehouse.frame("raw_index_constituent")

    assert set(rows["provider"]) == {"csi", "cni", "sw"}
    weighed = rows[rows["weight_pct"].notna()]
    sums = weighed.groupby("index_code")["weight_pct"].sum()
    assert ((sums - 100).abs() < 0.5).all()
    assert set(weighed["as_of_date"]) == {"2026-07-31"}
    assert rows[rows["provider"] == "sw"]["in_date"].notna().all()
    # Present members are stored next to the weights of the month end only where they differ.
    whole = rows[rows["index_code"] == "sh000001"]
    assert set(whole["as_of_date"]) == {"2026-07-31", TODAY}
    assert set(rows[rows["index_code"] == "sh000300"]["as_of_date"]) == {"2026-07-31"}

    bars = filled.world
    index = bars.find("sh000300")
    assert index is not None
    assert set(rows[rows["index_code"] == "sh000300"]["code"]) == {
        one.code for one in bars.index_members(index, filled.clock.now())
    }


def test_a_provider_that_fails_leaves_its_stored_rows(filled: Services) -> None:
    before = filled.warehouse.frame("raw_index_constituent")
    filled.faults.replace([SW_DOWN])
    filled.fresh()

    loaded = filled.raw("raw_index_constituent")

    filled.faults.clear()
    filled.fresh()
    assert [item["src"] for item in loaded.sources if item.get("error")] == ["sw"]
    assert len(filled.warehouse.frame("raw_index_constituent")) == len(before)


def test_every_stock_is_classified(filled: Services) -> None:
    rows = filled.warehouse.frame("fusion_stock_industry").set_index("code")

    stocks = {one.code: one for one in filled.world.securities(filled.clock.now()) if one.kind == "stock"}
    assert set(rows.index) == set(stocks)
    for code, one in stocks.items():
        assert rows.loc[code, "sw_l1_name"] == one.sector
        assert rows.loc[code, "sw_l2_name"] == one.industry
    assert (rows["industry"] == rows["sw_l2_name"]).all()
    assert (rows["sw_l1"].map(sw_level) == "l1").all()
    assert (rows["sw_l3"].map(sw_level) == "l3").all()
    assert (rows["quality"] == "ok").all()


def test_levels_of_one_second_level_agree() -> None:
    rows = pd.DataFrame(
        {"sw_l1": ["801880", "801880", "801780", None], "sw_l2": ["801092", "801092", "801092", "801092"]}
    )

    assert level_2_in_one_level_1(rows, None).tolist() == [True, True, False, True]  # type: ignore[arg-type]


def test_ratios_of_the_broad_indices(filled: Services) -> None:
    rows = filled.warehouse.frame("raw_index_valuation").set_index(["index_code", "date"])

    assert set(rows.index.get_level_values("date")) == {BEFORE, TODAY}
    csi = rows.loc[("sh000300", TODAY)]
    assert csi["src"] == "csindex"
    assert abs(csi["pe"] - csi["pe_ttm"]) < 0.01
    assert 0 <= csi["pe_pct_10y"] <= 100
    shenzhen = rows.loc[("sz399001", TODAY)]
    assert shenzhen["src"] == "eastmoney"
    assert shenzhen["pe_ttm"] > 0
    assert rows["pb"].isna().all()


def test_ratios_of_industries_by_four_classifications(filled: Services) -> None:
    rows = filled.warehouse.frame("raw_industry_valuation")

    assert set(rows["standard"]) == {"csrc", "cni", "sw", "em"}
    assert set(rows["date"]) == {BEFORE, TODAY}
    today = rows[rows["date"] == TODAY].set_index(["standard", "industry_code"])
    # One industry that all four know, with one sum of caps.
    banks = filled.world.boards(filled.clock.now())
    board = next(one for one in banks if one.name == "半导体")
    assert today.loc[("em", board.code), "member_count"] == len(board.members)
    assert today.loc["csrc"]["pe_median"].notna().any()
    assert today.loc["sw"]["pb"].notna().all()


def test_industry_indices_of_a_day(filled: Services) -> None:
    rows = filled.warehouse.frame(INDEX)
    today = rows[rows["date"] == TODAY].set_index("code")

    assert set(rows["date"]) == {BEFORE, TODAY}
    assert set(today["level"]) == {"l1", "l2", "l3"}
    assert set(today["src"]) == {"sw"}
    assert today["open"].notna().all()
    assert (today["high"] >= today[["open", "close"]].max(axis=1)).all()
    assert (rows["valid_from"].str[:16] == rows["date"] + " 15:00").all()
    first = today[today["level"] == "l1"]
    assert first["amount_share_pct"].sum() == pytest.approx(100, abs=0.5)
    second = today[today["level"] == "l2"]
    assert second["parent_code"].isin(list(first.index)).all()
    assert second.groupby("parent_code")["member_count"].sum().to_dict() == first["member_count"].to_dict()
    bars = filled.warehouse.frame("fusion_kline_daily")
    traded = bars[(bars["date"] == TODAY) & (bars["sec_type"] == "stock")]["amount"].sum() / 1e8
    assert first["amount_yi"].sum() == pytest.approx(traded, rel=0.01)

    # The day before came from the analysis alone: no open, no invented one.
    yesterday = rows[rows["date"] == BEFORE]
    assert yesterday["open"].isna().all()
    assert yesterday["pb"].notna().all()


def test_asked_again_nothing_changes_and_a_range_brings_the_past(filled: Services) -> None:
    filled.fresh()
    again = filled.fuse("industry_index")
    assert sum(result.rows_written for result in again.results) == 0

    dates = filled.run.calendar.last(7, TODAY)
    filled.fresh()
    loaded = filled.fuse("industry_index", *dates)

    rows = filled.warehouse.frame(INDEX)
    assert loaded.calls["sw"] > rows["code"].nunique()
    assert set(rows["date"]) >= set(dates)
    assert rows["open"].notna().all()
    assert rows["amount_yi"].notna().all()


def test_a_list_of_another_session_is_refused(filled: Services) -> None:
    filled.at(MONDAY)
    filled.faults.replace([{"upstream": "sw", "call": "current", "kind": "stale_day"}])

    loaded = filled.fuse("industry_index", MONDAY)

    filled.faults.clear()
    assert loaded.sources[0]["error"] == "PayloadError"
    assert "not of 2026-08-24" in loaded.sources[0]["reason"]


def test_without_sw_an_index_goes_on_from_its_members(filled: Services) -> None:
    filled.at(MONDAY)
    filled.master(MONDAY)
    filled.fuse("exright", MONDAY)
    filled.fuse("kline_daily", MONDAY)
    filled.raw("raw_valuation", MONDAY)
    filled.stage("valuation", MONDAY)
    filled.fuse("valuation", MONDAY)
    filled.faults.replace([SW_DOWN])
    filled.fuse("industry_index", MONDAY)
    filled.faults.clear()
    derived = filled.warehouse.frame(INDEX)
    derived = derived[derived["date"] == MONDAY].set_index("code")

    assert set(derived["src"]) == {"derived"}
    assert (derived["quality"] == "warning").all()
    assert derived["quality_flags"].str.contains("told_by_sw").all()

    # SW comes back and wins; the fallback came near.
    filled.fresh()
    filled.fuse("industry_index", MONDAY)
    reported = filled.warehouse.frame(INDEX)
    reported = reported[reported["date"] == MONDAY].set_index("code")
    assert set(reported["src"]) == {"sw"}
    gap = (reported["change_pct"] - derived["change_pct"]).abs()
    assert gap.median() < 0.5
    assert reported["open"].notna().all()


def test_members_carry_an_index_on() -> None:
    names = {f"sw_{level}{end}": "x" for level in ("l2", "l3") for end in ("", "_name")}
    stocks = pd.DataFrame(
        [
            {"change_pct": 10.0, "float_market_cap": 1.0, "total_market_cap": 2.0, "pe_ttm": 10.0},
            {"change_pct": -2.0, "float_market_cap": 3.0, "total_market_cap": 6.0, "pe_ttm": -5.0},
            {"change_pct": np.nan, "float_market_cap": 9.0, "total_market_cap": 9.0, "pe_ttm": 4.5},
        ]
    ).assign(volume=1e8, amount=2e8, pb=2.0, dividend_yield=1.0, sw_l1="801780", sw_l1_name="银行", **names)

    (row,) = next_rows(stocks, {"801780": 1000.0}).to_dict("records")

    assert row["change_pct"] == pytest.approx((10 * 1 - 2 * 3) / 4)
    assert row["close"] == pytest.approx(1010.0)
    assert (row["volume_yi"], row["amount_yi"], row["amount_share_pct"]) == (3.0, 6.0, 100.0)
    # Losses count: 17 of cap are divided by 2/10 - 6/5 + 9/4.5.
    assert row["pe"] == pytest.approx(17.0)
    assert next_rows(stocks, {}).empty


def test_percentiles_look_back_only() -> None:
    values = np.arange(300, dtype=float)

    assert trailing_percentile(values, 299, 0) == 100.0
    assert trailing_percentile(values[::-1].copy(), 299, 0) == pytest.approx(100 / 300)
    assert np.isnan(trailing_percentile(values, 100, 0))
    assert np.isnan(trailing_percentile(np.append(values, np.nan), 300, 0))
