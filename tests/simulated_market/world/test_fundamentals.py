"""Reports, valuation and texts of a company."""

import pytest

from simulated_market.world import fundamentals
from tests.simulated_market.world.moments import at

NOW = at(20260821)


def reports(world):
    for security in world.securities(NOW):
        for report in world.reports(security, NOW):
            yield security, report


def test_balance_sheets_balance(world):
    for security, r in reports(world):
        assets = r.current_assets + r.fixed_assets + r.other_assets
        funding = r.current_liabilities + r.long_liabilities + r.net_assets
        assert assets == pytest.approx(r.total_assets, rel=1e-12), security.symbol
        assert funding == pytest.approx(r.total_assets, rel=1e-12), security.symbol


def test_notices_follow_the_seasons(world):
    deadlines = {3: 430, 6: 831, 9: 1031, 12: 430}
    late = total = 0
    for _, r in reports(world):
        year, day = divmod(r.published, 10_000)
        assert r.period < r.published
        assert year == r.period // 10_000 + (r.months == 12)
        assert day <= deadlines[r.months]
        total += 1
        late += day % 100 >= 21
    assert late / total > 0.6


def test_banks_have_no_gross_margin(world):
    bank = world.find("sh600040")
    assert all(r.gross_profit is None for r in world.reports(bank, NOW))
    assert all(r.gross_profit is not None for r in world.reports(world.find("sh600041"), NOW))


def test_a_report_is_invisible_before_its_notice(world):
    security = world.find("sh600043")
    newest = world.reports(security, NOW)[-1]
    day_before = at(newest.published - 1) if newest.published % 100 > 1 else at(newest.published - 100)
    assert newest.period not in [r.period for r in world.reports(security, day_before)]
    assert world.finance(security, NOW).report_date == newest.period


def test_short_and_long_answers_hold_the_same_figures(world):
    security = world.find("sh600043")
    long, short = world.reports(security, NOW), world.reports(security, NOW, years=2)
    assert long[-len(short) :] == short
    assert len(long) > len(short) > 4


def test_trailing_twelve_months(world):
    known = world.reports(world.find("sh600043"), NOW)
    by_period = {r.period: r for r in known}
    newest = known[-1]
    if newest.months == 12:
        newest = known[-2]
        known = known[:-1]
    year = newest.period // 10_000 - 1
    same = by_period[newest.period - 10_000]
    expected = newest.net_profit + by_period[year * 10_000 + 1231].net_profit - same.net_profit
    assert fundamentals.ttm(known, "net_profit") == pytest.approx(expected)
    assert fundamentals.ttm([], "net_profit") is None
    assert fundamentals.ttm([newest], "net_profit") is None


def test_valuation_derives_from_price_shares_and_reports(world):
    security = world.find("sh600043")
    value, quote = world.valuation(security, NOW), world.quote(security, NOW)
    total, floating = world.shares(security, NOW)
    assert value.total_market_cap == pytest.approx(quote.price / 1e4 * total, abs=0.01)
    assert value.float_market_cap == pytest.approx(quote.price / 1e4 * floating, abs=0.01)
    known = world.reports(security, NOW)
    assert value.pb == pytest.approx(value.total_market_cap / known[-1].net_assets, abs=1e-3)
    assert value.pe_ttm == pytest.approx(
        value.total_market_cap / fundamentals.ttm(known, "net_profit"), abs=1e-3
    )


def test_dividend_yield_counts_one_year(world):
    security = world.find("sh600042")
    price = world.quote(security, at(20250627)).price / 1e4
    assert world.valuation(security, at(20250627)).dividend_yield == pytest.approx(
        27.624 / price * 100, abs=0.01
    )
    assert world.valuation(security, at(20250625)).dividend_yield == 0


def test_loss_makers_have_a_negative_ratio(world):
    assert world.valuation(world.find("sh600047"), NOW).pe_ttm < 0
    funds = world.valuation(world.find("sh510001"), NOW)
    assert funds.pe_ttm is None
    assert funds.total_market_cap > 0
    assert world.valuation(world.find("sh000001"), NOW) is None


def test_company_texts_name_the_company(world):
    security = world.find("sh600124")
    text = world.company_text(security, NOW)
    assert {"最新提示", "公司概况", "财务分析", "股本结构", "分红扩股"} <= set(text)
    assert "珩渡物流" in text["公司概况"]
    assert "送转10股" in text["分红扩股"]
    assert all(body.encode("gb18030") for body in text.values())
    assert world.company_text(world.find("sh000001"), NOW) == {}
