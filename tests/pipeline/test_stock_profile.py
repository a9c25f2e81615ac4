"""Who companies are: both sources, whose turn it is, what reaches the fused table."""

from datetime import datetime

import pytest

from platform_assets.datasets import _rotation, stock_profile
from platform_assets.pipeline.on_demand import download
from resources.warehouse.stored import ANY
from tests.pipeline.conftest import TODAY, Services

DOWN = {"upstream": "eastmoney", "call": "f10_*", "kind": "garbage"}


def profiles(services: Services) -> None:
    services.master()
    services.raw("raw_concept_blocks")
    services.raw("aux_profile")
    services.raw("raw_issue_info")
    services.stage("stock_profile")
    services.fuse("stock_profile")


def test_profiles_of_a_day(services: Services) -> None:
    profiles(services)

    rows = services.warehouse.frame("fusion_stock_profile").set_index("code")
    stocks = [one for one in services.world.securities(services.clock.now()) if one.kind == "stock"]
    assert set(rows.index) == {one.code for one in stocks}
    assert (rows["quality"] == "ok").all()
    assert rows["registered_capital"].gt(1e6).all()
    assert rows["province"].notna().all()
    for one in stocks[:10]:
        total, _ = services.world.shares(one, services.clock.now())
        assert rows.loc[one.code, "registered_capital"] == total
        assert rows.loc[one.code, "list_date"].replace("-", "") == str(one.list_date)
    spans = services.warehouse.frame("ref_name_history")
    renamed = spans[spans["valid_to"].notna()]["code"].unique()
    assert rows.loc[[code for code in renamed if code in rows.index], "former_names"].notna().any()

    # Asked again, nothing changes.
    services.fresh()
    services.raw("aux_profile")
    services.stage("stock_profile")
    again = services.fuse("stock_profile")
    assert sum(result.rows_written for result in again.results) == 0


def test_the_terminal_stands_in(alone: Services) -> None:
    alone.faults.replace([DOWN])
    profiles(alone)

    rows = alone.warehouse.frame("fusion_stock_profile")
    assert set(rows["src"]) == {"tdx"}
    assert rows["full_name"].notna().all()
    assert rows["chairman"].isna().all()

    # The portal comes back: what the terminal said gives way.
    alone.faults.clear()
    alone.fresh()
    profiles(alone)
    assert set(alone.warehouse.frame("fusion_stock_profile")["src"]) == {"em_f10"}


def test_whose_turn_it_is(alone: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rotation, "ROTATION", 20)
    alone.master()
    alone.raw("raw_concept_blocks")
    known: set[str] = set()
    for day in alone.run.calendar.last(3, TODAY):
        alone.fresh()
        loaded = alone.raw("aux_profile", day)
        stored = set(alone.warehouse.frame("aux_profile")["code"])
        assert 60 <= loaded.calls["eastmoney"] <= 75
        assert stored > known
        known = stored
    stocks = [one for one in alone.world.securities(alone.clock.now()) if one.kind == "stock"]
    assert len(known) == len(stocks)

    # Whoever takes another name is asked whosever turn it is.
    alone.fresh()
    spans = alone.warehouse.frame("ref_name_history")
    code, day = next(
        (row.code, row.valid_from)
        for row in spans.sort_values("valid_from").itertuples()
        if row.valid_from > "2025-01-01" and alone.run.calendar.is_trade_date(row.valid_from)
    )
    monkeypatch.setattr(stock_profile, "codes_in_turn", lambda ctx, scope: [])
    loaded = alone.raw("aux_profile", day)
    asked = {fetch["src"]: fetch["rows"] for fetch in loaded.sources}
    assert asked["em_f10"] >= 1
    assert code in known


def test_profiles_of_named_codes_on_demand(alone: Services) -> None:
    alone.master()
    code = next(one.code for one in alone.world.securities(alone.clock.now()) if one.kind == "stock")

    reported = download(alone.run, [code], ["aux_profile", "issue_info"], TODAY)

    assert {kind: part["status"] for kind, part in reported["types"].items()} == {
        "aux_profile": "success",
        "issue_info": "success",
    }
    assert reported["fusion"]["results"]["stock_profile"]["status"] == "success"
    row = alone.warehouse.frame("fusion_stock_profile").iloc[0]
    assert row["code"] == code
    assert row["issue_price"] > 0


def test_an_issue_price_in_another_unit_is_marked(alone: Services) -> None:
    """The list of offers, asked again when a company's page has been read, has the price alone."""
    stocks = [one for one in alone.world.securities(alone.clock.now()) if one.kind == "stock"]
    young = max(stocks, key=lambda one: one.list_date)
    listed = datetime.strptime(str(young.list_date), "%Y%m%d").date().isoformat()
    alone.bars(*alone.run.calendar.between(listed, TODAY))
    profiles(alone)
    alone.faults.replace([{"upstream": "eastmoney", "call": "report", "kind": "prices_x100"}])
    alone.fresh()
    profiles(alone)

    (row,) = alone.warehouse.rows("fusion_stock_profile", ANY.code == young.code)
    (bar,) = alone.warehouse.rows("fusion_kline_daily", ANY.code == young.code, ANY.date == listed)
    assert row["issue_price"] > 30 * bar["close"]
    assert row["quality"] == "warning"
