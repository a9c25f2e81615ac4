"""The one table of upstream addresses: site key -> upstream, pacing family, hosts, Referer.

A client names a site; no other module contains an upstream's address. `mock_sites` points
every site at the simulated market, which keeps the upstreams' own paths behind /<upstream key>.
"""

from resources.transport.request import Site
from resources.transport.settings import PUSH2HIS_CALLS

_EM_REFERER = "https://quote.eastmoney.com/"
_EM_F10_REFERER = "https://emweb.securities.eastmoney.com/"
_TENCENT_REFERER = "https://gu.qq.com/"
_SINA_REFERER = "https://finance.sina.com.cn/"

PORTAL_HISTORY = "eastmoney.push2his"
"""The site of the portal's bars and money flow of the past."""

# Fail-over order. The delayed mirror of push2 is not in it: its quotes are a quarter of an hour old without
# saying so.
SITES: dict[str, Site] = {
    "tencent.quote": Site("tencent", "tencent", ("https://qt.gtimg.cn", "https://sqt.gtimg.cn")),
    # Some routes of web.ifzq.gtimg.cn redirect to a name without DNS; this one carries amounts as well.
    "tencent.finance": Site("tencent", "tencent", ("https://proxy.finance.qq.com",), _TENCENT_REFERER),
    "tencent.minute": Site("tencent", "tencent", ("https://ifzq.gtimg.cn",), _TENCENT_REFERER),
    "tencent.intraday": Site("tencent", "tencent", ("https://web.ifzq.gtimg.cn",), _TENCENT_REFERER),
    "tencent.ticks": Site("tencent", "tencent", ("https://stock.gtimg.cn",), _TENCENT_REFERER),
    "eastmoney.push2": Site(
        "eastmoney",
        "eastmoney",
        ("https://push2.eastmoney.com", "https://82.push2.eastmoney.com"),
        _EM_REFERER,
    ),
    # Cuts the connection after about ten calls of history (autumn 2026); the other hosts go on answering.
    PORTAL_HISTORY: Site(
        "eastmoney",
        "push2his",
        ("https://push2his.eastmoney.com", "https://33.push2his.eastmoney.com"),
        _EM_REFERER,
        most_calls=PUSH2HIS_CALLS,
    ),
    "eastmoney.datacenter": Site(
        "eastmoney", "eastmoney", ("https://datacenter-web.eastmoney.com",), "https://data.eastmoney.com/"
    ),
    "eastmoney.older": Site(
        "eastmoney", "eastmoney", ("https://datacenter.eastmoney.com",), "https://data.eastmoney.com/"
    ),
    "eastmoney.f10": Site("eastmoney", "eastmoney", ("https://datacenter.eastmoney.com",), _EM_F10_REFERER),
    "eastmoney.emweb": Site(
        "eastmoney", "eastmoney", ("https://emweb.securities.eastmoney.com",), _EM_F10_REFERER
    ),
    "eastmoney.notices": Site(
        "eastmoney", "eastmoney", ("https://np-anotice-stock.eastmoney.com",), "https://data.eastmoney.com/"
    ),
    "eastmoney.research": Site(
        "eastmoney", "eastmoney", ("https://reportapi.eastmoney.com",), "https://data.eastmoney.com/"
    ),
    # The search refuses robots on its own: a refusal there says nothing about quotes and bars.
    "eastmoney.search": Site(
        "eastmoney",
        "em_search",
        ("https://search-api-web.eastmoney.com",),
        "https://so.eastmoney.com/",
        apart=True,
    ),
    "eastmoney.flash": Site(
        "eastmoney", "eastmoney", ("https://np-weblist.eastmoney.com",), "https://kuaixun.eastmoney.com/"
    ),
    "cninfo.disclosure": Site(
        "cninfo", "cninfo", ("https://www.cninfo.com.cn",), "https://www.cninfo.com.cn/new/disclosure"
    ),
    # Limit pools: a breaker of its own, so that they fail without taking the quotes along.
    "eastmoney.push2ex": Site("eastmoney", "push2ex", ("https://push2ex.eastmoney.com",), _EM_REFERER),
    "eastmoney.app": Site("eastmoney", "eastmoney", ("https://emappdata.eastmoney.com",)),
    "ths.limits": Site("ths", "ths", ("https://data.10jqka.com.cn",)),
    "ths.hot": Site("ths", "ths", ("https://dq.10jqka.com.cn",)),
    "ths.events": Site("ths", "ths", ("https://zx.10jqka.com.cn",)),
    "ths.f10": Site("ths", "ths", ("https://basic.10jqka.com.cn",), "https://basic.10jqka.com/"),
    "ths.lines": Site("ths", "ths", ("https://d.10jqka.com.cn",), "http://stockpage.10jqka.com.cn/"),
    # Without a Referer of its own pages the second quote site answers 403.
    "sina.quote": Site("sina", "sina", ("https://hq.sinajs.cn",), _SINA_REFERER),
    "sina.bars": Site("sina", "sina", ("https://money.finance.sina.com.cn",), _SINA_REFERER),
    "sina.finance": Site("sina", "sina", ("https://quotes.sina.cn",), _SINA_REFERER),
    "sina.flows": Site("sina", "sina", ("https://vip.stock.finance.sina.com.cn",), _SINA_REFERER),
    "sina.live": Site("sina", "sina", ("https://zhibo.sina.com.cn",), _SINA_REFERER),
    "cls.roll": Site("cls", "cls", ("https://www.cls.cn",), "https://www.cls.cn/telegraph"),
    "xueqiu.home": Site("xueqiu", "xueqiu", ("https://xueqiu.com",)),
    "xueqiu.stock": Site("xueqiu", "xueqiu", ("https://stock.xueqiu.com",), "https://xueqiu.com/"),
    "xueqiu.screener": Site("xueqiu", "xueqiu", ("https://xueqiu.com",), "https://xueqiu.com/hq"),
    # Shanghai refuses a request that does not come from its own pages.
    "sse.query": Site("sse", "sse", ("https://query.sse.com.cn",), "https://www.sse.com.cn/"),
    "szse.report": Site(
        "szse", "szse", ("https://www.szse.cn",), "https://www.szse.cn/disclosure/margin/margin/index.html"
    ),
    "szse.calendar": Site("szse", "szse", ("https://www.szse.cn",), "https://www.szse.cn/aboutus/calendar/"),
    "szse.billboard": Site(
        "szse",
        "szse",
        ("https://www.szse.cn",),
        "https://www.szse.cn/disclosure/supervision/dealinfo/index.html",
    ),
    "szse.funds": Site(
        "szse", "szse", ("https://fund.szse.cn",), "https://fund.szse.cn/marketdata/fundslist/index.html"
    ),
    "szse.disclosure": Site(
        "szse", "szse", ("https://www.szse.cn",), "https://www.szse.cn/disclosure/listed/"
    ),
    "bse.disclosure": Site("bse", "bse", ("https://www.bse.cn",), "https://www.bse.cn/"),
    # Index providers.
    "csindex.files": Site("csindex", "csindex", ("https://oss-ch.csindex.com.cn",)),
    "csindex.site": Site(
        "csindex", "csindex", ("https://www.csindex.com.cn",), "https://www.csindex.com.cn/"
    ),
    "cnindex.site": Site("cnindex", "cnindex", ("http://www.cnindex.com.cn",)),
    "sw.site": Site("sw", "sw", ("https://www.swsresearch.com",)),
    "cninfo.data": Site("cninfo", "cninfo", ("http://webapi.cninfo.com.cn",), "http://webapi.cninfo.com.cn/"),
    "shfe.daily": Site("shfe", "shfe", ("https://www.shfe.com.cn",), "https://www.shfe.com.cn/"),
    "ine.daily": Site("ine", "ine", ("https://www.ine.cn",), "https://www.ine.cn/"),
    "cffex.daily": Site("cffex", "cffex", ("http://www.cffex.com.cn",), "http://www.cffex.com.cn/"),
    "dce.daily": Site("dce", "dce", ("http://www.dce.com.cn",), "http://www.dce.com.cn/"),
    "czce.daily": Site("czce", "czce", ("http://www.czce.com.cn",), "http://www.czce.com.cn/"),
    "gfex.daily": Site("gfex", "gfex", ("http://www.gfex.com.cn",), "http://www.gfex.com.cn/"),
    # Search of the web, for the chat alone.
    "tavily.search": Site("tavily", "tavily", ("https://api.tavily.com",)),
    "duckduckgo.html": Site(
        "duckduckgo",
        "duckduckgo",
        ("https://html.duckduckgo.com",),
        "https://html.duckduckgo.com/",
        apart=True,
    ),
    # The publisher of the terminal: packages of bars, events and reports.
    "tdx_packages.bars": Site(
        "tdx_packages",
        "tdx_packages",
        ("https://data.tdx.com.cn",),
        "https://www.tdx.com.cn/article/vipdata.html",
    ),
    "tdx_packages.files": Site("tdx_packages", "tdx_packages", ("https://www.tdx.com.cn",)),
    "tdx_packages.reports": Site("tdx_packages", "tdx_packages", ("http://down.tdx.com.cn:8001",)),
    "hkex.connect": Site("hkex", "hkex", ("https://www.hkex.com.hk",), "https://www.hkex.com.hk/"),
    "chinabond.yield": Site("chinabond", "chinabond", ("https://yield.chinabond.com.cn",)),
    "chinamoney.rates": Site(
        "chinamoney", "chinamoney", ("https://www.chinamoney.com.cn",), "https://www.chinamoney.com.cn/"
    ),
}

