"""The day on the topology of `make cluster` beside the same day on one machine, without accidents: one run of
each, profile S. Both sides are on this machine, so the figure is what the parts of the cluster cost (broker,
servers, forked steps), not what further machines bring."""

import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.measure import Figure, at_most
from tests.cluster.day import JOBS, load_day, running_cluster
from tests.soak.installation import Installation, without_schedules

CPU: Mapping[str, str] = {
    "steps and runs": "schedules.steps.app schedules.commands.worker multiprocessing.spawn",
    "market": "simulated_market",
    "API, daemon, UI, code server": "serving_api dagster",
}
"""Name in the note -> parts of the command lines."""
OTHERS = "others"
TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Day:
    """Seconds of the last job of the day; of the processor by kind of process."""

    wall: float
    cpu: Mapping[str, float]

    def note(self) -> str:
        shares = ", ".join(f"{name} {value:.0f} s" for name, value in self.cpu.items() if value >= 1)
        return f"{self.wall:.0f} s wall; processor: {shares}"


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        with without_schedules(Path(name) / "single") as place:
            single = day(place, {})
        with running_cluster(Path(name) / "cluster") as cluster:
            servers = {server.name: server.process.pid for server in (cluster.mariadb, cluster.broker)
                       if server.process is not None}  # fmt: skip
            spread = day(cluster.place, servers)
    note = f"cluster: {spread.note()} (PostgreSQL not counted); one machine: {single.note()}"
    yield at_most("whole day on the cluster, profile S, vs one machine", spread.wall, single.wall, None, note)
    yield at_most(
        "processor time of the same", sum(spread.cpu.values()), sum(single.cpu.values()), None,
        "the cluster has two API processes, the UI and the daemon beside it, the other side has not",
    )  # fmt: skip


def day(place: Installation, servers: Mapping[str, int]) -> Day:
    """What comes before the day, then the day, measured. `servers`: process groups by name."""
    *before, last = JOBS
    load_day(place.services, before)
    used = cpu_s(place, servers)
    began = time.monotonic()
    load_day(place.services, [last])
    wall = time.monotonic() - began
    now = cpu_s(place, servers)
    return Day(wall, {name: now[name] - used[name] for name in now})


def cpu_s(place: Installation, servers: Mapping[str, int]) -> dict[str, float]:
    """Seconds of the processor by kind, of processes and their children that have ended."""
    found = dict.fromkeys([*servers, *CPU, OTHERS], 0.0)
    lines = place.processes()
    kinds = {
        pid: next((kind for kind, words in CPU.items() if any(one in line for one in words.split())), OTHERS)
        for pid, line in lines.items()
    }
    groups = {group: name for name, group in servers.items()}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        kind = groups.get(int(fields[2])) or kinds.get(int(entry.name))
        if kind is not None:
            found[kind] += sum(map(int, fields[11:15])) / TICK
    return found
