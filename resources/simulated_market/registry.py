"""The responders that the simulated market serves: one line per upstream."""

from resources.simulated_market.chinabond.responder import CHINABOND
from resources.simulated_market.chinamoney.responder import ChinamoneyResponder
from resources.simulated_market.cls.responder import ClsResponder
from resources.simulated_market.cninfo.responder import CninfoResponder
from resources.simulated_market.eastmoney.responder import EastmoneyResponder
from resources.simulated_market.exchanges.bse import BseResponder
from resources.simulated_market.exchanges.sse import SseResponder
from resources.simulated_market.exchanges.szse import SzseResponder
from resources.simulated_market.futures.responders import futures_responders
from resources.simulated_market.hkex.responder import HKEX
from resources.simulated_market.indexers.cnindex import CNINDEX
from resources.simulated_market.indexers.csindex import CsindexResponder
from resources.simulated_market.indexers.sw import SwResponder
from resources.simulated_market.shared_facts import Books
from resources.simulated_market.sina.responder import SinaResponder
from resources.simulated_market.tencent.responder import TencentResponder
from resources.simulated_market.ths.responder import ThsResponder
from resources.simulated_market.websearch import web_searches
from resources.simulated_market.wire import Responder
from resources.simulated_market.xueqiu.responder import XueqiuResponder


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
        *web_searches(books.notices),
    ]
