"""Limit pools from the wire to the wide table and the tree map: sources, fallbacks, what is empty."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import InputError
from platform_assets.pipeline.batches import Loaded
from resources.warehouse.stored import ANY
from simulated_market.world.model import World
from tests.pipeline.conftest import TODAY, Services, opened_services

BEFORE = "2026-08-20"
DATES = ("2026-08-17", "2026-08-18", "2026-08-19", BEFORE, TODAY)
POOLS_DOWN = {"upstream": "eastmoney", "call": "limit_pool", "kind": "status", "args": {"code": 503}}
RANK_DOWN = {"upstream": "tencent", "call": "rank", "kind": "garbage"}
LIST_DOWN = {"upstream": "eastmoney", "call": "clist", "kind": "status", "args": {"code": 503}}


def fail(services: Services, *rules: dict[str, object]) -> None:
    services.faults.replace([{"count": 0, **rule} for rule in rules])
    services.fresh()


def written(loaded: Loaded) -> int:
    return sum(result.rows_written for result in loaded.results)


def test_five_calls_a_date_and_nothing_new_the_second_time(services: Services) -> None:
    first = services.raw("raw_limit_pool", BEFORE, TODAY)
    services.fresh()
    second = services.raw("raw_limit_pool", BEFORE, TODAY)

    assert first.calls == {"eastmoney": 10}
    assert {result.partition_key for result in first.results} == {BEFORE, TODAY}
    assert (written(first) > 8, written(second)) == (True, 0)
    rows = services.warehouse.frame("raw_limit_pool")
    assert set(rows["pool"]) == {"up", "broken", "down", "prev", "strong"}
    prev = rows[(rows["trade_date"] == TODAY) & (rows["pool"] == "prev")]
    assert set(prev["code"]) == set(rows[(rows["trade_date"] == BEFORE) & (rows["pool"] == "up")]["code"])


def test_who_left_a_pool_before_the_close_is_not_in_it(lite: Services) -> None:
    lite.clock.at = lite.clock.at.replace(hour=10, minute=16)
    with pytest.raises(InputError, match=r"complete from 15:30"):
        lite.raw("raw_limit_pool")
    assert lite.warehouse.frame("raw_limit_pool").empty
    lite.at(TODAY)
    assert written(lite.raw("raw_limit_pool")) > 0
    lite.fresh()
    assert written(lite.raw("raw_limit_pool")) == 0


def test_who_is_no_longer_in_a_pool_does_not_stay_in_it(lite: Services) -> None:
    lite.at(TODAY)
    lite.raw("raw_limit_pool")
    before = lite.warehouse.frame("raw_limit_pool")
    lite.fresh()
    fail(lite, {"upstream": "eastmoney", "call": "limit_pool", "kind": "cut_rows", "args": {"counted": True}})

    lite.raw("raw_limit_pool")

    after = lite.warehouse.frame("raw_limit_pool")
    keys = ["pool", "code"]
    left = set(map(tuple, before[keys].to_numpy())) - set(map(tuple, after[keys].to_numpy()))
    assert {pool for pool, _ in left} >= {"up", "prev"}


def test_without_the_portal_the_topic_portal_tells_three_pools(lite: Services) -> None:
    fail(lite, POOLS_DOWN)

    loaded = lite.raw("raw_limit_pool", *DATES)

    assert [item["src"] for item in loaded.sources] == ["eastmoney", "ths"]
    assert loaded.calls["ths"] == 15
    rows = lite.warehouse.frame("raw_limit_pool")
    assert set(rows["src"]) == {"ths"}
    assert set(rows["pool"]) == {"up", "broken", "down"}
    assert rows["industry"].isna().all()  # no source has it
    assert rows[rows["pool"] == "up"]["seal_fund"].gt(0).all()


def test_what_the_topic_portal_tells_takes_the_place_of_the_portals_day_whole(lite: Services) -> None:
    lite.raw("raw_limit_pool")
    up = lite.warehouse.frame("raw_limit_pool").query("pool == 'up'")["code"]
    with lite.warehouse.engine.begin() as connection:  # as if it had been sealed in between
        connection.exec_driver_sql(f"DELETE FROM raw_limit_pool WHERE code='{up.iloc[0]}'")
    fail(lite, POOLS_DOWN)
    reported = lite.raw("raw_limit_pool")

    rows = lite.warehouse.frame("raw_limit_pool")
    assert set(rows["src"]) == {"ths"}
    assert set(rows.query("pool == 'up'")["code"]) == set(up)
    assert len(rows) == sum(item.get("rows", 0) for item in reported.sources)


def test_beyond_the_portals_memory_the_topic_portal_answers_and_beyond_its_own_nobody(lite: Services) -> None:
    old = lite.raw("raw_limit_pool", "2026-06-05")
    older = lite.raw("raw_limit_pool", "2025-06-05")

    assert [item["src"] for item in old.sources] == ["ths"]
    assert set(lite.warehouse.frame("raw_limit_pool")["trade_date"]) == {"2026-06-05"}
    assert older.sources == []
    assert older.results == []
    assert "serves 2025-06-05" in older.not_loaded["2025-06-05"]


def test_every_limit_up_has_its_reason(lite: Services) -> None:
    lite.raw("raw_limit_pool", *DATES)
    loaded = lite.raw("raw_limitup_reason", *DATES)

    rows = lite.warehouse.frame("raw_limitup_reason")
    ups = lite.warehouse.frame("raw_limit_pool")
    ups = ups[ups["pool"] == "up"]
    assert loaded.calls == {"ths": 5}
    pairs = ["trade_date", "code"]
    assert sorted(map(tuple, rows[pairs].to_numpy())) == sorted(map(tuple, ups[pairs].to_numpy()))
    for row in rows.to_dict("records"):
        assert "+".join(json.loads(row["tags"])) == row["reason"]
        assert row["is_again"] == (row["high_days"] != "首板")
    assert rows["detail"].isna().all()
    assert rows["seal_rate"].between(0, 1).all()


def test_reasons_and_pools_of_one_run_share_their_calls(lite: Services) -> None:
    fail(lite, POOLS_DOWN)
    lite.raw("raw_limit_pool")

    assert lite.raw("raw_limitup_reason").calls == {}


def test_hot_stocks_hold_four_lists_side_by_side(services: Services) -> None:
    loaded = services.raw("raw_hot_stocks")

    rows = services.warehouse.frame("raw_hot_stocks")
    # The social site is asked twice, with a visit of two pages between.
    assert loaded.calls == {"eastmoney": 2, "ths": 2, "xueqiu": 4}
    assert set(rows["list_type"]) == {"em_rank", "ths_hot", "ths_strong", "xq_follow"}
    ranked = rows[rows["list_type"] == "em_rank"].sort_values("rank_no")
    assert ranked["rank_no"].tolist() == list(range(1, len(ranked) + 1))
    assert ranked["name"].notna().all()
    assert set(ranked["snapshot_time"]) == {f"{TODAY} 15:45:00"}
    assert rows[rows["list_type"] == "ths_strong"]["rank_no"].isna().all()
    fail(services, {"upstream": "ths", "call": "*", "kind": "status", "args": {"code": 503}})
    again = services.raw("raw_hot_stocks")
    assert "ths" in [item["src"] for item in again.sources if item.get("error")]
    assert len(services.warehouse.frame("raw_hot_stocks")) == len(
        rows
    )  # lists of the site that did not answer stay


def test_a_past_date_has_strong_stocks_and_no_ranking(lite: Services) -> None:
    loaded = lite.raw("raw_hot_stocks", BEFORE)

    assert loaded.calls == {"ths": 1}
    assert set(lite.warehouse.frame("raw_hot_stocks")["list_type"]) == {"ths_strong"}


@pytest.fixture
def lite(tmp_path: Path, sample_world: World) -> Iterator[Services]:
    with opened_services(f"sqlite:///{tmp_path / 'warehouse.sqlite3'}", tmp_path, sample_world) as opened:
        yield opened


@pytest.fixture(scope="module")
def shared_day(tmp_path_factory: pytest.TempPathFactory, sample_world: World) -> Iterator[Services]:
    """Bars of five dates, their pools, and everything of the newest."""
    folder = tmp_path_factory.mktemp("day")
    with opened_services(f"sqlite:///{folder / 'warehouse.sqlite3'}", folder, sample_world) as services:
        services.master()
        services.fuse("exright", *DATES)
        services.fuse("kline_daily", *DATES)
        services.raw("raw_limit_pool", *DATES)
        services.day()
        yield services


@pytest.fixture
def loaded_day(shared_day: Services) -> Services:
    """The shared day with the pools as they came."""
    fail(shared_day)
    with shared_day.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM raw_limit_pool")
    shared_day.raw("raw_limit_pool", *DATES)
    return shared_day


def test_the_wide_table_takes_streaks_from_the_pools_and_the_rest_from_bars(loaded_day: Services) -> None:
    loaded_day.fuse("stock_wide")
    wide = loaded_day.warehouse.frame("fusion_stock_wide").set_index("code")
    pools = loaded_day.warehouse.frame("raw_limit_pool")
    newest = pools[pools["pool"] == "up"].sort_values("trade_date").drop_duplicates("code", keep="last")
    assert len(newest) >= 2

    for row in newest.to_dict("records"):
        found = wide.loc[row["code"]]
        assert (found["zt_stat_latest"], found["seal_fund_latest"]) == (row["zt_stat"], row["seal_fund"])
        assert found["limit_days_today"] == (row["limit_days"] if row["trade_date"] == TODAY else 0)
    others = wide.drop(index=newest["code"])
    assert others[["zt_stat_latest", "seal_fund_latest"]].isna().all().all()
    assert (others["limit_days_today"] == 0).all()
    assert wide["limit_up_count_20d"].isna().all()  # five of twenty sessions are loaded
    broken = pools[pools["pool"] == "broken"]["code"]
    assert (wide.loc[broken, "break_fail_days_5d"] >= 1).all()


def test_the_pool_corrects_what_bars_would_say(loaded_day: Services) -> None:
    """The first of two boards lies before the stored bars; and one bar's limit was not sealed."""
    services = loaded_day
    ups = services.warehouse.rows("raw_limit_pool", ANY.pool == "up", ANY.trade_date == TODAY)
    code = ups[0]["code"]
    services.fuse("stock_wide")
    before = services.warehouse.rows("fusion_stock_wide", ANY.code == code)[0]
    assert before["break_fail_days_5d"] is not None
    with services.warehouse.engine.begin() as connection:
        connection.exec_driver_sql(
            f"UPDATE raw_limit_pool SET limit_days=5, zt_stat='6天5板' WHERE code='{code}' AND pool='up'"
            f" AND trade_date='{TODAY}'"
        )
        connection.exec_driver_sql(
            f"UPDATE raw_limit_pool SET pool='broken' WHERE code='{code}' AND pool='up'"
            f" AND trade_date='{BEFORE}'"
        )
    services.fuse("stock_wide")

    after = services.warehouse.rows("fusion_stock_wide", ANY.code == code)[0]
    assert (after["limit_days_today"], after["zt_stat_latest"]) == (5, "6天5板")
    assert after["break_fail_days_5d"] == before["break_fail_days_5d"] + 1


