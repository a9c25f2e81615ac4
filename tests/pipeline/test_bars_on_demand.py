"""Daily and minute bars of single codes, as a download by codes fills them."""

from collections.abc import Iterator

import pandas as pd
import pytest

from platform_assets.pipeline.on_demand import download
from simulated_market.world.model import World
from tests.conftest import SQLITE_OFTEN, mariadb_database
from tests.pipeline.conftest import TODAY, Services, opened_services

BANK, STEEL = "600040", "600041"
EARLIER = "2026-08-19"


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def services(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, sample_world: World
) -> Iterator[Services]:
    folder = tmp_path_factory.mktemp("bars")
    urls = (
        [f"sqlite:///{folder / 'warehouse.sqlite3'}"]
        if request.param == "sqlite"
        else mariadb_database("builtin")
    )
    for url in urls:
        with opened_services(url, folder, sample_world) as services:
            services.at(EARLIER)
            services.fuse("exright", EARLIER)
            download(services.run, [BANK], ["kline"], EARLIER)
            yield services


def bars(services: Services, code: str) -> pd.DataFrame:
    rows = services.warehouse.frame("raw_kline")
    return rows[rows["code"] == code].sort_values("date").set_index("date")


def test_first_two_thousand_bars_then_those_since_the_newest(services: Services) -> None:
    first = bars(services, BANK)
    services.at(TODAY)

    answer = download(services.run, [BANK, STEEL], ["kline"], TODAY)

    part = answer["types"]["kline"]
    assert part["status"] == "success"
    calendar = services.run.calendar
    stored = bars(services, BANK)
    assert len(stored) == len(first) + 2
    assert stored.index.tolist() == calendar.last(len(stored), TODAY)
    assert part["codes"][BANK] == {"total": len(stored), "saved": 2, "gap_count": 0}
    assert part["codes"][STEEL]["saved"] == len(bars(services, STEEL)) == min(2000, len(first) + 2)
    assert set(stored["adj"]) == {"none"}
    assert set(stored["src"]) == {"tdx"}
    services.master(TODAY)
    services.fuse("kline_daily", TODAY)
    fused = services.warehouse.frame("fusion_kline_daily").set_index("code").loc[BANK]
    for name in ("open", "high", "low", "close", "volume"):
        assert stored.loc[TODAY, name] == fused[name]
    assert stored.loc[TODAY, "turnover_pct"] == pytest.approx(fused["turnover_pct"], rel=1e-3)
    # A download of bars is followed by the bars of longer periods.
    assert answer["fusion"]["results"]["kline_bar"]["status"] == "success"
    assert answer["fusion"]["results"]["kline_bar"]["saved"] > 0
    assert set(services.warehouse.frame("fusion_kline_bar")["code"]) == {BANK, STEEL}


def test_missing_trade_dates_are_counted(services: Services) -> None:
    services.at(TODAY)
    download(services.run, [BANK], ["kline"], TODAY)
    gone = bars(services, BANK).index[[5, 9]].tolist()
    with services.warehouse.connect() as connection:
        for day in gone:
            connection.exec_driver_sql(f"DELETE FROM raw_kline WHERE code='{BANK}' AND date='{day}'")
        connection.commit()
    services.fresh()

    counts = download(services.run, [BANK], ["kline"], TODAY)["types"]["kline"]["codes"][BANK]

    assert counts["gap_count"] == 2
    assert counts["saved"] == 0


@pytest.mark.parametrize("last", ["ths", "sina"])
def test_few_bars_of_a_last_resort_are_no_whole_first_load(services: Services, last: str) -> None:
    services.at(TODAY)
    download(services.run, [BANK], ["kline"], TODAY)
    whole = bars(services, BANK)
    with services.warehouse.engine.begin() as connection:  # as such a source left it
        connection.exec_driver_sql(f"DELETE FROM raw_kline WHERE code='{BANK}' AND date<'{whole.index[-60]}'")
        connection.exec_driver_sql(f"UPDATE raw_kline SET src='{last}', amount=NULL WHERE code='{BANK}'")
    services.fresh()

    answer = download(services.run, [BANK], ["kline"], TODAY)

    filled = bars(services, BANK)
    assert answer["types"]["kline"]["codes"][BANK]["saved"] >= len(whole) - 60
    assert set(filled["src"]) == {"tdx"}
    assert filled["amount"].reindex(whole.index).equals(whole["amount"])


def test_during_a_session_its_bar_is_left_out(services: Services) -> None:
    services.clock.at = services.clock.at.replace(hour=10, minute=40)
    services.fresh()

    answer = download(services.run, ["600043"], ["kline", "minute_kline"], TODAY)

    assert answer["types"]["kline"]["status"] == "success"
    assert bars(services, "600043").index.max() == "2026-08-20"
    minutes = services.warehouse.frame("raw_minute_kline")
    assert minutes[minutes["code"] == "600043"]["datetime"].max() <= f"{TODAY} 10:40:00"
    services.at(TODAY)


def test_minute_bars_of_four_lengths_feed_nothing_and_repeat_without_a_trace(services: Services) -> None:
    services.at(TODAY)

    answer = download(services.run, [BANK], ["minute_kline"], TODAY)

    assert answer["fusion"] is None
    rows = services.warehouse.frame("raw_minute_kline")
    rows = rows[rows["code"] == BANK]
    assert set(rows["period"]) == {"5m", "15m", "30m", "60m"}
    today = rows[rows["datetime"].str.startswith(TODAY)]
    assert today.groupby("period").size().to_dict() == {"5m": 48, "15m": 16, "30m": 8, "60m": 4}
    volumes = today.groupby("period")["volume"].sum()
    assert volumes.nunique() == 1
    services.fresh()
    again = download(services.run, [BANK], ["minute_kline"], TODAY)["types"]["minute_kline"]
    assert again["codes"][BANK]["saved"] == 0


def test_bars_on_demand_are_not_loaded_for_the_market(services: Services) -> None:
    for name in ("raw_kline", "raw_minute_kline"):
        loaded = services.raw(name, TODAY)
        assert (loaded.results[-1].rows_in, loaded.calls) == (0, {})


def test_other_sources_stand_in_and_do_not_replace_better_rows(services: Services) -> None:
    services.at(TODAY)
    download(services.run, [BANK], ["kline"], TODAY)
    services.fresh()
    services.faults.replace(
        [{"upstream": "tdx", "call": "bars_day", "kind": "reset", "args": {}, "count": 0}]
    )
    try:
        answer = download(services.run, [BANK, "600042"], ["kline"], TODAY)
    finally:
        services.faults.replace([])

    assert answer["types"]["kline"]["status"] == "success"
    assert set(bars(services, BANK)["src"]) == {"tdx"}
    other = bars(services, "600042")
    assert set(other["src"]) == {"tencent"}
    assert (other["amount"] > 0).any()
