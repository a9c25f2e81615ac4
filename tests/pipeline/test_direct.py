"""DATA_SOURCE=direct: the first source of a table is asked, and no other, whatever it says."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from platform_assets.pipeline.download import AllSourcesFailed
from resources.settings import Settings
from resources.warehouse.warehouse import Warehouse
from simulated_market.world.model import World
from tests.pipeline.conftest import TODAY, Services, opened_services

WRONG_UNIT = [{"upstream": "tdx", "call": "quotes", "kind": "lots_for_shares", "args": {"board": "star"}}]


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory, sample_world: World) -> Iterator[Services]:
    """Services whose master data are in; their fetch context asks directly."""
    folder = tmp_path_factory.mktemp("direct")
    with opened_services(f"sqlite:///{folder / 'warehouse.sqlite3'}", folder, sample_world) as opened:
        opened.master()
        opened.fuse("exright")
        opened.run.ctx.direct = True
        opened.fresh()
        yield opened


def sources(warehouse: Warehouse, table: str) -> set[str]:
    return {row["src"] for row in warehouse.rows(table)}


def test_a_second_source_is_not_asked_when_the_first_fails(known: Services) -> None:
    known.faults.replace(WRONG_UNIT)
    known.fresh()

    with pytest.raises(AllSourcesFailed) as failed:
        known.fuse("kline_daily")

    assert [item["src"] for item in failed.value.download.sources] == ["tdx"]
    assert known.warehouse.rows("fusion_kline_daily") == []


def test_the_same_day_falls_back_where_fallback_is_allowed(known: Services) -> None:
    known.faults.replace(WRONG_UNIT)
    known.run.ctx.direct = False
    known.fresh()
    loaded = known.fuse("kline_daily")
    known.run.ctx.direct = True
    known.fresh()

    assert loaded.sources[0]["src"] == "tdx"
    assert loaded.sources[1]["fallback_reason"].startswith("tdx: ")
    assert known.warehouse.rows("fusion_kline_daily")


def test_a_table_that_asks_every_source_asks_one(known: Services) -> None:
    known.faults.replace([])
    known.fresh()
    before = sources(known.warehouse, "raw_quote")

    loaded = known.raw("raw_quote", TODAY)

    assert before > {"tencent"}  # all of them, when the master data were loaded
    assert [item["src"] for item in loaded.sources] == ["tencent"]


def test_a_source_that_does_not_serve_the_scope_is_not_the_first(known: Services) -> None:
    """The quote site has no past days, so the terminal is the first source of one."""
    known.faults.replace([])
    known.fresh()

    try:
        asked = known.raw("raw_quote", "2026-08-18").sources
    except AllSourcesFailed as failed:
        asked = failed.download.sources

    assert [item["src"] for item in asked] == ["tdx"]


def test_the_setting_reaches_the_fetch_context(tmp_path: Path) -> None:
    from core.calendar import shipped_calendar
    from core.clock import SystemClock
    from resources.composition import open_context

    for name, direct in (("direct", True), ("real", False)):
        settings = Settings(data_source=name, data_dir=str(tmp_path))
        ctx = open_context(settings, SystemClock(), shipped_calendar())
        assert ctx.direct is direct
        ctx.close()