def test_without_pools_bars_count_and_the_queue_is_unknown(loaded_day: Services) -> None:
    with loaded_day.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM raw_limit_pool")
    loaded_day.fuse("stock_wide")
    loaded_day.fuse("market_cloud_map")

    wide = loaded_day.warehouse.frame("fusion_stock_wide")
    assert wide["limit_days_today"].max() >= 2
    assert wide[["zt_stat_latest", "seal_fund_latest"]].isna().all().all()
    # A map without a pool does not say that nobody was at the limit.
    assert {row["limit_up_count"] for row in cloud(loaded_day).values()} == {None}


def cloud(services: Services) -> dict[str, dict[str, object]]:
    return {row["node_code"]: row for row in services.warehouse.rows("fusion_market_cloud_map")}


def test_the_tree_map_adds_up(loaded_day: Services) -> None:
    loaded = loaded_day.fuse("market_cloud_map")

    assert loaded.calls == {"eastmoney": 2}  # the other tables of a run share both lists
    rows = loaded_day.warehouse.frame("fusion_market_cloud_map")
    assert (rows["quality"] == "ok").all()
    root, sectors, stocks = (rows[rows["level"] == level] for level in ("market", "sector", "stock"))
    assert (len(root), set(sectors["parent_code"])) == (1, {"ROOT"})
    assert set(stocks["parent_code"].dropna()) == set(sectors["node_code"])
    for column in ("market_cap_yi", "up_count", "down_count", "limit_up_count"):
        assert root[column].iloc[0] == pytest.approx(sectors[column].sum(), abs=0.05 * len(sectors))
    assert sectors["market_cap_yi"].sum() == pytest.approx(stocks["market_cap_yi"].sum(), abs=0.5)
    assert sorted(sectors["rank_no"]) == list(range(1, len(sectors) + 1))
    assert sectors.sort_values("rank_no")["change_pct"].is_monotonic_decreasing
    assert sectors["change_pct_5d"].notna().any()
    ups = loaded_day.warehouse.rows("raw_limit_pool", ANY.pool == "up", ANY.trade_date == TODAY)
    assert set(stocks[stocks["limit_up_count"] == 1]["node_code"]) == {row["code"] for row in ups}
    stamps = rows["snapshot_time"].dropna()
    assert stamps.between(f"{TODAY} 15:00:00", f"{TODAY} 15:45:00").all()  # after the close, each its own


