"""Runs whose steps a worker carries out, over a real broker."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from dagster import DagsterInstance

from core.clock import FrozenClock
from resources import tracing
from resources.composition import open_platform
from resources.orchestrator import Orchestrator
from resources.settings import load_settings
from resources.warehouse.ledger.heartbeats import STEP_WORKER
from schedules.runs.launching import LaunchedRuns
from schedules.runs.outcome import RunFate
from schedules.services import Services, make_services
from schedules.supervisor import folders
from simulated_market.faults import FaultPlan
from simulated_market.service import SimulatedMarket
from simulated_market.world.loader import load_world
from tests.cluster.services import own_broker
from tests.conftest import mariadb_database, own_postgres
from tests.schedules.dagster_side import dagster_side
from tests.tracing.collector import Collector, Received, collecting

ROOT = Path(__file__).parents[2]
NOW = "2026-08-21T15:45"
DAY = "2026-08-21"
STEP_WORKER_COMMAND = "celery -A schedules.steps.app worker -Q download,fuse,calc -c 1".split()
PATIENCE_S = 240.0
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as made:
        yield made


@pytest.fixture
def faults() -> FaultPlan:
    return FaultPlan()


@pytest.fixture
def services(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, collector: Collector, faults: FaultPlan
) -> Iterator[Services]:
    """What the processes of a deployment have in common, named in the environment of this one."""
    clock = FrozenClock(datetime.fromisoformat(NOW))
    with (
        own_postgres("cluster") as history,
        own_broker("cluster") as broker,
        SimulatedMarket(load_world("synthetic", "S"), clock, faults) as market,
    ):
        for warehouse in mariadb_database("builtin"):
            host, port = market.tcp_address or ("", 0)
            for name, value in {
                "DATA_DIR": str(tmp_path / "data"),
                "DAGSTER_HOME": str(tmp_path / "data" / "dagster"),
                "DATA_SOURCE": "mock",
                "WAREHOUSE_URL": warehouse,
                "DAGSTER_POSTGRES_URL": history,
                "BROKER_URL": broker,
                "SIMULATOR_URL": market.http_url,
                "SIMULATOR_TDX": f"{host}:{port}",
                "SAMPLE_NOW": NOW,
                "OTEL_EXPORTER_OTLP_ENDPOINT": collector.address,
                "OTEL_BSP_SCHEDULE_DELAY": "200",
                "PYTHONPATH": str(ROOT),
            }.items():
                monkeypatch.setenv(name, value)
            settings = load_settings(dotenv=tmp_path / "none")
            folders.make_folders(settings.data_path)
            folders.write_dagster_home(settings.data_path, postgres=True)
            open_platform(settings).close()  # the tables
            made = make_services(settings)
            yield made
            made.engine.dispose()


@pytest.fixture
def worker(services: Services) -> Iterator[subprocess.Popen[bytes]]:
    """Ready or not: a step waits for it in its queue."""
    command = [sys.executable, "-m", *STEP_WORKER_COMMAND]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = subprocess.Popen(command, start_new_session=True, **quiet)  # type: ignore[call-overload]
    yield started
    started.terminate()
    try:
        started.wait(15)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()


@dataclass
class Deployment:
    """What launches runs, and Dagster's record of them."""

    runs: LaunchedRuns
    instance: DagsterInstance

    def ended(self, run_id: str) -> RunFate:
        end = time.monotonic() + PATIENCE_S
        while (fate := self.runs.fate(run_id)) is None or fate.status == "open":
            assert time.monotonic() < end
            time.sleep(0.2)
        return fate


@pytest.fixture
def deployment(services: Services) -> Iterator[Deployment]:
    with (
        dagster_side(services.settings, os.environ) as (ports, _),
        DagsterInstance.get() as instance,
    ):
        yield Deployment(LaunchedRuns(Orchestrator(ports.dagster), instance), instance)


def of_workers(collector: Collector, name: str) -> list[Received]:
    """Spans of step workers in the trace of the run, by the beginning of their names."""
    found = collector.trace(TRACE)
    return [span for span in found if span.process == STEP_WORKER and span.name.startswith(name)]


def events(instance: Any, run_id: str) -> list[tuple[str, str]]:
    """(step, message) of what the executor and the workers said of the steps."""
    return [
        (entry.dagster_event.step_key, entry.dagster_event.message)
        for entry in instance.all_logs(run_id)
        if entry.dagster_event is not None and entry.dagster_event.event_type_value == "ENGINE_EVENT"
        if entry.dagster_event.step_key
    ]


@pytest.mark.soak
def test_a_worker_carries_out_the_steps_of_a_run_and_stops_when_it_is_to_stop(
    services: Services, worker: subprocess.Popen[bytes], deployment: Deployment, collector: Collector
) -> None:
    tags = {tracing.TAG: f"00-{TRACE}-00f067aa0ba902b7-01"}
    run_id = deployment.runs.launch("security_list", partition_key=DAY, tags=tags)
    done = deployment.ended(run_id)
    said = events(deployment.instance, run_id)

    assert (done.status, done.reason) == ("success", None)
    queues = {
        step: text.rpartition('to queue "')[2].rstrip('".') for step, text in said if "Submitting" in text
    }
    assert queues == {
        "raw__raw_quote": "download",
        "stg__stg_stock_master": "fuse",
        "dwd__fusion_stock_master": "fuse",
        "ref__ref_code_change": "fuse",
        "ref__ref_name_history": "fuse",
        "ref__ref_trade_calendar": "fuse",
    }
    assert {step for step, text in said if "in celery worker" in text} == queues.keys()
    with services.engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT COUNT(*) FROM fusion_stock_master").scalar()
    assert rows
    assert [one.pid for one in services.heartbeats.all(STEP_WORKER)] == [worker.pid]

    # Each step continues the trace of its run in the process of the worker, down to its calls and writes.
    end = time.monotonic() + 30
    while len(steps := of_workers(collector, "step ")) < len(queues) and time.monotonic() < end:
        time.sleep(0.2)
    assert {span.name for span in steps} == {f"step {step}" for step in queues}
    known = {span.span_id for span in steps}
    writes = of_workers(collector, "write ")
    assert "write fusion_stock_master" in {span.name for span in writes}
    assert {span.parent_id for span in writes} <= known

    long = deployment.runs.launch("history", tags={
        "dagster/asset_partition_range_start": "2026-07-01", "dagster/asset_partition_range_end": DAY,
    })  # fmt: skip
    end = time.monotonic() + PATIENCE_S
    while not any("in celery worker" in text for _, text in events(deployment.instance, long)):
        assert time.monotonic() < end
        time.sleep(0.2)
    deployment.runs.terminate(long)

    assert deployment.ended(long).status == "canceled"


@pytest.mark.soak
def test_a_step_that_failed_lets_the_workers_go_on(
    services: Services, worker: subprocess.Popen[bytes], deployment: Deployment, faults: FaultPlan
) -> None:
    faults.replace([{"upstream": "eastmoney", "call": "*", "kind": "truncate"}])
    day = "2026-08-20"
    done = deployment.ended(deployment.runs.launch("margin", partition_key=day))

    assert done.status == "partial"
    assert str(done.reason).startswith(("raw__raw_margin", "raw__aux_rzrq"))
    with services.engine.connect() as connection:
        fused = connection.exec_driver_sql(f"SELECT COUNT(*) FROM fusion_margin WHERE date='{day}'").scalar()
    assert fused, "the exchanges have it"
