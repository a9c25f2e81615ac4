"""The live reads while a session runs: 200 requests a second beside a bare server, what they cost upstream,
and what the clients of a stream cost."""

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.benchmarks import bare, load
from tests.benchmarks.listeners import Listener, connect_all, used
from tests.benchmarks.measure import Figure
from tests.benchmarks.servers import API, Server, free_port, process
from tests.benchmarks.session import Session, session

READS = (
    *("market/sentiment", "market/distribution", "market/overview", "market/indices"),
    *("market/industry-rank", "market/fund-flow", "market/cross-market-risk", "market/event-chain"),
    *("market/news-marquee", "market/calendar", "realtime/hot-stocks", "realtime/sector-treemap"),
    *("realtime/abnormal-moves", "realtime/stock-changes", "realtime/trading-time"),
)
RATE, QUIET_RATE = 200.0, 10.0
ROUNDS, ROUND_S = 3, 10.0
P95_LIMIT = 4.0
PROCESSES = 4
CLIENTS, STREAM_S = 500, 30.0
SYMBOLS = 20


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with session(folder) as place:
            with place.api() as server:  # first: events come until the market's lunch, nine minutes from now
                yield from streams(place, server)
            with place.api() as server:
                yield paced_reads(server, folder)
                yield calls_under_load(place, server)
            yield shared(place)


def requests() -> list[bytes]:
    return [load.request(f"{API}/{read}") for read in READS]


def p95_ms(outcomes: Sequence[load.Outcome]) -> float:
    return statistics.median(sorted(one.waits)[int(len(one.waits) * 0.95)] * 1000 for one in outcomes)


def paced_reads(server: Server, folder: Path) -> Figure:
    path = folder / "answer"
    bare.store(path, load.fetch(server.port, f"{API}/market/distribution"))
    port = free_port()
    ours, theirs = [], []
    before, seconds = server.cpu_s(), 0.0
    with process(["tests.benchmarks.bare", str(port), str(path)], port, dict(os.environ)) as limit_server:
        load.paced(server.port, requests(), RATE, 5.0)
        for _ in range(ROUNDS):
            before = server.cpu_s()
            ours.append(load.paced(server.port, requests(), RATE, ROUND_S))
            seconds = server.cpu_s() - before
            theirs.append(load.paced(limit_server.port, requests(), RATE, ROUND_S))
    mine, limit = p95_ms(ours), p95_ms(theirs)
    errors = sum(one.errors for one in ours)
    return Figure(
        f"{len(READS)} live reads mixed at {RATE:.0f}/s, p95, vs a bare server",
        f"{mine:.1f} ms",
        f"{limit:.1f} ms",
        mine / limit,
        P95_LIMIT,
        at_most=True,
        note=f"{sum(one.answers for one in ours):,} answers, {errors} errors, "
        f"{seconds / ROUND_S:.0%} of a core in the last round",
    )


def calls_a_minute(place: Session, ports: Sequence[int], rate: float, seconds: float) -> float:
    """Upstream calls while every process gets its share of the load."""
    before, began = place.upstream_calls(), time.monotonic()
    while time.monotonic() - began < seconds:
        for port in ports:
            load.paced(port, requests(), rate, 1.0)
    return (place.upstream_calls() - before) / (time.monotonic() - began) * 60


def calls_under_load(place: Session, server: Server) -> Figure:
    quiet = calls_a_minute(place, [server.port], QUIET_RATE, 40.0)
    loaded = calls_a_minute(place, [server.port], RATE, 40.0)
    return Figure(
        f"upstream calls a minute at {RATE:.0f}/s, vs at {QUIET_RATE:.0f}/s",
        f"{loaded:.0f}", f"{quiet:.0f}", loaded / quiet, 1.5, at_most=True,
        note="600 stocks: a scan is 8 calls of the terminal, the whole market 69",
    )  # fmt: skip


def shared(place: Session) -> Figure:
    with ExitStack() as stack:
        ports = [stack.enter_context(place.api()).port]
        calls_a_minute(place, ports, RATE, 15.0)
        alone = calls_a_minute(place, ports, RATE, 60.0)
    with ExitStack() as stack:
        ports = [stack.enter_context(place.api()).port for _ in range(PROCESSES)]
        # The first answers, and reads that are kept for half an hour, belong to no minute of the session.
        calls_a_minute(place, ports, RATE, 15.0)
        together = calls_a_minute(place, ports, RATE, 60.0)
    return Figure(
        f"upstream calls a minute of {PROCESSES} API processes, vs of one",
        f"{together:.0f}", f"{alone:.0f}", together / alone, 1.3, at_most=True,
        note="by the times to live 94 on average and 119 at most",
    )  # fmt: skip


def streams(place: Session, server: Server) -> Iterator[Figure]:
    """Told, not judged: nothing else here sends events."""
    figures: list[Figure] = asyncio.run(_streams(place, server))
    yield from figures


async def _streams(place: Session, server: Server) -> list[Figure]:
    path = f"{API}/realtime/quote-stream?symbols={','.join(place.codes(SYMBOLS))}"
    first = Listener(path)
    await first.connect(server.port)
    await asyncio.sleep(5)
    alone = used(server)
    calls = place.upstream_calls()
    await asyncio.sleep(STREAM_S)
    one_cpu, one_calls = used(server).cpu_s - alone.cpu_s, place.upstream_calls() - calls
    others = [Listener(path) for _ in range(CLIENTS - 1)]
    await connect_all(others, server.port)
    await asyncio.sleep(5)
    held, calls = used(server), place.upstream_calls()
    marks = sum(len(one.ids) for one in others)
    await asyncio.sleep(STREAM_S)
    cpu, many_calls = used(server).cpu_s - held.cpu_s, place.upstream_calls() - calls
    messages = sum(len(one.ids) for one in others) - marks
    for one in (first, *others):
        one.close()
    message_ms = cpu / max(messages, 1) * 1_000_000
    each = (held.memory_mib - alone.memory_mib) * 1024 / (CLIENTS - 1)
    return [
        Figure(
            f"{CLIENTS} clients of a quote stream: upstream calls in {STREAM_S:.0f} s, vs one client",
            f"{many_calls}", f"{one_calls}", many_calls / max(one_calls, 1), 1.5, at_most=True,
            note=f"{message_ms:.0f} ms of CPU per 1,000 messages ({messages:,} of them; "
            f"polling for one client took {one_cpu:.1f} s), {each:.0f} KiB of memory per client",
        )
    ]  # fmt: skip
