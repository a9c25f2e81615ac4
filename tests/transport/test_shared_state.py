"""Two and more processes over one file: one pace, one breaker, one probe."""

import multiprocessing
import os
import sqlite3
import subprocess
import sys

import pytest

from core.errors import StorageError, Transient, Unavailable
from resources.transport.gates import SqliteGate
from resources.transport.settings import TransportSettings
from resources.transport.state import SqliteStore
from tests.transport.manual import ManualTime

AT = 1_790_000_000.0

_PROBER = """
import sys
from pathlib import Path
from core.errors import Unavailable
from resources.transport.gates import SqliteGate
from resources.transport.settings import TransportSettings
gate = SqliteGate(Path(sys.argv[1]), TransportSettings(pacing=False), now=lambda: float(sys.argv[2]))
sys.stdin.readline()
try:
    gate.enter("eastmoney", "push2.eastmoney.com")
    print("in", flush=True)
except Unavailable:
    print("out", flush=True)
sys.stdin.readline()
"""


def open_gate(path, at=AT, **changes):
    time = ManualTime(at)
    return SqliteGate(path, TransportSettings(**changes), now=time, sleeper=time.sleep), time


def test_half_open_lets_exactly_one_process_through(tmp_path):
    path = tmp_path / "transport.sqlite3"
    gate, _ = open_gate(path, pacing=False)
    for number in range(4):
        gate.enter("eastmoney", f"{number}.example")
        gate.failed("eastmoney", f"{number}.example", Transient("503"))
    children = [
        subprocess.Popen(
            [sys.executable, "-c", _PROBER, str(path), str(AT + 121)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    try:
        for child in children:
            child.stdin.write("go\n")
            child.stdin.flush()
        answers = sorted(child.stdout.readline().strip() for child in children)
    finally:
        for child in children:
            child.communicate("end\n", timeout=10)

    assert answers == ["in", "out"]
    assert gate.breakers()["em_breaker"]["state"] == "HALF_OPEN"


def test_what_one_process_learned_stops_the_other(tmp_path):
    path = tmp_path / "transport.sqlite3"
    first, _ = open_gate(path, pacing=False)
    second, _ = open_gate(path, pacing=False)
    for number in range(4):
        first.enter("eastmoney", f"{number}.example")
        first.failed("eastmoney", f"{number}.example", Transient("503"))

    with pytest.raises(Unavailable):
        second.enter("eastmoney", "push2.eastmoney.com")
    assert second.breakers() == first.breakers()
    assert second.counters()["eastmoney"]["requests"] == 4


def test_two_processes_queue_in_one_line(tmp_path):
    path = tmp_path / "transport.sqlite3"
    first, first_time = open_gate(path)
    second, second_time = open_gate(path)

    first.enter("tencent", "qt.gtimg.cn")
    second.enter("tencent", "qt.gtimg.cn")
    first.enter("tencent", "qt.gtimg.cn")

    assert second_time.slept == pytest.approx([0.2])
    assert first_time.slept == pytest.approx([0.4])


def test_state_outlives_the_process(tmp_path):
    path = tmp_path / "transport.sqlite3"
    gate, _ = open_gate(path, pacing=False)
    for number in range(4):
        gate.enter("eastmoney", f"{number}.example")
        gate.failed("eastmoney", f"{number}.example", Transient("503"))
    gate.close()

    again, _ = open_gate(path, pacing=False)

    assert again.breakers()["em_breaker"]["state"] == "OPEN"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_opens_its_own_connection(tmp_path):
    store = SqliteStore(tmp_path / "transport.sqlite3")
    with store.step() as step:
        step.put("kind", "name", {"from": "parent"})
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_write_in_child, args=(store,))
    child.start()
    child.join(10)

    assert child.exitcode == 0
    with store.step() as step:
        assert step.get("kind", "name") == {"from": "child"}


def _write_in_child(store: SqliteStore) -> None:
    with store.step() as step:
        step.put("kind", "name", {"from": "child"})


def test_a_step_that_fails_leaves_nothing_behind(tmp_path):
    store = SqliteStore(tmp_path / "transport.sqlite3")

    def interrupted() -> None:
        with store.step() as step:
            step.put("kind", "name", {"half": True})
            raise Unavailable("no")

    with pytest.raises(Unavailable):
        interrupted()

    with store.step() as step:
        assert step.get("kind", "name") is None


def test_a_damaged_file_is_a_storage_error(tmp_path):
    path = tmp_path / "transport.sqlite3"
    path.write_bytes(b"this is no database" * 100)

    with pytest.raises(StorageError), SqliteStore(path).step():
        pass


def test_a_locked_file_is_a_storage_error_and_not_a_wait_for_ever(tmp_path):
    path = tmp_path / "transport.sqlite3"
    store = SqliteStore(path, busy_timeout_sec=0.05)
    with store.step():
        pass
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StorageError), store.step():
        pass
    other.close()
