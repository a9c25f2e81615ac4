"""One trading day from the wire to the fused tables, through the real client, on both engines."""

import json

import numpy as np
import pytest

from core.errors import QualityError, StorageError
from platform_assets.pipeline.download import AllSourcesFailed
from resources.warehouse.stored import ANY
from simulated_market.world.model import PRICE_UNIT
from tests.pipeline.conftest import TODAY, Services

DATES = ("2026-08-17", "2026-08-18", "2026-08-19", "2026-08-20", "2026-08-21")


def fault(services: Services, **rule: object) -> None:
    services.faults.replace([{"upstream": "tdx", **rule}])


def test_bars_equal_the_world_after_the_rounding_of_the_wire(services: Services) -> None:
    services.master()
    services.fuse("exright", *DATES)
    services.fuse("kline_daily", *DATES)

    frame = services.warehouse.frame("fusion_kline_daily")

    now = services.clock.now()
    compared = 0
    for security in services.world.securities(now):
        if security.kind != "stock":
            continue
        bars = services.world.bars(security, now)
        for place in np.flatnonzero(bars.date >= 20260817):
            day = str(bars.date[place])
            row = frame[
                (frame["code"] == security.code) & (frame["date"] == f"{day[:4]}-{day[4:6]}-{day[6:]}")
            ]
            assert len(row) == 1, (security.symbol, day)
            for column in ("open", "high", "low", "close"):
                assert row[column].iloc[0] == getattr(bars, column)[place] / PRICE_UNIT
            # Day bars carry lots, and every number of the wire is a float32.
            assert abs(int(row["volume"].iloc[0]) - bars.volume[place]) <= 50
            assert row["amount"].iloc[0] == pytest.approx(float(np.float32(bars.amount[place])), abs=0.006)
            if place == 0:
                continue  # a listing day has no previous close; the wire does not carry the issue price
            assert row["last_close"].iloc[0] == pytest.approx(bars.preclose[place] / PRICE_UNIT, abs=0.0101)
            compared += 1
    assert compared > 200


def test_a_day_materialised_twice_asks_again_and_writes_nothing(services: Services) -> None:
    services.master()
    services.fuse("exright")
    first = services.fuse("kline_daily").results[0]
    services.fresh()

    second = services.fuse("kline_daily")

    assert first.rows_written > 50
    assert (second.results[0].rows_written, second.results[0].rows_unchanged) == (0, first.rows_written)
    assert second.calls["tdx"] > 0
    assert second.results[0].content_hash == first.content_hash


def test_quotes_and_bars_of_one_session_agree(services: Services) -> None:
    """Today comes from the quote batch; asked again tomorrow, it comes from the bars."""
    services.master()
    services.fuse("exright")
    today = services.fuse("kline_daily").results[0]
    services.clock.at = services.clock.at.replace(day=24, hour=16)
    services.fresh()

    later = services.fuse("kline_daily", TODAY).results[0]

    assert today.rows_ok + today.rows_warning == later.rows_ok + later.rows_warning
    # Rounding of lots and float32 is the same on both calls, so nothing differs.
    assert later.rows_written == 0


def test_a_corrected_bar_is_one_revision(services: Services) -> None:
    services.master()
    services.fuse("exright", *DATES)
    services.fuse("kline_daily", *DATES)
    code = services.warehouse.rows("fusion_kline_daily", ANY.volume > 0, columns=("code",), limit=1)[0][
        "code"
    ]
    before = services.warehouse.rows("fusion_kline_daily", ANY.code == code, ANY.date == DATES[1])[0]
    services.clock.at = services.clock.at.replace(day=24, hour=10)
    services.fresh()
    fault(
        services,
        call="bars*",
        kind="override_bar",
        args={"code": code, "date": DATES[1], "close": before["low"]},
    )

    results = services.fuse("kline_daily", *DATES).results

    superseded = {result.partition_key: result.rows_superseded for result in results}
    assert superseded[DATES[1]] == 1
    now = services.warehouse.rows("fusion_kline_daily", ANY.code == code, ANY.date == DATES[1])[0]
    assert now["close"] == before["low"]
    then = services.warehouse.rows(
        "fusion_kline_daily", ANY.code == code, ANY.date == DATES[1], as_of=f"{TODAY} 23:59:59.999999"
    )[0]
    assert then["close"] == before["close"]


def test_a_list_cut_at_100_rows_is_refused_before_any_write(services: Services) -> None:
    services.faults.replace([{"upstream": "*", "call": "*list*", "kind": "cut_list", "args": {"rows": 30}}])

    with pytest.raises(AllSourcesFailed):
        services.raw("raw_quote")

    assert services.warehouse.rows("raw_quote") == []
    batch = services.warehouse.rows("sys_batch")[0]
    assert batch["status"] == "failed"
    assert services.warehouse.rows("sys_quality_record")[0]["severity"] == "contract"


def test_volumes_in_another_unit_on_one_board_are_caught_and_replaced(services: Services) -> None:
    """The batch of the terminal is refused as a whole; the next source fills the day, and says why."""
    services.master()
    services.fuse("exright")
    fault(services, call="quotes", kind="lots_for_shares", args={"board": "star"})
    services.fresh()

    loaded = services.fuse("kline_daily")

    refused, used = loaded.sources[0], loaded.sources[1]
    assert (refused["src"], refused["error"]) == ("tdx", "PayloadError")
    assert used["fallback_reason"].startswith("tdx: ")
    star = services.warehouse.rows("fusion_kline_daily", ANY.code.like("688%"))
    assert star
    for row in star:
        assert row["src"] != "tdx"
        assert row["low"] * 0.98 <= row["amount"] / row["volume"] <= row["high"] * 1.02


