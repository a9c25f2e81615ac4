"""A day whose session goes on is refused by name, through every door by which a day is loaded."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from core.clock import FrozenClock
from core.declaration.registry import builtin_registry
from core.declaration.rules import Partition
from core.declaration.trade_days import HONG_KONG
from platform_assets.task_table import TASKS
from schedules.commands.worker import Worker
from schedules.services import Services
from serving_api.app import create_app
from simulated_market.faults import FaultPlan
from tests.definitions.conftest import BANK, opened
from tests.definitions.in_process import InProcessRuns
from tests.definitions.test_sync_runs import carried_out, rows
from tests.serving_api.client import running
from tests.serving_api.conftest import ADMIN, bearer, make_settings

DAY = "2026-08-21"


@pytest.fixture(params=["11:00", "15:29"])
def services(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, faults: FaultPlan
) -> Iterator[Services]:
    with opened(tmp_path, monkeypatch, faults, now=f"{DAY}T{request.param}") as made:
        yield made


def stored_today(services: Services) -> dict[str, int]:
    """Rows of the day in every table by trade date."""
    registry = builtin_registry()
    found = {}
    for table in registry.tables:
        days = registry.trade_days.get(table.name)
        if days is None or days.partition is not Partition.TRADE_DATE:
            continue
        statement = f"SELECT COUNT(*) FROM {table.name} WHERE {table.date_column}='{DAY}'"
        found[table.name] = rows(services, statement)[0][0]
    return {name: count for name, count in found.items() if count}


def test_no_job_stores_half_a_day(services: Services, runner: InProcessRuns) -> None:
    for job in ("fusion_kline_sync", "eod_core", "kline_daily", "calculations"):
        done = carried_out(services, runner, job, partition_key=DAY)

        assert done.status == "failed"
        assert stored_today(services) == {}, job
        if job != "calculations":
            reasons = rows(services, "SELECT error FROM sys_command ORDER BY id DESC LIMIT 1")
            assert f"{DAY} of " in reasons[0][0]
            assert "is complete from 15:30 on (A shares); it is " in reasons[0][0]

    # What is of the session itself, or of no day, is loaded.
    assert rows(services, "SELECT COUNT(*) FROM ref_trade_calendar")[0][0] > 0


def test_no_download_stores_half_a_day(services: Services, runner: InProcessRuns) -> None:
    for name, args in {
        "download": {"codes": [BANK], "types": ["quote", "valuation", "fund_flow", "kline"], "date": DAY},
        "download_market": {"name": "exchange_overview", "date": DAY},
        "fusion_sync": {"date": DAY, "codes": [BANK]},
        "quant_recalc": {"date": DAY, "parts": ["indicators"]},
    }.items():
        asked = services.commands.enqueue(name, args, requested_by="admin")
        Worker(services, runner).work_once()

        done = services.commands.get(asked.id)
        assert "is complete from 15:30 on" in f"{done.error}{done.result}", (name, done)
        assert stored_today(services) == {}
    newest = rows(services, f"SELECT MAX(date) FROM raw_kline WHERE code='{BANK}'")
    assert newest == [("2026-08-20",)]


def test_the_bar_of_the_week_is_left_as_it_was(services: Services, runner: InProcessRuns) -> None:
    done = carried_out(services, runner, "kline_bar_sync", tags={"app/codes": BANK})

    assert (done.status, done.error) == ("success", None)
    open_bars = f"SELECT period, date FROM fusion_kline_bar WHERE code='{BANK}' AND last_date>='{DAY}'"
    assert rows(services, open_bars) == []
    assert rows(services, f"SELECT COUNT(*) FROM fusion_kline_bar WHERE code='{BANK}'")[0][0] > 100


def test_routes_name_the_date(services: Services, tmp_path: Path) -> None:
    services.tasks.publish(TASKS)
    settings: dict[str, Any] = {"warehouse_url": f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"}
    app = create_app(
        make_settings(tmp_path, **settings), clock=FrozenClock(datetime.fromisoformat(f"{DAY}T11:00"))
    )
    with running(app) as api:
        token = api.post("/auth/login", json=ADMIN).json()["access_token"]
        for path, body in {
            "/datamgr/schedule/fusion_kline_sync/run": {"date": DAY},
            "/datamgr/schedule/eod_core/run": {"date": DAY},
            "/datamgr/download/market/exchange_overview": {"date": DAY},
            "/quant/recalc": {"date": DAY},
        }.items():
            answer = api.post(path, json=body, headers=bearer(token))

            assert answer.status_code == 422, (path, answer.text)
            assert "date" in answer.text
            assert "is complete from 15:30 on" in answer.text


def test_every_market_has_its_own_moment() -> None:
    declared = builtin_registry().trade_days
    now = datetime.fromisoformat(f"{DAY}T15:30")

    assert declared["fusion_kline_daily"].unfinished((DAY,), now) is None
    assert declared["raw_northbound"].market is HONG_KONG
    assert "16:10" in str(declared["raw_northbound"].unfinished((DAY,), now))
    for table in ("fusion_news", "fusion_announcement", "calc_breadth_sample", "fusion_stock_master"):
        assert declared[table].unfinished((DAY,), datetime.fromisoformat(f"{DAY}T09:00")) is None
