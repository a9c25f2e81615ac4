"""Money flow: what each source gives, what is computed, what a poorer call may not take away."""

from platform_assets.pipeline.batches import Loaded
from tests.pipeline.conftest import TODAY, House

PORTAL_DOWN = [{"upstream": "eastmoney", "call": "*", "kind": "status", "args": {"code": 503}}]


def load(house: House, *dates: str) -> Loaded:
    house.raw("raw_fund_flow", *dates)
    house.stage("fund_flow", *dates)
    return house.fuse("fund_flow", *dates)


def test_the_list_of_the_day_gives_nets_and_splits(house: House) -> None:
    loaded = load(house)

    rows = house.warehouse.frame("fusion_fund_flow")
    assert len(rows) > 50
    assert loaded.results[0].rows_rejected == 0
    assert set(rows["src"]) == {"eastmoney"}
    assert ((rows["main_net"] - rows["super_net"] - rows["large_net"]).abs() <= 1).all()
    assert ((rows["super_large_in"] - rows["super_large_out"] - rows["super_net"]).abs() <= 1).all()
    assert (rows["main_inflow"] - rows["super_large_in"] - rows["large_in"]).abs().max() < 0.01


def test_without_the_portal_the_quote_site_gives_the_nets(house: House) -> None:
    house.faults.replace(PORTAL_DOWN)

    load(house)

    rows = house.warehouse.frame("fusion_fund_flow")
    assert len(rows) > 50
    assert set(rows["src"]) == {"tencent"}
    assert rows["super_large_in"].isna().all()


def test_shares_are_of_the_turnover_of_the_bar(house: House) -> None:
    house.master()
    house.fuse("exright")
    house.fuse("kline_daily")
    load(house)

    rows = house.warehouse.frame("fusion_fund_flow")

    shares = rows["super_net_pct"] + rows["large_net_pct"]
    assert ((shares - rows["main_net_pct"]).abs() < 0.02).all()
    assert (rows["quality"] == "ok").all()


def test_a_date_asked_again_from_the_lines_keeps_its_splits_and_is_no_correction(house: House) -> None:
    load(house)
    before = house.warehouse.frame("fusion_fund_flow")
    house.clock.at = house.clock.at.replace(day=24, hour=16)
    house.fresh()

    later = load(house, TODAY)

    after = house.warehouse.frame("fusion_fund_flow")
    assert later.results[0].rows_superseded == 0
    assert after["small_in"].tolist() == before["small_in"].tolist()
    assert after["small_in"].notna().all()


def test_the_wide_table_shows_the_flow_of_its_day(house: House) -> None:
    house.day()

    flows = {row["code"]: row for row in house.warehouse.rows("fusion_fund_flow")}
    for row in house.warehouse.rows("fusion_stock_wide"):
        expected = flows[row["code"]]["main_net"] if row["code"] in flows else None
        assert row["main_net"] == expected
        assert row["main_net_5d"] is None  # one day is stored, five are asked
