"""Opened and closed in a loop, nothing of ours keeps a descriptor or a thread."""

import gc
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.calendar import shipped_calendar
from core.clock import FrozenClock
from resources.composition import open_platform
from resources.settings import Settings
from resources.upstreams.factory import make_clients
from simulated_market.faults import FaultPlan
from simulated_market.service import SimulatedMarket
from tests.pipeline.conftest import sample_world  # noqa: F401  a fixture
from tests.serving_api import market
from tests.serving_api.client import running
from tests.serving_api.conftest import ADMIN, Ticks, make_app

WARM, ROUNDS = 2, 4
SETTLE_S = 3.0


def held() -> tuple[int, int]:
    """(descriptors, threads) of this process."""
    gc.collect()
    return len(os.listdir("/dev/fd")), threading.active_count()


def assert_nothing_stays(one_round: Callable[[], None], *, settle_s: float = SETTLE_S) -> None:
    """Caches fill in the first rounds; from then on a round leaves what it found. Threads and sockets of
    the other side may need a moment to end."""
    for _ in range(WARM):
        one_round()
    before = held()
    for _ in range(ROUNDS):
        one_round()
    deadline = time.monotonic() + settle_s
    while any(now > then for now, then in zip(held(), before, strict=True)):
        assert time.monotonic() < deadline, f"{held()} after, {before} before {ROUNDS} rounds"
        time.sleep(0.02)


def test_the_measure_sees_a_leak(tmp_path: Path) -> None:
    kept = []

    with pytest.raises(AssertionError, match="after"):
        assert_nothing_stays(lambda: kept.append((tmp_path / "x").open("w")), settle_s=0.1)

    for file in kept:
        file.close()


@pytest.fixture(scope="module")
def upstreams(sample_world: object) -> Iterator[SimulatedMarket]:  # noqa: F811
    with SimulatedMarket(sample_world, FrozenClock(market.NOW), FaultPlan()) as served:  # type: ignore[arg-type]
        yield served


def a_stock(upstreams: SimulatedMarket) -> str:
    """Symbol of a stock that trades."""
    listed = upstreams.world.securities(market.NOW)
    return next(str(item.symbol) for item in listed if item.kind == "stock")


def mock_settings(upstreams: SimulatedMarket, folder: Path) -> Settings:
    host, port = upstreams.tcp_address or ("", 0)
    return Settings(
        data_source="mock",
        data_dir=str(folder),
        simulator_url=upstreams.http_url,
        simulator_tdx=f"{host}:{port}",
        sample_now=market.NOW.isoformat(),
    )


def test_the_app(upstreams: SimulatedMarket, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    warehouse = market.open_warehouse(url, tmp_path)
    warehouse.migrate()
    market.fill(warehouse)
    warehouse.close()
    mock = mock_settings(upstreams, tmp_path)
    live = f"/stocks/{a_stock(upstreams)[2:]}/intraday"
    how = {name: getattr(mock, name) for name in ("data_source", "simulator_url", "simulator_tdx")}

    def one_round() -> None:
        with running(make_app(url, tmp_path, Ticks(), **how)) as api:
            token = api.post("/auth/login", json=ADMIN).json()["access_token"]
            answers = [
                api.get("/stocks/600519/kline"),
                api.get("/stocks/index"),
                api.get("/stocks/batch-kline", params={"codes": "600519,000001"}),
                api.get(live),
                api.get("/datamgr/stats", headers={"Authorization": f"Bearer {token}"}),
                api.get("//health"),
            ]
        assert {answer.status_code for answer in answers} == {200}
        assert answers[3].json()["results"]

    assert_nothing_stays(one_round)


def test_the_upstream_clients(upstreams: SimulatedMarket, tmp_path: Path) -> None:
    """TCP and HTTP, with the gate that processes share."""
    from resources.fetch_record import FetchLog

    settings, calendar = mock_settings(upstreams, tmp_path), shipped_calendar()
    symbol = a_stock(upstreams)

    def one_round() -> None:
        makers, closers = make_clients(settings, FrozenClock(market.NOW), calendar)
        assert len(makers["tdx"](FetchLog()).quotes([symbol])) == 1
        assert len(makers["tencent"](FetchLog()).quotes([symbol])) == 1
        for close in closers:
            close()

    assert_nothing_stays(one_round)


def test_the_platform(upstreams: SimulatedMarket, tmp_path: Path) -> None:
    settings = mock_settings(upstreams, tmp_path)

    def one_round() -> None:
        platform = open_platform(settings)
        assert len(platform.ctx.new_run().securities()) > 10
        assert platform.warehouse.rows("sys_batch") == []
        platform.close()

    assert_nothing_stays(one_round)
