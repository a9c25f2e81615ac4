"""The command `load_watched`, end to end: worker, Dagster runs, pipeline, simulated upstreams as they are in
the autumn of 2026."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from resources.warehouse.ledger.commands import Command
from resources.warehouse.ledger.watch_costs import calls_of_codes
from resources.warehouse.ledger.watch_list import WatchList
from schedules.commands.worker import Worker
from schedules.services import Services
from simulated_market.faults import FaultPlan
from simulated_market.world.loader import load_world
from tests.definitions.conftest import BANK, NOW, opened
from tests.definitions.in_process import InProcessRuns

FUND, INDEX, SINCE = "510001", "sh000300", "2025-11-03"
NEWEST = "2026-08-21"


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, faults: FaultPlan) -> Iterator[Services]:
    with opened(tmp_path, monkeypatch, faults, state="autumn-2026") as made:
        yield made


def load(services: Services, runner: InProcessRuns, **args: object) -> Command:
    asked = services.commands.enqueue("load_watched", args, requested_by="admin")
    Worker(services, runner).work_once()
    with services.engine.begin() as connection:  # what follows from bars has tests of its own
        connection.exec_driver_sql("UPDATE sys_command SET status='canceled' WHERE command='calculations'")
    return services.commands.get(asked.id)


def rows(services: Services, statement: str) -> list[tuple[object, ...]]:
    with services.engine.connect() as connection:
        return [tuple(row) for row in connection.exec_driver_sql(statement)]


def closes_of_the_market(symbol: str) -> list[tuple[str, float]]:
    """The bars of the simulated market since SINCE, by its own arrays."""
    world = load_world("synthetic", "S", state="autumn-2026")
    security = world.find(symbol)
    assert security is not None
    bars = world.bars(security, datetime.fromisoformat(NOW))
    scale = 10_000
    found = []
    for day, close in zip(bars.date.tolist(), bars.close.tolist(), strict=True):
        text = f"{day // 10_000}-{day // 100 % 100:02}-{day % 100:02}"
        if text >= SINCE:
            found.append((text, close / scale))
    return found


def test_a_watch_list_is_loaded_code_by_code_and_grows(services: Services, runner: InProcessRuns) -> None:
    done = load(services, runner, codes=[BANK, FUND, INDEX], since=SINCE)

    assert (done.status, done.error) == ("success", None), done.result
    assert {one.code: one.loaded_until for one in WatchList(services.engine).all()} == {
        BANK: NEWEST,
        FUND: NEWEST,
        INDEX: NEWEST,
    }
    for code, symbol in ((BANK, "sh600040"), (FUND, "sh510001")):
        stored = rows(
            services, f"SELECT date, close FROM fusion_kline_daily WHERE code='{code}' ORDER BY date"
        )
        assert stored == closes_of_the_market(symbol)
    stored = rows(services, f"SELECT date FROM fusion_index_daily WHERE code='{INDEX}' ORDER BY date")
    assert stored[0] == (SINCE,)
    assert stored[-1] == (NEWEST,)
    for table in ("fusion_kline_daily", "fusion_stock_master", "fusion_quote_snapshot", "fusion_valuation"):
        assert {code for (code,) in rows(services, f"SELECT DISTINCT code FROM {table}")} <= {BANK, FUND}
    for table in ("ref_exright", "fusion_finance_indicator", "fusion_dividend", "fusion_holder",
                  "fusion_announcement"):  # fmt: skip
        assert (BANK,) in rows(services, f"SELECT DISTINCT code FROM {table}"), table

    # The years of a code are batches of their own, none of the market; the newest date is one of the market.
    keys = rows(services, "SELECT partition_key FROM sys_batch WHERE table_name='fusion_kline_daily' "
                          "AND status='success' ORDER BY partition_key")  # fmt: skip
    assert len(keys) <= 5
    assert (NEWEST,) in keys
    assert (f"{SINCE}..2025-12-31",) in keys

    # What a plan says is no less than what is asked.
    planned = calls_of_codes(2, 1, 1.0)
    made = rows(services, "SELECT upstream, COUNT(*) FROM sys_fetch GROUP BY upstream")
    assert [(name, count) for name, count in made if int(str(count)) > planned.get(str(name), 0)] == []

    grown = load(services, runner, codes=["600041"], since="2026-05-06")
    assert (grown.status, grown.error) == ("success", None), grown.result
    first = rows(services, "SELECT MIN(date), COUNT(*) > 70 FROM fusion_kline_daily WHERE code='600041'")
    assert first == [("2026-05-06", 1)]
    assert rows(services, "SELECT COUNT(*) > 70 FROM fusion_margin WHERE code='600041'") == [(1,)]


def test_an_unlisted_code_is_named_and_not_watched(services: Services, runner: InProcessRuns) -> None:
    done = load(services, runner, codes=[BANK, "600999"], since="2026-08-03")

    assert done.status == "failed"
    assert "600999" in str(done.error)
    assert [one.code for one in WatchList(services.engine).all()] == [BANK]