@pytest.mark.parametrize("last", ["tencent", "derived"])
def test_the_map_of_who_stands_in_tells_the_same(loaded_day: Services, last: str) -> None:
    loaded_day.fuse("market_cloud_map")
    portal = cloud(loaded_day)
    fail(loaded_day, LIST_DOWN, *([RANK_DOWN] if last == "derived" else []))

    # The portal's values stay.
    assert written(loaded_day.fuse("market_cloud_map")) == 0
    forget(loaded_day)
    loaded_day.fresh()
    loaded = loaded_day.fuse("market_cloud_map")

    own = cloud(loaded_day)
    assert [item["src"] for item in loaded.sources if item.get("rows")] == [last]
    assert own.keys() == portal.keys()
    assert {row["src"] for row in own.values()} == {last}
    for code, row in own.items():
        for column in ("parent_code", "name", "up_count", "leader_code", "limit_up_count"):
            assert row[column] == portal[code][column], (code, column)
        assert row["change_pct"] == pytest.approx(portal[code]["change_pct"], abs=0.02)
        assert row["market_cap_yi"] == pytest.approx(portal[code]["market_cap_yi"], abs=0.5)
        assert (row["main_net"] is None) == (portal[code]["main_net"] is None)
    assert all(row["change_pct_5d"] is None for row in own.values())
    forget(loaded_day)


