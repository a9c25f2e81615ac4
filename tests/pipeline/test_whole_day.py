"""Everything of one trade date, from three upstreams, against the world that they served."""

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest

from platform_assets.compute.periods import period_ends
from resources.warehouse.stored import ANY
from simulated_market.world.model import PRICE_UNIT, World
from tests.conftest import engine_url
from tests.pipeline.conftest import TODAY, Services, opened_services

NUMBER = int(TODAY.replace("-", ""))


@pytest.fixture(scope="module", params=["sqlite", "mariadb"])
def filled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, sample_world: World
) -> Iterator[Services]:
    """One day on each engine for all tests here: what any of them does must change nothing of it."""
    folder = tmp_path_factory.mktemp("day")
    for url in engine_url(request.param, folder):
        with opened_services(url, folder, sample_world) as services:
            dates = services.run.calendar.last(60, TODAY)
            services.master()
            services.fuse("exright", *dates)
            services.fuse("kline_daily", *dates)
            services.day()
            yield services


def test_wide_rows_show_the_day_as_the_world_had_it(filled: Services) -> None:
    rows = {row["code"]: row for row in filled.warehouse.rows("fusion_stock_wide")}
    now = filled.clock.now()
    stocks = [s for s in filled.world.securities(now) if s.kind == "stock"]

    assert set(rows) == {s.code for s in stocks}
    for security in stocks:
        row, bars = rows[security.code], filled.world.bars(security, now)
        value = filled.world.valuation(security, now)
        assert row["current_price"] == bars.close[-1] / PRICE_UNIT
        assert abs(row["total_volume"] * 100 - bars.volume[-1]) <= 100
        assert row["is_suspended"] == (not bars.traded[-1])
        if value is not None and value.total_market_cap:
            assert row["total_market_cap"] == pytest.approx(value.total_market_cap / 1e4, rel=1e-4)
        if len(bars) > 25 and bars.traded[-21:].all():
            factor = np.prod(bars.preclose[-20:] / bars.close[-21:-1])
            expected = (bars.close[-1] / (bars.close[-21] * factor) - 1) * 100
            assert row["chg_20d"] == pytest.approx(expected, abs=0.05)


def test_every_column_of_the_wide_table_has_a_source(filled: Services) -> None:
    table = filled.registry.dataset("stock_wide").table

    assert [spec.name for spec in table.columns if spec.no_source] == []


def test_valuation_takes_the_finer_ratios_and_keeps_their_provenance(filled: Services) -> None:
    rows = filled.warehouse.rows("fusion_valuation")

    # The quote site has two decimals of a ratio, the portal more.
    assert {row["src"] for row in rows} == {"eastmoney"}
    assert all(row["total_market_cap"] > 0 for row in rows)
    assert any(row["pe_ttm"] for row in rows)


def test_master_joins_shares_of_the_portal_with_names_of_the_quote_site(filled: Services) -> None:
    rows = filled.warehouse.rows("fusion_stock_master", ANY.sec_type == "stock")
    patterns = dict(filled.warehouse.query("SELECT id, pattern FROM sys_provenance"))

    assert all(row["total_shares"] > 0 and row["list_date"] for row in rows)
    sources = [json.loads(patterns[row["provenance"]]) for row in rows if row["provenance"]]
    assert sources
    assert any("list_date" in columns for source in sources for columns in source.values())


def test_industry_folds_boards_and_blocks(filled: Services) -> None:
    now = filled.clock.now()
    boards = defaultdict(set)
    for board in filled.world.boards(now):
        for member in board.members:
            boards[member[2:], board.kind].add(board.name)

    rows = filled.warehouse.rows("fusion_stock_industry")

    assert rows
    with_concepts = [row for row in rows if row["concepts"]]
    assert with_concepts
    for row in with_concepts:
        assert set(json.loads(row["concepts"])) == boards[row["code"], "concept"]
        assert row["em_industry"] in boards[row["code"], "industry"]


