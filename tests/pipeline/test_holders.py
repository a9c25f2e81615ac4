"""Holder counts: asked by the day of their notice, written by company, shown when they were known."""

import pandas as pd
import pytest

from platform_assets.pipeline.batches import Loaded
from platform_assets.pipeline.on_demand import download
from resources.warehouse.stored import ANY
from tests.pipeline.conftest import TODAY, Services

RAWS = ("raw_holder_num", "aux_holders")
BANK = "600040"


@pytest.fixture
def services(alone: Services) -> Services:
    """One engine is enough here; what both must do alike is in test_company_notices."""
    return alone


def load(services: Services, *dates: str) -> Loaded:
    for name in RAWS:
        services.raw(name, *dates)
    services.stage("holder", *dates)
    return services.fuse("holder", *dates)


def test_a_change_that_nobody_tells_is_that_against_the_count_before(services: Services) -> None:
    dates = services.run.calendar.last(250, TODAY)
    for name in RAWS:
        services.raw(name, *dates)
    with services.warehouse.engine.begin() as connection:
        for name, columns in (("raw_holder_num", "change_num=NULL, change_ratio=NULL"),
                              ("aux_holders", "change_ratio=NULL")):  # fmt: skip
            connection.exec_driver_sql(f"UPDATE {name} SET {columns} WHERE code='{BANK}'")
    services.stage("holder", *dates)
    services.fuse("holder", *dates)

    rows = services.warehouse.frame("fusion_holder").set_index("code").loc[BANK].sort_values("date")
    assert len(rows) > 2
    assert pd.isna(rows["change_num"].iloc[0])
    before, newest = rows["holder_num"].iloc[-2:].tolist()
    assert rows["change_num"].iloc[-1] == newest - before
    assert rows["change_ratio"].iloc[-1] == pytest.approx((newest / before - 1) * 100, abs=1e-4)


def test_the_disclosure_platform_stands_in_with_the_counts_of_the_quarter(services: Services) -> None:
    services.faults.replace([{"upstream": "eastmoney", "call": "report", "kind": "double_rows"}])
    loaded = services.raw("raw_holder_num")
    services.stage("holder")
    services.fuse("holder")

    assert loaded.calls["cninfo"] == 1
    rows = services.warehouse.frame("fusion_holder")
    assert (set(rows["src"]), set(rows["date"])) == ({"cninfo"}, {"2026-06-30"})
    assert rows[["holder_num", "avg_shares"]].notna().all().all()
    assert rows["ann_date"].isna().all()  # the portal alone has them
    known = rows.set_index("code")
    services.faults.clear()
    services.fresh()
    services.raw("raw_holder_num")
    services.stage("holder")
    services.fuse("holder")
    both = services.warehouse.frame("fusion_holder").set_index("code")
    noticed = both[both["src"] == "eastmoney"]
    same = noticed[noticed.index.isin(known.index) & (noticed["date"] == "2026-06-30")]
    assert len(same)
    assert (same["holder_num"] == known.loc[same.index, "holder_num"]).all()


@pytest.mark.parametrize("corruption", ["volumes_x100", "swap_rows"])
def test_a_count_of_another_company_or_unit_is_marked(services: Services, corruption: str) -> None:
    """The fallback has counts and changes that agree with each other, and with nothing that is stored."""
    services.at("2026-07-01")
    load(services, *services.run.calendar.last(60, "2026-07-01"))
    known = set(services.warehouse.frame("fusion_holder")["code"])
    services.at(TODAY)
    services.faults.replace([
        {"upstream": "eastmoney", "call": "*", "kind": "status", "args": {"code": 403}},
        {"upstream": "cninfo", "call": "holder_counts", "kind": corruption},
    ])  # fmt: skip
    services.raw("raw_holder_num")
    services.stage("holder")
    services.fuse("holder")

    rows = services.warehouse.frame("fusion_holder")
    reported = rows[(rows["date"] == "2026-06-30") & (rows["src"] == "cninfo") & rows["code"].isin(known)]
    assert len(reported) > 3
    assert (reported["quality"] == "warning").all()


def test_a_download_of_a_code_brings_its_whole_past(services: Services) -> None:
    reported = download(services.run, [BANK], ["holder_num", "aux_holders"], TODAY)

    rows = services.warehouse.frame("fusion_holder")
    assert set(rows["code"]) == {BANK}
    assert reported["types"]["holder_num"]["codes"][BANK]["total"] == len(rows) > 5
    assert reported["fusion"]["results"]["holder"] == {"status": "success", "saved": len(rows)}


def test_holdings_of_institutions_add_up_over_the_kinds_and_the_periods(services: Services) -> None:
    services.raw("raw_holding_org")
    rows = services.warehouse.frame("raw_holding_org")
    assert set(rows["report_period"]) == {"2026-06-30"}  # the year before was disclosed until April
    everything = rows[rows["org_type"] == "all"].set_index("code")
    kinds = rows[rows["org_type"] != "all"]
    assert (kinds.groupby("code")["org_type"].count() == 6).all()
    for column in ("org_count", "hold_shares", "ratio_float_pct"):
        summed = kinds.groupby("code")[column].sum().astype(float)
        assert summed.to_dict() == pytest.approx(everything[column].astype(float).to_dict(), abs=1e-3)

    services.fresh()
    reported = download(services.run, [BANK], ["holding_org"], TODAY)

    own = services.warehouse.frame("raw_holding_org").set_index("code").loc[BANK]
    assert reported["types"]["holding_org"]["codes"][BANK]["total"] == len(own) > 7 * 5
    shares = own[own["org_type"] == "fund"].sort_values("report_period")[["hold_shares", "change_shares"]]
    reported_change = shares["change_shares"].iloc[1:].astype(float)
    assert reported_change.tolist() == shares["hold_shares"].astype(float).diff().iloc[1:].tolist()


def test_the_wide_table_shows_the_newest_count_announced_by_its_day(services: Services) -> None:
    dates = services.run.calendar.last(250, TODAY)
    load(services, *dates)
    services.master()
    counts = services.warehouse.frame("fusion_holder")

    def shown(day: str) -> dict[str, tuple[int, float]]:
        rows = services.warehouse.rows("fusion_stock_wide", ANY.trade_date == day)
        return {row["code"]: (row["holder_num"], row["holder_change_ratio"]) for row in rows}

    for day in (dates[-1], dates[-5]):
        services.raw("raw_quote", day)
        services.stage("quote_snapshot", day)
        services.fuse("quote_snapshot", day)
        services.fuse("stock_wide", day)
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
