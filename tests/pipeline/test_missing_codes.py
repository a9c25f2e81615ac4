"""A source that answers without a code has not answered for it: the next one is asked for exactly that."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from platform_assets.definitions.materialization import partition_metadata
from platform_assets.pipeline.batches import Loaded
from simulated_market.world.loader import load_world
from simulated_market.world.model import World
from tests.pipeline.conftest import Services, opened_services

DAY = "2026-08-12"
TODAY = "2026-08-21"


@pytest.fixture(scope="module")
def autumn() -> World:
    """Of which the quote site has no bars of Beijing."""
    return load_world("synthetic", "S", state="autumn-2026")


@pytest.fixture
def services(tmp_path: Path, autumn: World) -> Iterator[Services]:
    with opened_services(f"sqlite:///{tmp_path / 'warehouse.sqlite3'}", tmp_path, autumn) as opened:
        opened.master(DAY)
        yield opened


def away(upstream: str) -> dict[str, Any]:
    return {"upstream": upstream, "call": "*", "kind": "status", "args": {"code": 503}}


def without_terminal(services: Services, *more: dict[str, Any]) -> Loaded:
    terminal = {"upstream": "tdx", "call": "*bars*", "kind": "dead"}
    services.faults.replace([terminal, away("tdx_packages"), *more])
    services.fresh()
    return services.fuse("kline_daily", DAY)


def beijing(services: Services) -> set[str]:
    rows = services.run.ctx.securities()
    return set(rows.loc[rows["market"] == "BJ", "code"])


def test_beijing_has_its_bars_when_the_terminal_is_dead(services: Services) -> None:
    loaded = without_terminal(services)

    rows = services.warehouse.frame("fusion_kline_daily")
    by_src = rows.groupby("src")["code"].agg(set).to_dict()
    assert len(beijing(services)) > 2
    assert by_src["eastmoney"] == beijing(services)
    assert by_src.keys() == {"tencent", "eastmoney"}
    notes = {item["src"]: item for item in loaded.sources}
    assert set(notes["eastmoney"]["asked_for"]) == beijing(services)
    assert notes["eastmoney"]["calls"] == len(beijing(services))
    assert notes["tencent"]["not_served"] == len(beijing(services))
    assert loaded.not_served == {}


def test_the_source_behind_takes_over_where_the_next_one_is_dead(services: Services) -> None:
    loaded = without_terminal(services, away("eastmoney"))

    rows = services.warehouse.frame("fusion_kline_daily")
    assert set(rows.loc[rows["src"] == "sina", "code"]) == beijing(services)
    assert loaded.not_served == {}
    failed = {item["src"]: item for item in loaded.sources if item.get("error")}
    assert failed.keys() == {"tdx", "tdx_packages", "eastmoney"}
    assert set(failed["eastmoney"]["asked_for"]) == beijing(services)


def test_what_no_source_has_is_named_in_the_batch_and_in_dagster(services: Services) -> None:
    loaded = without_terminal(services, away("sina"), away("eastmoney"))

    missing = beijing(services)
    assert set(loaded.not_served) == missing
    assert not missing & set(services.warehouse.frame("fusion_kline_daily")["code"])
    records = services.warehouse.query(
        "SELECT code, message, failed_count FROM sys_quality_record WHERE check_name='not_served' "
        "AND batch_id=?",
        (loaded.results[-1].batch_id,),
    )
    assert {code for code, _, _ in records if code} == missing
    (summary,) = [(text, count) for code, text, count in records if code is None]
    assert summary == (f"no source answered for {', '.join(sorted(missing))}", len(missing))
    shown = partition_metadata(loaded, loaded.results[-1])
    assert shown["not_served"] == len(missing)
    assert set(str(shown["not_served_codes"]).split(", ")) == missing


def test_a_suspended_code_is_no_missing_one(services: Services) -> None:
    """Its series goes on, without a bar of the date."""
    services.fuse("kline_daily", DAY)
    services.fresh()
    loaded = services.fuse("kline_daily", DAY)

    held = set(services.warehouse.frame("fusion_kline_daily")["code"])
    without = set(services.run.ctx.securities()["code"]) - held
    assert without
    assert loaded.not_served == {}
    assert [item["src"] for item in loaded.sources] == ["tdx"]


def test_a_session_without_a_quote_of_some_codes(services: Services) -> None:
    services.master(TODAY)
    rows = services.run.ctx.terminal_quotes()
    lost = sorted(rows["code"])[:3]
    known = services.run.ctx._memo.values["tdx_quotes"]
    services.run.ctx._memo.values["tdx_quotes"] = (rows[~rows["code"].isin(lost)], *known[1:])

    loaded = services.fuse("kline_daily", TODAY)

    stored = services.warehouse.frame("fusion_kline_daily").set_index("code")["src"].to_dict()
    assert {stored[code] for code in lost if code in stored} <= {"tencent"}
    assert loaded.not_served == {}


def test_an_index_without_a_series_is_asked_of_the_next_source(services: Services) -> None:
    services.faults.replace(
        [{"upstream": "tencent", "call": "bars", "kind": "no_series", "first": 2, "count": 1}]
    )
    loaded = services.fuse("index_daily", DAY)

    rows = services.warehouse.frame("fusion_index_daily").set_index("code")["src"]
    (lost,) = rows.index[rows == "eastmoney"]
    assert set(rows) == {"tencent", "eastmoney"}
    notes = {item["src"]: item for item in loaded.sources}
    # The sample market does not have one of the indices.
    unknown = set(loaded.not_served)
    assert notes["tencent"]["not_served"] == 1 + len(unknown)
    assert set(notes["eastmoney"]["asked_for"]) == {lost, *unknown}