def test_period_bars_add_up_from_days(filled: Services) -> None:
    calendar = filled.run.calendar
    end = period_ends([TODAY], calendar.between("2026-08-01", "2026-09-30"), "week")[0]
    week = filled.warehouse.rows("fusion_kline_bar", ANY.period == "week")

    assert {row["date"] for row in week} == {end}
    for row in week:
        days = filled.warehouse.rows(
            "fusion_kline_daily", ANY.code == row["code"], ANY.date >= "2026-08-17", order=["date"]
        )
        assert row["open"] == days[0]["open"]
        assert row["close"] == days[-1]["close"]
        assert row["high"] == max(day["high"] for day in days)
        assert row["volume"] == sum(day["volume"] for day in days)
        assert (row["bar_count"], row["is_closed"]) == (len(days), True)


def test_the_whole_day_again_changes_no_fused_table(filled: Services) -> None:
    before = {
        name: version["version"] for name, version in filled.warehouse.versions().items() if "fusion_" in name
    }
    filled.fresh()

    filled.day()

    after = {
        name: version["version"] for name, version in filled.warehouse.versions().items() if name in before
    }
    assert after == before


def test_a_past_date_comes_from_bars_when_quotes_cannot(services: Services) -> None:
    past = "2026-08-18"
    services.master()
    services.raw("raw_quote", past)
    services.stage("quote_snapshot", past)
    services.fuse("quote_snapshot", past)

    rows = services.warehouse.rows("fusion_quote_snapshot")

    assert {row["trade_date"] for row in rows} == {past}
    assert {row["src"] for row in rows} == {"tdx"}
    assert all(row["name"] is None for row in rows)
    assert NUMBER > 20260818


def test_a_first_start_in_a_session_knows_who_is_listed(services: Services) -> None:
    """The newest complete date is a past one then: only the terminal has it, without any state."""
    services.clock.at = datetime.fromisoformat("2026-08-24T10:30")
    services.fresh()
    services.master("2026-08-21")

    rows = services.warehouse.rows("fusion_stock_master", ANY.sec_type == "stock")
    assert len(rows) > 50
    assert {row["list_status"] for row in rows} == {"L"}


def test_single_codes_get_period_bars_of_the_terminal(services: Services) -> None:
    services.master()
    code = services.warehouse.rows(
        "fusion_stock_master", ANY.sec_type == "stock", order=["list_date"], limit=1
    )[0]["code"]

    services.fuse("kline_bar", codes=(code,))

    rows = services.warehouse.rows("fusion_kline_bar")
    by_period = {p: [r for r in rows if r["period"] == p] for p in ("week", "month", "quarter", "year")}
    assert all(by_period.values())
    for period in ("quarter", "year"):
        newest = max(by_period[period], key=lambda r: str(r["date"]))
        months = [r for r in by_period["month"] if str(r["date"])[:4] == str(newest["date"])[:4]]
        assert newest["close"] == max(months, key=lambda r: str(r["date"]))["close"]


@pytest.mark.parametrize("last", ["eastmoney", "tencent"])
def test_period_bars_of_single_codes_from_the_portal_and_the_quote_site(alone: Services, last: str) -> None:
    """The terminal's values stay; alone they give the same bars."""
    alone.master()
    rows = alone.warehouse.rows("fusion_stock_master", ANY.sec_type == "stock", order=["list_date"], limit=1)
    code = str(rows[0]["code"])
    names = ["open", "high", "low", "close", "bar_count", "is_closed"]

    def bars() -> pd.DataFrame:
        return alone.warehouse.frame("fusion_kline_bar").set_index(["period", "date"]).sort_index()

    alone.fuse("kline_bar", codes=(code,))
    truth = bars()
    away = [{"upstream": "tdx", "call": "bars_*", "kind": "reset"}]
    if last == "tencent":
        away.append({"upstream": "eastmoney", "call": "kline", "kind": "garbage"})
    alone.faults.replace(away)
    alone.fresh()
    again = alone.fuse("kline_bar", codes=(code,))
    assert [item["src"] for item in again.sources if item.get("rows")] == [last]
    assert sum(result.rows_written for result in again.results) == 0

    with alone.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM fusion_kline_bar")
    alone.fresh()
    alone.fuse("kline_bar", codes=(code,))
    reported = bars()
    assert set(reported["src"]) == {last}
    assert reported[names].equals(truth.loc[reported.index, names])
    assert len(reported) == len(truth)
    assert (reported["volume"] - truth.loc[reported.index, "volume"]).abs().max() <= 12 * 100
    assert (reported["amount"] / truth.loc[reported.index, "amount"] - 1).abs().max() < 1e-5


