"""Probes: one small request per upstream and kind of call, for availability, speed and size of the answer.

The order is that of the data dictionary and is shown as it is. A probe makes the request of its dataset, in
the smallest amount, through the same client, gate and parser, so that its result holds for the loads.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Clients = Callable[[str], Any]
"""Upstream key -> its client. Raises Unavailable for one that is not configured."""


@dataclass(frozen=True)
class ProbeTarget:
    """What a probe requests: a stock, the newest complete trade date, and the newest one whose
    late figures are out."""

    code: str
    symbol: str
    day: str
    late_day: str


@dataclass(frozen=True)
class Probe:
    """`ask` returns something with a length. `may_be_empty`: no row is a valid answer (no limit-up)."""

    name: str
    upstream: str
    ask: Callable[[Clients, ProbeTarget], Any]
    may_be_empty: bool = False


def _exchanges(clients: Clients, asked: ProbeTarget) -> list[Any]:
    """Both exchanges: the probe fails when either does not answer."""
    return [*clients("sse").margin(asked.late_day).index, *clients("szse").margin(asked.late_day).index]


PROBES: tuple[Probe, ...] = (
    Probe("tdx_quote", "tdx", lambda on, asked: on("tdx").quotes([asked.symbol])),
    Probe("tdx_kline", "tdx", lambda on, asked: on("tdx").bars(asked.symbol, "day", 5)),
    Probe("tencent_quote", "tencent", lambda on, asked: on("tencent").quotes([asked.symbol])),
    Probe("tencent_kline", "tencent", lambda on, asked: on("tencent").daily_bars(asked.symbol, count=5)),
    Probe("eastmoney_quote", "eastmoney", lambda on, asked: on("eastmoney").stock_get(asked.symbol)),
    Probe(
        "eastmoney_kline",
        "eastmoney",
        lambda on, asked: on("eastmoney").daily_bars(asked.symbol, beg=asked.late_day, end=asked.day),
    ),
    Probe(
        "eastmoney_fund_flow", "eastmoney", lambda on, asked: on("eastmoney").fund_flow_daily(asked.symbol)
    ),
    Probe(
        "eastmoney_limit_pool",
        "eastmoney",
        lambda on, asked: on("eastmoney").limit_pool("up", asked.day),
        may_be_empty=True,
    ),
    Probe(
        "eastmoney_datacenter",
        "eastmoney",
        lambda on, asked: on("eastmoney").dividends(None, asked.day, [asked.code]),
        may_be_empty=True,
    ),
    Probe("eastmoney_news", "eastmoney", lambda on, asked: on("eastmoney").flashes("", 1)),
    Probe("sina_quote", "sina", lambda on, asked: on("sina").quotes([asked.symbol])),
    Probe("sina_finance", "sina", lambda on, asked: on("sina").statement(asked.symbol, "income", 1)),
    Probe("ths_f10", "ths", lambda on, asked: on("ths").eps_consensus(asked.code), may_be_empty=True),
    Probe("ths_hot", "ths", lambda on, asked: on("ths").hot_list()),
    Probe("cninfo_announcement", "cninfo", lambda on, asked: on("cninfo").newest(asked.late_day, asked.day)),
    Probe("exchange_disclosure", "exchange", _exchanges),
    Probe("csindex", "csindex", lambda on, asked: on("csindex").history("000300", asked.late_day, asked.day)),
    Probe("xueqiu", "xueqiu", lambda on, asked: on("xueqiu").quote(asked.symbol)),
)
