"""The simulated market with our clients on it, and what the public clients are asked about."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from core.calendar import shipped_calendar
from core.clock import ManualClock
from resources.fetch_record import FetchLog
from resources.settings import Settings
from resources.transport.gates import MemoryGate
from resources.transport.settings import transport_settings
from resources.upstreams.factory import make_clients
from simulated_market.dual_listings import pairs
from simulated_market.service import SimulatedMarket
from simulated_market.wire import View
from simulated_market.world.loader import load_world

NOW = pd.Timestamp("2026-08-21 22:30").to_pydatetime()
DAY, PERIOD, YEAR_END = "2026-08-20", "2026-03-31", "2025-12-31"


class Market:
    """Our clients by the name of the upstream (`m.eastmoney`), and instruments of the market."""

    def __init__(self, served: SimulatedMarket, clients: dict[str, Any]) -> None:
        self.url = served.http_url
        self.served = served
        self._clients = clients
        listed = served.world.securities(NOW)
        boards = served.world.boards(NOW)
        self.stock = [one for one in listed if one.kind == "stock" and one.board == "main"][3]
        self.bond = next(one for one in listed if one.kind == "cb")
        self.etf = next(one for one in listed if one.kind == "etf")
        self.industry = next(one for one in boards if one.kind == "industry")
        self.concept = next(one for one in boards if one.kind == "concept")
        self.hong_kong = pairs(View(served.world, NOW))[0].h_code
        self.pool_days = {pool: self._day_of(pool) for pool in ("up", "broken", "down", "prev", "strong")}

    def __getattr__(self, upstream: str) -> Any:
        try:
            return self.__dict__["_clients"][upstream]
        except KeyError:
            raise AttributeError(upstream) from None

    def _day_of(self, pool: str) -> str:
        """The newest date on which the pool has anybody."""
        days = shipped_calendar().last(18, "2026-08-22")
        return next(day for day in reversed(days) if len(self.eastmoney.limit_pool(pool, day)))

    def named(self) -> dict[str, str]:
        """Values of the `$words` of a case."""
        code, symbol = self.stock.code, self.stock.symbol
        return {
            "$code": code,
            "$symbol": symbol,
            "$prefixed": symbol.upper(),
            "$dotted": f"{code}.{symbol[:2].upper()}",
            "$bond": self.bond.code,
            "$bond_symbol": self.bond.symbol,
            "$etf": self.etf.code,
            "$industry": self.industry.name,
            "$concept": self.concept.name,
            **{f"$day_{pool}": day.replace("-", "") for pool, day in self.pool_days.items()},
        }


@contextmanager
def opened(folder: Path) -> Iterator[Market]:
    with SimulatedMarket(load_world("synthetic", "S"), ManualClock(NOW)) as served:
        host, port = served.tcp_address or ("", 0)
        settings = Settings(
            data_source="mock",
            sample_state="calm",
            data_dir=str(folder),
            simulator_url=served.http_url,
            simulator_tdx=f"{host}:{port}",
            http_timeout=60.0,  # of a busy machine: one answer too late rests the host for all that follow
        )
        gate = MemoryGate(transport_settings(settings), sleeper=lambda _seconds: None)
        makers, closers = make_clients(
            settings, ManualClock(NOW), shipped_calendar(), gate=gate, sleeper=lambda _seconds: None
        )
        yield Market(served, {name: make(FetchLog()) for name, make in makers.items()})
        for close in closers:
            close()
