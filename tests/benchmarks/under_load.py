"""What memory does not answer: first reads, and reads while two processes write."""

import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from tests.benchmarks import load
from tests.benchmarks.measure import Figure
from tests.benchmarks.panel_data import codes
from tests.benchmarks.profile import profiled
from tests.benchmarks.servers import API, ROOT, Server, api, free_port, process

ROUNDS = 5
PER_ROUND = 1000
"""Codes that nobody asked for before, in each round."""
NAIVE_PER_ROUND = 200
BURST_S = 2.0
FIRST_READ = 4.0
"""How many times as fast as the pandas way."""
WRITERS = 2
P99_LIMIT_MS = 50.0
READERS = 4


def figures(folder: Path) -> Iterator[Figure]:
    """`folder` holds the warehouse of `serving`."""
    yield first_reads(folder)
    yield from with_writers(folder)


def kline(code: str) -> bytes:
    return load.request(path_of(code))


def path_of(code: str) -> str:
    return f"{API}/stocks/{code}/kline?days=120"


def first_reads(folder: Path) -> Figure:
    """Every request for another code; the same read of the same file on both sides. Answers per second of
    the server's processor time, as in `serving`."""
    asked = [kline(code) for code in codes()]
    port = free_port()
    ours: list[load.Outcome] = []
    theirs: list[load.Outcome] = []
    spent: dict[int, list[float]] = {}
    with ExitStack() as stack:
        server = stack.enter_context(api(folder))
        command = ["tests.benchmarks.naive", str(port), str(folder / "warehouse.sqlite3")]
        naive = stack.enter_context(process(command, port, dict(os.environ)))
        load.once(naive.port, asked[:20])
        load.once(server.port, asked[-20:])

        def answered(one: Server, requests: list[bytes]) -> load.Outcome:
            before = one.cpu_s()
            outcome = load.once(one.port, requests)
            used = one.cpu_s() - before or outcome.seconds
            spent.setdefault(one.port, []).append(len(requests) / used)
            return outcome

        for number in range(ROUNDS):
            part = asked[number * PER_ROUND : (number + 1) * PER_ROUND]
            ours.append(answered(server, part))
            theirs.append(answered(naive, part[:NAIVE_PER_ROUND]))
    rate, limit = (statistics.median(spent[one.port]) for one in (server, naive))
    clock, clock_limit = (statistics.median(one.rate for one in side) for side in (ours, theirs))
    note = f"by the clock {clock:.0f}/s and {clock_limit:.0f}/s, {clock / clock_limit:.1f} times"
    if rate < FIRST_READ * limit:
        note += f"; {profiled(folder, [path_of(code) for code in codes()[:600]], {})}"
    return Figure(
        "kline of a code for the first time, vs FastAPI over pandas.read_sql",
        f"{rate:.0f}/s",
        f"{limit:.0f}/s",
        rate / limit,
        FIRST_READ,
        note=note,
    )


def with_writers(folder: Path) -> Iterator[Figure]:
    """Reads by four connections while two processes write market days as fast as they can."""
    asked = [kline(code) for code in codes()[:200]]
    with api(folder) as server:
        load.burst(server.port, asked, 0.5, connections=READERS)
        quiet = load.burst(server.port, asked, BURST_S, connections=READERS)
        writers = [
            subprocess.Popen(
                [sys.executable, "-m", "tests.benchmarks.writing", str(folder), str(number)],
                cwd=ROOT, stdout=subprocess.PIPE, text=True,
            )
            for number in range(WRITERS)
        ]  # fmt: skip
        try:
            for writer in writers:
                assert writer.stdout is not None
                writer.stdout.readline()
            busy = load.burst(server.port, asked, 5 * BURST_S, connections=READERS)
        finally:
            for writer in writers:
                writer.terminate()
            days = [int((writer.communicate()[0] or "0").strip() or 0) for writer in writers]
    before, during = p99_ms(quiet), p99_ms(busy)
    yield Figure(
        f"kline while {WRITERS} processes write, p99 vs {P99_LIMIT_MS:.0f} ms",
        f"{during:.1f} ms",
        f"{P99_LIMIT_MS:.0f} ms",
        during / P99_LIMIT_MS,
        1.0,
        at_most=True,
        note=f"{busy.rate:.0f} answers/s, {sum(days)} market days written meanwhile; p99 without writers "
        f"{before:.1f} ms",
    )
    yield Figure(
        "errors meanwhile, vs answers", str(busy.errors), str(busy.answers), busy.errors / busy.answers, 0.0,
        at_most=True,
    )  # fmt: skip


def p99_ms(outcome: load.Outcome) -> float:
    waits = sorted(outcome.waits)
    return waits[int(len(waits) * 0.99)] * 1000