# Servers of the terminal protocol, in the order in which unknown ones are tried; TDX_HOSTS replaces them. A
# server that answers lists may answer nothing else, so what each serves is seen, not declared. mootdx2
# 1.7.4 (October 2026) names all of them as serving quotes; other reports have the last seven as serving lists
# alone since the summer of 2026.
TERMINAL_SERVERS: tuple[tuple[str, int], ...] = tuple(
    (host, 7709)
    for host in (
        "180.153.18.170",
        "115.238.56.198",
        "218.75.126.9",
        "60.191.117.167",
        "218.6.170.47",
        "124.70.199.56",
        "123.60.70.228",
        "124.71.187.72",
        "124.71.9.153",
        "123.60.84.66",
        "116.205.163.254",
        "116.205.171.132",
        "119.97.185.59",
        "124.70.133.119",
        "116.205.183.150",
        "123.60.73.44",
        "121.36.225.169",
        "124.71.187.122",
        "110.41.147.114",
    )
)
#: Hands out files (`zhb.zip`, `gpcw`).
TERMINAL_FILE_SERVERS: tuple[tuple[str, int], ...] = (("120.76.152.87", 7709),)

# What stored rows point at; nothing of it is ever fetched.
LINKS: dict[str, str] = {
    "cninfo.file": "https://static.cninfo.com.cn/",
    "eastmoney.notice": "https://pdf.dfcfw.com/pdf/H2_{}_1.pdf",
    "eastmoney.research": "https://pdf.dfcfw.com/pdf/H3_{}_1.pdf",
    "eastmoney.article": "https://finance.eastmoney.com/a/{}.html",
    "szse.file": "https://disc.static.szse.cn/download",
}


def mock_sites(root: str) -> dict[str, Site]:
    """The table with every base address = `root`/<upstream key>, e.g. `http://127.0.0.1:8900`."""
    return {key: site.redirected(root) for key, site in SITES.items()}
