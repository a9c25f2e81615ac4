"""The API over 5,500 codes beside a bare uvicorn that sends the same answer, head and body.

Both are measured in answers per second of their own process's processor time: a server that answers from
memory fills one core, so that is its rate where it has a core of its own, and what else the machine does
does not count.
"""

import os
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse
from tests.benchmarks import bare, load, under_load
from tests.benchmarks.measure import Figure
from tests.benchmarks.panel import fill
from tests.benchmarks.panel_data import LAST_DAY, SEED, codes
from tests.benchmarks.profile import profiled
from tests.benchmarks.servers import API, Server, api, free_port, login, process
from tests.benchmarks.store import open_store

DATES = 130
ROUNDS = 5
BURST_S = 2.0


@dataclass(frozen=True)
class Scenario:
    """Requests of one kind; the target is a share of the bare server's rate."""

    name: str
    paths: tuple[str, ...]
    target: float | None
    admin: bool = False
    conditional: bool = False


def scenarios() -> list[Scenario]:
    names = codes()
    chance = np.random.default_rng(SEED)
    picked = [str(code) for code in chance.choice(names, 200, replace=False)]
    batches = [",".join(str(code) for code in chance.choice(names, 50, replace=False)) for _ in range(20)]
    kline = tuple(f"{API}/stocks/{code}/kline?days=120" for code in picked)
    return [
        Scenario("kline, 120 days", kline, 0.30),
        Scenario("kline, 304", kline[:1], None, conditional=True),
        Scenario(
            "batch-kline, 50 x 60",
            tuple(f"{API}/stocks/batch-kline?codes={c}&days=60" for c in batches),
            None,
        ),
        Scenario(
            "stock-base list, page of 50", (f"{API}/datamgr/stock-base/list?pageSize=50",), None, admin=True
        ),
    ]


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        warehouse = open_store(f"sqlite:///{folder}/warehouse.sqlite3", folder)
        fill(warehouse, folder, DATES)
        fill_wide(warehouse)
        warehouse.close()
        with api(folder) as server:
            token = login(server.port)
            for scenario in scenarios():
                yield measured(scenario, server, token, folder)
        yield from under_load.figures(folder)


def fill_wide(warehouse: Warehouse) -> None:
    """The newest date of the display table."""
    table = warehouse.table("fusion_stock_wide")
    names = codes()
    chance = np.random.default_rng(SEED)
    frame = pd.DataFrame({"code": names, "trade_date": LAST_DAY, "src": "derived"})
    for spec in table.columns:
        if spec.name in frame.columns:
            continue
        if spec.family in {"float", "int"}:
            frame[spec.name] = np.round(chance.random(len(names)) * 100, 2)
        elif spec.family == "bool":
            frame[spec.name] = False
        elif spec.family == "date":
            frame[spec.name] = "2010-01-04"
        elif spec.family == "json":
            frame[spec.name] = '["概念甲","概念乙"]'
        else:
            frame[spec.name] = "文字"[: spec.column_type.length or 2]
    warehouse.writer.write(
        table, frame, where=Slice.of_date("trade_date", LAST_DAY), batch=Batch(partition_key=LAST_DAY)
    )


def busy_burst(server: Server, requests: list[bytes]) -> load.Outcome:
    """A burst in seconds that the server's process used; by the clock where no system says them."""
    before = server.cpu_s()
    outcome = load.burst(server.port, requests, BURST_S)
    outcome.seconds = server.cpu_s() - before or outcome.seconds
    return outcome


def measured(scenario: Scenario, server: Server, token: str, folder: Path) -> Figure:
    headers = {"authorization": f"Bearer {token}"} if scenario.admin else {}
    answer = load.fetch(server.port, scenario.paths[0], headers)
    if scenario.conditional:
        headers["if-none-match"] = answer.header("etag")
        answer = load.fetch(server.port, scenario.paths[0], headers)
    path = folder / "answer"
    bare.store(path, answer)
    requests = [load.request(item, headers) for item in scenario.paths]
    port = free_port()
    ours: list[load.Outcome] = []
    theirs: list[load.Outcome] = []
    with process(["tests.benchmarks.bare", str(port), str(path)], port, dict(os.environ)) as limit_server:
        load.burst(server.port, requests, 0.5)
        for _ in range(ROUNDS):
            ours.append(busy_burst(server, requests))
            theirs.append(busy_burst(limit_server, requests))
    rate, limit = (statistics.median(one.rate for one in side) for side in (ours, theirs))
    waits = sorted(wait for one in ours for wait in one.waits)
    note = (
        f"{len(answer.body)} bytes of body, p99 {waits[int(len(waits) * 0.99)] * 1000:.1f} ms, "
        f"{sum(one.errors for one in ours)} errors, by the clock {len(waits) / ROUNDS / BURST_S:.0f}/s and "
        f"{sum(one.answers for one in theirs) / ROUNDS / BURST_S:.0f}/s"
    )
    if scenario.target is not None and rate / limit < scenario.target:
        note += f"; {profiled(folder, scenario.paths[:1], headers)}"
    return Figure(
        f"{scenario.name}, vs bare uvicorn with the same answer",
        f"{rate:.0f}/s",
        f"{limit:.0f}/s",
        rate / limit,
        scenario.target,
        note=note,
    )
