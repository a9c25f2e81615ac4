"""Two requests that public clients make in another way than ours: refused in the first, we ask in theirs, and
the rows are the same."""

import akshare
import akshare.bond.bond_china_money as their_curve
import pandas as pd

from tests.witness.compare import differences
from tests.witness.market import DAY, Market
from tests.witness.redirect import redirected
from tests.witness.test_akshare import CASES

YIELDS = "RPTA_WEB_TREASURYYIELD"
SINCE, UNTIL = "2026-08-10", "2026-08-21"
UNKNOWN = {"upstream": "eastmoney", "call": "report", "kind": "unknown_report", "args": {"report": YIELDS}}
STRANGER = {"upstream": "chinamoney", "call": "*", "kind": "unregistered", "args": {}}


def asked(market: Market, upstream: str) -> dict[str, int]:
    return dict(market.served.calls().get(upstream, {}))


def test_yields_are_asked_for_in_the_older_dialect_when_the_newer_one_is_refused(market: Market) -> None:
    usual = market.eastmoney.economy(YIELDS, SINCE)
    market.served.faults.replace([UNKNOWN])
    try:
        before = asked(market, "eastmoney")
        refused = market.eastmoney.economy(YIELDS, SINCE)
        after = asked(market, "eastmoney")
        assert len(market.eastmoney.economy("RPT_ECONOMY_CPI")) > 12  # others are answered
    finally:
        market.served.faults.clear()

    pd.testing.assert_frame_equal(refused, usual)
    assert len(usual) > 5
    assert after["older_report"] == before.get("older_report", 0) + 1


def test_a_visitor_that_is_turned_away_registers_and_gets_the_curve(market: Market) -> None:
    usual = market.chinamoney.closing_curve(SINCE, UNTIL)
    market.served.faults.replace([STRANGER])
    try:
        let_in = market.chinamoney.closing_curve(SINCE, UNTIL)
    finally:
        market.served.faults.clear()

    pd.testing.assert_frame_equal(let_in, usual)
    assert usual["years"].nunique() == 50
    steps = asked(market, "chinamoney")
    assert steps["visit"] >= 1
    assert steps["register"] >= 2
    assert steps["curves"] >= 1


def test_the_public_client_registers_in_the_same_way(market: Market) -> None:
    case = next(one for one in CASES if one.function == "bond_china_close_return")
    their_curve.bond_china_close_return_map.cache_clear()
    ours = market.chinamoney.closing_curve(DAY, DAY)  # without registering: the next one is a new session
    market.served.faults.replace([STRANGER])
    try:
        with redirected(market.url):
            reported = akshare.bond_china_close_return(**case.arguments)
    finally:
        market.served.faults.clear()

    assert len(reported) == 50
    assert differences(case, reported, ours) == []
    assert asked(market, "chinamoney")["register"] >= 2
