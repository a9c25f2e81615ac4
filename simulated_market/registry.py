"""The responders that the simulated market serves: one line per upstream."""

from simulated_market.chinabond.responder import CHINABOND
from simulated_market.chinamoney.responder import ChinamoneyResponder
from simulated_market.cls.responder import ClsResponder
from simulated_market.cninfo.responder import CninfoResponder
from simulated_market.eastmoney.responder import EastmoneyResponder
from simulated_market.exchanges.bse import BseResponder
from simulated_market.exchanges.sse import SseResponder
from simulated_market.exchanges.szse import SzseResponder
from simulated_market.futures.responders import futures_responders
from simulated_market.hkex.responder import HKEX
from simulated_market.indexers.cnindex import CNINDEX
from simulated_market.indexers.csindex import CsindexResponder
from simulated_market.indexers.sw import SwResponder
from simulated_market.shared_facts import Books
from simulated_market.sina.responder import SinaResponder
from simulated_market.tdx_packages.responder import TdxPackagesResponder
from simulated_market.tencent.responder import TencentResponder
from simulated_market.ths.responder import ThsResponder
from simulated_market.websearch import web_searches
from simulated_market.wire import Responder
from simulated_market.xueqiu.responder import XueqiuResponder


def responders() -> list[Responder]:
    """New instances, since a responder may remember its last rendering."""
    books = Books()
    return [
        TencentResponder(),
        EastmoneyResponder(books),
        CninfoResponder(books),
        SseResponder(books),
        SzseResponder(books),
        BseResponder(books),
        ThsResponder(books),
        CsindexResponder(books),
        CNINDEX,
        SwResponder(books),
        *futures_responders(),
        HKEX,
        CHINABOND,
        ChinamoneyResponder(),
        SinaResponder(books),
        XueqiuResponder(books),
        ClsResponder(books),
        TdxPackagesResponder(books),
        *web_searches(books.notices),
    ]
