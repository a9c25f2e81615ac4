"""The simulated market as one thing: a world, its HTTP port and the ports of its terminal servers.

In tests: `with SimulatedMarket(world, clock) as market: ...`. As a process: `__main__`.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest

from core.clock import Clock
from simulated_market.conditions import state_of, terminal_servers
from simulated_market.faults import FaultPlan
from simulated_market.http_server import HttpServer
from simulated_market.registry import responders
from simulated_market.tdx.server import TdxServer
from simulated_market.world.model import World


class SimulatedMarket:
    """All servers over one world and one fault plan. Port 0 = a free port; `tcp_port` None = no terminal
    server; `more_tcp_ports`: further terminal servers, number 2 and on in fault rules, by default as many as
    the state of the world has, at the ports behind `tcp_port`."""

    def __init__(
        self,
        world: World,
        clock: Clock,
        faults: FaultPlan | None = None,
        *,
        host: str = "127.0.0.1",
        http_port: int = 0,
        tcp_port: int | None = 0,
        more_tcp_ports: Sequence[int] | None = None,
    ) -> None:
        self.world = world
        self.clock = clock
        self.faults = faults or FaultPlan()
        self._http = HttpServer(world, clock, self.faults, responders(), host=host, port=http_port)
        served = terminal_servers(state_of(world))
        if more_tcp_ports is None:
            more_tcp_ports = [tcp_port + at if tcp_port else 0 for at in range(1, len(served))]
        ports = () if tcp_port is None else (tcp_port, *more_tcp_ports)
        self._terminals = [
            TdxServer(world, clock, self.faults, host, port, number=number, served=calls)
            for number, (port, calls) in enumerate(zip_longest(ports, served[: len(ports)]), 1)
        ]

    @property
    def http_url(self) -> str:
        """`http://127.0.0.1:<port>`: what `mock_sites` takes."""
        return self._http.url

    @property
    def http_address(self) -> tuple[str, int]:
        return self._http.address

    @property
    def tcp_address(self) -> tuple[str, int] | None:
        """Of the first terminal server."""
        return self._terminals[0].address if self._terminals else None

    @property
    def tcp_addresses(self) -> list[tuple[str, int]]:
        """Of all terminal servers."""
        return [server.address for server in self._terminals]

    @property
    def terminals(self) -> str:
        """Addresses of all terminal servers as SIMULATOR_TDX has them."""
        return ",".join(f"{host}:{port}" for host, port in self.tcp_addresses)

    def calls(self) -> dict[str, dict[str, int]]:
        """HTTP requests per upstream and call."""
        return self._http.calls()

    def terminal_calls(self) -> dict[str, int]:
        """Requests to the terminal servers by call, since their start."""
        return dict(sum((Counter(server.calls()) for server in self._terminals), Counter()))

    def reset_calls(self) -> None:
        self._http.reset_calls()

    def start(self) -> None:
        self._http.start()
        for server in self._terminals:
            server.start()

    def stop(self) -> None:
        for server in self._terminals:
            server.stop()
        self._http.stop()

    def __enter__(self) -> "SimulatedMarket":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
