"""The daily calculations of the sample market: a date alone, within a range, by codes, and again."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.declaration.conditions import equal
from core.errors import QualityError
from core.market.bars import Bars
from platform_assets.compute.backtests.strategies import STRATEGIES
from platform_assets.compute.indicators import indicator_columns
from platform_assets.compute.studies import Prices
from simulated_market.world.model import World
from tests.conftest import SQLITE_OFTEN, engine_url
from tests.pipeline.conftest import TODAY, Services, opened_services

TABLES = ("indicator_daily", "pattern_daily", "chip_daily", "signal_hit", "strategy_hit")
BAR_DATES = 402


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def year(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, sample_world: World
) -> Iterator[Services]:
    """Bars of more than a window, and the calculations of the newest two dates."""
    folder: Path = tmp_path_factory.mktemp("quant")
    for url in engine_url(request.param, folder):
        with opened_services(url, folder, sample_world) as services:
            dates = services.run.calendar.last(BAR_DATES, TODAY)
            services.master()
            services.bars(*dates)
            services.fuse("index_daily", *dates)
            for name in TABLES:
                services.fuse(name, *dates[-2:])
            yield services


def rows(services: Services, table: str) -> dict[tuple[str, ...], dict[str, object]]:
    kept = {}
    for row in services.warehouse.rows(table):
        key = tuple(str(row[name]) for name in services.warehouse.table(table).key)
        kept[key] = {name: row[name] for name in services.warehouse.table(table).content}
    return kept


def test_every_stock_that_traded_has_a_row_of_each_date(year: Services) -> None:
    traded = {
        (row["code"], str(row["date"]))
        for row in year.warehouse.rows("fusion_kline_daily")
        if not row["is_suspended"] and row["sec_type"] == "stock"
    }
    days = {str(day) for day in year.run.calendar.last(2, TODAY)}

    for table in ("calc_indicator_daily", "calc_chip_daily"):
        assert set(rows(year, table)) == {key for key in traded if key[1] in days}
    assert 0 < len(rows(year, "calc_pattern_daily")) < len(rows(year, "calc_chip_daily"))
    assert rows(year, "calc_signal_hit")


def test_a_stored_row_is_what_the_bars_of_its_window_give(year: Services) -> None:
    since = year.run.calendar.last(400, TODAY)[0]
    dense = year.run.read.panel(
        "fusion_kline_daily",
        columns=("open", "high", "low", "close", "volume", "adj_factor"),
        since=since,
        until=TODAY,
        conditions=(equal("is_suspended", 0),),
    )
    bars = Bars.from_dense(dense).take(["600040"])
    values = indicator_columns(bars)
    stored = rows(year, "calc_indicator_daily")["600040", TODAY]

    for name in ("ma5", "ma60", "macd_dif", "kdj_k", "rsi14", "atr14_w", "rtsi", "chg_20d"):
        assert stored[name] == pytest.approx(values[name][-1], abs=1e-4), name
    assert stored["ma5"] == pytest.approx(np.mean(bars.adjusted("close")[-5:] / bars.factor[-1]), abs=1e-4)


def test_a_date_comes_out_the_same_alone_within_a_range_and_again(year: Services) -> None:
    before = {table: rows(year, f"calc_{table}") for table in TABLES}
    year.fresh()

    for name in TABLES:
        assert [result.rows_written for result in year.fuse(name, TODAY).results] == [0], name
    assert {table: rows(year, f"calc_{table}") for table in TABLES} == before


def test_a_calculation_of_some_codes_leaves_the_others_alone(year: Services) -> None:
    for name in ("signal_hit", "strategy_hit"):
        before = rows(year, f"calc_{name}")
        year.fresh()

        year.fuse(name, TODAY, codes=("600040", "600041"))

        assert rows(year, f"calc_{name}") == before


def test_a_distribution_adds_up_and_lies_around_its_costs(year: Services) -> None:
    held = [row for row in rows(year, "calc_chip_daily").values() if row["avg_cost"] is not None]

    assert held
    for row in held:
        parts = json.loads(str(row["distribution"]))
        assert sum(share for _, share in parts) == pytest.approx(100, abs=1.5)
        assert row["cost_90_low"] <= row["cost_70_low"] <= row["avg_cost"]  # type: ignore[operator]
        assert row["avg_cost"] <= row["cost_70_high"] <= row["cost_90_high"]  # type: ignore[operator]


def test_patterns_that_fired_are_signals_too(year: Services) -> None:
    patterns = rows(year, "calc_pattern_daily")
    signals = rows(year, "calc_signal_hit")
    fired = {
        (day, name, code): int(np.sign(int(str(value))))
        for (code, day), row in patterns.items()
        for name, value in row.items()
        if value in (100, -100)
    }

    reported = {key: row["direction"] for key, row in signals.items() if (key[2], key[0]) in patterns}
    assert fired.items() <= reported.items()


def test_hits_of_the_strategies_are_those_of_each_stock_alone(year: Services) -> None:
    days = [str(day) for day in year.run.calendar.last(2, TODAY)]
    dense = year.run.read.panel(
        "fusion_kline_daily",
        columns=("open", "high", "low", "close", "volume", "adj_factor"),
        since=year.run.calendar.last(320, TODAY)[0],
        until=TODAY,
        conditions=(equal("is_suspended", 0), equal("sec_type", "stock")),
    )
    bars = Bars.from_dense(dense)
    expected = set()
    for code in bars.codes:
        own = bars.take([code])
        prices = Prices(*(own.adjusted(name) for name in ("open", "high", "low", "close")), own.volume)
        newest = {
            f"{day // 10000}-{day // 100 % 100:02}-{day % 100:02}": at for at, day in enumerate(own.date)
        }
        for strategy in STRATEGIES.values():
            buy = strategy.run(prices, strategy.chosen()).buy
            expected |= {(day, strategy.key, code) for day in days if day in newest and buy[newest[day]]}

    found = rows(year, "calc_strategy_hit")
    assert set(found) == expected
    assert len({key for _, key, _ in found}) >= 5
    for (_, key, _), row in found.items():
        assert 0 < float(str(row["score"])) <= 100
        assert row["name"]
        assert json.loads(str(row["params"])) == STRATEGIES[key].params(STRATEGIES[key].chosen())


@pytest.mark.parametrize("name", TABLES)
def test_a_date_without_bars_is_not_loaded_and_says_what_to_load(year: Services, name: str) -> None:
    year.fresh()

    with pytest.raises(QualityError, match=r"nothing is stored of 2024-01-02: load fusion_kline_daily"):
        year.fuse(name, "2024-01-02")


def test_a_code_that_no_strategy_bought_has_no_hit(year: Services) -> None:
    bought = {code for _, _, code in rows(year, "calc_strategy_hit")}
    quiet = next(code for code, _ in rows(year, "calc_indicator_daily") if code not in bought)
    year.fresh()

    assert [result.rows_written for result in year.fuse("strategy_hit", TODAY, codes=(quiet,)).results] == [0]


def test_distributions_leave_with_the_sixty_newest_dates(year: Services) -> None:
    """They are 2 kB a row: what was given in its time goes when the window has moved on."""
    table, dates = "calc_chip_daily", year.run.calendar.last(64, TODAY)
    code, columns = (
        "600040",
        ("code", "date", "close", "distribution", "batch_id", "created_at", "updated_at"),
    )
    now = year.run.clock.now().strftime("%Y-%m-%d %H:%M:%S.%f")
    sql = year.warehouse.sql
    with year.warehouse.engine.begin() as connection:
        for day in dates[:5]:
            values = (code, day, 10.0, "[[10.0,100.0]]", "earlier", now, now)
            connection.exec_driver_sql(sql.insert(table, columns), values)
    before = year.warehouse.versions()[table]["version"]
    year.fresh()

    year.fuse("chip_daily", TODAY)

    found = {day: row["distribution"] for (own, day), row in rows(year, table).items() if own == code}
    assert [bool(found[day]) for day in dates[:5]] == [False, False, False, False, True]
    assert found[TODAY]
    assert year.warehouse.versions()[table]["version"] > before
    with year.warehouse.engine.begin() as connection:
        gone = sql.text(f"DELETE FROM {table} WHERE date<=? AND code=?")
        connection.exec_driver_sql(gone, (dates[4], code))


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("indicator_daily", {"fusion_kline_daily", "fusion_index_daily"}),
        ("pattern_daily", {"fusion_kline_daily"}),
        ("chip_daily", {"fusion_kline_daily"}),
        ("signal_hit", {"fusion_kline_daily", "fusion_index_daily", "calc_pattern_daily"}),
    ],
)
def test_a_shared_window_is_an_input_of_every_table_made_from_it(
    year: Services, name: str, read: set[str]
) -> None:
    """Bars are read once a run; the batch of each table names the batches of its own dates all the same."""
    days = [str(day) for day in year.run.calendar.last(2, TODAY)]
    statement = (
        "SELECT inputs_json FROM sys_batch WHERE table_name=? AND partition_key=? AND status='success'"
    )
    found = year.warehouse.query(statement, (f"calc_{name}", TODAY))
    loads = [{one["table"]: one["batch_ids"] for one in json.loads(reported)} for (reported,) in found]
    bars = {
        row["batch_id"]
        for row in year.warehouse.rows("fusion_kline_daily")
        if str(row["date"]) in days and row["sec_type"] == "stock" and not row["is_suspended"]
    }

    assert loads
    assert all(set(inputs) == read and all(inputs.values()) for inputs in loads)
    assert any(bars <= set(inputs["fusion_kline_daily"]) for inputs in loads)


def test_a_range_in_one_pass_is_each_of_its_dates_alone(year: Services) -> None:
    """The newest of these dates begin with other bars than those before: 402 are stored, 400 looked at."""
    dates = year.run.calendar.last(16, TODAY)
    year.fresh()
    for name in TABLES:
        year.fuse(name, *dates)
    before = {table: rows(year, f"calc_{table}") for table in TABLES}
    alone = [*np.random.default_rng(14).choice(dates[:-3], 2, replace=False).tolist(), *dates[-2:]]

    for day in alone:
        year.fresh()
        for name in TABLES:
            assert [result.rows_written for result in year.fuse(name, day).results] == [0], (name, day)
    assert {table: rows(year, f"calc_{table}") for table in TABLES} == before
    for table in TABLES:
        column = str(year.warehouse.table(f"calc_{table}").date_column)
        assert {str(row[column]) for row in year.warehouse.rows(f"calc_{table}")} >= set(alone), table
