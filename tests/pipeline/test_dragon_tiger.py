"""Billboard: what is known when, several reasons of one date, anonymous seats, what stands without it."""

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime

import pandas as pd
import pytest

from core.text_keys import hash_key
from platform_assets.pipeline.batches import Loaded
from platform_assets.pipeline.download import AllSourcesFailed
from platform_assets.pipeline.on_demand import download
from resources.simulated_market.billboard import Billboard
from resources.simulated_market.wire import View
from resources.simulated_market.world.model import World
from schedules.tasks.table import TASKS
from tests.pipeline.conftest import TODAY, House, opened_house

BEFORE = "2026-08-20"
TWICE, TWICE_ON = "000104", "2026-08-18"
"""A stock that two rules listed on one date."""
KINDS = ("double_rows", "cut_list")
RAWS = ("raw_dragon_tiger", "raw_lhb_branch", "aux_lhb")


def load(house: House, *dates: str) -> Loaded:
    for name in RAWS:
        house.raw(name, *dates)
    house.stage("dragon_tiger", *dates)
    return house.fuse("dragon_tiger", *dates)


def fused(house: House, **how: object) -> pd.DataFrame:
    return house.warehouse.frame("fusion_dragon_tiger", **how)


def row_of(house: House, as_of: str | None, code: str, date: str = BEFORE) -> dict[str, object] | None:
    found = house.warehouse.rows(
        "fusion_dragon_tiger", where="code=? AND date=?", values=(code, date), as_of=as_of
    )
    return found[0] if found else None


def change(house: House, statement: str) -> None:
    with house.warehouse.engine.begin() as connection:
        connection.exec_driver_sql(statement)


@pytest.fixture(scope="module")
def twelve(tmp_path_factory: pytest.TempPathFactory, sample_world: World) -> Iterator[House]:
    """Twelve dates, read by many tests and changed by none."""
    folder = tmp_path_factory.mktemp("billboard")
    with opened_house(f"sqlite:///{folder / 'warehouse.sqlite3'}", folder, sample_world) as house:
        load(house, *house.run.calendar.last(12, TODAY))
        yield house


def test_a_load_brings_the_date_before_and_no_as_of_read_looks_ahead(house: House) -> None:
    house.bars(BEFORE, TODAY)
    listed, seats, aux = (house.raw(name) for name in RAWS)
    house.stage("dragon_tiger")
    house.fuse("dragon_tiger")

    assert (seats.calls, aux.calls) == ({"eastmoney": 1}, {})
    assert (listed.calls["eastmoney"], listed.calls["sse"]) == (1, 2)
    assert listed.calls["szse"] <= 2
    rows = fused(house)
    assert set(rows["date"]) == {BEFORE}  # today's come out at 18:00
    assert len(rows) == len(house.warehouse.frame("aux_lhb")) > 3
    assert (rows["quality"] == "ok").all()
    code = str(rows["code"].iloc[0])
    assert row_of(house, f"{BEFORE} 17:59:59.000000", code) is None
    that_evening = row_of(house, f"{BEFORE} 18:00:00.000000", code)
    now = row_of(house, None, code)
    assert that_evening is not None
    assert now is not None
    assert row_of(house, f"{TODAY} 15:44:59.000000", code) == that_evening
    assert now["next_change_pct"] is not None
    assert {name: value for name, value in that_evening.items() if now[name] != value} == {
        "next_change_pct": None,
        "valid_from": f"{BEFORE} 18:00:00.000000",
    }
    house.fresh()
    assert sum(result.rows_written for result in load(house).results) == 0
    house.clock.at = datetime.fromisoformat(f"{TODAY}T18:00")
    house.fresh()
    load(house)
    rows = fused(house)
    assert set(rows[rows["date"] == TODAY]["valid_from"].str[:16]) == {f"{TODAY} 18:00"}
    assert rows[rows["date"] == TODAY]["next_change_pct"].isna().all()


