"""A trading session that runs: the simulated market and the API, each a process with one moving market clock.

`python -m tests.benchmarks.session market <ports file> <world cache> <began>` and
`... api <port> <began>`; `began` is the second (since 1970) at which the session stood at `FROM`.
"""

import json
import os
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from resources.transport.gates import SqliteGate
from resources.transport.settings import transport_settings
from tests.benchmarks.servers import Server, free_port, process

FROM = datetime(2026, 8, 21, 10, 0)
BEFORE = "2026-08-20"
SPEED = 10
"""Seconds of the market in a second: prices differ at every poll."""
PROFILE = "M"
PACING_OFF = dict.fromkeys(
    ("EM_MIN_INTERVAL", "EM_JITTER_MIN", "EM_JITTER_MAX", "TENCENT_MIN_INTERVAL", "XQ_MIN_INTERVAL"), "0"
)
START_LIMIT_S = 120.0


@dataclass(frozen=True)
class SessionClock:
    """Begins at `FROM` and runs `SPEED` times as fast as the system clock."""

    began: float
    frozen: bool = False

    def now(self) -> datetime:
        return FROM + timedelta(seconds=(time.time() - self.began) * SPEED)


@dataclass(frozen=True)
class Session:
    """A market, and where to start API processes over it. They share the folder: warehouse and transport."""

    folder: Path
    began: float
    environment: dict[str, str]

    @contextmanager
    def api(self) -> Iterator[Server]:
        port = free_port()
        command = ["tests.benchmarks.session", "api", str(port), str(self.began)]
        with process(command, port, self.environment) as server:
            yield server

    def codes(self, most: int) -> list[str]:
        """Stocks of the market, the first by their code."""
        with sqlite3.connect(self.folder / "warehouse.sqlite3") as connection:
            rows = connection.execute(
                "SELECT code FROM fusion_stock_master WHERE sec_type='stock' ORDER BY code LIMIT ?", (most,)
            )
            return [str(code) for (code,) in rows]

    def upstream_calls(self) -> int:
        """Requests of all API processes so far, as their shared transport counts them."""
        from resources.settings import load_settings

        settings = load_settings(self.environment)
        gate = SqliteGate(settings.data_path / "transport.sqlite3", transport_settings(settings))
        try:
            return sum(int(counts["requests"]) for counts in gate.counters().values())
        finally:
            gate.close()


@contextmanager
def session(folder: Path) -> Iterator[Session]:
    """The market runs, and the warehouse holds the list of securities and the closes of the day before."""
    fill(folder)
    began = time.time()
    ports = folder / "ports.json"
    port = free_port()
    command = ["tests.benchmarks.session", "market", str(ports), str(folder / "world"), str(began), str(port)]
    with process(command, port, dict(os.environ)):
        limit = time.monotonic() + START_LIMIT_S
        while not ports.exists():
            if time.monotonic() > limit:
                raise RuntimeError("the simulated market did not start")
            time.sleep(0.1)
        found = json.loads(ports.read_text())
        yield Session(
            folder,
            began,
            {
                **os.environ,
                **PACING_OFF,
                "DATA_DIR": str(folder),
                "ENV_FILE": str(folder / "absent.env"),
                "DATA_SOURCE": "mock",
                "SIMULATOR_URL": found["http"],
                "SIMULATOR_TDX": found["tcp"],
                "RATE_LIMIT_PER_MIN": "1000000000",
                "LOG_LEVEL": "ERROR",
            },
        )


def fill(folder: Path) -> None:
    """Master, industries and the closes of the session before, by the world's own facts."""
    from simulated_market.world.loader import load_world
    from simulated_market.world.model import PRICE_UNIT
    from tests.benchmarks.store import open_store
    from tests.serving_api import market as stored
    from tests.serving_api.live.admin_reads.conftest import master_rows

    world: Any = load_world("synthetic", PROFILE, cache_dir=folder / "world")
    warehouse = open_store(f"sqlite:///{folder}/warehouse.sqlite3", folder)
    stocks = [one for one in world.securities(FROM) if one.kind == "stock"]
    bars, industries = [], []
    for one in stocks:
        of = world.bars(one, FROM)
        known = {"code": one.code, "market": one.market, "sec_type": "stock"}
        for place, day in enumerate(of.date):
            if int(day) == int(BEFORE.replace("-", "")):
                close, amount = of.close[place] / PRICE_UNIT, float(of.amount[place])
                bars.append({**known, "date": BEFORE, "close": close, "amount": amount})
        if one.industry:
            industries.append({"code": one.code, "name": world.name(one, FROM), "em_industry": one.industry})
    stored.put(warehouse, warehouse.table("fusion_stock_master"), master_rows(world, FROM))
    stored.put(warehouse, warehouse.table("fusion_kline_daily"), bars)
    stored.put(warehouse, warehouse.table("fusion_stock_industry"), industries)
    warehouse.close()


def serve_market(ports: Path, cache: Path, began: float, port: int) -> None:
    from simulated_market.service import SimulatedMarket
    from simulated_market.world.loader import load_world

    ending = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ending.set())
    world: Any = load_world("synthetic", PROFILE, cache_dir=cache)
    with SimulatedMarket(world, SessionClock(began), http_port=port) as market:
        host, number = market.tcp_address or ("", 0)
        made = ports.with_suffix(".made")
        made.write_text(json.dumps({"http": market.http_url, "tcp": f"{host}:{number}"}))
        made.rename(ports)
        ending.wait()


def serve_api(port: int, began: float) -> None:
    from resources import logs
    from resources.settings import load_settings
    from serving_api.__main__ import serve

    settings = load_settings({**os.environ, "API_PORT": str(port)})
    logs.configure(settings, "api")
    serve(settings, clock=SessionClock(began))


if __name__ == "__main__":
    if sys.argv[1] == "market":
        serve_market(Path(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]))
    else:
        serve_api(int(sys.argv[2]), float(sys.argv[3]))
