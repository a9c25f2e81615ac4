"""Requests of ours that are broken on purpose: each must turn red against what a public client reads.

A simulated market that answers whatever it is asked would let all of them through.
"""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from core.errors import PlatformError
from resources.transport.http import HttpTransport
from tests.witness.cases import CASES
from tests.witness.compare import compared, differences
from tests.witness.market import Market
from tests.witness.test_akshare import theirs


@dataclass(frozen=True)
class Broken:
    """In the requests of `call`, `old` becomes `new` in the parameter `name` (in the path where it is '')."""

    function: str
    call: str
    name: str
    old: str
    new: str


MUTATIONS = (
    Broken("stock_zh_a_spot_em", "clist", "fs", "m:0+t:80", "m:0+t:81"),
    Broken("stock_individual_fund_flow_rank", "clist", "fields", "f62,", "f63,"),
    Broken("stock_board_industry_name_em", "clist", "fs", "m:90+t:2", "m:90+t:3"),
    Broken("stock_zh_index_spot_em", "ulist", "secids", "1.000001", "0.000001"),
    Broken("stock_zh_a_hist", "kline", "fields2", "f57", "f67"),
    Broken("stock_individual_fund_flow", "fflow_day", "fields2", "f52,", ""),
    Broken("stock_bid_ask_em", "stock_get", "fields", "f31", "f30"),
    Broken("bond_zh_us_rate", "older_report", "st", "SOLAR_DATE", "REPORT_DATE"),
    Broken("bond_china_close_return", "curve", "bondType", "CYCC000", "CYCC001"),
    Broken("stock_zt_pool_em", "limit_pool", "", "getTopicZTPool", "getTopicQSPool"),
    Broken("stock_lhb_detail_em", "report", "columns", "BILLBOARD_NET_AMT", "BILLBOARD_NETAMT"),
    Broken("stock_yjbb_em", "report", "filter", "2026-03-31", "2025-12-31"),
    Broken("stock_lhb_detail_em", "report", "reportName", "DETAILSNEW", "DETAILS"),
    Broken("stock_dzjy_mrmx", "report", "filter", "TRADE_DATE", "TRADEDATE"),
    Broken("stock_margin_detail_sse", "margin_detail", "tabType", "mxtype", ""),
)


def redness(market: Market, function: str) -> str:
    """Why a comparison fails; nothing where it holds."""
    case = next(one for one in CASES if one.function == function)
    reported = theirs(market, case)
    try:
        ours = case.ask(market)
        wrong = differences(case, reported, ours)
        return wrong[0] if wrong else "" if compared(case, reported, ours) else "nothing to compare"
    except (PlatformError, AssertionError, KeyError) as error:
        return f"{type(error).__name__}: {error}"


def test_at_least_ten_are_broken() -> None:
    assert len(MUTATIONS) >= 10


@pytest.mark.parametrize("broken", MUTATIONS, ids=lambda one: f"{one.call}-{one.name}-{one.old}")
def test_a_broken_request_is_red(market: Market, broken: Broken, monkeypatch: pytest.MonkeyPatch) -> None:
    assert redness(market, broken.function) == ""
    attempt = HttpTransport._attempt
    changed = []

    def damaged(self: Any, request: Any, parse: Any, **how: Any) -> Any:
        if request.call == broken.call:
            params = tuple(
                (name, value.replace(broken.old, broken.new) if name == broken.name else value)
                for name, value in request.params
            )
            path = request.path if broken.name else request.path.replace(broken.old, broken.new)
            asked = replace(request, params=params, path=path)
            changed.append(asked != request)
            request = asked
        return attempt(self, request, parse, **how)

    monkeypatch.setattr(HttpTransport, "_attempt", damaged)

    assert redness(market, broken.function) != ""
    assert any(changed), "the request has no such part: nothing was broken"
