"""Billboard: what is known when, several reasons of one date, anonymous seats, the official fallback."""

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
from platform_assets.task_table import TASKS
from resources.warehouse.stored import ANY
from simulated_market.billboard import Billboard
from simulated_market.wire import View
from simulated_market.world.model import World
from tests.pipeline.conftest import TODAY, Services, opened_services

BEFORE = "2026-08-20"
TWICE, TWICE_ON = "000104", "2026-08-18"
"""A stock that two rules listed on one date."""
KINDS = ("double_rows", "cut_list")
RAWS = ("raw_dragon_tiger", "raw_lhb_branch", "aux_lhb")


def load(services: Services, *dates: str) -> Loaded:
    for name in RAWS:
        services.raw(name, *dates)
    services.stage("dragon_tiger", *dates)
    return services.fuse("dragon_tiger", *dates)


def fused(services: Services, **how: object) -> pd.DataFrame:
    return services.warehouse.frame("fusion_dragon_tiger", **how)


def row_of(services: Services, as_of: str | None, code: str, date: str = BEFORE) -> dict[str, object] | None:
    found = services.warehouse.rows("fusion_dragon_tiger", ANY.code == code, ANY.date == date, as_of=as_of)
    return found[0] if found else None


def change(services: Services, statement: str) -> None:
    with services.warehouse.engine.begin() as connection:
        connection.exec_driver_sql(statement)


@pytest.fixture(scope="module")
def twelve(tmp_path_factory: pytest.TempPathFactory, sample_world: World) -> Iterator[Services]:
    """Twelve dates, read by many tests and changed by none."""
    folder = tmp_path_factory.mktemp("billboard")
    with opened_services(f"sqlite:///{folder / 'warehouse.sqlite3'}", folder, sample_world) as services:
        load(services, *services.run.calendar.last(12, TODAY))
        yield services


def test_a_load_brings_the_date_before_and_no_as_of_read_looks_ahead(services: Services) -> None:
    services.bars(BEFORE, TODAY)
    listed, seats, aux = (services.raw(name) for name in RAWS)
    services.stage("dragon_tiger")
    services.fuse("dragon_tiger")

    assert (seats.calls, aux.calls) == ({"eastmoney": 1}, {})
    assert (listed.calls["eastmoney"], listed.calls["sse"]) == (1, 2)
    assert listed.calls["szse"] <= 2
    rows = fused(services)
    assert set(rows["date"]) == {BEFORE}  # today's come out at 18:00
    assert len(rows) == len(services.warehouse.frame("aux_lhb")) > 3
    assert (rows["quality"] == "ok").all()
    code = str(rows["code"].iloc[0])
    assert row_of(services, f"{BEFORE} 17:59:59.000000", code) is None
    that_evening = row_of(services, f"{BEFORE} 18:00:00.000000", code)
    now = row_of(services, None, code)
    assert that_evening is not None
    assert now is not None
    assert row_of(services, f"{TODAY} 15:44:59.000000", code) == that_evening
    assert now["next_change_pct"] is not None
    assert {name: value for name, value in that_evening.items() if now[name] != value} == {
        "next_change_pct": None,
        "valid_from": f"{BEFORE} 18:00:00.000000",
    }
    services.fresh()
    assert sum(result.rows_written for result in load(services).results) == 0
    services.clock.at = datetime.fromisoformat(f"{TODAY}T18:00")
    services.fresh()
    load(services)
    rows = fused(services)
    assert set(rows[rows["date"] == TODAY]["valid_from"].str[:16]) == {f"{TODAY} 18:00"}
    assert rows[rows["date"] == TODAY]["next_change_pct"].isna().all()


def test_what_a_source_should_not_know_is_refused_and_what_it_lacks_follows_from_bars(
    alone: Services,
) -> None:
    services = alone
    services.bars(BEFORE, TODAY)
    for name in RAWS:
        services.raw(name)
    reported = services.warehouse.frame("raw_dragon_tiger").set_index("code")["next_change_pct"]
    victim = str(reported.index[0])
    change(services, "UPDATE raw_dragon_tiger SET d10_change_pct=5, next_change_pct=NULL")
    change(services, f"UPDATE raw_dragon_tiger SET close=close+1, net_buy=net_buy+5 WHERE code='{victim}'")
    services.stage("dragon_tiger")
    services.fuse("dragon_tiger")

    rows = fused(services).set_index("code")
    assert rows["d10_change_pct"].isna().all()
    assert (rows["next_change_pct"] - reported).abs().max() < 0.01
    flags = str(rows.loc[[victim], "quality_flags"].iloc[0])
    assert "closes_as_its_bar" in flags
    assert "net_is_bought_less_sold" in flags
    assert (rows.drop(index=victim)["quality"] == "ok").all()


def test_the_sums_of_several_reasons_stand_side_by_side(twelve: Services) -> None:
    rows = fused(twelve)
    rows = rows[(rows["code"] == TWICE) & (rows["date"] == TWICE_ON)].sort_values("is_multi_day")
    assert rows["is_multi_day"].tolist() == [False, True]
    assert rows["amount"].is_monotonic_increasing
    assert rows["amount"].nunique() == 2
    assert rows["reason_key"].nunique() == 2
    assert (rows["net_buy"] - (rows["buy_amt"] - rows["sell_amt"])).abs().max() <= 0.02


