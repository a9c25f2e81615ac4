"""Machines over one warehouse: one pace, one breaker, one probe, counted at the simulated market.

A machine is a process with a data folder of its own; nothing but the database is common to them.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.errors import Refused, StorageError, Unavailable
from resources.transport.database_state import TABLE, DatabaseStore
from resources.transport.gates import DatabaseGate
from resources.transport.settings import TransportSettings
from resources.warehouse.ddl import build_metadata, create_missing
from resources.warehouse.engine import make_engine
from resources.warehouse.system_tables import INFRA_TABLES
from simulated_market.service import SimulatedMarket
from tests.conftest import mariadb_database
from tests.simulated_market.http.conftest import market_of
from tests.simulated_market.http.tiny_world import NOW, TinyWorld
from tests.transport.manual import ManualTime

GAP_S = 0.05
CALLS = 5


@pytest.fixture
def shared() -> Iterator[str]:
    """URL of a warehouse on a server, with the table of the transport state."""
    for url in mariadb_database("transport"):
        engine = make_engine(url)
        create_missing(engine, build_metadata(tuple(one for one in INFRA_TABLES if one.name == TABLE)))
        engine.dispose()
        yield url


@pytest.fixture(scope="module")
def market() -> Iterator[SimulatedMarket]:
    with market_of(TinyWorld()) as running:
        yield running


def open_gate(url: str, **changes: object) -> tuple[DatabaseGate, ManualTime]:
    at = ManualTime()
    return DatabaseGate(url, TransportSettings(**changes), now=at, sleeper=at.sleep), at  # type: ignore[arg-type]


class Machine:
    """One process that asks when it is told to."""

    def __init__(self, folder: Path, warehouse: str, market: SimulatedMarket) -> None:
        env = {
            **os.environ,
            "DATA_DIR": str(folder),
            "DATA_SOURCE": "mock",
            "SIMULATOR_URL": market.http_url,
            "SIMULATOR_TDX": "127.0.0.1:9",
            "SAMPLE_NOW": f"{NOW:%Y-%m-%dT%H:%M}",
            **({"WAREHOUSE_URL": warehouse} if warehouse else {}),
        }
        command = [sys.executable, "-m", "tests.transport.machine", str(GAP_S)]
        self._process = subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, upstream: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{upstream} {CALLS}\n")
        self._process.stdin.flush()

    def said(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def ended(self) -> list[str]:
        """How each of the calls ended that it was told to make."""
        calls: list[str] = json.loads(self.said())
        return calls

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def two_machines(folder: Path, warehouse: str, market: SimulatedMarket) -> Iterator[tuple[Machine, Machine]]:
    """Two that are ready to ask; without a warehouse they share nothing."""
    market.reset_calls()
    market.faults.clear()
    first, second = (Machine(folder / str(number), warehouse, market) for number in range(2))
    try:
        assert [first.said(), second.said()] == ["ready\n"] * 2
        yield first, second
    finally:
        market.faults.clear()
        first.kill()
        second.kill()


def banned_in_turn(market: SimulatedMarket, first: Machine, second: Machine) -> tuple[list[str], list[str]]:
    """How the calls of both ended at a host that bans whoever asks; the second one asks after the first."""
    market.faults.replace(
        [{"upstream": "eastmoney", "call": "*", "kind": "status", "args": {"code": 403}, "count": 0}]
    )
    first.ask("eastmoney")
    learned = first.ended()
    second.ask("eastmoney")
    return learned, second.ended()


def test_two_machines_take_turns_and_stop_at_one_ban(
    tmp_path: Path, shared: str, market: SimulatedMarket
) -> None:
    store = DatabaseStore(shared)
    with two_machines(tmp_path, shared, market) as (first, second):
        with store.step():
            began = store.now()
        first.ask("tencent")
        second.ask("tencent")
        ended = [first.ended(), second.ended()]
        learned, told = banned_in_turn(market, first, second)
    with store.step() as step:
        pace, counted = step.get("pace", "tencent"), step.get("counter", "tencent")
    store.close()

    assert ended == [["answered"] * CALLS] * 2
    assert market.calls()["tencent"] == {"quote": 2 * CALLS}
    assert counted == {"requests": 2 * CALLS, "failures": 0, "retries": 0}
    assert pace is not None
    # Each of the ten calls had a turn of its own.
    assert pace["free_at"] - began >= 2 * CALLS * GAP_S
    assert (learned, told) == (["Refused"] + ["Unavailable"] * (CALLS - 1), ["Unavailable"] * CALLS)
    assert sum(market.calls()["eastmoney"].values()) == 1


@pytest.mark.soak
def test_machines_that_share_nothing_are_each_banned(tmp_path: Path, market: SimulatedMarket) -> None:
    """What the test above would see with a file on each machine."""
    with two_machines(tmp_path, "", market) as machines:
        learned, told = banned_in_turn(market, *machines)

    assert learned == told == ["Refused"] + ["Unavailable"] * (CALLS - 1)
    assert sum(market.calls()["eastmoney"].values()) == 2


def test_half_open_lets_exactly_one_machine_through(shared: str) -> None:
    first, first_time = open_gate(shared, pacing=False)
    second, second_time = open_gate(shared, pacing=False)
    first.failed("eastmoney", "a.example", Refused("403"))
    first_time.at = second_time.at = first_time.at + 121

    first.enter("eastmoney", "b.example")
    with pytest.raises(Unavailable, match="being probed"):
        second.enter("eastmoney", "b.example")
    first.succeeded("eastmoney", "b.example")
    second.enter("eastmoney", "b.example")

    assert second.breakers()["em_breaker"]["state"] == "CLOSED"
    first.close()
    second.close()


def test_steps_of_many_threads_lose_nothing(shared: str) -> None:
    stores = [DatabaseStore(shared) for _ in range(3)]

    def count(store: DatabaseStore) -> None:
        for _ in range(10):
            with store.step() as step:
                held = step.get("counter", "all") or {"n": 0}
                step.put("counter", "all", {"n": held["n"] + 1})

    threads = [threading.Thread(target=count, args=(store,)) for store in stores for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    with stores[0].step() as step:
        assert step.all("counter") == {"all": {"n": 60}}
    for store in stores:
        store.close()


def test_a_step_that_fails_leaves_nothing_behind(shared: str) -> None:
    store = DatabaseStore(shared)

    def interrupted() -> None:
        with store.step() as step:
            step.put("kind", "name", {"half": True})
            raise Unavailable("no")

    with pytest.raises(Unavailable):
        interrupted()

    with store.step() as step:
        assert step.get("kind", "name") is None
    store.close()


def test_a_machine_whose_clock_is_wrong_goes_by_that_of_the_database(
    shared: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right, wrong = DatabaseGate(shared), DatabaseGate(shared)
    right.failed("eastmoney", "a.example", Refused("403"))
    opened = right.breakers()["em_breaker"]["opened_at"]
    clock = time.time

    monkeypatch.setattr(time, "time", lambda: clock() + 3600)
    with pytest.raises(Unavailable, match=r"cools down|is open"):
        wrong.enter("eastmoney", "a.example")

    assert wrong.breakers()["em_breaker"] == {"state": "OPEN", "failure_count": 1, "opened_at": opened}
    right.close()
    wrong.close()


def test_a_server_that_was_restarted_is_asked_again(shared: str) -> None:
    """A restart ends every connection; the next step takes a new one."""
    store, other = DatabaseStore(shared), make_engine(shared)
    with store.step() as step:
        step.put("kind", "name", {"kept": True})
    with other.connect() as connection:
        mine = connection.exec_driver_sql("SELECT CONNECTION_ID()").scalar()
        name = other.url.database
        listed = connection.exec_driver_sql("SELECT id, db FROM information_schema.processlist").all()
        for number, database in listed:
            if database == name and number != mine:
                connection.exec_driver_sql(f"KILL {number}")

    with store.step() as step:
        assert step.get("kind", "name") == {"kept": True}
    other.dispose()
    store.close()


def test_a_server_that_is_away_is_a_storage_error() -> None:
    gate = DatabaseGate("mysql+pymysql://root@127.0.0.1:9/none")

    with pytest.raises(StorageError, match="transport state"):
        gate.enter("tencent", "qt.gtimg.cn")