def test_what_a_source_should_not_know_is_not_believed_and_what_it_lacks_follows_from_bars(
    alone: House,
) -> None:
    house = alone
    house.bars(BEFORE, TODAY)
    for name in RAWS:
        house.raw(name)
    told = house.warehouse.frame("raw_dragon_tiger").set_index("code")["next_change_pct"]
    victim = str(told.index[0])
    change(house, "UPDATE raw_dragon_tiger SET d10_change_pct=5, next_change_pct=NULL")
    change(house, f"UPDATE raw_dragon_tiger SET close=close+1, net_buy=net_buy+5 WHERE code='{victim}'")
    house.stage("dragon_tiger")
    house.fuse("dragon_tiger")

    rows = fused(house).set_index("code")
    assert rows["d10_change_pct"].isna().all()
    assert (rows["next_change_pct"] - told).abs().max() < 0.01
    flags = str(rows.loc[[victim], "quality_flags"].iloc[0])
    assert "closes_as_its_bar" in flags
    assert "net_is_bought_less_sold" in flags
    assert (rows.drop(index=victim)["quality"] == "ok").all()


def test_the_sums_of_several_reasons_stand_side_by_side(twelve: House) -> None:
    rows = fused(twelve)
    rows = rows[(rows["code"] == TWICE) & (rows["date"] == TWICE_ON)].sort_values("is_multi_day")
    assert rows["is_multi_day"].tolist() == [False, True]
    assert rows["amount"].is_monotonic_increasing
    assert rows["amount"].nunique() == 2
    assert rows["reason_key"].nunique() == 2
    assert (rows["net_buy"] - (rows["buy_amt"] - rows["sell_amt"])).abs().max() <= 0.02


def test_seats_keep_their_rank_and_institutions_are_counted_once(twelve: House) -> None:
    seats = twelve.warehouse.frame("raw_lhb_branch")
    assert (
        seats.groupby(["trade_date", "code", "reason_key", "side"])["rank_no"]
        .apply(lambda ranks: sorted(ranks) == list(range(1, len(ranks) + 1)))
        .all()
    )
    org = seats[seats["is_org"].astype(bool)]
    assert org.duplicated(["trade_date", "code", "reason_key", "side", "branch_name"]).any()
    rows = fused(twelve)
    assert rows["org_buy_count"].max() > 1
    for _, row in rows.iterrows():
        sides = [json.loads(row[f"{side}_seats"]) for side in ("buy", "sell")]
        assert [seat["rank_no"] for seat in sides[0]] == list(range(1, len(sides[0]) + 1))
        shown = {
            (seat["branch_name"], seat["buy_amt"], seat["sell_amt"]): seat["net_amt"]
            for side in sides
            for seat in side
        }
        assert row["net_buy"] == pytest.approx(sum(shown.values()), abs=0.1)
        org_net = sum(net for (name, _, _), net in shown.items() if name == "机构专用")
        assert row["org_net_buy"] == pytest.approx(org_net, abs=0.1)


def test_b_shares_and_bonds_of_the_report_are_left_out(twelve: House) -> None:
    view, board = View(twelve.world, twelve.clock.now()), Billboard()
    days = [int(day.replace("-", "")) for day in twelve.run.calendar.last(12, TODAY)]
    others = {one.security.code for day in days for one in board.of_date(view, day)
              if one.security.kind != "stock"}  # fmt: skip

    assert others
    assert not set(twelve.warehouse.frame("raw_dragon_tiger")["code"]) & others
    assert not set(twelve.warehouse.frame("raw_lhb_branch")["code"]) & others


def test_no_lie_reaches_the_fused_table_and_what_stands_beside_f10_stands_whole(alone: House) -> None:
    house = alone
    load(house)
    truth = fused(house).drop(columns=["batch_id", "updated_at"])
    for kind in KINDS:
        args = {"rows": 1} if kind == "cut_list" else {}
        house.faults.replace([{"upstream": "eastmoney", "call": "report", "kind": kind, "args": args}])
        house.fresh()
        for name in RAWS:
            with suppress(AllSourcesFailed):
                house.raw(name)
        house.stage("dragon_tiger")
        house.fuse("dragon_tiger")
        assert fused(house).drop(columns=["batch_id", "updated_at"]).equals(truth), kind
    house.faults.clear()
    house.fresh()
    code = str(truth["code"].iloc[0])
    told = download(house.run, [code], ["dragon_tiger", "aux_lhb"], TODAY)
    assert [told["types"][name]["status"] for name in ("dragon_tiger", "aux_lhb")] == ["success"] * 2
    assert told["fusion"]["results"]["dragon_tiger"]["status"] == "success"

    for table in ("raw_dragon_tiger", "stg_dragon_tiger", "fusion_dragon_tiger"):
        change(house, f"DELETE FROM {table}")
    house.stage("dragon_tiger")
    house.fuse("dragon_tiger")

    rows = fused(house)
    assert set(rows["src"]) == {"em_f10"}
    assert rows[["net_buy", "reason", "buy_seats", "org_buy_count"]].notna().all().all()
    assert rows["amount"].isna().all()  # told by the listings alone