def test_seats_keep_their_rank_and_institutions_are_counted_once(twelve: Services) -> None:
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


def test_b_shares_and_bonds_of_the_report_are_left_out(twelve: Services) -> None:
    view, board = View(twelve.world, twelve.clock.now()), Billboard()
    days = [int(day.replace("-", "")) for day in twelve.run.calendar.last(12, TODAY)]
    others = {one.security.code for day in days for one in board.of_date(view, day)
              if one.security.kind != "stock"}  # fmt: skip

    assert others
    assert not set(twelve.warehouse.frame("raw_dragon_tiger")["code"]) & others
    assert not set(twelve.warehouse.frame("raw_lhb_branch")["code"]) & others


def test_no_lie_reaches_the_fused_table_and_what_stands_beside_f10_stands_whole(alone: Services) -> None:
    services = alone
    load(services)
    truth = fused(services).drop(columns=["batch_id", "updated_at"])
    for kind in KINDS:
        args = {"rows": 1} if kind == "cut_list" else {}
        services.faults.replace([{"upstream": "eastmoney", "call": "report", "kind": kind, "args": args}])
        services.fresh()
        for name in RAWS:
            with suppress(AllSourcesFailed):
                services.raw(name)
        services.stage("dragon_tiger")
        services.fuse("dragon_tiger")
        assert fused(services).drop(columns=["batch_id", "updated_at"]).equals(truth), kind
    services.faults.clear()
    services.fresh()
    code = str(truth["code"].iloc[0])
    reported = download(services.run, [code], ["dragon_tiger", "aux_lhb"], TODAY)
    assert [reported["types"][name]["status"] for name in ("dragon_tiger", "aux_lhb")] == ["success"] * 2
    assert reported["fusion"]["results"]["dragon_tiger"]["status"] == "success"

    for table in ("raw_dragon_tiger", "stg_dragon_tiger", "fusion_dragon_tiger"):
        change(services, f"DELETE FROM {table}")
    services.stage("dragon_tiger")
    services.fuse("dragon_tiger")

    rows = fused(services)
    assert set(rows["src"]) == {"em_f10"}
    assert rows[["net_buy", "reason", "buy_seats", "org_buy_count"]].notna().all().all()
    assert rows["amount"].isna().all()  # in the listings alone


def test_the_dates_of_the_evening_task_are_asked_of_the_exchanges_too(alone: Services) -> None:
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


def test_the_exchanges_stand_in_and_the_portal_finds_the_same_listings_later(alone: Services) -> None:
    services = alone
    services.faults.replace([{"upstream": "eastmoney", "call": "report", "kind": "double_rows"}])
    for name in RAWS[:2]:
        services.raw(name, BEFORE)
    services.stage("dragon_tiger", BEFORE)
    services.fuse("dragon_tiger", BEFORE)
    alone_rows = fused(services)
    assert set(alone_rows["src"]) == {"sse", "szse"}
    shanghai = alone_rows[alone_rows["src"] == "sse"]
    assert shanghai[["amount", "net_buy", "buy_seats", "sell_seats", "org_buy_count"]].notna().all().all()
    assert alone_rows.loc[alone_rows["src"] == "szse", "amount"].notna().all()

    services.faults.clear()
    services.fresh()
    for name in RAWS[:2]:
        services.raw(name, BEFORE)
    services.stage("dragon_tiger", BEFORE)
    services.fuse("dragon_tiger", BEFORE)
    rows = fused(services)
    listing = ["code", "date", "reason_key"]
    reported = rows[~rows["code"].str.startswith("92")]
    assert set(reported["src"]) == {"eastmoney"}  # of both exchanges nothing is listed twice
    assert sorted(map(tuple, reported[listing].values)) == sorted(map(tuple, alone_rows[listing].values))


def test_a_listing_of_shenzhen_whose_rule_is_unknown_is_kept_and_not_staged(alone: Services) -> None:
    services = alone
    services.faults.replace([{"upstream": "eastmoney", "call": "report", "kind": "double_rows"}])
    services.raw("raw_dragon_tiger", BEFORE)
    official = services.warehouse.frame("raw_dragon_tiger")
    first = official[(official["src"] == "szse") & (official["date"] == BEFORE)].iloc[0]
    code, own = str(first["code"]), "异常期间换手率累计达到45.10%"
    change(  # it is listed under one reason alone
        services,
        f"DELETE FROM raw_dragon_tiger WHERE code='{code}' AND date='{BEFORE}'"
        f" AND reason_key<>'{first['reason_key']}'",
    )
    change(
        services,
        f"UPDATE raw_dragon_tiger SET reason='{own}', reason_key='{hash_key(own)}'"
        f" WHERE code='{code}' AND date='{BEFORE}'",
    )
    services.stage("dragon_tiger", BEFORE)
    assert own in set(services.warehouse.frame("raw_dragon_tiger")["reason"])
    staged = services.warehouse.frame("stg_dragon_tiger")
    assert set(staged["src"]) == {"sse", "szse"}
    assert own not in set(staged["reason"])

    services.faults.clear()
    services.fresh()
    services.raw("raw_dragon_tiger", BEFORE)
    services.stage("dragon_tiger", BEFORE)
    services.fuse("dragon_tiger", BEFORE)
    rows = fused(services)
    assert set(rows.loc[rows["code"] == code, "src"]) == {"eastmoney"}
