"""500 clients of the event streams over real sockets: what each gets, what they cost, and that they go."""

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest

from tests.benchmarks.listeners import Listener, connect_all, descriptors_down_to, is_over, used
from tests.benchmarks.servers import API, Server
from tests.benchmarks.session import Session, session

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc"),
]
CLIENTS, SILENT, SYMBOLS = 500, 10, 20
SPAN_S = 30.0
ROUNDS, GROWTH_MIB = 3, 10.0
PATH = f"{API}/realtime/quote-stream?symbols="


async def calls_of(place: Session, seconds: float) -> int:
    before = place.upstream_calls()
    await asyncio.sleep(seconds)
    return place.upstream_calls() - before


async def come_and_go(server: Server, path: str, descriptors: int) -> None:
    """As many clients once more: they read for some polls and go, half of them without closing."""
    clients = [Listener(path) for _ in range(CLIENTS - 1)]
    await connect_all(clients, server.port)
    await asyncio.sleep(10)
    for number, one in enumerate(clients):
        if number % 2:
            one.vanish()
        else:
            one.close()
    assert await descriptors_down_to(server, descriptors, 40), "who left is forgotten"
    await asyncio.sleep(7)


async def storm(place: Session, server: Server) -> None:
    path = PATH + ",".join(place.codes(SYMBOLS))
    first = Listener(path)
    await first.connect(server.port)
    await asyncio.sleep(7)
    alone = await calls_of(place, SPAN_S)
    start = used(server)

    readers = [Listener(path) for _ in range(CLIENTS - SILENT - 1)]
    silent = [Listener(path, reads=False) for _ in range(SILENT)]
    await connect_all([*readers, *silent], server.port)
    await asyncio.sleep(7)
    held = used(server)
    marks = [len(one.ids) for one in (first, *readers)]
    many = await calls_of(place, SPAN_S)
    end = used(server)
    await asyncio.sleep(1)

    # A poll may fall on either edge of the span.
    got = [one.ids[mark:] for one, mark in zip((first, *readers), marks, strict=True)]
    common = range(max(ids[0] for ids in got), min(ids[-1] for ids in got) + 1)
    inner = {tuple(one for one in ids if one in common) for ids in got}
    assert len(inner) == 1, "every client that reads gets every event"
    events = len(next(iter(inner)))
    assert events > 3 * SYMBOLS
    assert many <= alone + 4, "twenty symbols are asked for once, for whomever"

    gone = readers[: CLIENTS // 2]
    for one in gone:
        one.vanish()
    assert await descriptors_down_to(server, held.descriptors - len(gone), 40), "who vanished is noticed"
    waited = len(first.ids)
    await asyncio.sleep(7)
    assert len(first.ids) > waited, "the others go on"

    for one in (*readers[CLIENTS // 2 :], *silent):
        one.close()
    assert await descriptors_down_to(server, start.descriptors + 2, 40), "who left is forgotten"
    await asyncio.sleep(7)
    left = used(server)
    assert left.memory_mib < start.memory_mib + 0.5 * (held.memory_mib - start.memory_mib) + 20
    after = [left.memory_mib]
    for _ in range(ROUNDS - 1):
        await come_and_go(server, path, start.descriptors + 2)
        after.append(used(server).memory_mib)
    # The first round leaves memory with the allocator, which the next ones use again.
    assert after[-1] < after[0] + GROWTH_MIB, "memory does not grow with clients that came and went"
    os.kill(server.pid, signal.SIGTERM)
    await first.ended(5)
    end_of_all = time.monotonic() + 10
    while not is_over(server):
        assert time.monotonic() < end_of_all, "an open stream keeps no process alive"
        await asyncio.sleep(0.1)
    cost = (end.cpu_s - held.cpu_s) / (events * (len(readers) + 1)) * 1_000_000
    reported = ", ".join(f"{mib:.0f}" for mib in after)
    print(
        f"soak: streams: {events} events to {len(readers) + 1} readers, {cost:.0f} ms of CPU per 1,000 "
        f"messages; memory {start.memory_mib:.0f} MiB, {held.memory_mib:.0f} with {CLIENTS} clients, "
        f"{reported} after each of {ROUNDS} rounds; descriptors {start.descriptors}, {held.descriptors}, "
        f"{left.descriptors}; upstream calls in {SPAN_S:.0f} s: {alone} for one client, {many} for {CLIENTS}"
    )


def test_five_hundred_clients_of_a_stream(tmp_path: Path) -> None:
    with session(tmp_path) as place, place.api() as server:
        asyncio.run(storm(place, server))
