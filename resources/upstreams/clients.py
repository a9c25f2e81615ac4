"""The clients of all upstreams by their names, each bound to one log when it is first asked for."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from core.errors import Unavailable
from resources.fetch_record import FetchLog

if TYPE_CHECKING:
    from resources.upstreams.chinabond import ChinabondClient
    from resources.upstreams.chinamoney import ChinamoneyClient
    from resources.upstreams.cls import ClsClient
    from resources.upstreams.cnindex import CnindexClient
    from resources.upstreams.cninfo import CninfoClient
    from resources.upstreams.csindex import CsindexClient
    from resources.upstreams.eastmoney import EastmoneyClient
    from resources.upstreams.exchanges import BseClient, SseClient, SzseClient
    from resources.upstreams.futures import FuturesClient
    from resources.upstreams.hkex import HkexClient
    from resources.upstreams.sina import SinaClient
    from resources.upstreams.sw import SwClient
    from resources.upstreams.tdx.client import TdxClient
    from resources.upstreams.tencent import TencentClient
    from resources.upstreams.ths import ThsClient
    from resources.upstreams.xueqiu import XueqiuClient


class Clients:
    """The upstream clients. Raises Unavailable for an upstream that is not configured."""

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

    @property
    def tdx(self) -> "TdxClient":
        client: TdxClient = self._client("tdx")
        return client

    @property
    def tencent(self) -> "TencentClient":
        client: TencentClient = self._client("tencent")
        return client

    @property
    def eastmoney(self) -> "EastmoneyClient":
        client: EastmoneyClient = self._client("eastmoney")
        return client

    @property
    def cninfo(self) -> "CninfoClient":
        client: CninfoClient = self._client("cninfo")
        return client

    @property
    def sse(self) -> "SseClient":
        client: SseClient = self._client("sse")
        return client

    @property
    def szse(self) -> "SzseClient":
        client: SzseClient = self._client("szse")
        return client

    @property
    def bse(self) -> "BseClient":
        client: BseClient = self._client("bse")
        return client

    @property
    def ths(self) -> "ThsClient":
        client: ThsClient = self._client("ths")
        return client

    @property
    def csindex(self) -> "CsindexClient":
        client: CsindexClient = self._client("csindex")
        return client

    @property
    def cnindex(self) -> "CnindexClient":
        client: CnindexClient = self._client("cnindex")
        return client

    @property
    def sw(self) -> "SwClient":
        client: SwClient = self._client("sw")
        return client

    def futures(self, exchange: str) -> "FuturesClient":
        """The client of a futures exchange: shfe, ine, cffex, dce, czce or gfex."""
        client: FuturesClient = self._client(exchange)
        return client

    @property
    def hkex(self) -> "HkexClient":
        client: HkexClient = self._client("hkex")
        return client

    @property
    def chinabond(self) -> "ChinabondClient":
        client: ChinabondClient = self._client("chinabond")
        return client

    @property
    def chinamoney(self) -> "ChinamoneyClient":
        client: ChinamoneyClient = self._client("chinamoney")
        return client

    @property
    def sina(self) -> "SinaClient":
        client: SinaClient = self._client("sina")
        return client

    @property
    def cls(self) -> "ClsClient":
        client: ClsClient = self._client("cls")
        return client

    @property
    def xueqiu(self) -> "XueqiuClient":
        client: XueqiuClient = self._client("xueqiu")
        return client
