"""Pledges, marks, bonds, funds and Hong Kong in a world: rules hold, nothing is early, the wire says what
is."""

from datetime import datetime

import pytest

from simulated_market import bonds, dual_listings, funds, pledges
from simulated_market.corporate import stocks
from simulated_market.eastmoney.bonds import term_row
from simulated_market.eastmoney.conditions import Conditions
from simulated_market.eastmoney.reports import Reports
from simulated_market.finance import FinanceBook
from simulated_market.wire import View
from simulated_market.world.full import SyntheticWorld
from simulated_market.world.model import PRICE_UNIT
from tests.simulated_market.http.test_shapes import kinds, recorded
from tests.upstreams.eastmoney.test_risks import COMMENT

FRIDAY = 20260821


@pytest.fixture(scope="module")
def world() -> SyntheticWorld:
    return SyntheticWorld("S")


def view(world: SyntheticWorld, text: str = "2026-08-21T20:00") -> View:
    return View(world, datetime.fromisoformat(text))


def test_a_list_of_pledges_comes_out_on_friday_evening(world: SyntheticWorld) -> None:
    def days(text: str) -> list[int]:
        return pledges.list_days(view(world, text), 20260801, FRIDAY)

    assert days("2026-08-21T17:59") == [20260807, 20260814]
    assert days("2026-08-21T18:00") == [20260807, 20260814, FRIDAY]


def test_pledges_do_not_depend_on_when_they_are_asked_for(world: SyntheticWorld) -> None:
    def reported(text: str) -> list[tuple[str, int, float, float]]:
        found = pledges.lists(view(world, text), 20260814, 20260814, set())
        return [(one.security.code, one.shares, one.ratio_pct, one.price) for one in found]

    early = reported("2026-08-14T18:00")
    assert early == reported("2026-12-01T09:00")
    assert len(early) > 10
    assert all(0 < ratio <= 100 for _, _, ratio, _ in early)


def test_rows_have_the_documented_columns(world: SyntheticWorld) -> None:
    maker = Reports(FinanceBook())._reports["RPT_DMSK_TS_STOCKNEW"]
    row = maker(view(world), Conditions())[0]
    assert set(COMMENT) <= set(row)
    shared = {name: row[name] for name in COMMENT}
    assert {name: kind for name, kind in kinds(shared).items() if COMMENT[name] is not None} == {
        name: kind for name, kind in kinds(COMMENT).items() if COMMENT[name] is not None
    }

    sample = recorded("em_dc_corporate_actions_20260728.json")["RPT_BOND_CB_LIST"][0]
    bond = next(one for one in world.securities(view(world).now) if one.kind == "cb")
    terms = term_row(bonds.Bond(view(world), bond))
    assert set(sample) <= set(terms)
    same = {name: terms[name] for name in sample if sample[name] is not None}
    assert kinds(same) == {name: kind for name, kind in kinds(sample).items() if sample[name] is not None}


def test_marks_are_of_the_newest_session_alone(world: SyntheticWorld) -> None:
    maker = Reports(FinanceBook())._reports["RPT_DMSK_TS_STOCKNEW"]
    assert {row["TRADE_DATE"][:10] for row in maker(view(world), Conditions())} == {"2026-08-21"}
    noon = maker(view(world, "2026-08-21T11:00"), Conditions())
    assert {row["FOCUS"] for row in noon} == {None}
    for row in maker(view(world), Conditions()):
        if row["PRIME_INFLOW"] is not None:
            parts = row["SUPERDEAL_INFLOW"] - row["SUPERDEAL_OUTFLOW"]
            assert row["PRIME_INFLOW"] == parts + row["BIGDEAL_INFLOW"] - row["BIGDEAL_OUTFLOW"]


def test_a_bond_belongs_to_one_stock_for_ever(world: SyntheticWorld) -> None:
    for security in world.securities(view(world).now):
        if security.kind == "cb":
            first = str(max(security.list_date, 20250602))
            day = f"{first[:4]}-{first[4:6]}-{first[6:]}T20:00"
            reported = [bonds.Bond(view(world, text), security) for text in (day, "2026-08-21T20:00")]
            assert reported[0].stock == reported[1].stock is not None
            assert reported[0].maturity_date == reported[1].maturity_date
            assert reported[0].convert_price is not None


def test_values_of_funds_stay_near_their_prices(world: SyntheticWorld) -> None:
    now = view(world)
    for security in world.securities(now.now):
        quote = world.quote(security, now.now) if security.kind in funds.KINDS else None
        if quote is not None:
            value = funds.nav(now, security, quote)
            assert value is not None
            assert quote.preclose / PRICE_UNIT == pytest.approx(
                value, rel=0.4 if security.kind == "reit" else 0.03
            )


def test_codes_in_hong_kong_are_unique_and_prices_fit_the_premium(world: SyntheticWorld) -> None:
    found = dual_listings.pairs(view(world))
    assert len({one.h_code for one in found}) == len(found) > 0
    assert {one.security for one in found} <= set(stocks(view(world)))
    for one in found:
        implied = (one.a_price / (one.h_price * one.rate) - 1) * 100
        assert implied == pytest.approx(one.premium_pct, abs=0.1)
