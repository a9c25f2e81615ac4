"""`POST /datamgr/download/{code}` through the API, the worker, a Dagster run and the simulated upstreams."""

import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest

from core.clock import FrozenClock
from schedules.commands.worker import Worker
from schedules.services import Services
from serving_api.app import create_app
from serving_api.framework.system_time import SystemTime
from simulated_market.faults import FaultPlan
from tests.definitions.conftest import BANK, NOW
from tests.definitions.in_process import InProcessRuns
from tests.serving_api import market
from tests.serving_api.client import running
from tests.serving_api.conftest import ADMIN, FAST, Ticks, bearer, make_settings

Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def ask(services: Services, runner: InProcessRuns) -> Iterator[Ask]:
    """Asks the route while a worker works; gives back the answer's `results`."""
    folder = services.settings.data_path
    url = services.settings.warehouse_address
    ticks = Ticks()
    app = create_app(
        make_settings(folder, command_wait_sec=120.0),
        clock=FrozenClock(datetime.fromisoformat(NOW)),
        system=SystemTime(wall=ticks.wall, monotonic=ticks.wall),
        warehouse_reader=market.open_warehouse(url, folder, read_only=True),
        warehouse_writer=market.open_warehouse(url, folder),
        passwords=FAST,
    )
    with running(app) as api:
        token = api.post("/auth/login", json=ADMIN).json()["access_token"]
        worker = Worker(services, runner)

        def asked(code: str, types: str) -> dict[str, Any]:
            answers = []
            path = f"/datamgr/download/{code}"
            send = threading.Thread(
                target=lambda: answers.append(api.post(path, params={"types": types}, headers=bearer(token)))
            )
            send.start()
            while send.is_alive():
                worker.work_once()
                send.join(0.05)
            assert answers[0].status_code == 200, answers[0].text
            found: dict[str, Any] = answers[0].json()["results"]
            return found

        yield asked


def dates(services: Services, table: str, code: str = BANK) -> list[str]:
    with services.engine.connect() as connection:
        return [
            row[0]
            for row in connection.exec_driver_sql(
                f"SELECT DISTINCT date FROM {table} WHERE code='{code}' ORDER BY date"
            )
        ]


@pytest.mark.parametrize(
    ("kind", "code", "fewest"),
    [
        ("fund_flow", BANK, 100),
        pytest.param("valuation", BANK, 100, marks=pytest.mark.soak),
        pytest.param("margin", "600041", 100, marks=pytest.mark.soak),
    ],
)
def test_a_code_comes_with_its_history(
    services: Services, ask: Ask, kind: str, code: str, fewest: int
) -> None:
    found = ask(code, kind)

    part = found["details"][kind]
    assert part["status"] == "success", part
    assert part["total"] >= fewest
    (fused,) = found["fusion"]["results"]
    assert len(dates(services, f"fusion_{fused}", code)) >= fewest
    assert ask(code, kind)["details"][kind]["saved"] == 0


@pytest.mark.parametrize(
    "kind",
    [
        "dragon_tiger",
        *(pytest.param(kind, marks=pytest.mark.soak) for kind in ("block_trade", "aux_dzjy", "aux_lhb")),
    ],
)
def test_events_of_a_year_or_none_at_all(services: Services, ask: Ask, kind: str) -> None:
    reported = {code: ask(code, kind) for code in ("600040", "600041", "600042", "600044")}

    for code, found in reported.items():
        part = found["details"][kind]
        assert part["status"] == "success", part
        if part["total"] == 0:
            assert f"answered without rows of {code}" in part["message"]
            assert f"answered without rows of {code}" in found["message"]
            assert found["fusion"] is None
    table = kind if kind.startswith("aux_") else f"raw_{kind}"
    loaded = [code for code, found in reported.items() if found["total"]]
    assert any(dates(services, table, code)[0] < "2026-08-01" for code in loaded)


def test_no_rows_from_who_answered_is_no_failure(services: Services, ask: Ask) -> None:
    found = ask("999999", "quote")

    part = found["details"]["quote"]
    assert (found["status"], found["total"], found["fusion"]) == ("success", 0, None)
    assert (part["status"], part["total"]) == ("success", 0)
    assert "answered without rows of 999999" in part["message"]


def test_failed_is_when_every_source_failed(services: Services, ask: Ask, faults: FaultPlan) -> None:
    faults.replace(
        [
            {"upstream": name, "call": "*", "kind": "reset", "args": {}, "count": 0}
            for name in ("tdx", "tencent", "eastmoney")
        ]
    )

    found = ask(BANK, "margin")

    assert (found["status"], found["details"]["margin"]["status"]) == ("failed", "failed")
    assert found["details"]["margin"]["message"]
