"""Money flow: what each source gives, what is computed, what a poorer call may not take away."""

import pytest

from platform_assets.pipeline import load as loads
from platform_assets.pipeline.batches import Loaded
from tests.pipeline.conftest import TODAY, Services

PORTAL_DOWN = [{"upstream": "eastmoney", "call": "*", "kind": "status", "args": {"code": 503}}]


def load(services: Services, *dates: str) -> Loaded:
    services.raw("raw_fund_flow", *dates)
    services.stage("fund_flow", *dates)
    return services.fuse("fund_flow", *dates)


def test_the_list_of_the_day_gives_nets_and_splits(services: Services) -> None:
    loaded = load(services)

    rows = services.warehouse.frame("fusion_fund_flow")
    assert len(rows) > 50
    assert loaded.results[0].rows_rejected == 0
    assert set(rows["src"]) == {"eastmoney"}
    assert ((rows["main_net"] - rows["super_net"] - rows["large_net"]).abs() <= 1).all()
    assert ((rows["super_large_in"] - rows["super_large_out"] - rows["super_net"]).abs() <= 1).all()
    assert (rows["main_inflow"] - rows["super_large_in"] - rows["large_in"]).abs().max() < 0.01


def test_staging_converts_stored_rows_no_second_time(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows of the only feed have their types from the read; converted once more they are the same."""
    services.raw("raw_fund_flow")
    with monkeypatch.context() as patch:
        patch.delattr(loads, "coerce")
        first = services.stage("fund_flow").results[0]
    monkeypatch.setattr(loads, "_typed_when_read", lambda run, dataset: False)

    again = services.stage("fund_flow").results[0]

    assert first.rows_written > 50
    assert (again.rows_written, again.content_hash) == (0, first.content_hash)


def test_without_the_portal_the_quote_site_gives_the_nets(services: Services) -> None:
    services.faults.replace(PORTAL_DOWN)

    load(services)

    rows = services.warehouse.frame("fusion_fund_flow")
    assert len(rows) > 50
    assert set(rows["src"]) == {"tencent"}
    assert rows["super_large_in"].isna().all()


def test_shares_are_of_the_turnover_of_the_bar(services: Services) -> None:
    services.master()
    services.fuse("exright")
    services.fuse("kline_daily")
    load(services)

    rows = services.warehouse.frame("fusion_fund_flow")

    shares = rows["super_net_pct"] + rows["large_net_pct"]
    assert ((shares - rows["main_net_pct"]).abs() < 0.02).all()
    assert (rows["quality"] == "ok").all()


def test_a_date_asked_again_from_the_lines_keeps_its_splits_and_is_no_correction(services: Services) -> None:
    load(services)
    before = services.warehouse.frame("fusion_fund_flow")
    services.clock.at = services.clock.at.replace(day=24, hour=16)
    services.fresh()

    later = load(services, TODAY)

    after = services.warehouse.frame("fusion_fund_flow")
    assert later.results[0].rows_superseded == 0
    assert after["small_in"].tolist() == before["small_in"].tolist()
    assert after["small_in"].notna().all()


def test_the_wide_table_shows_the_flow_of_its_day(services: Services) -> None:
    services.day()

    flows = {row["code"]: row for row in services.warehouse.rows("fusion_fund_flow")}
    for row in services.warehouse.rows("fusion_stock_wide"):
        expected = flows[row["code"]]["main_net"] if row["code"] in flows else None
        assert row["main_net"] == expected
        assert row["main_net_5d"] is None  # one day is stored, five are asked
