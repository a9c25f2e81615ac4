"""One running market per module, and clients that talk to it over a real socket."""

import random
from dataclasses import dataclass

import pytest

from core.clock import FrozenClock
from resources.fetch_record import FetchLog
from resources.transport.gates import MemoryGate
from resources.transport.http import HttpTransport
from resources.transport.settings import TransportSettings
from resources.upstreams.chinabond.client import ChinabondClient
from resources.upstreams.cninfo.client import CninfoClient
from resources.upstreams.eastmoney.client import EastmoneyClient
from resources.upstreams.exchanges.bse import BseClient
from resources.upstreams.exchanges.sse import SseClient
from resources.upstreams.exchanges.szse import SzseClient
from resources.upstreams.hosts import mock_sites
from resources.upstreams.sina.client import SinaClient
from resources.upstreams.tencent.client import TencentClient
from resources.upstreams.ths.client import ThsClient
from resources.upstreams.xueqiu.client import XueqiuClient
from simulated_market.service import SimulatedMarket
from tests.simulated_market.http.tiny_world import NOW, TinyWorld
from tests.transport.manual import ManualTime


@dataclass
class Bench:
    """A market, a transport to it with a fresh gate, and what both saw."""

    market: SimulatedMarket
    transport: HttpTransport
    gate: MemoryGate
    time: ManualTime
    log: FetchLog

    @property
    def tencent(self) -> TencentClient:
        return TencentClient(self.transport.logged(self.log))

    @property
    def eastmoney(self) -> EastmoneyClient:
        return EastmoneyClient(self.transport.logged(self.log), self.market.clock)

    @property
    def cninfo(self) -> CninfoClient:
        return CninfoClient(self.transport.logged(self.log))

    @property
    def sse(self) -> SseClient:
        return SseClient(self.transport.logged(self.log))

    @property
    def szse(self) -> SzseClient:
        return SzseClient(self.transport.logged(self.log))

    @property
    def bse(self) -> BseClient:
        return BseClient(self.transport.logged(self.log))

    @property
    def ths(self) -> ThsClient:
        return ThsClient(self.transport.logged(self.log))

    @property
    def sina(self) -> SinaClient:
        return SinaClient(self.transport.logged(self.log))

    @property
    def xueqiu(self) -> XueqiuClient:
        """A client that already has the site's cookies, since the transport holds them."""
        return XueqiuClient(self.transport.logged(self.log))

    @property
    def chinabond(self) -> ChinabondClient:
        return ChinabondClient(self.transport.logged(self.log))

    def fault(self, kind: str, upstream: str = "*", call: str = "*", count: int = 0, **args) -> None:
        rule = {"upstream": upstream, "call": call, "kind": kind, "args": args, "count": count}
        self.market.faults.replace([rule])

    def outcomes(self) -> list[str]:
        return [str(fetch.outcome) for fetch in self.log.items]


def market_of(world: TinyWorld) -> SimulatedMarket:
    return SimulatedMarket(world, FrozenClock(NOW), tcp_port=None)


@pytest.fixture(scope="module")
def market():
    with market_of(TinyWorld()) as running:
        yield running


@pytest.fixture(scope="module")
def big_market():
    """More stocks than fit on two pages."""
    with market_of(TinyWorld(fillers=230)) as running:
        yield running


def bench_of(market: SimulatedMarket, **changes) -> Bench:
    market.faults.clear()
    market.reset_calls()
    settings = TransportSettings(pacing=False, **changes)
    time = ManualTime()
    gate = MemoryGate(settings, now=time, sleeper=time.sleep, rng=random.Random(1))
    transport = HttpTransport(
        settings,
        gate,
        mock_sites(market.http_url),
        clock=market.clock,
        sleeper=time.sleep,
        rng=random.Random(1),
    )
    return Bench(market, transport, gate, time, FetchLog())


@pytest.fixture
def bench(market):
    made = bench_of(market)
    yield made
    made.transport.close()


@pytest.fixture
def big_bench(big_market):
    made = bench_of(big_market)
    yield made
    made.transport.close()
