"""The clients of all upstreams by their names, each bound to one log when it is first asked for."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from core.errors import Unavailable
from resources.fetch_record import FetchLog

if TYPE_CHECKING:
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
    from resources.upstreams.futures.client import FuturesClient
    from resources.upstreams.hkex.client import HkexClient
    from resources.upstreams.sina.client import SinaClient
    from resources.upstreams.sw.client import SwClient
    from resources.upstreams.tdx.client import TdxClient
    from resources.upstreams.tdx_packages.client import TdxPackagesClient
    from resources.upstreams.tencent.client import TencentClient
    from resources.upstreams.ths.client import ThsClient
    from resources.upstreams.xueqiu.client import XueqiuClient


Client = TypeVar("Client")


class _Client(Generic[Client]):
    """The client of the upstream that the attribute is named after."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, clients: "Clients", owner: type) -> Client:
        client: Client = clients._client(self._name)
        return client


class Clients:
    """The upstream clients. Raises Unavailable for an upstream that is not configured."""

    tdx: _Client["TdxClient"] = _Client()
    tencent: _Client["TencentClient"] = _Client()
    eastmoney: _Client["EastmoneyClient"] = _Client()
    cninfo: _Client["CninfoClient"] = _Client()
    sse: _Client["SseClient"] = _Client()
    szse: _Client["SzseClient"] = _Client()
    bse: _Client["BseClient"] = _Client()
    ths: _Client["ThsClient"] = _Client()
    csindex: _Client["CsindexClient"] = _Client()
    cnindex: _Client["CnindexClient"] = _Client()
    sw: _Client["SwClient"] = _Client()
    hkex: _Client["HkexClient"] = _Client()
    chinabond: _Client["ChinabondClient"] = _Client()
    chinamoney: _Client["ChinamoneyClient"] = _Client()
    tdx_packages: _Client["TdxPackagesClient"] = _Client()
    sina: _Client["SinaClient"] = _Client()
    cls: _Client["ClsClient"] = _Client()
    xueqiu: _Client["XueqiuClient"] = _Client()

    def __init__(self, makers: Mapping[str, Callable[[FetchLog], Any]], log: FetchLog) -> None:
        self.log = log
        self._makers = dict(makers)
        self._clients: dict[str, Any] = {}

    def _client(self, name: str) -> Any:
        if name not in self._clients:
            if name not in self._makers:
                raise Unavailable(f"no {name} client is configured", source=name)
            self._clients[name] = self._makers[name](self.log)
        return self._clients[name]

    def futures(self, exchange: str) -> "FuturesClient":
        """The client of a futures exchange: shfe, ine, cffex, dce, czce or gfex."""
        client: FuturesClient = self._client(exchange)
        return client
