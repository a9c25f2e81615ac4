"""A whole day on the topology of `make cluster`, with a step worker, the broker and the database killed in
it, against the same day on one machine."""

import os
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.accidents import Accident, Accidents, at_work, events, report
from tests.cluster.day import (
    DAY,
    Cluster,
    Hashes,
    RunOfDay,
    answers,
    hashes,
    kill_machine,
    load_day,
    running_cluster,
)
from tests.cluster.servers import Server
from tests.soak.installation import without_schedules

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads /proc"),
]
PROFILE = os.environ.get("CLUSTER_PROFILE", "S")
AWAY_S = 5.0
JOB = "whole_day"


def on_one_machine(folder: Path) -> tuple[RunOfDay, Hashes, int]:
    """The day as `make run` does it: what it took, what it left, and how many steps it has."""
    with without_schedules(folder, SAMPLE_PROFILE=PROFILE) as place:
        done = load_day(place.services)
        steps = place.instance.get_run_stats(done.runs[JOB]).steps_succeeded
        return done, hashes(place.services.settings.warehouse_address), steps


def kill_worker(cluster: Cluster, instance: Any, run_id: str) -> str:
    """The worker that has a step at this moment; with its process of the step."""
    end = time.monotonic() + 60
    while not (busy := at_work(events(instance, run_id), time.time())):
        assert time.monotonic() < end, "no worker had a step"
        time.sleep(0.1)
    worker = busy[-1].worker
    assert worker in cluster.pids().values()
    kill_machine(worker)
    return f"worker {worker} had {busy[-1].step}"


def restart(server: Server) -> str:
    """Killed, away for a while, started again over its folder."""
    server.kill()
    time.sleep(AWAY_S)
    server.start()
    return f"kill -9, away for {AWAY_S:.0f} s"


class Asked:
    """The port of the API, asked twice a second: how often it answered, and how often not."""

    def __init__(self, api: str) -> None:
        self.good = self.bad = 0
        self._api, self._done = api, threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()

    def _ask(self) -> None:
        while not self._done.wait(0.5):
            if answers(self._api):
                self.good += 1
            else:
                self.bad += 1

    def end(self) -> None:
        self._done.set()
        self._thread.join()


def test_a_day_with_kills_on_the_cluster_leaves_what_one_machine_leaves(
    tmp_path: Path, record_property: Any
) -> None:
    single, expected, steps = on_one_machine(tmp_path / "single")
    with running_cluster(tmp_path / "cluster", SAMPLE_PROFILE=PROFILE) as cluster:
        accidents = Accidents(
            cluster.place.instance,
            steps,
            [
                Accident("a step worker was killed", 0.3, partial(kill_worker, cluster)),
                Accident("the broker was killed", 0.5, lambda *_: restart(cluster.broker), True),
                Accident("MariaDB was killed", 0.7, lambda *_: restart(cluster.mariadb), True),
            ],
        )
        asked = Asked(cluster.api)
        done = load_day(cluster.place.services, look=accidents.look)
        asked.end()
        found = hashes(cluster.place.services.settings.warehouse_address)
        log = events(cluster.place.instance, done.runs[JOB])

    began = log[0].at
    lines = [report(one, log, began) for one in accidents.done]
    lines.append(
        f"cluster day: profile {PROFILE}, {steps} steps, {done.seconds[JOB]:.0f} s with the accidents, "
        f"{single.seconds[JOB]:.0f} s on one machine; {len(found)} hashes; the API answered {asked.good} "
        f"times of {asked.good + asked.bad}"
    )
    for line in lines:
        record_property("report", line)
    assert [one.name for one in accidents.done] == [one.name for one in accidents.planned]
    assert {table for table, day in expected if day == DAY}, "the day has tables"
    both = {key: (expected.get(key), found.get(key)) for key in expected.keys() | found.keys()}
    assert {key: pair for key, pair in both.items() if pair[0] != pair[1]} == {}
    # The worker that died did nothing more; the other one, or the one started in its place, did the rest.
    killed = int(accidents.done[0].said.split()[1])
    assert killed not in {event.worker for event in log if event.at > accidents.done[0].at}
    assert len({event.worker for event in log if event.kind == "TAKEN"}) >= 3