def test_the_dates_of_the_evening_task_are_asked_of_the_exchanges_too(alone: House) -> None:
    task = next(task for task in TASKS if task.key == "exchange_sync")
    dates = alone.run.calendar.last(task.dates, TODAY)
    loaded = alone.raw("raw_dragon_tiger", *dates)

    assert loaded.calls["sse"] == len(dates) + 1  # and the date before, whose listings came out since
    assert loaded.calls["szse"] > 0
    official = alone.warehouse.frame("raw_dragon_tiger")
    assert set(official.loc[official["date"] == BEFORE, "src"]) >= {"sse", "szse"}
    assert set(alone.raw("raw_dragon_tiger", *alone.run.calendar.last(task.dates + 1, TODAY)).calls) <= {
        "eastmoney"
    }


def test_the_exchanges_stand_in_and_the_portal_finds_the_same_listings_later(alone: House) -> None:
    house = alone
    house.faults.replace([{"upstream": "eastmoney", "call": "report", "kind": "double_rows"}])
    for name in RAWS[:2]:
        house.raw(name, BEFORE)
    house.stage("dragon_tiger", BEFORE)
    house.fuse("dragon_tiger", BEFORE)
    alone_rows = fused(house)
    assert set(alone_rows["src"]) == {"sse", "szse"}
    shanghai = alone_rows[alone_rows["src"] == "sse"]
    assert shanghai[["amount", "net_buy", "buy_seats", "sell_seats", "org_buy_count"]].notna().all().all()
    assert alone_rows.loc[alone_rows["src"] == "szse", "amount"].notna().all()

    house.faults.clear()
    house.fresh()
    for name in RAWS[:2]:
        house.raw(name, BEFORE)
    house.stage("dragon_tiger", BEFORE)
    house.fuse("dragon_tiger", BEFORE)
    rows = fused(house)
    listing = ["code", "date", "reason_key"]
    told = rows[~rows["code"].str.startswith("92")]
    assert set(told["src"]) == {"eastmoney"}  # of both exchanges nothing is listed twice
    assert sorted(map(tuple, told[listing].values)) == sorted(map(tuple, alone_rows[listing].values))


def test_a_listing_of_shenzhen_whose_rule_is_unknown_is_kept_and_not_staged(alone: House) -> None:
    house = alone
    house.faults.replace([{"upstream": "eastmoney", "call": "report", "kind": "double_rows"}])
    house.raw("raw_dragon_tiger", BEFORE)
    official = house.warehouse.frame("raw_dragon_tiger")
    first = official[(official["src"] == "szse") & (official["date"] == BEFORE)].iloc[0]
    code, own = str(first["code"]), "异常期间换手率累计达到45.10%"
    change(  # it stands under one reason alone
        house,
        f"DELETE FROM raw_dragon_tiger WHERE code='{code}' AND date='{BEFORE}'"
        f" AND reason_key<>'{first['reason_key']}'",
    )
    change(
        house,
        f"UPDATE raw_dragon_tiger SET reason='{own}', reason_key='{hash_key(own)}'"
        f" WHERE code='{code}' AND date='{BEFORE}'",
    )
    house.stage("dragon_tiger", BEFORE)
    assert own in set(house.warehouse.frame("raw_dragon_tiger")["reason"])
    staged = house.warehouse.frame("stg_dragon_tiger")
    assert set(staged["src"]) == {"sse", "szse"}
    assert own not in set(staged["reason"])

    house.faults.clear()
    house.fresh()
    house.raw("raw_dragon_tiger", BEFORE)
    house.stage("dragon_tiger", BEFORE)
    house.fuse("dragon_tiger", BEFORE)
    rows = fused(house)
    assert set(rows.loc[rows["code"] == code, "src"]) == {"eastmoney"}
