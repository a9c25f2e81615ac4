"""The ledger of ex-rights through Dagster and HTTP: an event whose record comes a day late."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from core.clock import ManualClock
from core.declaration.registry import builtin_registry
from resources.warehouse.warehouse import Warehouse
from schedules.commands.worker import Worker
from schedules.services import Services
from serving_api.app import create_app
from simulated_market.faults import FaultPlan
from tests.definitions.conftest import BANK, opened
from tests.definitions.in_process import InProcessRuns
from tests.definitions.test_sync_runs import carried_out, rows
from tests.serving_api.client import Api, running
from tests.serving_api.conftest import ADMIN, FAST, bearer, make_settings

BEFORE, EX, AFTER = "2026-07-27", "2026-07-28", "2026-07-29"
LATE: dict[str, Any] = {"upstream": "tdx", "call": "xdxr", "kind": "late_record", "args": {"code": BANK}}
NO_PORTAL: dict[str, Any] = {
    "upstream": "eastmoney",
    "call": "report",
    "kind": "status",
    "args": {"code": 503},
}
TOLD, WANTED = 1.070478, 1.299518


class Platform:
    """Services whose day a test moves on."""

    def __init__(
        self, services: Services, clock: ManualClock, patch: pytest.MonkeyPatch, folder: Path
    ) -> None:
        self.services, self.clock, self.patch, self.folder = services, clock, patch, folder

    def on(self, day: str) -> None:
        self.clock.at = datetime.fromisoformat(f"{day}T15:45")
        self.patch.setenv("SAMPLE_NOW", f"{day}T15:45")

    def factors(self) -> dict[str, float]:
        found = rows(self.services, f"SELECT date, adj_factor FROM fusion_kline_daily WHERE code='{BANK}'")
        return {str(day): round(factor, 6) for day, factor in found}

    @contextmanager
    def api(self) -> Iterator[tuple[Api, dict[str, str]]]:
        """The app over the same tables, and the headers of its administrator."""
        url = str(self.services.engine.url.render_as_string(hide_password=False))
        reader = Warehouse(
            url,
            builtin_registry().tables,
            clock=self.clock,
            payload_folder=self.folder / "payloads",
            read_only=True,
        )
        settings = make_settings(self.folder, warehouse_url=url, command_wait_sec=0.0)
        app = create_app(settings, clock=self.clock, warehouse_reader=reader, passwords=FAST)
        with running(app) as api:
            yield api, bearer(api.post("/auth/login", json=ADMIN).json()["access_token"])

    def chart(self) -> dict[str, Any]:
        """The adjusted chart as a reader gets it."""
        with self.api() as (api, _):
            return dict(api.get(f"/stocks/{BANK}/kline?days=30").json())


@pytest.fixture
def platform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, faults: FaultPlan) -> Iterator[Platform]:
    clock = ManualClock(datetime.fromisoformat(f"{BEFORE}T15:45"))
    with opened(tmp_path, monkeypatch, faults, now=f"{BEFORE}T15:45", clock=clock) as services:
        yield Platform(services, clock, monkeypatch, tmp_path)


def synced(platform: Platform, runner: InProcessRuns, day: str) -> None:
    platform.on(day)
    done = carried_out(platform.services, runner, "fusion_kline_sync", partition_key=day)
    assert (done.status, done.error) == ("success", None)


def test_a_record_that_comes_a_day_late(platform: Platform, runner: InProcessRuns, faults: FaultPlan) -> None:
    done = carried_out(platform.services, runner, "security_list", partition_key=BEFORE)
    assert (done.status, done.error) == ("success", None)
    synced(platform, runner, BEFORE)
    faults.replace([LATE, NO_PORTAL])

    synced(platform, runner, EX)

    assert platform.factors() == {BEFORE: TOLD, EX: WANTED}
    shown = platform.chart()
    assert shown["factor"] == "provisional"
    first, second = (bar["close"] for bar in shown["results"][-2:])
    quoted = rows(
        platform.services, f"SELECT change_pct FROM fusion_kline_daily WHERE code='{BANK}' AND date='{EX}'"
    )
    assert second / first - 1 == pytest.approx(quoted[0][0] / 100, abs=1e-4)

    synced(platform, runner, AFTER)

    assert platform.factors() == {BEFORE: TOLD, EX: WANTED, AFTER: WANTED}
    assert platform.chart()["factor"] == "final"
    items = rows(
        platform.services, f"SELECT date, status, closed_by FROM ref_exright_item WHERE code='{BANK}'"
    )
    assert items == [(EX, "closed", "event")]


def test_bars_that_were_stored_without_the_event_are_repaired(
    platform: Platform, runner: InProcessRuns, faults: FaultPlan
) -> None:
    """No site quotes on the ex-date, so that nothing is known of the event until its record comes."""
    carried_out(platform.services, runner, "security_list", partition_key=BEFORE)
    synced(platform, runner, BEFORE)
    mute = [{"upstream": "tdx", "call": call, "kind": "dead"} for call in ("quotes", "snapshots")]
    away = {"upstream": "tencent", "call": "quote", "kind": "status", "args": {"code": 503}}
    faults.replace([LATE, NO_PORTAL, *mute, away])
    platform.on(EX)
    # What the day is without its quotes: the terminal's bars alone.
    carried_out(platform.services, runner, "kline_daily", partition_range=[BEFORE, EX])
    assert platform.factors() == {BEFORE: TOLD, EX: TOLD}
    faults.clear()

    synced(platform, runner, AFTER)
    asked = [one.args for one in platform.services.commands.of_name("run_job", statuses=("queued",))]
    assert sorted((one["job"], *one["partition_range"]) for one in asked) == [
        ("fusion_kline_sync", EX, EX),
        ("recalculations", EX, EX),
    ]
    Worker(platform.services, runner).work_once()

    assert platform.factors() == {BEFORE: TOLD, EX: WANTED, AFTER: WANTED}


def test_a_reason_of_a_person_closes_an_item_and_its_withdrawal_opens_it(
    platform: Platform, runner: InProcessRuns, faults: FaultPlan
) -> None:
    carried_out(platform.services, runner, "security_list", partition_key=BEFORE)
    synced(platform, runner, BEFORE)
    faults.replace([{**LATE, "args": {"code": BANK, "days": 99}}, NO_PORTAL])
    synced(platform, runner, EX)
    worker = Worker(platform.services, runner)
    reason = {"code": BANK, "date": EX, "reason": "a quote of another share", "counts": False}

    with platform.api() as (api, admin):
        (item,) = api.get("/datamgr/exrights?status=open", headers=admin).json()["results"]
        assert (item["code"], item["date"], item["quoted"], item["close_before"]) == (BANK, EX, 6.59, 8.0)
        assert (item["factor"], item["days_open"]) == (pytest.approx(8.0 / 6.59, abs=1e-5), 1)

        asked = api.post("/datamgr/exrights/reason", headers=admin, json=reason)
        assert (asked.status_code, asked.json()["results"]["status"]) == (202, "accepted")
        while worker.work_once():
            pass
        (item,) = api.get("/datamgr/exrights?status=closed", headers=admin).json()["results"]
        assert (item["closed_by"], item["reason"], item["counts"]) == ("reason", reason["reason"], False)
        assert api.get("/datamgr/exrights?status=open", headers=admin).json()["results"] == []
    assert platform.chart()["factor"] == "final"
    assert platform.factors() == {BEFORE: TOLD, EX: TOLD}

    with platform.api() as (api, admin):
        api.post("/datamgr/exrights/withdraw", headers=admin, json={"code": BANK, "date": EX})
        while worker.work_once():
            pass
        (item,) = api.get("/datamgr/exrights?status=open", headers=admin).json()["results"]
        assert (item["reason"], item["counts"], item["closed_on"]) == (None, None, None)
    assert platform.chart()["factor"] == "provisional"
    assert platform.factors() == {BEFORE: TOLD, EX: WANTED}
