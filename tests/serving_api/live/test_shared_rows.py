"""The rows that processes share, on both engines: whose turn it is, and how long an answer is good."""

import asyncio
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from core.clock import ManualClock
from core.errors import PayloadError, Transient, Unavailable
from resources.warehouse.warehouse import Warehouse
from serving_api.db.sessions import Reading
from serving_api.framework.state import State
from serving_api.framework.system_time import SystemTime
from serving_api.live import claims, shared_reads
from serving_api.live.claims import Writes
from serving_api.live.clients import Answered
from serving_api.live.shared_reads import SharedReads
from tests.serving_api import market as stored
from tests.serving_api.conftest import Ticks

NOW, DAY, NAME = datetime(2026, 8, 21, 10, 30), "2026-08-21", "flashes 50"


@pytest.fixture
def warehouse(warehouse_url: str, tmp_path: Path) -> Iterator[Warehouse]:
    opened = stored.open_warehouse(warehouse_url, tmp_path, tables=())
    opened.migrate()
    yield opened
    opened.close()


class Process:
    """The shared reads of one process."""

    def __init__(self, warehouse: Warehouse, ticks: Ticks) -> None:
        self.writes = Writes()
        state: Any = SimpleNamespace(
            writer=warehouse,
            reading=Reading(warehouse),
            clock=ManualClock(NOW),
            system=SystemTime(wall=ticks.wall, monotonic=ticks.wall),
            part=lambda _make: self.writes,
        )
        self.reads = SharedReads(cast(State, state))

    async def put(self, value: Any, seconds: float) -> None:
        self.reads.put(NAME, DAY, Answered(value, "eastmoney", NOW), seconds)
        await self.settled()

    async def settled(self) -> None:
        await asyncio.gather(*self.writes.pending)


def test_an_answer_is_good_for_its_time_on_its_day(warehouse: Warehouse) -> None:
    async def run() -> None:
        ticks = Ticks()
        first, second = Process(warehouse, ticks), Process(warehouse, ticks)
        assert await first.reads.find_or_claim(NAME, DAY) is None
        await first.put([{"title": "中国"}], 30.0)
        ticks.advance(29)
        reported = await second.reads.find_or_claim(NAME, DAY)
        assert reported is not None
        expected = Answered([{"title": "中国"}], "eastmoney", NOW, "2026-08-21")
        assert (reported.answer, reported.left) == (expected, 1.0)
        assert await second.reads.find_or_claim(NAME, "2026-08-24") is None
        second.reads.release(NAME)
        await second.settled()
        ticks.advance(1)
        assert await first.reads.find_or_claim(NAME, DAY) is None

    asyncio.run(run())


def test_who_comes_second_waits_for_the_first(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "LOOK_S", 0.01)
    monkeypatch.setattr(claims, "CLAIM_WAIT_S", 30.0)
    monkeypatch.setattr(shared_reads, "WAIT_S", 60.0)

    async def run() -> None:
        ticks = Ticks()
        first, second = Process(warehouse, ticks), Process(warehouse, ticks)
        assert await first.reads.find_or_claim(NAME, DAY) is None
        waiting = asyncio.ensure_future(second.reads.find_or_claim(NAME, DAY))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        await first.put([1], 30.0)
        reported = await waiting
        assert reported is not None
        assert reported.answer.value == [1]
        # A failure gives the turn to the next.
        ticks.advance(31)
        assert await first.reads.find_or_claim(NAME, DAY) is None
        first.reads.release(NAME)
        await first.settled()
        assert await second.reads.find_or_claim(NAME, DAY) is None

    asyncio.run(run())


def test_a_failure_of_an_upstream_is_shared_for_a_while(warehouse: Warehouse) -> None:
    async def run() -> None:
        ticks = Ticks()
        first, second = Process(warehouse, ticks), Process(warehouse, ticks)
        assert await first.reads.find_or_claim(NAME, DAY) is None
        first.reads.give_up(NAME, Transient("busy"))
        await first.settled()
        for process in (first, second):
            with pytest.raises(Unavailable) as refused:
                await process.reads.find_or_claim(NAME, DAY)
            assert refused.value.seconds_left == shared_reads.FAILED_S
        ticks.advance(shared_reads.FAILED_S)
        assert await second.reads.find_or_claim(NAME, DAY) is None
        # A guard of the process itself is its own affair.
        second.reads.give_up(NAME, Unavailable("the budget is used up"))
        await second.settled()
        assert await first.reads.find_or_claim(NAME, DAY) is None
        # An answer ends the pause that a failure beside it began.
        second.reads.give_up(NAME, PayloadError("cut short"))
        await second.settled()
        await first.put([1], 30.0)
        assert not await second.reads.failed(NAME)
        assert await second.reads.find_or_claim(NAME, DAY) is not None

    asyncio.run(run())


def test_a_late_first_answer_does_not_prevent_further_requests(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "LOOK_S", 0.01)
    monkeypatch.setattr(shared_reads, "WAIT_S", 0.05)

    async def run() -> None:
        ticks = Ticks()
        first, second = Process(warehouse, ticks), Process(warehouse, ticks)
        assert await first.reads.find_or_claim(NAME, DAY) is None
        assert await second.reads.find_or_claim(NAME, DAY) is None

    asyncio.run(run())


def test_while_one_claim_hangs_the_others_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "CLAIM_WAIT_S", 0.05)
    free, begun = threading.Event(), []

    def busy(name: str) -> bool:
        begun.append(name)
        return free.wait(20) and False

    async def run() -> None:
        writes = Writes()
        assert await writes.claim(busy, "first")
        assert await writes.claim(busy, "second")
        assert begun == ["first"]
        free.set()
        await asyncio.gather(*writes.pending)
        await asyncio.sleep(0)
        assert not await writes.claim(busy, "third")

    asyncio.run(run())
