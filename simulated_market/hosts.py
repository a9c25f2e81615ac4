"""Which upstream a host name belongs to: all names below one domain are served by one responder."""

_DOMAINS = {
    "gtimg.cn": "tencent", "finance.qq.com": "tencent",
    "eastmoney.com": "eastmoney",
    "sinajs.cn": "sina", "sina.com.cn": "sina", "sina.cn": "sina",
    "10jqka.com.cn": "ths",
    "cninfo.com.cn": "cninfo",
    "cls.cn": "cls",
    "xueqiu.com": "xueqiu",
    "sse.com.cn": "sse", "szse.cn": "szse", "bse.cn": "bse", "hkex.com.hk": "hkex",
    "csindex.com.cn": "csindex", "cnindex.com.cn": "cnindex", "swsresearch.com": "sw",
    "shfe.com.cn": "shfe", "ine.cn": "ine", "cffex.com.cn": "cffex", "dce.com.cn": "dce",
    "czce.com.cn": "czce", "gfex.com.cn": "gfex",
    "chinabond.com.cn": "chinabond", "chinamoney.com.cn": "chinamoney",
    "tdx.com.cn": "tdx_packages",
    "tavily.com": "tavily", "duckduckgo.com": "duckduckgo",
}  # fmt: skip


def upstream_of_host(host: str) -> str | None:
    """Key of the upstream with this host name (a port is ignored); None for an unknown name."""
    labels = host.lower().partition(":")[0].split(".")
    domains = (".".join(labels[start:]) for start in range(len(labels)))
    return next((_DOMAINS[domain] for domain in domains if domain in _DOMAINS), None)
