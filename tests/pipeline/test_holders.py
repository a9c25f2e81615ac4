"""Holder counts: asked by the day of their notice, written by company, shown when they were known."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from platform_assets.pipeline.load import Loaded
from platform_assets.pipeline.on_demand import download
from resources.simulated_market.world.model import World
from tests.pipeline.conftest import TODAY, House, opened_house

RAWS = ("raw_holder_num", "aux_holders")
BANK = "600040"


@pytest.fixture
def house(tmp_path: Path, sample_world: World) -> Iterator[House]:
    """One engine is enough here; what both must do alike is in test_company_notices."""
    with opened_house(f"sqlite:///{tmp_path / 'warehouse.sqlite3'}", tmp_path, sample_world) as opened:
        yield opened


def load(house: House, *dates: str) -> Loaded:
    for name in RAWS:
        house.raw(name, *dates)
    house.stage("holder", *dates)
    return house.fuse("holder", *dates)


def test_a_change_that_nobody_tells_is_that_against_the_count_before(house: House) -> None:
    dates = house.run.calendar.last(250, TODAY)
    for name in RAWS:
        house.raw(name, *dates)
    with house.warehouse.engine.begin() as connection:
        for name, columns in (("raw_holder_num", "change_num=NULL, change_ratio=NULL"),
                              ("aux_holders", "change_ratio=NULL")):  # fmt: skip
            connection.exec_driver_sql(f"UPDATE {name} SET {columns} WHERE code='{BANK}'")
    house.stage("holder", *dates)
    house.fuse("holder", *dates)

    rows = house.warehouse.frame("fusion_holder").set_index("code").loc[BANK].sort_values("date")
    assert len(rows) > 2
    assert pd.isna(rows["change_num"].iloc[0])
    before, newest = rows["holder_num"].iloc[-2:].tolist()
    assert rows["change_num"].iloc[-1] == newest - before
    assert rows["change_ratio"].iloc[-1] == pytest.approx((newest / before - 1) * 100, abs=1e-4)


def test_a_download_of_a_code_brings_its_whole_past(house: House) -> None:
    told = download(house.run, [BANK], ["holder_num", "aux_holders"], TODAY)

    rows = house.warehouse.frame("fusion_holder")
    assert set(rows["code"]) == {BANK}
    assert told["types"]["holder_num"]["codes"][BANK]["total"] == len(rows) > 5
    assert told["fusion"]["results"]["holder"] == {"status": "success", "saved": len(rows)}


def test_the_wide_table_shows_the_newest_count_announced_by_its_day(house: House) -> None:
    dates = house.run.calendar.last(250, TODAY)
    load(house, *dates)
    house.master()
    counts = house.warehouse.frame("fusion_holder")

    def shown(day: str) -> dict[str, tuple[int, float]]:
        rows = house.warehouse.rows("fusion_stock_wide", where="trade_date=?", values=(day,))
        return {row["code"]: (row["holder_num"], row["holder_change_ratio"]) for row in rows}

    for day in (dates[-1], dates[-5]):
        house.raw("raw_quote", day)
        house.stage("quote_snapshot", day)
        house.fuse("quote_snapshot", day)
        house.fuse("stock_wide", day)
        known = counts[counts["ann_date"] <= day].sort_values("date").drop_duplicates("code", keep="last")
        known = known.set_index("code")
        found = shown(day)
        assert len(set(found) & set(known.index)) > 20
        for code, (holders, change) in found.items():
            if code in known.index:
                assert holders == known.loc[code, "holder_num"]
                ratio = known.loc[code, "change_ratio"]
                assert change == (None if pd.isna(ratio) else ratio)
            else:
                assert holders is None
    assert shown(dates[-1]) != shown(dates[-5])  # notices came between
