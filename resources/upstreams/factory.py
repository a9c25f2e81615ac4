"""Makes the upstream clients that the settings ask for, sharing one gate, transport and connection pool."""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from core.calendar import TradeCalendar
from core.clock import Clock, Sleeper, real_sleep
from core.errors import InputError
from resources.fetch_record import FetchLog
from resources.settings import Settings, refuse_reserved
from resources.transport.gate import Gate
from resources.transport.gates import deployment_gate
from resources.transport.http import HttpTransport
from resources.transport.request import Fetcher
from resources.transport.settings import transport_settings
from resources.upstreams.chinabond.client import ChinabondClient
from resources.upstreams.chinamoney.client import ChinamoneyClient
from resources.upstreams.cls.client import ClsClient
from resources.upstreams.cnindex.client import CnindexClient
from resources.upstreams.cninfo.client import CninfoClient
from resources.upstreams.csindex.client import CsindexClient
from resources.upstreams.eastmoney.client import EastmoneyClient
from resources.upstreams.exchanges.bse import BseClient
from resources.upstreams.exchanges.sse import SseClient
from resources.upstreams.exchanges.szse import SzseClient
from resources.upstreams.first_answers import FirstAnswers
from resources.upstreams.futures.client import CALLS, FuturesClient
from resources.upstreams.hkex.client import HkexClient
from resources.upstreams.hosts import SITES, TERMINAL_FILE_SERVERS, TERMINAL_SERVERS, mock_sites
from resources.upstreams.sina.client import SinaClient
from resources.upstreams.sw.client import SwClient
from resources.upstreams.tdx.client import TdxClient
from resources.upstreams.tdx_packages.client import TdxPackagesClient
from resources.upstreams.tencent.client import TencentClient
from resources.upstreams.ths.client import ThsClient
from resources.upstreams.websearch.duckduckgo import DuckduckgoClient
from resources.upstreams.websearch.tavily import TavilyClient
from resources.upstreams.xueqiu.client import XueqiuClient

Makers = dict[str, Callable[[FetchLog], Any]]


def terminal_endpoints(settings: Settings) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Servers of the terminal protocol, and those for files beside them: the simulated ones, the configured
    ones, or the built-in lists."""
    text = settings.simulator_tdx if settings.data_source == "mock" else settings.tdx_hosts
    if not text and settings.data_source == "mock":
        # The public servers are no substitute: a sample platform would ask the real market.
        raise InputError("SIMULATOR_TDX", "is empty, and DATA_SOURCE=mock asks the simulated market only")
    if not text:
        return list(TERMINAL_SERVERS), list(TERMINAL_FILE_SERVERS)
    pairs = (item.strip().rpartition(":") for item in text.split(",") if item.strip())
    return [(host, int(port)) for host, _, port in pairs], []


def terminal_client(
    settings: Settings,
    clock: Clock,
    calendar: TradeCalendar,
    *,
    gate: Gate,
    sleeper: Sleeper = real_sleep,
) -> TdxClient:
    """The client of the terminal's servers."""
    servers, file_servers = terminal_endpoints(settings)
    return TdxClient(
        servers,
        file_endpoints=file_servers,
        gate=gate,
        clock=clock,
        fetches=FetchLog(),
        calendar=calendar,
        sleeper=sleeper,
    )


def make_clients(
    settings: Settings,
    clock: Clock,
    calendar: TradeCalendar,
    *,
    gate: Gate | None = None,
    sleeper: Sleeper = real_sleep,
    first: FirstAnswers | None = None,
) -> tuple[Makers, list[Callable[[], None]]]:
    """({upstream key: function that binds its client to a log}, what closes the shared connections).

    `gate` None: the one that all processes of the deployment share. `first`: every kind of
    call is made once, and its answer kept there. Raises NotImplementedError for DATA_SOURCE=vendor.
    """
    refuse_reserved(settings)
    numbers = transport_settings(settings)
    closers: list[Callable[[], None]] = []
    if gate is None:
        gate = own = deployment_gate(settings, numbers)
        closers.append(own.close)
    sites = mock_sites(settings.simulator_url) if settings.data_source == "mock" else SITES
    http = HttpTransport(numbers, gate, sites, clock=clock, sleeper=sleeper)
    tdx = terminal_client(settings, clock, calendar, gate=gate, sleeper=sleeper)
    client, fetcher = tdx, cast(Callable[[FetchLog], Fetcher], http.logged)
    if first is not None:
        client, fetcher = TdxClient.over(first.session(tdx.session), calendar), first.fetcher(fetcher, sites)
    makers: Makers = {
        "tdx": client.with_fetches,
        **http_clients(fetcher, clock),
        **search_clients(settings, fetcher),
    }
    # The gate last: what is still under way reports to it.
    return makers, [tdx.close, http.close, *closers]


def http_clients(fetcher: Callable[[FetchLog], Fetcher], clock: Clock) -> Makers:
    """The clients that speak HTTP, by upstream; `fetcher` gives the transport that records into a log."""
    plain: dict[str, Any] = {
        "tencent": TencentClient,
        "cninfo": CninfoClient,
        "sse": SseClient,
        "szse": SzseClient,
        "bse": BseClient,
        "ths": ThsClient,
        "sina": SinaClient,
        "xueqiu": XueqiuClient,
        "csindex": CsindexClient,
        "cnindex": CnindexClient,
        "sw": SwClient,
        "hkex": HkexClient,
        "chinabond": ChinabondClient,
        "chinamoney": ChinamoneyClient,
        "tdx_packages": TdxPackagesClient,
    }
    return {
        "eastmoney": lambda log: EastmoneyClient(fetcher(log), clock),
        "cls": lambda log: ClsClient(fetcher(log), clock),
        **{name: partial(_bound, client, fetcher) for name, client in plain.items()},
        **{name: partial(_of_exchange, FuturesClient, fetcher, name) for name in CALLS},
    }


def search_clients(settings: Settings, fetcher: Callable[[FetchLog], Fetcher]) -> Makers:
    """The clients that search the web; one that needs a key is left out without it."""
    found: Makers = {"duckduckgo": partial(_bound, DuckduckgoClient, fetcher)}
    if settings.tavily_api_key:
        found["tavily"] = lambda log: TavilyClient(fetcher(log), settings.tavily_api_key)
    return found


def _of_exchange(client: Any, fetcher: Callable[[FetchLog], Fetcher], exchange: str, log: FetchLog) -> Any:
    return client(fetcher(log), exchange)


def _bound(client: Any, fetcher: Callable[[FetchLog], Fetcher], log: FetchLog) -> Any:
    return client(fetcher(log))
