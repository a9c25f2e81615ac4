"""The simulated market as one thing: a world, its HTTP port and its terminal port.

In tests: `with SimulatedMarket(world, clock) as market: ...`. As a process: `__main__`.
"""

from core.clock import Clock
from resources.simulated_market.faults import FaultPlan
from resources.simulated_market.http_server import HttpServer
from resources.simulated_market.registry import responders
from resources.simulated_market.tdx.server import TdxServer
from resources.simulated_market.world.model import World


class SimulatedMarket:
    """Both servers over one world and one fault plan. Port 0 = a free port; `tcp_port` None = no
    terminal server."""

    def __init__(
        self,
        world: World,
        clock: Clock,
        faults: FaultPlan | None = None,
        *,
        host: str = "127.0.0.1",
        http_port: int = 0,
        tcp_port: int | None = 0,
    ) -> None:
        self.world = world
        self.clock = clock
        self.faults = faults or FaultPlan()
        self._http = HttpServer(world, clock, self.faults, responders(), host=host, port=http_port)
        self._tcp = None if tcp_port is None else TdxServer(world, clock, self.faults, host, tcp_port)

    @property
    def http_url(self) -> str:
        """`http://127.0.0.1:<port>`: what `mock_sites` takes."""
        return self._http.url

    @property
    def http_address(self) -> tuple[str, int]:
        return self._http.address

    @property
    def tcp_address(self) -> tuple[str, int] | None:
        return None if self._tcp is None else self._tcp.address

    def calls(self) -> dict[str, dict[str, int]]:
        """HTTP requests per upstream and call."""
        return self._http.calls()

    def terminal_calls(self) -> dict[str, int]:
        """Requests to the terminal server by call, since its start."""
        return {} if self._tcp is None else self._tcp.calls()

    def reset_calls(self) -> None:
        self._http.reset_calls()

    def start(self) -> None:
        self._http.start()
        if self._tcp is not None:
            self._tcp.start()

    def stop(self) -> None:
        if self._tcp is not None:
            self._tcp.stop()
        self._http.stop()

    def __enter__(self) -> "SimulatedMarket":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
