"""A company that goes on under another code: found, not delisted, its history joined, read under both."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.declaration.registry import builtin_registry
from resources.warehouse.stored import ANY
from resources.warehouse.warehouse import Warehouse
from serving_api.app import create_app
from simulated_market.world.loader import load_world
from tests.pipeline.conftest import Services, opened_services
from tests.serving_api.client import running
from tests.serving_api.conftest import make_settings

BEFORE, DAY, LATER = "2026-09-15", "2026-09-16", "2026-10-12"
OLD, NEW = "003061", "001991"
BEIJING_OLD, BEIJING_NEW = "430921", "920921"


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    world = load_world("synthetic", "S", state="autumn-2026")
    with opened_services(f"sqlite:///{tmp_path / 'warehouse.sqlite3'}", tmp_path, world, BEFORE) as opened:
        yield opened


def changes(services: Services) -> dict[str, tuple[str, str | None, str]]:
    rows = services.warehouse.rows("ref_code_change")
    return {str(row["code"]): (str(row["new_code"]), row["date"], str(row["src"])) for row in rows}


def test_codes_that_were_replaced_before_the_installation_are_known(services: Services) -> None:
    services.at(LATER)
    services.raw("raw_quote", LATER)
    services.fuse("code_change", LATER)

    found = changes(services)
    assert found[OLD] == (NEW, None, "cninfo")
    assert found[BEIJING_OLD] == (BEIJING_NEW, None, "cninfo")
    assert found["833819"] == ("920819", "2025-05-06", "known")
    assert found["000022"] == ("001872", "2018-12-26", "known")
    assert sum(new.startswith("920") and src == "known" for new, _, src in found.values()) == 6


def test_the_site_of_the_ids_is_asked_when_a_code_is_new(services: Services) -> None:
    services.faults.replace([{"upstream": "cninfo", "call": "orgs", "kind": "garbage"}])
    services.at(LATER)
    services.raw("raw_quote", LATER)
    services.fuse("code_change", LATER)
    assert OLD not in changes(services)
    services.stage("stock_master", LATER)
    services.fuse("stock_master", LATER)
    services.faults.clear()
    services.fresh()
    assert "cninfo" not in services.fuse("code_change", LATER).calls
    with services.warehouse.engine.begin() as connection:
        connection.exec_driver_sql(f"DELETE FROM fusion_stock_master WHERE code='{NEW}'")
    services.fresh()
    services.fuse("code_change", LATER)
    assert changes(services)[OLD] == (NEW, None, "cninfo")


def test_a_code_is_replaced_by_another(services: Services, tmp_path: Path) -> None:
    services.master(BEFORE)
    services.bars(BEFORE)
    services.at(DAY)
    services.raw("raw_quote", DAY)
    services.fuse("code_change", DAY)
    services.stage("stock_master", DAY)
    services.fuse("stock_master", DAY)

    assert changes(services)[OLD] == (NEW, DAY, "quotes")
    status = {
        row["code"]: (row["list_status"], row["delist_date"])
        for row in services.warehouse.rows("fusion_stock_master", ANY.code.in_((OLD, NEW)))
    }
    assert status == {OLD: ("R", None), NEW: ("L", None)}
    ((args,),) = services.warehouse.query("SELECT args_json FROM sys_command")
    asked = json.loads(args)
    assert (asked["job"], asked["partition_range"], asked["tags"]) == (
        "history",
        [BEFORE, BEFORE],
        {"app/codes": NEW},
    )

    # What the command's run does.
    services.fresh()
    for name in ("exright", "kline_daily"):
        services.fuse(name, BEFORE, DAY, codes=(NEW,))
    stored = services.warehouse.rows("fusion_kline_daily", ANY.code == NEW)
    assert [row["date"] for row in stored] == [BEFORE, DAY]
    assert stored[1]["last_close"] == stored[0]["close"]

    reader = Warehouse(
        services.warehouse.url, builtin_registry().tables, clock=services.clock, payload_folder=tmp_path,
        read_only=True,
    )  # fmt: skip
    app = create_app(make_settings(tmp_path), clock=services.clock, warehouse_reader=reader)
    with running(app) as api:
        old, new = (api.get(f"/stocks/{code}/kline?days=30").json() for code in (OLD, NEW))
        quiet = api.get(f"/stocks/{NEW}/kline?days=30")
    assert old["results"] == new["results"]
    assert len(old["results"]) == 2
    assert old["renumbered"] == [{"from": OLD, "to": NEW, "date": DAY}]
    assert "renumbered" not in quiet.json()
