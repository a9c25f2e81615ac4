"""The API over 5,500 codes beside a bare uvicorn that answers with the same bytes."""

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse
from resources.warehouse.writer import Batch
from tests.benchmarks import load
from tests.benchmarks.measure import Figure
from tests.benchmarks.panel import fill
from tests.benchmarks.panel_data import LAST_DAY, SEED, codes
from tests.benchmarks.store import open_store

ROOT = Path(__file__).parents[2]
DATES = 130
ROUNDS = 5
BURST_S = 2.0
PASSWORD = "bench mark 1"
API = "/api/v1"


@dataclass(frozen=True)
class Scenario:
    """Requests of one kind; the target is a share of the bare server's rate."""

    name: str
    paths: tuple[str, ...]
    target: float
    admin: bool = False
    conditional: bool = False


def scenarios() -> list[Scenario]:
    names = codes()
    chance = np.random.default_rng(SEED)
    picked = [str(code) for code in chance.choice(names, 200, replace=False)]
    batches = [",".join(str(code) for code in chance.choice(names, 50, replace=False)) for _ in range(20)]
    kline = tuple(f"{API}/stocks/{code}/kline?days=120" for code in picked)
    return [
        Scenario("kline, 120 days", kline, 0.55),
        Scenario("kline, 304", kline[:1], 0.60, conditional=True),
        Scenario(
            "batch-kline, 50 x 60",
            tuple(f"{API}/stocks/batch-kline?codes={c}&days=60" for c in batches),
            0.30,
        ),
        Scenario(
            "stock-base list, page of 50", (f"{API}/datamgr/stock-base/list?pageSize=50",), 0.40, admin=True
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
            frame[spec.name] = "文字"[: spec.word.length or 2]
    warehouse.writer.write(
        table, frame, where=Slice.of_date("trade_date", LAST_DAY), batch=Batch(partition_key=LAST_DAY)
    )


@dataclass(frozen=True)
class Server:
    port: int
    pid: int

    def cpu_s(self) -> float:
        """CPU seconds that the process has used; 0 where the system does not say."""
        stat = Path(f"/proc/{self.pid}/stat")
        if not stat.exists():
            return 0.0
        parts = stat.read_text().rpartition(") ")[2].split()
        return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def process(arguments: list[str], port: int, environment: dict[str, str]) -> Iterator[Server]:
    """A server in a process of its own, from its first answer on."""
    started = subprocess.Popen([sys.executable, "-m", *arguments], cwd=ROOT, env=environment)
    try:
        limit = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if started.poll() is not None or time.monotonic() > limit:
                    raise RuntimeError(f"{arguments[0]} did not start") from None
                time.sleep(0.1)
        yield Server(port, started.pid)
    finally:
        started.terminate()
        started.wait(20)


@contextmanager
def api(folder: Path) -> Iterator[Server]:
    """The product's own command; the rate limit is high, not off."""
    port = free_port()
    environment = {
        **os.environ,
        "DATA_DIR": str(folder),
        "ENV_FILE": str(folder / "absent.env"),
        "API_PORT": str(port),
        "RATE_LIMIT_PER_MIN": "1000000000",
        "ADMIN_SEED_PASSWORD": PASSWORD,
        "SAMPLE_NOW": f"{LAST_DAY}T16:00",
        "LOG_LEVEL": "WARNING",
    }
    with process(["serving_api"], port, environment) as server:
        yield server


def login(port: int) -> str:
    body = json.dumps({"username": "admin", "password": PASSWORD}).encode()
    asked = urllib.request.Request(
        f"http://127.0.0.1:{port}{API}/auth/login", body, {"content-type": "application/json"}
    )
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return str(json.load(answer)["access_token"])


def measured(scenario: Scenario, server: Server, token: str, folder: Path) -> Figure:
    headers = {"authorization": f"Bearer {token}"} if scenario.admin else {}
    body, etag = fetched(server.port, scenario.paths[0], headers)
    if scenario.conditional:
        headers["if-none-match"] = etag
        body = b""
    path = folder / "body"
    path.write_bytes(body)
    requests = [load.request(item, headers) for item in scenario.paths]
    port = free_port()
    ours: list[float] = []
    theirs: list[float] = []
    busy: list[float] = []
    waits: list[float] = []
    errors = 0
    with process(["tests.benchmarks.bare", str(port), str(path)], port, dict(os.environ)) as bare:
        load.burst(server.port, requests, 0.5)
        for _ in range(ROUNDS):
            before = server.cpu_s()
            outcome = load.burst(server.port, requests, BURST_S)
            busy.append((server.cpu_s() - before) / outcome.seconds)
            ours.append(outcome.rate)
            waits += outcome.waits
            errors += outcome.errors
            theirs.append(load.burst(bare.port, requests, BURST_S).rate)
    rate, limit = statistics.median(ours), statistics.median(theirs)
    waits.sort()
    note = (
        f"{len(body)} bytes, p99 {waits[int(len(waits) * 0.99)] * 1000:.1f} ms, {errors} errors, "
        f"the server's process used {statistics.median(busy):.0%} of a core"
    )
    if rate / limit < scenario.target:
        note += f"; {profiled(folder, scenario.paths[0], headers)}"
    return Figure(
        f"{scenario.name}, vs bare uvicorn with the same bytes",
        f"{rate:.0f}/s",
        f"{limit:.0f}/s",
        rate / limit,
        scenario.target,
        note=note,
    )


def fetched(port: int, path: str, headers: dict[str, str]) -> tuple[bytes, str]:
    """(body, ETag) of the first request of a scenario."""
    asked = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return answer.read(), answer.headers.get("ETag", "")


def profiled(folder: Path, path: str, headers: dict[str, str]) -> str:
    """Where a request's time goes: the app called in this process under cProfile, without the server."""
    import asyncio
    import cProfile
    import pstats

    from resources.settings import Settings
    from serving_api.app import create_app

    settings = Settings(
        data_dir=str(folder), rate_limit_per_min=10**9, sample_now=f"{LAST_DAY}T16:00", log_level="WARNING"
    )
    app = create_app(settings)
    route, _, query = path.partition("?")
    sent = [(b"host", b"127.0.0.1"), *((k.encode(), v.encode()) for k, v in headers.items())]

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, object]) -> None:
        if message.get("status", 200) not in (200, 304):
            raise RuntimeError(f"{path}: {message}")

    async def ask(times: int) -> None:
        for _ in range(times):
            scope = {
                "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET",
                "scheme": "http", "path": route, "raw_path": route.encode(), "query_string": query.encode(),
                "root_path": "", "headers": sent, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
            }  # fmt: skip
            await app(scope, receive, send)

    async def work() -> cProfile.Profile:
        await ask(50)
        profile = cProfile.Profile()
        profile.enable()
        await ask(500)
        profile.disable()
        return profile

    rows = pstats.Stats(asyncio.run(work())).stats  # type: ignore[attr-defined]
    whole = sum(row[2] for row in rows.values())
    by_place: dict[str, float] = {}
    for (file, _, _), row in rows.items():
        parts = Path(file).parts
        if "site-packages" in parts:
            place = parts[parts.index("site-packages") + 1]
        elif len(parts) < 2:
            place = "built-in functions"
        else:
            place = "ours" if ROOT in Path(file).parents else "standard library"
        by_place[place] = by_place.get(place, 0.0) + row[2]
    most = sorted(by_place.items(), key=lambda item: -item[1])[:5]
    return "own time by package: " + ", ".join(f"{place} {spent / whole:.0%}" for place, spent in most)
