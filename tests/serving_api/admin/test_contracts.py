"""Contracts: what a declaration promises, beside what the batches say of it."""

from typing import Any

from core.declaration.registry import builtin_registry
from platform_assets.task_table import TASKS
from resources.warehouse.ledger.tasks_state import TaskTable
from tests.serving_api.admin.conftest import TODAY, FetchContext

PATH = "/datamgr/contracts"


def batch(ctx: FetchContext, batch_id: str, table: str, at: str, **facts: Any) -> None:
    values = {
        "batch_id": batch_id,
        "table_name": table,
        "status": "success",
        "partition_key": at[:10],
        "rows_ok": 3,
        "rows_warning": 1,
        "finished_at": at,
        **facts,
    }
    marks = ", ".join("?" for _ in values)
    ctx.execute(f"INSERT INTO sys_batch ({', '.join(values)}) VALUES ({marks})", *values.values())


def standing(ctx: FetchContext, name: str) -> tuple[str, Any]:
    found = {item["dataset"]: item for item in ctx.results(PATH)}[name]
    return found["status"], found["last_success"]


def test_every_dataset_has_a_contract(lite: FetchContext) -> None:
    TaskTable(lite.warehouse.engine).publish(TASKS)
    names = {dataset.name for dataset in builtin_registry().datasets.values() if dataset.tables()}

    answer = lite.get(PATH).json()

    assert {item["dataset"] for item in answer["results"]} == names
    assert (answer["total"], answer["stats"]["total"]) == (len(names), len(names))
    assert {item["status"] for item in answer["results"]} == {"late"}
    for name in sorted(names):
        found = lite.results(f"{PATH}/{name}")
        assert found["columns"]
        assert set(found["key"]) <= {column["name"] for column in found["columns"]}
        assert found["completeness"]["rule"]
    # What no load fills has nothing to promise.
    assert names < set(builtin_registry().datasets)
    assert lite.get(f"{PATH}/notes").status_code == 404


def test_a_contract_says_schema_units_sources_and_rules(lite: FetchContext) -> None:
    TaskTable(lite.warehouse.engine).publish(TASKS)
    TaskTable(lite.warehouse.engine).retime("fusion_daily_sync", 1730, by="t", now=lite.clock.now())
    lite.execute(
        "INSERT INTO sys_config (config_key, value) VALUES (?, ?)", "data.cleanup.retention_days", "400"
    )

    found = lite.results(f"{PATH}/margin")
    columns = {column["name"]: column for column in found["columns"]}

    assert set(found["tables"]["raw"]) == {"raw_margin", "aux_rzrq", "exchange_margin"}
    assert (found["tables"]["stg"], found["tables"]["dwd"]) == ("stg_margin", "fusion_margin")
    assert found["cadence"] == {"partition": "trade_date", "task": "fusion_daily_sync", "time": "17:30"}
    assert (columns["rzye"]["type"], columns["rzye"]["unit"], columns["rzye"]["nullable"]) == (
        "float",
        "CNY",
        False,
    )
    assert columns["rzye"]["checks"] == ["not null", ">= 0"]
    assert columns["code"]["checks"][0] == "key"
    assert found["key"] == ["code", "date"]
    assert {"exchange_margin", "raw_margin", "aux_rzrq"} == {source["table"] for source in found["sources"]}
    assert all(source["call"] and source["priority"] >= 1 for source in found["sources"])
    assert (found["fusion"]["mode"], found["fusion"]["order"]) == (
        "field",
        list(builtin_registry().dataset("margin").source_order),
    )
    assert found["freshness"]["kind"] == "trading"
    assert found["retention"] == "stg_margin: 400 days; the other tables are not deleted"
    assert "get_margin" in " ".join(found["interfaces"])
    assert found["checks"]["schema"]
    assert found["completeness"]["expected"] is None


def test_the_status_of_a_dataset_follows_its_batches(bare: FetchContext) -> None:
    bare.execute("INSERT INTO fusion_index_daily (code, date) VALUES (?, ?)", "sh000001", TODAY)
    assert standing(bare, "index_daily") == ("late", None)

    batch(bare, "b0", "fusion_index_daily", "2026-08-20 15:45:00.000000")
    batch(bare, "b1", "fusion_index_daily", f"{TODAY} 15:45:00.000000")
    # The parent of a range repeats what its partitions did.
    batch(bare, "p", "fusion_index_daily", f"{TODAY} 15:45:00.000000", partition_key="a..z", rows_ok=99)
    bare.execute("UPDATE sys_batch SET parent_batch_id='p' WHERE batch_id='b1'")
    reported = {"batch_id": "b1", "partition": TODAY, "at": f"{TODAY}T15:45:00+08:00"}
    assert standing(bare, "index_daily") == ("ok", reported)
    assert bare.results(f"{PATH}/index_daily")["completeness"]["present"] == 4

    batch(bare, "b2", "fusion_index_daily", f"{TODAY} 15:50:00.000000", status="failed")
    assert standing(bare, "index_daily") == ("failing", reported)

    bare.execute("DELETE FROM sys_batch WHERE status='failed'")
    bare.execute("UPDATE fusion_index_daily SET date='2026-08-03'")
    assert standing(bare, "index_daily") == ("late", reported)


def test_the_list_can_be_limited_to_a_layer_and_other_names_are_refused(lite: FetchContext) -> None:
    for layer, lacks in (("stg", "index_daily"), ("dwd", "exright"), ("raw", "index_daily")):
        names = {item["dataset"] for item in lite.results(PATH, layer=layer)}
        assert ("margin" in names, lacks in names) == (True, False)

    assert lite.get(PATH, layer="system").status_code == 422
    assert lite.get(f"{PATH}/nothing").status_code == 404
    assert "nothing" in lite.get(f"{PATH}/nothing").json()["detail"]
