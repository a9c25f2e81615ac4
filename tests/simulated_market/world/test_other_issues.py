"""Funds, bonds and REITs: numbers, dates and limits that such issues have."""

import pytest

from simulated_market.bonds import Bond
from simulated_market.eastmoney.bonds import term_row
from simulated_market.wire import View
from simulated_market.world import company_plans
from simulated_market.world.other_issues import BOND_BOARDS, funds, maturity_date
from tests.simulated_market.world.moments import at

NOW = at(20261120)


@pytest.fixture(scope="module", params=["S", "L"])
def plans(request):
    profile = company_plans.PROFILES[request.param]
    days = company_plans.sessions(profile)
    return funds(profile, days, 20240102), days


def test_a_bond_is_numbered_for_its_exchange_and_lives_six_years_at_most(plans):
    made, days = plans
    bonds = [one for one in made if one.kind == "cb"]
    assert len(bonds) >= 6
    assert {one.market for one in bonds} == {"SH", "SZ"}
    assert len({one.code for one in bonds}) == len(bonds)
    gone = listed = 0
    for one in bonds:
        assert one.code.startswith("11" if one.market == "SH" else "12")
        first = int(days[one.list_day]) if one.list_day >= 0 else one.list_date
        last = int(days[-1]) if one.last_day is None else int(days[one.last_day])
        assert last - first < 6 * 10_000
        assert last < maturity_date(one.symbol, one.list_date)
        gone += one.last_day is not None
        listed += one.list_day >= 0
    assert gone >= 1
    assert listed >= 1


def test_no_reit_and_no_star_fund_is_older_than_its_kind(plans):
    made, _ = plans
    assert min(one.list_date for one in made if one.kind == "reit") >= 20210621
    assert min(one.list_date for one in made if "科创板" in one.names[0][1]) >= 20200922
    assert len({one.code for one in made}) == len(made)
    assert sum(one.kind == "reit" for one in made) >= 3
    assert sum(one.kind == "lof" for one in made) >= 2


def test_a_bond_becomes_shares_of_its_exchange_and_board(world):
    view = View(world, NOW)
    bonds = [Bond(view, one) for one in world.securities(NOW) if one.kind == "cb"]
    assert len(bonds) >= 4
    for bond in bonds:
        stock = bond.stock
        assert stock.market == bond.security.market
        assert stock.board == BOND_BOARDS[bond.security.code[:3]]
        assert stock.list_date <= bond.security.list_date
        reported = term_row(bond)
        assert reported["VALUE_DATE"] < reported["LISTING_DATE"] < reported["EXPIRE_DATE"]
        assert int(reported["EXPIRE_DATE"][:4]) - int(reported["VALUE_DATE"][:4]) == 6


def test_a_new_bond_has_the_limits_of_its_first_day(world):
    security = world.find("sh118500")
    bars = world.bars(security, NOW)
    first = int(bars.date[0])
    assert first == security.list_date
    up, down = world.limits(security, first)
    assert (up, down) == (1_573_000, 567_000)
    assert int(bars.preclose[0]) == 1_000_000
    assert world.limits(security, int(bars.date[1]))[0] == pytest.approx(int(bars.close[0]) * 1.2, abs=10)


def test_a_fund_on_twenty_percent_shares_has_twenty_percent_limits(world):
    bands = {}
    for one in world.securities(NOW):
        if one.kind == "etf":
            quote = world.quote(one, NOW)
            bands[one.code] = round(quote.limit_up / quote.preclose - 1, 2)
    assert bands == {"510001": 0.1, "588002": 0.2, "159001": 0.1, "159502": 0.2}


def test_a_matured_bond_is_gone_and_its_bars_remain(world):
    gone = world.find("sz127300")
    assert gone.delist_date is not None
    assert gone.symbol not in {one.symbol for one in world.securities(NOW)}
    assert len(world.bars(gone, NOW)) > 100
