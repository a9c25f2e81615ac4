"""A whole day as commands to a platform, and what it left: the hash of each table and date."""

import os
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from core.errors import PlatformError
from resources.warehouse.engine import make_engine
from schedules.services import Services
from schedules.supervisor import checks, cluster
from schedules.supervisor.folders import read_run_facts, run_file
from tests.cluster.servers import Server, own_broker_server, own_mariadb_server
from tests.conftest import own_postgres
from tests.soak.installation import NOW, Installation, environment, seen, started

DAY = NOW[:10]
FIRST = "2026-08-10"
JOBS = (("security_list", DAY, DAY), ("history", FIRST, DAY), ("whole_day", DAY, DAY))
"""Securities, two weeks of bars, then every table that the tasks of a trade date download or fuse."""
LIMIT_S = 1500.0
LOOK_S = 0.5
START_S = 300.0
Hashes = dict[tuple[str, str], frozenset[tuple[str, int]]]
"""{(table, date or range): {(hash of its content, rows)}}."""


@dataclass
class Cluster:
    """A running `make cluster` on servers of its own."""

    place: Installation
    mariadb: Server
    broker: Server
    api: str

    def pids(self) -> dict[str, int]:
        found: dict[str, Any] = read_run_facts(run_file(self.place.folder, "all"))
        return {name: int(pid) for name, pid in found.get("pids", {}).items()}


@contextmanager
def running_cluster(folder: Path, **more: str) -> Iterator[Cluster]:
    """The topology of `make cluster` over a MariaDB, a RabbitMQ and a database of its own."""
    data = folder / "data"
    with (
        own_mariadb_server(folder / "mariadb") as mariadb,
        own_broker_server(folder / "rabbitmq") as broker,
        own_postgres("clusterday") as history,
    ):
        api = checks.free_port()
        given = {
            "WAREHOUSE_URL": f"mysql+pymysql://root@127.0.0.1:{mariadb.port}/day?charset=utf8mb4",
            "DAGSTER_POSTGRES_URL": history,
            "BROKER_URL": f"amqp://guest:guest@127.0.0.1:{broker.port}//",
            "API_PORT": str(api),
            "DAGSTER_PORT": str(checks.free_port()),
            "SAMPLE_NOW": NOW,
        }
        cluster.make_database(given["WAREHOUSE_URL"])
        env = cluster.environment(environment(data, **given, **more))
        with started("tests.cluster.platform", env, START_S) as said, pytest.MonkeyPatch.context() as patch:
            # Dagster's configuration names the variable.
            patch.setenv("DAGSTER_POSTGRES_URL", history)
            with seen(data, env, said) as place:
                yield Cluster(place, mariadb, broker, f"http://127.0.0.1:{api}")


@dataclass
class RunOfDay:
    """What the jobs took, by name, and the id of the run of each."""

    seconds: dict[str, float] = field(default_factory=dict)
    runs: dict[str, str] = field(default_factory=dict)


def load_day(
    services: Services,
    jobs: Sequence[tuple[str, str, str]] = JOBS,
    *,
    look: Callable[[str], None] = lambda _run: None,
) -> RunOfDay:
    """The jobs of the day one after the other, as commands to the worker. `look` is called every LOOK_S with
    the id of the run of the last one. Raises RuntimeError when one does not succeed."""
    done = RunOfDay()
    for job, first, last in jobs:
        began = time.monotonic()
        asked = {"partition_key": last} if first == last else {"partition_range": [first, last]}
        command = services.commands.enqueue("run_job", {"job": job, **asked}, requested_by="day").id
        while True:
            try:
                now = services.commands.get(command)
            except PlatformError:
                now = None  # the database is away: that is what is tried
            if now is not None and now.finished:
                break
            if time.monotonic() - began > LIMIT_S:
                raise RuntimeError(f"{job}: not done after {LIMIT_S:.0f} s")
            if now is not None and now.run_id is not None and job == jobs[-1][0]:
                look(now.run_id)
            time.sleep(LOOK_S)
        if now.status != "success" or now.run_id is None:
            raise RuntimeError(f"{job}: {now.status} {now.error}")
        done.seconds[job] = time.monotonic() - began
        done.runs[job] = now.run_id
    return done


def hashes(url: str) -> Hashes:
    """What batches that succeeded left. A table whose rows are replaced by parts (the lists of a date) has a
    batch for each part; a step that was repeated adds none, as long as it brings the same."""
    engine = make_engine(url)
    found: dict[tuple[str, str], set[tuple[str, int]]] = defaultdict(set)
    try:
        with engine.connect() as connection:
            for table, day, content, count in connection.exec_driver_sql(
                "SELECT table_name, partition_key, content_hash, rows_written+rows_unchanged FROM sys_batch "
                "WHERE status='success' AND content_hash IS NOT NULL"
            ):
                found[str(table), str(day)].add((str(content), int(count)))
    finally:
        engine.dispose()
    return {key: frozenset(parts) for key, parts in found.items()}


def answers(api: str) -> bool:
    """Whether the API says that it is well."""
    try:
        with urlopen(f"{api}/health", timeout=10) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def kill_machine(pid: int) -> None:
    """A process and its children, at once, as when their machine loses its power."""
    children = [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and parent_of(entry) == pid
    ]
    for one in (pid, *children):
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


def parent_of(process: Path) -> int:
    """Id of the parent of a process of /proc; 0 of one that ended."""
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
