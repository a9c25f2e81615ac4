"""Parallel callers never hold more connections than the pool is allowed."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from core.clock import FrozenClock
from resources.fetch_record import FetchLog
from resources.transport.gate import OpenGate
from resources.upstreams.tdx.client import TdxClient
from simulated_market.faults import FaultPlan
from simulated_market.tdx.server import TdxServer
from simulated_market.world.loader import load_world


def test_many_threads_share_the_connections_of_one_pool() -> None:
    clock = FrozenClock(datetime(2026, 8, 21, 16, 0))
    with (
        TdxServer(load_world("synthetic", "S"), clock, FaultPlan()) as server,
        TdxClient([server.address], gate=OpenGate(), clock=clock, fetches=FetchLog(), pool_size=3) as client,
    ):
        pool = client._session.pool
        with ThreadPoolExecutor(max_workers=12) as threads:
            for _ in range(20):
                list(threads.map(lambda _: client.security_count("sh"), range(12)))
                assert pool.open_connections <= 3
        assert len(server._connections) <= 3