def test_history_and_quotes_of_an_index_are_one_version(services: Services) -> None:
    """The quote site's history has amounts in 10k CNY, its quotes in CNY: no correction happened."""
    services.fuse("index_daily", *services.run.calendar.last(3, TODAY))
    services.fresh()

    again = services.fuse("index_daily", TODAY)

    assert again.results[0].rows_superseded == 0


def test_a_past_date_asked_again_does_not_cut_its_month(filled: Services) -> None:
    before = filled.warehouse.rows("fusion_kline_bar", order=["code", "period", "date"])
    filled.fresh()

    filled.fuse("kline_bar", "2026-08-12")

    after = filled.warehouse.rows(
        "fusion_kline_bar", ANY.date >= "2026-08-17", order=["code", "period", "date"]
    )
    assert after == before


def test_two_feeds_of_one_source_complete_each_other(filled: Services) -> None:
    """The quote site's ratios (raw_valuation) and its quotes (raw_quote) are one staged row."""
    rows = filled.warehouse.rows("stg_valuation", ANY.src == "tencent")

    assert len(rows) > 50
    assert all(row["name"] for row in rows)  # from raw_quote
    assert any(row["dividend_yield"] for row in rows)  # from raw_valuation
    assert any(row["dividend_yield"] for row in filled.warehouse.rows("fusion_stock_wide"))


def test_the_portal_tells_the_ratios_that_the_quote_site_has_not(filled: Services) -> None:
    rows = filled.warehouse.frame("fusion_valuation")
    rows = rows[rows["date"] == TODAY]
    assert rows[["ps_ttm", "pcf_ttm"]].notna().any().all()
    reported = filled.warehouse.frame("raw_valuation")
    reported = reported[reported["date"] == TODAY]
    both = {src: part.set_index("code") for src, part in reported.groupby("src")}
    assert set(both) == {"eastmoney", "tencent"}
    shared = both["eastmoney"].index.intersection(both["tencent"].index)
    assert len(shared) > 40
    for name in ("pe_ttm", "pb"):
        one, other = both["eastmoney"].loc[shared, name], both["tencent"].loc[shared, name]
        assert (one - other).abs().max() < 0.011
    wide = filled.warehouse.frame("fusion_stock_wide").set_index("code")["ps_ttm"]
    assert wide.notna().any()


def test_a_batch_of_computed_rows_names_what_it_read(filled: Services) -> None:
    def batch_of(table: str) -> dict[str, Any]:
        row = filled.warehouse.rows(table, order=["batch_id"], limit=1)[0]
        return filled.warehouse.rows("sys_batch", ANY.batch_id == row["batch_id"])[0]

    inputs = {item["table"]: item for item in json.loads(batch_of("fusion_stock_wide")["inputs_json"])}
    assert inputs.keys() == {
        "fusion_quote_snapshot",
        "fusion_stock_master",
        "fusion_valuation",
        "fusion_stock_industry",
        "fusion_kline_daily",
        "fusion_fund_flow",
        "ref_name_history",
        "raw_quote",
        "ref_exright",
    }
    for table, item in inputs.items():
        newest = "" if item["max_date"] is None else f" WHERE {filled.warehouse.table(table).date_column}=?"
        values = () if item["max_date"] is None else (item["max_date"],)
        stored = filled.warehouse.query(f"SELECT DISTINCT batch_id FROM {table}{newest}", values)
        assert {row[0] for row in stored} == set(item["batch_ids"]), table
        assert item["rows"] > 0
        assert item["max_date"] in {TODAY, None} or table in {"ref_name_history", "ref_exright"}
    assert inputs["fusion_kline_daily"]["rows"] > 60 * 50  # the window of a year, as far as it is stored

    # What an upstream was asked for has responses instead.
    assert json.loads(batch_of("fusion_kline_daily")["inputs_json"]) == []
