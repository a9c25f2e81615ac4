"""Every ledger has a retention or says why it is bounded, and a clean-up deletes what is old and unread."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from core.clock import FrozenClock
from resources.warehouse import ledger_retention
from resources.warehouse.ledger_retention import BOUNDED, RULES, LedgerRetention
from resources.warehouse.system_tables import INFRA_TABLES, SYSTEM_TABLES
from resources.warehouse.warehouse import Warehouse

NOW = datetime(2026, 8, 24, 4, 30)
LONG_AGO, LAST_YEAR, LATELY = "2020-01-02 16:00:00", "2025-06-02 16:00:00", "2026-08-20 16:00:00"
LEDGERS = {table.name for table in (*SYSTEM_TABLES, *INFRA_TABLES) if table.name.startswith("sys_")}


@pytest.fixture
def warehouse(warehouse_url: str, tmp_path: Path) -> Iterator[Warehouse]:
    made = Warehouse(warehouse_url, (), clock=FrozenClock(NOW), payload_folder=tmp_path)
    made.migrate()
    yield made
    made.close()


def put(warehouse: Warehouse, table: str, *rows: Mapping[str, Any]) -> None:
    with warehouse.engine.begin() as connection:
        for row in rows:
            warehouse.sql.put(connection, table, row)


def left(warehouse: Warehouse, table: str, column: str) -> list[Any]:
    return sorted(row[0] for row in warehouse.sql.rows(f"SELECT {column} FROM {table}"))


def remove(warehouse: Warehouse) -> dict[str, int]:
    return LedgerRetention(warehouse.engine).remove(NOW, frozenset(warehouse.tables))


def test_every_ledger_has_a_retention_or_says_what_bounds_it() -> None:
    with_rule = {rule.table for rule in RULES}
    assert with_rule | BOUNDED.keys() == LEDGERS
    assert not with_rule & BOUNDED.keys()


def test_an_empty_warehouse_loses_nothing(warehouse: Warehouse) -> None:
    assert remove(warehouse) == {}


def test_successes_of_a_trade_date_stay_and_the_rest_of_old_runs_goes(warehouse: Warehouse) -> None:
    rows = [
        ("whole_day", "2020-01-02", "2020-01-02", "success", LONG_AGO),  # says that the date is loaded
        ("portfolio_mon", "2020-01-02T10:00", "2020-01-02", "success", LONG_AGO),
        ("portfolio_mon", "2020-01-02T10:30", "2020-01-02", "success", LONG_AGO),
        ("news_sync", "2020-01-02", "2020-01-02", "failed", LONG_AGO),
        ("news_sync", "2020-01-04", None, "skipped", LONG_AGO),
        ("quant_calc", "2020-01-02", "2020-01-02", "running", LONG_AGO),
        ("news_sync", "2026-08-20", "2026-08-20", "failed", LATELY),
    ]
    names = ("task_key", "slot", "trade_date", "status", "slot_at")
    put(warehouse, "sys_slot", *(dict(zip(names, row, strict=True)) for row in rows))

    assert remove(warehouse) == {"sys_slot": 3}
    kept = {(key, slot) for key, slot in warehouse.sql.rows("SELECT task_key, slot FROM sys_slot")}
    assert kept == {
        ("whole_day", "2020-01-02"),
        ("portfolio_mon", "2020-01-02T10:30"),
        ("quant_calc", "2020-01-02"),
        ("news_sync", "2026-08-20"),
    }


def batch(name: str, started: str, *, written: int = 0, **more: Any) -> dict[str, Any]:
    fixed = {"table_name": "fusion_margin", "partition_key": "2020-01-02", "status": "success"}
    return {"batch_id": name, "started_at": started, "rows_written": written, **fixed, **more}


def test_batches_that_rows_or_readers_refer_to_stay(warehouse: Warehouse) -> None:
    put(
        warehouse,
        "sys_batch",
        batch("wrote", LONG_AGO, written=5),
        batch("unchanged", LONG_AGO),
        batch("failed", LONG_AGO, status="failed"),
        batch("parent", LONG_AGO),
        batch("child", LONG_AGO, written=1, parent_batch_id="parent"),
        batch("open", LONG_AGO, status="running"),
        batch("newest", LAST_YEAR),
        batch("alone", LONG_AGO, partition_key="2020-01-03"),
    )
    checks = [{"batch_id": name, "check_name": "not_null"} for name in ("wrote", "newest")]
    put(warehouse, "sys_quality_record", *checks)
    fetches = [("long ago", LONG_AGO), ("last year", LAST_YEAR)]
    put(warehouse, "sys_fetch", *({"fetch_id": name, "received_at": at} for name, at in fetches))

    assert remove(warehouse) == {"sys_fetch": 1, "sys_quality_record": 1, "sys_batch": 2}
    assert left(warehouse, "sys_batch", "batch_id") == ["alone", "child", "newest", "open", "parent", "wrote"]
    assert left(warehouse, "sys_quality_record", "batch_id") == ["newest"]
    assert left(warehouse, "sys_fetch", "fetch_id") == ["last year"]


def test_ended_work_goes_and_open_work_stays(warehouse: Warehouse) -> None:
    for at, status in ((LONG_AGO, "success"), (LONG_AGO, "queued"), (LATELY, "failed")):
        put(warehouse, "sys_command", {"command": "download", "status": status, "requested_at": at})
        made = {"backfill_id": f"{status} {at[:4]}", "status": status, "created_at": at}
        put(warehouse, "sys_backfill", made)
    put(warehouse, "sys_backfill", {"backfill_id": "repairs", "status": "success", "created_at": LONG_AGO})
    gaps = [("a", "queued", LONG_AGO), ("b", "closed", LONG_AGO), ("c", "closed", LATELY)]
    for dataset, status, at in gaps:
        row = {"dataset": dataset, "partition_key": "2026-08-20", "status": status, "detected_at": at}
        put(warehouse, "sys_gap", {**row, "backfill_id": "repairs"})
    for at in (LONG_AGO, LATELY):
        put(warehouse, "sys_sync_log", {"task_type": "margin", "started_at": at})
        put(warehouse, "sys_live_read", {"name": at, "captured_at": at})
        put(warehouse, "sys_heartbeat", {"node_id": at, "role": "worker", "beat_at": at})

    once = ("sys_sync_log", "sys_command", "sys_backfill", "sys_gap", "sys_live_read", "sys_heartbeat")
    assert remove(warehouse) == dict.fromkeys(once, 1)
    assert left(warehouse, "sys_command", "status") == ["failed", "queued"]
    assert left(warehouse, "sys_backfill", "backfill_id") == ["failed 2026", "queued 2020", "repairs"]
    assert left(warehouse, "sys_gap", "dataset") == ["a", "c"]
    assert remove(warehouse) == {}


def test_the_newest_answer_and_the_newest_version_stay(warehouse: Warehouse) -> None:
    for day in ("2020-01-02", "2020-01-03"):
        put(warehouse, "sys_market_snapshot", {"data_type": "sentiment", "trade_date": day})
    put(warehouse, "sys_batch", batch("one", LONG_AGO, written=1), batch("two", LONG_AGO, written=1))
    put(warehouse, "table_version", {"table_name": "fusion_margin", "version": 2})
    for version, name in ((1, "one"), (2, "two")):
        month = {"table_name": "fusion_margin", "version": version, "month": "2020-01", "batch_id": name}
        put(warehouse, "sys_batch_month", month)

    assert remove(warehouse) == {"sys_batch_month": 1, "sys_market_snapshot": 1}
    assert left(warehouse, "sys_batch_month", "version") == [2]
    assert left(warehouse, "sys_market_snapshot", "trade_date")[0].__str__() == "2020-01-03"


def test_many_rows_go_in_several_transactions(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_retention, "AT_ONCE", 3)
    put(warehouse, "sys_sync_log", *({"task_type": "margin", "started_at": LONG_AGO} for _ in range(8)))
    assert remove(warehouse) == {"sys_sync_log": 8}