def forget(services: Services) -> None:
    """Take the map away."""
    with services.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM fusion_market_cloud_map")


def test_a_ranking_of_another_session_is_refused(loaded_day: Services) -> None:
    with loaded_day.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE fusion_kline_daily SET close = close + 1")
    fail(loaded_day, LIST_DOWN)

    loaded = loaded_day.fuse("market_cloud_map")

    with loaded_day.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE fusion_kline_daily SET close = close - 1")
    asked = {item["src"]: item for item in loaded.sources}
    assert f"prices are those of {TODAY}" in asked["tencent"]["reason"]
    assert asked["derived"]["rows"] > 50


def test_sectors_keep_the_portals_codes_beside_boards_of_the_terminal(loaded_day: Services) -> None:
    boards = loaded_day.warehouse.frame("raw_concept_blocks").query("block_type == 'industry'")
    first = boards.sort_values("code").drop_duplicates("block_name").sort_values("code")["code"].iloc[0]
    with loaded_day.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE raw_concept_blocks SET src='tdx', block_code='880001'"
                                   f" WHERE block_type='industry' AND code='{first}'")  # fmt: skip
    forget(loaded_day)
    fail(loaded_day, LIST_DOWN, RANK_DOWN)

    loaded_day.fuse("market_cloud_map")

    sectors = {code for code, row in cloud(loaded_day).items() if row["level"] == "sector"}
    assert sectors
    assert sectors <= set(boards["block_code"])


def test_too_few_sectors_are_reported(loaded_day: Services) -> None:
    with loaded_day.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM raw_concept_blocks WHERE block_type='industry'")
    fail(loaded_day, LIST_DOWN)

    loaded = loaded_day.fuse("market_cloud_map")

    assert "sectors, at least" in loaded.whole[TODAY][0].message


def test_the_map_of_a_past_date_has_the_names_of_then(loaded_day: Services) -> None:
    """Its quotes come from bars, which have no names."""
    past, where = BEFORE, ANY.trade_date == BEFORE
    loaded_day.fuse("exright", past)
    loaded_day.fuse("kline_daily", past)
    loaded_day.raw("raw_quote", past)
    loaded_day.stage("quote_snapshot", past)
    loaded_day.fuse("quote_snapshot", past)
    assert {row["name"] for row in loaded_day.warehouse.rows("fusion_quote_snapshot", where)} == {None}

    loaded_day.fuse("market_cloud_map", past)

    rows = loaded_day.warehouse.rows("fusion_market_cloud_map", where)
    stocks = [row for row in rows if row["level"] == "stock"]
    assert len(stocks) > 50
    assert all(row["name"] for row in stocks)
    assert {row["src"] for row in rows} == {"derived"}