@pytest.mark.parametrize("board", ["main", "star"])
def test_a_day_that_no_source_can_tell_in_one_unit_is_not_written(services: Services, board: str) -> None:
    """The small board as well: its codes are fewer than may fail of the whole market."""
    services.master()
    services.fuse("exright")
    services.faults.replace(
        [{"upstream": "*", "call": "*", "kind": "lots_for_shares", "args": {"board": board}}]
    )
    services.fresh()

    with pytest.raises(AllSourcesFailed, match=r"lots|shares|unit"):
        services.fuse("kline_daily")

    assert services.warehouse.rows("fusion_kline_daily") == []


@pytest.mark.parametrize("kind", ["reset", "truncate", "empty", "garbage"])
def test_a_broken_upstream_reaches_no_table_and_crashes_nothing(services: Services, kind: str) -> None:
    services.faults.replace([{"upstream": "*", "call": "*", "kind": kind}])

    with pytest.raises(AllSourcesFailed):
        services.raw("raw_quote")

    assert services.warehouse.rows("raw_quote") == []
    assert services.warehouse.rows("sys_batch")[0]["status"] == "failed"


def test_a_terminal_that_answers_without_data_is_stood_in_for(services: Services) -> None:
    services.faults.replace([{"upstream": "tdx", "call": "*", "kind": "dead"}])

    services.raw("raw_quote")

    reported = {str(row["src"]) for row in services.warehouse.rows("raw_quote")}
    assert reported == {"tencent", "eastmoney"}


def test_the_master_knows_boards_pinyin_and_identity(services: Services) -> None:
    services.master()

    rows = {row["code"]: row for row in services.warehouse.rows("fusion_stock_master")}

    assert {row["sec_type"] for row in rows.values()} >= {"stock", "etf"}
    assert not any(row["sec_type"] in {"index", "b"} for row in rows.values())
    star = next(row for row in rows.values() if row["code"].startswith("688"))
    assert (star["board"], star["ts_code"], star["tencent_symbol"]) == (
        "star",
        f"{star['code']}.SH",
        f"sh{star['code']}",
    )
    assert all(row["pinyin_full"].isalnum() for row in rows.values())


def test_limits_and_status_follow_the_dated_rules(services: Services) -> None:
    from core.market.rules import price_limits

    services.master()
    services.fuse("exright", *DATES)
    services.fuse("kline_daily", *DATES)
    master = {row["code"]: row for row in services.warehouse.rows("fusion_stock_master")}
    checked = 0

    for row in services.warehouse.rows("fusion_kline_daily", ANY.sec_type == "stock"):
        if row["limit_up"] is None:
            continue
        st = bool(master[row["code"]]["is_st"])
        up, down = price_limits(row["last_close"], str(master[row["code"]]["board"]), st, row["date"])
        assert (row["limit_up"], row["limit_down"]) == (up, down), row
        expected = "up" if row["close"] == up else "down" if row["close"] == down else None
        if expected and row["volume"]:
            assert row["limit_status"] == expected
        checked += 1
    assert checked > 200


def test_lineage_of_a_range_leads_to_its_responses(services: Services) -> None:
    services.master()
    services.fuse("exright", *DATES)
    services.fuse("kline_daily", *DATES)

    row = services.warehouse.rows("fusion_kline_daily", limit=1)[0]
    batch = services.warehouse.rows("sys_batch", ANY.batch_id == row["batch_id"])[0]
    parent = services.warehouse.rows("sys_batch", ANY.batch_id == batch["parent_batch_id"])[0]
    ids = json.loads(parent["sources_json"])[0]["fetch_ids"]
    own = [f["fetch_id"] for f in services.warehouse.rows("sys_fetch", ANY.batch_id == parent["batch_id"])]

    assert parent["partition_key"] == f"{DATES[0]}..{DATES[-1]}"
    assert ids or own
    fetched = services.warehouse.rows("sys_fetch", ANY.request.like(f"%{row['code']}%"))
    assert fetched
    assert services.warehouse.payloads.get(fetched[0]["body_path"])


@pytest.mark.parametrize("error", [StorageError("the disk is full"), KeyboardInterrupt()])
def test_a_range_that_breaks_off_closes_its_parent_batch(
    services: Services, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    monkeypatch.setattr(
        "platform_assets.pipeline.batches.MAX_ROWS", 1
    )  # each date in a transaction of its own
    services.master()
    done: list[str] = []

    def progress(partition: str) -> None:
        done.append(partition)
        if len(done) == 2:
            raise error

    services.run.progress = progress
    with pytest.raises(type(error)):
        services.fuse("index_daily", *DATES)

    assert services.warehouse.rows("sys_batch", ANY.status == "running") == []
    (parent,) = services.warehouse.rows("sys_batch", ANY.partition_key == f"{DATES[0]}..{DATES[-1]}")
    rows = services.warehouse.rows("fusion_index_daily")
    assert len({row["date"] for row in rows}) == 2
    assert (parent["status"], parent["rows_written"]) == ("failed", len(rows))
    assert parent["error"] == (str(error) or "interrupted")


def test_a_step_without_the_one_before_it_leaves_a_failed_batch(services: Services) -> None:
    for step, table in ((services.stage, "stg_quote_snapshot"), (services.fuse, "fusion_quote_snapshot")):
        with pytest.raises(QualityError, match="stg_quote_snapshot: no"):
            step("quote_snapshot")

        with services.warehouse.connect() as connection:
            found = connection.exec_driver_sql(
                "SELECT status, partition_key, error FROM sys_batch WHERE table_name = "
                f"'{table}' ORDER BY batch_id"
            ).fetchall()
        ((status, partition, error),) = found
        assert (status, partition) == ("failed", TODAY)
        assert "stg_quote_snapshot: no" in error
