"""Block trades: one deal of three sources is one row, equal deals are several, and plans of releases."""

from contextlib import suppress

import pandas as pd
import pytest

from platform_assets.pipeline.batches import Loaded
from platform_assets.pipeline.download import AllSourcesFailed
from resources.warehouse.stored import ANY
from tests.pipeline.conftest import TODAY, Services

BEFORE = "2026-08-20"
RAWS = ("raw_block_trade", "aux_dzjy", "exchange_block_trade")


def load(services: Services, *dates: str) -> Loaded:
    for name in RAWS:
        services.raw(name, *dates)
    services.stage("block_trade", *dates)
    return services.fuse("block_trade", *dates)


def fused(services: Services) -> pd.DataFrame:
    return services.warehouse.frame("fusion_block_trade")


def change(services: Services, statement: str) -> None:
    with services.warehouse.engine.begin() as connection:
        connection.exec_driver_sql(statement)


def test_every_deal_is_one_row_and_equal_ones_are_numbered(alone: Services) -> None:
    services = alone
    days = services.run.calendar.last(12, TODAY)
    load(services, *days)

    rows, portal = fused(services), services.warehouse.frame("raw_block_trade")
    assert set(rows["row_key"]) == set(portal["row_key"])
    assert len(rows) == len(portal)
    assert {"sse", "szse", "eastmoney"} >= set(rows["src"])
    assert set(rows[rows["src"] == "eastmoney"]["code"].str[:3]) <= {"920"}  # Beijing has no list of its own
    again = rows[rows["seq"] > 1]
    assert len(again) > 0
    alike = ["code", "date", "price", "volume", "buyer", "seller"]
    assert rows.duplicated(alike).sum() == len(again)
    assert rows.drop_duplicates([*alike, "seq"]).shape == rows.shape
    assert rows[["close", "premium_pct", "buyer", "seller"]].notna().all().all()
    assert set(rows["valid_from"].str[11:16]) <= {"18:00", "15:45"}
    assert services.fuse("block_trade", *days).results[-1].rows_written == 0


def test_there_is_no_share_of_a_cap_that_is_flagged(alone: Services) -> None:
    services = alone
    services.bars(BEFORE, TODAY)
    services.raw("raw_valuation", BEFORE)
    services.stage("valuation", BEFORE)
    services.fuse("valuation", BEFORE)
    load(services, BEFORE)
    before = fused(services).set_index("row_key")["float_ratio_pct"]
    assert before.notna().any()
    change(services, "UPDATE fusion_valuation SET float_market_cap=float_market_cap*100, quality='warning'")
    services.fresh()
    services.fuse("block_trade", BEFORE)

    assert fused(services)["float_ratio_pct"].isna().all()


def test_the_portal_tells_what_the_exchange_rounds_and_bars_stand_in_for_it(alone: Services) -> None:
    services = alone
    services.bars(BEFORE, TODAY)
    load(services)
    known = fused(services).set_index("row_key")
    key = services.warehouse.frame("exchange_block_trade")["row_key"].iloc[0]
    odd = f"SET amount=(volume+17)*price, volume=volume+17 WHERE row_key='{key}'"
    change(services, f"UPDATE raw_block_trade {odd}")
    services.stage("block_trade")
    services.fuse("block_trade")
    row = services.warehouse.rows("fusion_block_trade", ANY.row_key == key)[0]
    assert row["src"] in {"sse", "szse"}
    assert row["volume"] % 100 == 17
    assert row["provenance"] is not None

    change(services, "DELETE FROM raw_block_trade")
    change(services, "DELETE FROM aux_dzjy")
    change(services, "DELETE FROM stg_block_trade")
    change(services, "DELETE FROM fusion_block_trade")
    services.stage("block_trade")
    services.fuse("block_trade")

    rows = fused(services).set_index("row_key")
    assert set(rows["src"]) <= {"sse", "szse"}
    for column in ("close", "premium_pct", "d1_change_pct"):
        gap = rows[column] - known.loc[rows.index, column]
        assert gap.abs().max() < 1e-3, column
    assert (rows["quality"] == "ok").all()
    official = known[known["src"] != "eastmoney"].index
    assert set(rows.index) == set(official)


def test_a_load_brings_the_date_before_and_the_day_after_is_a_revision(services: Services) -> None:
    services.bars(BEFORE, TODAY)
    portal, aux, official = (services.raw(name) for name in RAWS)
    services.stage("block_trade")
    services.fuse("block_trade")

    assert (portal.calls, aux.calls, official.calls) == ({"eastmoney": 1}, {}, {"sse": 1, "szse": 1})
    assert set(services.warehouse.frame("raw_block_trade")["date"]) == {BEFORE}
    key = fused(services)["row_key"].iloc[0]

    def change_known(as_of: str | None) -> object:
        found = services.warehouse.rows("fusion_block_trade", ANY.row_key == key, as_of=as_of)
        return found[0]["d1_change_pct"] if found else "nothing"

    assert change_known(None) is not None
    assert change_known(f"{BEFORE} 18:00:00.000000") is None
    assert change_known(f"{BEFORE} 17:59:00.000000") == "nothing"
    services.fresh()
    assert sum(result.rows_written for result in load(services).results) == 0


