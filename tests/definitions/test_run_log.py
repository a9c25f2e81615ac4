"""Every record of a run names the run, also those of the threads that download for it."""

import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from resources import logs
from resources.redact import redact
from schedules.commands.worker import Worker
from schedules.services import Services
from simulated_market.faults import FaultPlan
from tests.definitions.in_process import InProcessRuns

DAY = "2026-08-21"


class _Kept(logging.Handler):
    """Records in the form in which they are written, each with the name of the thread that made it."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logs.Formatter("worker", redact, as_json=True))
        self.records: list[tuple[str, dict[str, Any]]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append((threading.current_thread().name, json.loads(self.format(record))))


@pytest.fixture
def kept() -> Iterator[_Kept]:
    root, handler = logging.getLogger(), _Kept()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield handler
    root.removeHandler(handler)
    root.setLevel(level)


@pytest.mark.soak
def test_records_of_a_run_carry_its_id_in_every_thread(
    services: Services, runner: InProcessRuns, faults: FaultPlan, kept: _Kept
) -> None:
    faults.replace([{"upstream": "tdx", "call": "bars_*", "kind": "reset", "first": first, "count": 1}
                    for first in (3, 40)])  # fmt: skip
    asked = services.commands.enqueue(
        "run_job", {"job": "eod_core", "partition_key": DAY}, requested_by="admin"
    )

    Worker(services, runner).work_once()

    done = services.commands.get(asked.id)
    assert done.status == "success"
    ours = [
        (thread, record)
        for thread, record in kept.records
        if record["logger"].startswith(("resources", "platform_assets"))
    ]
    without = [record for _, record in ours if record.get("run_id") != done.run_id]
    assert without == []
    # One of the upstream's failures is told by a thread of the pool.
    failures = [item for item in ours if item[1]["logger"] == "resources.transport.gates"]
    assert any(thread != threading.main_thread().name for thread, _ in failures)
    assert all(record["command_id"] == str(asked.id) for _, record in failures)
