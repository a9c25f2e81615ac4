"""A value of several trade dates of which one is not loaded is missing and marked, and comes when it is."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from resources.warehouse.stored import ANY
from schedules.tasks.outdated_rows import outdated
from simulated_market.world.model import World
from tests.pipeline.conftest import TODAY, Services, opened_services

HOLE, AFTER = "2026-08-10", "2026-08-11"
"""A Monday, nine trade dates before."""
BANK = "600040"


@pytest.fixture(scope="module")
def torn(tmp_path_factory: pytest.TempPathFactory, sample_world: World) -> Iterator[Services]:
    """A wide row and period bars of a market of which one trade date of bars is not loaded."""
    folder: Path = tmp_path_factory.mktemp("torn")
    with opened_services(f"sqlite:///{folder / 'w.sqlite3'}", folder, sample_world) as services:
        dates = services.run.calendar.last(31, TODAY)
        services.master(TODAY)
        known = [day for day in dates if day != HOLE]
        # The range before the hole and the one behind it, as they are loaded.
        for some in (known[: known.index(AFTER)], known[known.index(AFTER) :]):
            services.bars(*some)
        deals(services, *dates[-6:-1])
        services.fuse("index_daily", *dates)
        services.day(TODAY)
        yield services


def deals(services: Services, *dates: str) -> None:
    services.raw("raw_block_trade", *dates)
    services.raw("exchange_block_trade", *dates)
    services.stage("block_trade", *dates)
    services.fuse("block_trade", *dates)


def wide(services: Services) -> dict[str, Any]:
    found: dict[str, Any] = services.warehouse.rows("fusion_stock_wide", ANY.code == BANK)[0]
    return found


TORN = (
    *("high_52w", "ma20_dev_pct", "vol_accel_5_5", "limit_up_count_20d", "volatility_20d"),
    "block_trade_premium_30d",
)
WHOLE = ("ma5_dev_pct", "break_fail_days_5d", "limit_days_today", "chg_5d", "chg_10d", "chg_20d")


def test_what_a_missing_date_makes_wrong_is_missing_and_named(torn: Services) -> None:
    row = wide(torn)
    assert {name: row[name] for name in TORN} == dict.fromkeys(TORN)
    assert all(row[name] is not None for name in WHOLE)
    records = torn.warehouse.query(
        "SELECT message FROM sys_quality_record WHERE table_name='fusion_stock_wide' AND check_name=?",
        ("not_loaded",),
    )
    assert (f"vol_accel_5_5: fusion_kline_daily is not loaded of {HOLE}",) in records


def test_a_period_with_a_missing_date_is_no_bar(torn: Services) -> None:
    found = torn.warehouse.rows("fusion_kline_bar", ANY.code == BANK)

    ends = {(row["period"], row["date"]) for row in found}
    assert ("week", "2026-08-21") in ends
    assert ("week", "2026-08-14") not in ends
    assert ("month", "2026-08-31") not in ends


def test_it_is_asked_for_again_when_the_date_is_there(torn: Services) -> None:
    dataset, calendar = torn.registry.dataset("stock_wide"), torn.run.calendar

    def run(statement: str, values: Any) -> Any:
        return torn.warehouse.query(statement, tuple(values))

    def old() -> list[str]:
        return list(outdated(dataset, torn.registry, run, [TODAY], calendar))

    assert old() == []
    torn.clock.advance(timedelta(hours=1))
    torn.fresh()
    torn.bars(HOLE)
    torn.fuse("kline_bar", HOLE)
    assert old() == [TODAY]
    torn.clock.advance(timedelta(minutes=1))
    torn.fuse("stock_wide", TODAY)

    assert old() == []
    row = wide(torn)
    filled = ("ma20_dev_pct", "vol_accel_5_5", "limit_up_count_20d", "volatility_20d")
    assert all(row[name] is not None for name in filled)
    assert row["high_52w"] is None, "31 trade dates are no year"
    assert row["block_trade_premium_30d"] is None, "deals of six trade dates are loaded"
    weeks = torn.warehouse.rows("fusion_kline_bar", ANY.code == BANK, ANY.period == "week")
    assert {"2026-08-14": 5}.items() <= {one["date"]: one["bar_count"] for one in weeks}.items()


def test_the_mean_of_deals_comes_with_the_last_of_its_dates(torn: Services) -> None:
    dates = torn.run.calendar.last(31, TODAY)[:-1]
    deals(torn, *dates)
    torn.fuse("stock_wide", TODAY)

    sums: dict[str, list[float]] = {}
    for row in torn.warehouse.rows("fusion_block_trade", ANY.date >= dates[0]):
        sums.setdefault(row["code"], []).append(row["premium_pct"] * row["amount"])
        sums.setdefault(f"{row['code']} amount", []).append(row["amount"])
    shown = {
        row["code"]: row["block_trade_premium_30d"]
        for row in torn.warehouse.rows("fusion_stock_wide")
        if row["block_trade_premium_30d"] is not None
    }
    assert shown
    for code, premium in shown.items():
        expected = sum(sums[code]) / sum(sums[f"{code} amount"])
        assert premium == pytest.approx(expected, abs=0.01), code
