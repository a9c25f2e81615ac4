"""A company that goes on under another code: found, not delisted, its history joined, read under both."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.declaration.registry import builtin_registry
from resources.simulated_market.world.loader import load_world
from resources.warehouse.warehouse import Warehouse
from serving_api.app import create_app
from tests.pipeline.conftest import Services, opened_services
from tests.serving_api.client import running
from tests.serving_api.conftest import make_settings

BEFORE, DAY = "2026-09-15", "2026-09-16"
OLD, NEW = "003061", "001991"


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    world = load_world("synthetic", "S", state="autumn-2026")
    with opened_services(f"sqlite:///{tmp_path / 'warehouse.sqlite3'}", tmp_path, world, BEFORE) as opened:
        yield opened


def test_a_code_is_replaced_by_another(services: Services, tmp_path: Path) -> None:
    services.master(BEFORE)
    services.bars(BEFORE)
    services.at(DAY)
    services.raw("raw_quote", DAY)
    services.fuse("code_change", DAY)
    services.stage("stock_master", DAY)
    services.fuse("stock_master", DAY)

    (change,) = services.warehouse.rows("ref_code_change", where="src=?", values=("quotes",))
    assert (change["code"], change["new_code"], change["date"]) == (OLD, NEW, DAY)
    status = {
        row["code"]: (row["list_status"], row["delist_date"])
        for row in services.warehouse.rows("fusion_stock_master", where="code IN (?, ?)", values=(OLD, NEW))
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
    stored = services.warehouse.rows("fusion_kline_daily", where="code=?", values=(NEW,))
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
    assert old["renumbered"] == {"from": OLD, "to": NEW, "date": DAY}
    assert "renumbered" not in quiet.json()
