"""What calculates over the market, from the warehouse alone and with the lake: the daily calculations, a
backtest of every stock on each date, and over the API a screen with an instant, a screen by factors with one
and the ranking by relative strength. 250 dates of 5,500 stocks."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from statistics import median

import httpx
import numpy as np

from core.calendar import shipped_calendar
from core.clock import ManualClock
from platform_assets.compute.scorecards.forward import forward_returns
from platform_assets.datasets._picks import prices_of
from platform_assets.pipeline.inputs import StoredReads
from resources.fetch_record import FetchLog
from resources.lake.location import lake_of
from resources.lake.publishing import Publisher
from resources.upstreams.fetch_context import FetchContext
from resources.warehouse.warehouse import Warehouse
from tests.benchmarks import load
from tests.benchmarks.measure import Figure, faster
from tests.benchmarks.panel import fill
from tests.benchmarks.panel_data import LAST_DAY
from tests.benchmarks.quant import calculate
from tests.benchmarks.servers import API, api
from tests.benchmarks.serving import fill_wide
from tests.benchmarks.store import BARS, mariadb_database, open_store

DATES = 250
SAMPLES = 3
SCREEN = {
    "dsl": "price >= 0 and ma(close, 20) > ma(close, 60) and close >= hhv(high, 60) * 0.9 limit 50",
    "as_of": f"{LAST_DAY}T16:30:00",
}
FACTORS = {"preset": "valueDeep", "as_of": f"{LAST_DAY}T16:30:00"}


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        yield from engine_figures("SQLite", f"sqlite:///{folder}/warehouse.sqlite3", Path(folder))
    with tempfile.TemporaryDirectory() as folder, mariadb_database() as url:
        if url is not None:
            yield from engine_figures("MariaDB", url, Path(folder))


def engine_figures(engine: str, url: str, folder: Path) -> Iterator[Figure]:
    warehouse = open_store(url, folder)
    days = fill(warehouse, folder, DATES)
    fill_wide(warehouse)
    calculate(warehouse)  # compiles, and stores what every later run finds unchanged

    work: dict[str, Callable[[], float]] = {
        "quant_calc, nothing changed": lambda: calculate(warehouse)[0],
        "backtest of every stock on every date": lambda: backtest(warehouse, days),
        "screen with an instant": lambda: answered(url, folder, "POST", "screener/find", SCREEN),
        "screen by factors with an instant": lambda: answered(url, folder, "POST", "factor/screen", FACTORS),
        "ranking by relative strength": lambda: answered(url, folder, "GET", "quant/relative-strength"),
    }
    without = {name: median(measure() for _ in range(SAMPLES)) for name, measure in work.items()}
    Publisher(warehouse, lake_of(warehouse)).publish(BARS)  # type: ignore[arg-type]
    for name, measure in work.items():
        taken = median(measure() for _ in range(SAMPLES))
        yield faster(f"{engine}: {name}, with the lake vs without", taken, without[name], None)
    shutil.rmtree(folder / "lake")
    warehouse.close()


def backtest(warehouse: Warehouse, days: list[str]) -> float:
    """Seconds of reading the bars and of the forward returns of each stock bought on each date."""
    clock = ManualClock(datetime.fromisoformat(f"{LAST_DAY}T17:30"))
    ctx = FetchContext(clock=clock, calendar=shipped_calendar(), makers={}).view(
        FetchLog(), read=StoredReads(warehouse)
    )
    began = time.perf_counter()
    prices, benchmark = prices_of(ctx, days[0], days[-1])
    stocks, dates = len(prices.codes), len(prices.dates)
    forward_returns(prices, benchmark, np.repeat(np.arange(stocks), dates), np.tile(np.arange(dates), stocks))
    return time.perf_counter() - began


def answered(url: str, folder: Path, method: str, path: str, body: object = None) -> float:
    """Seconds of the first answer of a new API process, whose caches are empty."""
    with api(folder, WAREHOUSE_URL=url, SAMPLE_NOW=f"{LAST_DAY}T17:00") as server:
        load.fetch(server.port, f"{API}/quant/screener/fields")
        began = time.perf_counter()
        address = f"http://127.0.0.1:{server.port}{API}/{path}"
        answer = httpx.request(method, address, json=body, timeout=120)
        taken = time.perf_counter() - began
    answer.raise_for_status()
    return taken
