"""A small installation under load: a warehouse in which every batch rewrites the same rows, and Dagster runs
each of which writes a batch."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd

from core.clock import FrozenClock
from resources.settings import Settings
from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse
from tests.warehouse.conftest import BARS, bars

CODES = 40
DAY, RUN_DAY = "2026-08-20", "2026-08-21"
PATIENCE_S = 60.0
PAUSE_S = 0.05
"""Between two batches of the load."""


@dataclass
class Installation:
    """A data folder with its databases; without URLs, SQLite files in the folder."""

    data: Path
    warehouse_url: str = ""
    dagster_url: str = ""
    settings: Settings = field(init=False)

    def __post_init__(self) -> None:
        self.settings = Settings(
            data_dir=str(self.data),
            warehouse_url=self.warehouse_url,
            dagster_postgres_url=self.dagster_url,
            admin_seed_password="correct horse",
            rate_limit_per_min=0,
        )

    @contextmanager
    def warehouse(self) -> Iterator[Warehouse]:
        opened = Warehouse(
            self.settings.warehouse_address,
            (BARS,),
            clock=FrozenClock(datetime(2026, 8, 21, 16, 0)),
            payload_folder=self.data / "payloads",
        )
        try:
            yield opened
        finally:
            opened.close()

    @contextmanager
    def dagster(self) -> Iterator[dg.DagsterInstance]:
        home = self.data / "dagster"
        home.mkdir(parents=True, exist_ok=True)
        # Not the default, which catches the output of the whole process, and waits for that up to a minute.
        no_output = {
            "module": "dagster._core.storage.noop_compute_log_manager",
            "class": "NoOpComputeLogManager",
        }
        more: dict[str, Any] = {"telemetry": {"enabled": False}, "compute_logs": no_output}
        if self.dagster_url:
            more["storage"] = {"postgres": {"postgres_url": self.dagster_url}}
        with dg.DagsterInstance.local_temp(str(home), overrides=more) as instance:
            yield instance

    def prepare(self) -> None:
        """Tables, secrets, a payload, and a file of a kind that a later version may add."""
        with self.warehouse() as warehouse:
            warehouse.migrate()
        for name, text in {
            "payloads/2026-08-20/ab/abc.zst": "body",
            "notifications/one.json": "{}",
            "something_new/file": "kept",
            "logs/api.log": "not kept",
        }.items():
            path = self.data / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    @contextmanager
    def loaded(self) -> Iterator[Callable[[int], None]]:
        """While the block lasts, one thread writes batches and another one has Dagster runs that do. What it
        gives waits until that many further batches and one further run are written."""
        stop, failures = threading.Event(), list[BaseException]()
        written, more = {DAY: 0, RUN_DAY: 0}, threading.Condition()

        def count(day: str) -> None:
            with more:
                written[day] += 1
                more.notify_all()

        def guarded(work: Callable[[], None]) -> None:
            try:
                work()
            except BaseException as error:
                failures.append(error)
                stop.set()

        def batches() -> None:
            with self.warehouse() as warehouse:
                number = 0
                # A pause, since SQLite's lock goes to the next that asks: without one the runs starve.
                while not stop.wait(PAUSE_S):
                    number += 1
                    write(warehouse, DAY, float(number))
                    count(DAY)

        def runs() -> None:
            with self.warehouse() as warehouse, self.dagster() as instance:
                number = [0]

                @dg.asset(name="loaded")
                def loaded(context: dg.AssetExecutionContext) -> None:
                    write(warehouse, RUN_DAY, float(number[0]), run_id=context.run_id)

                while not stop.is_set():
                    number[0] += 1
                    assert dg.materialize([loaded], instance=instance).success
                    count(RUN_DAY)

        def wait(batches: int) -> None:
            with more:
                goal = {DAY: written[DAY] + batches, RUN_DAY: written[RUN_DAY] + 1}
                assert more.wait_for(
                    lambda: bool(failures) or all(written[day] >= goal[day] for day in goal), PATIENCE_S
                )
            assert not failures, failures

        threads = [threading.Thread(target=guarded, args=(work,)) for work in (batches, runs)]
        for thread in threads:
            thread.start()
        try:
            yield wait
        finally:
            stop.set()
            for thread in threads:
                thread.join(PATIENCE_S)
        assert not failures, failures


def frame(close: float) -> pd.DataFrame:
    return bars(**{f"c{600000 + code}": close for code in range(CODES)})


def write(warehouse: Warehouse, day: str, close: float, run_id: str | None = None) -> None:
    """One batch: all codes of the day get this close, and the rows before it go into the history."""
    rows = frame(close).assign(date=day)
    batch = Batch(partition_key=day, run_id=run_id)
    warehouse.writer.write(BARS, rows, where=Slice.of_date("date", day), batch=batch)


def between_two_batches(warehouse: Warehouse) -> dict[str, int]:
    """Holds the warehouse to a state between two batches; returns the number of batches by day."""
    batches = {}
    for day in (DAY, RUN_DAY):
        current = warehouse.query(
            "SELECT close, batch_id, COUNT(*) FROM fusion_bars WHERE date=? GROUP BY close, batch_id", (day,)
        )
        recorded = warehouse.query(
            "SELECT status, rows_written, COUNT(*) FROM sys_batch WHERE partition_key=? "
            "GROUP BY status, rows_written", (day,),
        )  # fmt: skip
        count = sum(int(row[2]) for row in recorded)
        batches[day] = count
        if not count:
            assert current == []
            continue
        # One batch wrote all rows, it is the last one, and none was left half done.
        assert [(close, rows) for close, _, rows in current] == [(float(count), CODES)]
        assert recorded == [("success", CODES, count)]
        older = warehouse.query(
            "SELECT superseded_by, COUNT(*) FROM fusion_bars_history WHERE date=? GROUP BY superseded_by",
            (day,),
        )
        assert [rows for _, rows in older] == [CODES] * (count - 1)
    return batches


def ended_runs(instance: dg.DagsterInstance) -> Sequence[dg.DagsterRun]:
    """Runs; one that has succeeded has its events up to the last one."""
    runs = instance.get_runs()
    for run in runs:
        kinds = {entry.dagster_event_type for entry in instance.all_logs(run.run_id)}
        if run.is_success:
            assert {dg.DagsterEventType.ASSET_MATERIALIZATION, dg.DagsterEventType.RUN_SUCCESS} <= kinds
    return runs
