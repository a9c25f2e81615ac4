"""Results of the portal: they agree with the terminal's snapshot, inside the legal windows."""

import json
from datetime import datetime

import pytest

from simulated_market.eastmoney.responder import EastmoneyResponder
from simulated_market.finance import FinanceBook, corrected_on
from simulated_market.wire import HttpRequest, View
from tests.simulated_market.world.moments import at

NOW = at(20260821)
DEADLINES = {3: 430, 6: 831, 9: 1031, 12: 430}


def results(world, now: datetime = NOW):
    book, view = FinanceBook(), View(world, now)
    stocks = [one for one in world.securities(now) if one.kind == "stock"]
    return {one.code: book.of_security(view, one) for one in stocks}


def test_a_page_says_what_the_terminal_says(world):
    for found in results(world).values():
        newest = found[0]
        reported = world.finance(newest.security, NOW)
        assert (newest.period, newest.notice) == (reported.report_date, reported.published)
        for name in ("total_assets", "net_assets", "revenue", "net_profit", "operating_cash_flow"):
            assert getattr(newest.report, name) == getattr(reported, name)
        # The terminal divides by the shares of today, a report by those of its notice.
        profit = newest.report.net_profit
        assert newest.eps * newest.shares == pytest.approx(profit, abs=1e-4 * newest.shares)
        assert reported.eps * reported.total_shares == pytest.approx(profit, abs=1e-4 * reported.total_shares)


def test_balances_add_up_and_notices_are_in_their_windows(world):
    corrections = 0
    for found in results(world).values():
        for one in found:
            report = one.report
            assert report.total_assets == pytest.approx(
                report.total_liabilities + report.net_assets, abs=0.05
            )
            if one.accounts.is_classified:
                assert one.cash + one.receivables + one.inventory < report.current_assets
                assert one.short_loans < report.current_liabilities
            else:
                assert one.cash + (one.receivables or 0) < report.total_assets
                assert one.inventory is one.short_loans is None
            is_corrected = one.notice != report.published
            corrections += is_corrected
            assert report.published % 10_000 <= DEADLINES[report.months]
            assert one.period < one.notice <= 20260821
        amounts = {one.period: one.report.revenue for one in found}
        assert all(amounts[p] < amounts[p + 299] for p in amounts if p % 10_000 == 331 and p + 299 in amounts)
    assert corrections > 1


def test_a_correction_is_unknown_before_its_notice(world):
    security = next(
        one for one in world.securities(NOW) if one.kind == "stock" and any(
            corrected_on(one, report) for report in world.reports(one, NOW)
        )
    )  # fmt: skip
    day = max(filter(None, (corrected_on(security, report) for report in world.reports(security, NOW))))

    before = {one.period: one for one in results(world, at(day - 1))[security.code]}[20251231]
    after = {one.period: one for one in results(world, at(day))[security.code]}[20251231]

    assert after.notice == day
    assert before.notice == before.report.published < day
    assert after.report.net_profit < before.report.net_profit
    assert after.report.total_assets < before.report.total_assets


def test_express_reports_come_before_the_statements(world):
    book = FinanceBook()
    early = book.express(View(world, at(20260210)), 20251231)
    late = book.express(View(world, at(20260515)), 20251231)

    assert 0 < len(early) < len(late) < 20
    assert all(one.notice <= 20260210 for one in early)
    assert all(one.notice < one.result.report.published for one in late)
    assert all(one.net_profit == pytest.approx(one.result.report.net_profit, rel=0.021) for one in late)
    assert book.express(View(world, at(20260110)), 20251231) == []
    assert book.of_period(View(world, at(20260110)), 20251231) == []


def test_a_replayed_market_has_no_results_and_says_so_in_their_form(replay):
    view = View(replay, at(replay.last_date))
    symbol = next(one.symbol for one in replay.securities(view.now) if one.kind == "stock")
    secucode = f"{symbol[2:]}.{symbol[:2].upper()}"
    root = "/PC_HSF10/NewFinanceAnalysis"
    asked = {
        "/api/data/v1/get": "reportName=RPT_LICO_FN_CPD&filter=(REPORTDATE=%272024-03-31%27)",
        "/securities/api/data/get": f"type=RPT_F10_FINANCE_MAINFINADATA&filter=(SECUCODE=%22{secucode}%22)",
        f"{root}/lrbDateAjaxNew": f"companyType=4&code={symbol.upper()}",
        f"{root}/Index": f"type=web&code={symbol}",
    }
    reported = {}
    for path, query in asked.items():
        handle = next(one.handle for one in EastmoneyResponder().routes if one.pattern.fullmatch(path))
        reported[path] = handle(HttpRequest("GET", path, query, {}), view).body

    assert json.loads(reported["/api/data/v1/get"])["code"] == 9201
    assert json.loads(reported["/securities/api/data/get"])["code"] == 9201
    assert json.loads(reported[f"{root}/lrbDateAjaxNew"]) == {"data": []}
    assert b'id="hidctype"' in reported[f"{root}/Index"]
