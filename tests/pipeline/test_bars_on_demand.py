"""Daily and minute bars of single codes, as a download by codes fills them."""

from collections.abc import Iterator

import pandas as pd
import pytest

from platform_assets.pipeline.on_demand import download
from resources.simulated_market.world.model import World
from tests.conftest import SQLITE_OFTEN, mariadb_database
from tests.pipeline.conftest import TODAY, House, opened_house

BANK, STEEL = "600040", "600041"
EARLIER = "2026-08-19"


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def house(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, sample_world: World
) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("bars")
    urls = (
        [f"sqlite:///{folder / 'warehouse.sqlite3'}"]
        if request.param == "sqlite"
        else mariadb_database("builtin")
    )
    for url in urls:
        with opened_house(url, folder, sample_world) as house:
            house.at(EARLIER)
            house.fuse("exright", EARLIER)
            download(house.run, [BANK], ["kline"], EARLIER)
            yield house


def bars(house: House, code: str) -> pd.DataFrame:
    rows = house.warehouse.frame("raw_kline")
    return rows[rows["code"] == code].sort_values("date").set_index("date")


def test_first_two_thousand_bars_then_those_since_the_newest(house: House) -> None:
    first = bars(house, BANK)
    house.at(TODAY)

    answer = download(house.run, [BANK, STEEL], ["kline"], TODAY)

    part = answer["types"]["kline"]
    assert part["status"] == "success"
    calendar = house.run.calendar
    stored = bars(house, BANK)
    assert len(stored) == len(first) + 2
    assert stored.index.tolist() == calendar.last(len(stored), TODAY)
    assert part["codes"][BANK] == {"total": len(stored), "saved": 2, "gap_count": 0}
    assert part["codes"][STEEL]["saved"] == len(bars(house, STEEL)) == min(2000, len(first) + 2)
    assert set(stored["adj"]) == {"none"}
    assert set(stored["src"]) == {"tdx"}
    house.master(TODAY)
    house.fuse("kline_daily", TODAY)
    fused = house.warehouse.frame("fusion_kline_daily").set_index("code").loc[BANK]
    for name in ("open", "high", "low", "close", "volume"):
        assert stored.loc[TODAY, name] == fused[name]
    assert stored.loc[TODAY, "turnover_pct"] == pytest.approx(fused["turnover_pct"], rel=1e-3)
    # A download of bars is followed by the bars of longer periods.
    assert answer["fusion"]["results"]["kline_bar"]["status"] == "success"
    assert answer["fusion"]["results"]["kline_bar"]["saved"] > 0
    assert set(house.warehouse.frame("fusion_kline_bar")["code"]) == {BANK, STEEL}


def test_missing_trade_dates_are_counted(house: House) -> None:
    house.at(TODAY)
    download(house.run, [BANK], ["kline"], TODAY)
    gone = bars(house, BANK).index[[5, 9]].tolist()
    with house.warehouse.connect() as connection:
        for day in gone:
            connection.exec_driver_sql(f"DELETE FROM raw_kline WHERE code='{BANK}' AND date='{day}'")
        connection.commit()
    house.fresh()

    counts = download(house.run, [BANK], ["kline"], TODAY)["types"]["kline"]["codes"][BANK]

    assert counts["gap_count"] == 2
    assert counts["saved"] == 0


@pytest.mark.parametrize("last", ["ths", "sina"])
def test_few_bars_of_a_last_resort_are_no_whole_first_load(house: House, last: str) -> None:
    house.at(TODAY)
    download(house.run, [BANK], ["kline"], TODAY)
    whole = bars(house, BANK)
    with house.warehouse.engine.begin() as connection:  # as such a source left it
        connection.exec_driver_sql(f"DELETE FROM raw_kline WHERE code='{BANK}' AND date<'{whole.index[-60]}'")
        connection.exec_driver_sql(f"UPDATE raw_kline SET src='{last}', amount=NULL WHERE code='{BANK}'")
    house.fresh()

    answer = download(house.run, [BANK], ["kline"], TODAY)

    filled = bars(house, BANK)
    assert answer["types"]["kline"]["codes"][BANK]["saved"] >= len(whole) - 60
    assert set(filled["src"]) == {"tdx"}
    assert filled["amount"].reindex(whole.index).equals(whole["amount"])


def test_during_a_session_its_bar_is_not_told(house: House) -> None:
    house.clock.at = house.clock.at.replace(hour=10, minute=40)
    house.fresh()

    answer = download(house.run, ["600043"], ["kline", "minute_kline"], TODAY)

    assert answer["types"]["kline"]["status"] == "success"
    assert bars(house, "600043").index.max() == "2026-08-20"
    minutes = house.warehouse.frame("raw_minute_kline")
    assert minutes[minutes["code"] == "600043"]["datetime"].max() <= f"{TODAY} 10:40:00"
    house.at(TODAY)


def test_minute_bars_of_four_lengths_feed_nothing_and_repeat_without_a_trace(house: House) -> None:
    house.at(TODAY)

    answer = download(house.run, [BANK], ["minute_kline"], TODAY)

    assert answer["fusion"] is None
    rows = house.warehouse.frame("raw_minute_kline")
    rows = rows[rows["code"] == BANK]
    assert set(rows["period"]) == {"5m", "15m", "30m", "60m"}
    today = rows[rows["datetime"].str.startswith(TODAY)]
    assert today.groupby("period").size().to_dict() == {"5m": 48, "15m": 16, "30m": 8, "60m": 4}
    volumes = today.groupby("period")["volume"].sum()
    assert volumes.nunique() == 1
    house.fresh()
    again = download(house.run, [BANK], ["minute_kline"], TODAY)["types"]["minute_kline"]
    assert again["codes"][BANK]["saved"] == 0


def test_nobody_sweeps_the_market_for_bars_on_demand(house: House) -> None:
    for name in ("raw_kline", "raw_minute_kline"):
        loaded = house.raw(name, TODAY)
        assert (loaded.results[-1].rows_in, loaded.calls) == (0, {})


def test_other_sources_stand_in_and_do_not_replace_better_rows(house: House) -> None:
    house.at(TODAY)
    download(house.run, [BANK], ["kline"], TODAY)
    house.fresh()
    house.faults.replace([{"upstream": "tdx", "call": "bars_day", "kind": "reset", "args": {}, "count": 0}])
    try:
        answer = download(house.run, [BANK, "600042"], ["kline"], TODAY)
    finally:
        house.faults.replace([])

    assert answer["types"]["kline"]["status"] == "success"
    assert set(bars(house, BANK)["src"]) == {"tdx"}
    other = bars(house, "600042")
    assert set(other["src"]) == {"tencent"}
    assert (other["amount"] > 0).any()
