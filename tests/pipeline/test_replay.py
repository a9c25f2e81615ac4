"""A recorded day brings up the same tables, byte for byte, in any order, without an upstream."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.declaration.scope import Scope
from core.errors import InputError, NotFound, Unavailable
from platform_assets.pipeline.recorded_day import main, replay_run
from platform_assets.pipeline.whole_day import load_day
from resources.recordings import RecordedResponses, record
from resources.warehouse.warehouse import Warehouse
from simulated_market.world.model import World
from tests.conftest import SQLITE_OFTEN, engine_url
from tests.pipeline.conftest import TODAY, Services, opened_services

TABLES = (
    "raw_quote", "stg_stock_master", "fusion_stock_master", "ref_name_history", "ref_exright",
    "fusion_kline_daily", "fusion_index_daily", "raw_valuation", "stg_valuation", "fusion_valuation",
    "raw_fund_flow", "stg_fund_flow", "fusion_fund_flow", "stg_quote_snapshot", "fusion_quote_snapshot",
    "raw_margin", "exchange_margin", "raw_announcements", "stg_announcement", "fusion_announcement",
)  # fmt: skip
"""Of every upstream that speaks another protocol or format; the others walk the same way."""
_OWN = {"batch_id", "superseded_by", "last_batch_id"}


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def recorded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, sample_world: World
) -> Iterator[tuple[Services, Path]]:
    folder = tmp_path_factory.mktemp("recorded")
    for url in engine_url(request.param, folder):
        with opened_services(url, folder, sample_world) as services:
            failures = load_day(services.run, Scope((TODAY,)), tables=TABLES)
            assert failures == {}
            record(services.warehouse, TODAY, folder / TODAY)
            yield services, folder / TODAY


@pytest.fixture
def again(recorded: tuple[Services, Path], tmp_path: Path) -> Iterator[str]:
    """Where a recording is replayed into: another database of the same engine."""
    yield from engine_url("sqlite" if recorded[0].warehouse.sqlite else "mariadb", tmp_path)


def content(warehouse: Warehouse) -> dict[str, list[str]]:
    """Every row of every table as it is stored, without the ids that a run draws."""
    found = {}
    for name in TABLES:
        table = warehouse.table(name)
        columns = [column for column in table.names if column not in _OWN]
        rows = warehouse.query(f"SELECT {', '.join(warehouse.sql.name(c) for c in columns)} FROM {name}")
        found[name] = sorted(json.dumps(list(row), ensure_ascii=False, default=str) for row in rows)
    return found


@pytest.mark.parametrize("choose", [min, max])
def test_the_same_tables_in_any_order(recorded: tuple[Services, Path], again: str, choose) -> None:
    services, folder = recorded
    before = services.warehouse.query("SELECT COUNT(*) FROM sys_fetch")
    services.faults.replace([{"upstream": "*", "call": "*", "kind": "reset"}])  # nobody is asked

    run = replay_run(folder, again)
    failures = load_day(run, Scope((TODAY,)), choose=choose, tables=TABLES)

    assert failures == {}
    reported, original = content(run.warehouse), content(services.warehouse)
    for name in TABLES:
        assert reported[name] == original[name], name
        assert reported[name] or name in {"raw_margin", "exchange_margin"}, name
    assert before == services.warehouse.query("SELECT COUNT(*) FROM sys_fetch")
    # What was replayed is a recording again.
    names = run.warehouse.query("SELECT COUNT(DISTINCT request_key) FROM sys_fetch")
    assert names == services.warehouse.query("SELECT COUNT(DISTINCT request_key) FROM sys_fetch")
    run.warehouse.close()


def test_what_nobody_asked_is_not_made_up(recorded: tuple[Services, Path], tmp_path: Path) -> None:
    _, folder = recorded
    run = replay_run(folder, f"sqlite:///{tmp_path / 'again.sqlite3'}")

    with pytest.raises(Unavailable, match="the recording has no answer to tencent"):
        run.ctx.tencent.minute_bars("sh600519")
    with pytest.raises(Unavailable, match="the recording has no answer to tdx"):
        run.ctx.tdx.transactions("sh600519")
    assert "no answer" in load_day(run, Scope((TODAY,)), tables=("raw_lockup",))["raw_lockup"]
    run.warehouse.close()


def test_a_recording_is_made_once_and_of_what_there_is(
    recorded: tuple[Services, Path], tmp_path: Path
) -> None:
    services, folder = recorded

    with pytest.raises(InputError, match="there already"):
        record(services.warehouse, TODAY, folder)
    with pytest.raises(NotFound, match="no upstream response"):
        record(services.warehouse, "2026-08-03", tmp_path / "empty")
    with pytest.raises(NotFound, match="no recording"):
        RecordedResponses(tmp_path)
    marked = services.warehouse.query("SELECT DISTINCT recording FROM sys_fetch")
    assert marked == [(TODAY,)]
    assert main(["load", str(tmp_path), "--into", "sqlite://", "--date", TODAY]) == 1
    # Nothing secret is in it: requests are redacted as they are recorded.
    index = (folder / "index.jsonl").read_text(encoding="utf-8")
    assert "token=" not in index.replace("token=***", "")
    assert len(RecordedResponses(folder)) > 20
