"""Accounts by industry: the items that a bank reports and does not report, ratios in the middle of their
industries."""

import json

import numpy as np
import pytest

from simulated_market.eastmoney.finance import balance_row, main_row, statement_row
from simulated_market.finance import FinanceBook
from simulated_market.industries import ALL
from simulated_market.wire import View
from simulated_market.world.accounts import accounts_of
from tests.simulated_market.world.moments import at

NOW = at(20260821)


@pytest.fixture(scope="module")
def newest(world):
    """Newest result of every company, by symbol."""
    book, view = FinanceBook(), View(world, NOW)
    stocks = [one for one in world.securities(NOW) if one.kind == "stock"]
    return {one.symbol: found[0] for one in stocks if (found := book.of_security(view, one))}


def test_a_bank_has_no_inventories_no_gross_margin_and_no_current_assets(newest):
    for symbol in ("sh600040", "sh601300"):
        reported = main_row(newest[symbol])
        absent = ("XSMLL", "MLR", "LD", "SD", "CHZZL", "CHZZTS", "YSZKZZL", "YSZKYYSR", "XJLLB")
        assert [name for name in absent if reported[name] is not None] == []
        assert reported["ORG_TYPE"] == "银行"
        assert 88 < reported["ZCFZL"] < 95
        balance = balance_row(newest[symbol])
        assert balance["INVENTORY"] is None
        assert balance["CURRENT_RATIO"] is None
        sheet = statement_row(newest[symbol], None, "zcfzb")
        assert sheet["INVENTORY"] is sheet["SHORT_LOAN"] is sheet["TOTAL_CURRENT_ASSETS"] is None
        income = statement_row(newest[symbol], None, "lrb")
        assert income["OPERATE_COST"] is income["RESEARCH_EXPENSE"] is income["SALE_EXPENSE"] is None
        assert income["MANAGE_EXPENSE"] > 0
        assert json.dumps([reported, balance, sheet, income], allow_nan=False)


def test_a_manufacturer_reports_them_all(newest):
    reported = main_row(newest["sh600041"])
    assert None not in (
        reported["XSMLL"],
        reported["LD"],
        reported["SD"],
        reported["CHZZL"],
        reported["YSZKZZL"],
    )
    assert reported["SD"] < reported["LD"]
    one = newest["sh600041"]
    named = one.cash + one.receivables + one.inventory
    assert named < one.report.current_assets
    spent = one.cost + one.selling + one.administration + one.research + one.interest
    assert spent == pytest.approx(one.report.revenue - one.report.operating_profit, rel=0.12)


def test_ratios_are_those_of_the_industry(newest):
    margin = {symbol: one.gross_margin for symbol, one in newest.items()}
    assert margin["sh600042"] > 60  # liquor
    assert margin["sh600140"] < 25  # copper
    debt = {s: one.report.total_liabilities / one.report.total_assets for s, one in newest.items()}
    assert debt["sh600047"] > 0.6  # developers
    assert debt["sh601303"] > 0.85  # insurance
    assert debt["sz002000"] < 0.45  # software
    stocked = {s: one.inventory / one.report.current_assets for s, one in newest.items() if one.inventory}
    assert stocked["sh600047"] > 0.4 > 0.1 > stocked["sz002000"]


def test_a_price_is_a_multiple_that_the_industry_has(world):
    """Real large caps of 2024-06-26: P/B quartiles 1.2, 2.1 and 3.7, P/E 11.7, 18.6 and 28.9."""
    reported = {one.symbol: world.valuation(one, NOW) for one in world.securities(NOW) if one.kind == "stock"}
    pb = np.asarray([one.pb for one in reported.values() if one.pb])
    pe = np.asarray([one.pe_ttm for one in reported.values() if one.pe_ttm])
    low, middle, high = np.quantile(pb, [0.25, 0.5, 0.75])
    assert 1.0 < low < 1.9
    assert 1.5 < middle < 2.8
    assert 2.4 < high < 4.5
    low, middle, high = np.quantile(pe[pe > 0], [0.25, 0.5, 0.75])
    assert 9 < low < 18
    assert 15 < middle < 27
    assert 22 < high < 42
    assert 0.05 < (pe < 0).mean() < 0.25
    for bank in ("sh600040", "sh601300"):
        assert 0.3 < reported[bank].pb < 1.1
        assert 3 < reported[bank].pe_ttm < 9


def test_every_industry_of_the_classification_has_books():
    for one in ALL:
        if one.level == "l2":
            usual = accounts_of(one.l1_name, one.l2_name)
            assert usual.is_classified == (one.l1_name not in ("银行", "非银金融"))
            assert usual.debt[1] < 0.95
            if usual.current is not None:
                assert usual.current[1] + usual.fixed[1] < 1