def test_no_lie_of_one_source_reaches_the_fused_table(alone: Services) -> None:
    services = alone
    load(services)
    truth = fused(services).drop(columns=["batch_id", "updated_at"])
    for upstream in ("eastmoney", "szse", "sse"):
        for kind in ("double_rows", "cut_list"):
            args = {"rows": 1} if kind == "cut_list" else {}
            services.faults.replace([{"upstream": upstream, "call": "*", "kind": kind, "args": args}])
            services.fresh()
            for name in RAWS:
                with suppress(AllSourcesFailed):
                    services.raw(name)
            services.stage("block_trade")
            services.fuse("block_trade")
            assert fused(services).drop(columns=["batch_id", "updated_at"]).equals(truth), (upstream, kind)


def test_a_release_that_was_moved_leaves_no_row_behind(alone: Services) -> None:
    services = alone
    loaded = services.raw("raw_lockup")
    rows = services.warehouse.frame("raw_lockup")
    assert loaded.calls == {"eastmoney": 1}
    assert rows["code"].str.match("[036489]").all()  # the report's convertible bonds are left out
    assert rows["free_date"].between("2025-08-21", "2027-08-21").all()
    assert (rows["free_date"] > TODAY).any()
    moved = rows[rows["free_date"] > TODAY].iloc[0]
    change(
        services,
        f"UPDATE raw_lockup SET free_date='2026-12-24' WHERE code='{moved['code']}' "
        f"AND free_date='{moved['free_date']}'",
    )
    services.fresh()

    again = services.raw("raw_lockup")

    columns = ["code", "free_date", "share_type", "free_shares"]
    assert services.warehouse.frame("raw_lockup")[columns].equals(rows[columns])
    assert again.results[-1].rows_removed == 1


def test_the_wide_table_shows_what_was_known_on_the_date(alone: Services) -> None:
    services = alone
    days = services.run.calendar.last(33, TODAY)
    for name in ("raw_dragon_tiger", "raw_block_trade", "raw_lockup"):
        services.raw(name, *days)
    for name in ("dragon_tiger", "block_trade"):
        services.stage(name, *days)
        services.fuse(name, *days)
    services.master()
    services.bars(TODAY)
    services.stage("quote_snapshot")
    services.fuse("quote_snapshot")
    services.fuse("stock_wide")

    rows = services.warehouse.frame("fusion_stock_wide").set_index("code")
    window = days[-31:-1]
    listed = services.warehouse.frame("fusion_dragon_tiger")
    listed = listed[listed["date"].isin(window)].groupby("code")["date"].nunique()
    assert rows["lhb_count_30d"].max() >= 3
    assert (rows["lhb_count_30d"].astype(float) == listed.reindex(rows.index).fillna(0)).all()
    deals = fused(services)
    deals = deals[deals["date"].isin(window)]
    code = str(deals["code"].iloc[0])
    mine = deals[deals["code"] == code]
    mean = (mine["premium_pct"] * mine["amount"]).sum() / mine["amount"].sum()
    assert rows.loc[code, "block_trade_premium_30d"] == pytest.approx(mean, abs=1e-4)
    plan = services.warehouse.frame("raw_lockup")
    coming = plan[plan["free_date"] > TODAY].sort_values("free_date").drop_duplicates("code")
    shown = rows["next_lockup_date"].dropna()
    assert shown.to_dict() == coming.set_index("code")["free_date"].reindex(shown.index).to_dict()
    assert len(shown) > 5
    # Later plans do not reach back: the day keeps what was written then.
    change(services, "DELETE FROM raw_lockup")
    services.at("2026-08-24")
    services.fuse("stock_wide", TODAY)
    after = services.warehouse.frame("fusion_stock_wide").set_index("code")
    assert after.loc[shown.index, "next_lockup_date"].to_dict() == shown.to_dict()


def test_a_repeated_line_of_one_list_is_no_second_deal(alone: Services) -> None:
    services = alone
    load(services, BEFORE)
    true = fused(services).set_index("row_key")
    change(services, "DELETE FROM raw_block_trade")
    change(services, "DELETE FROM aux_dzjy")
    change(services, "DELETE FROM stg_block_trade")
    change(services, "DELETE FROM fusion_block_trade")
    repeat = {"how": "repeat", "rows": 1, "counted": True}
    services.faults.replace([{"upstream": "eastmoney", "call": "*", "kind": "spoil_rows", "args": repeat}])
    services.fresh()
    load(services, BEFORE)

    portal = services.warehouse.frame("raw_block_trade")
    (again,) = set(portal["row_key"]) - set(true.index)
    assert set(fused(services)["row_key"]) == set(true.index)
    records = services.warehouse.rows("sys_quality_record", ANY.check_name == "is_no_repetition")
    assert any(again in str(row["natural_key"]) for row in records)
