"""The table of profile S is true: each named thing happens on its date."""

import numpy as np
import pytest

from simulated_market.world.companies import FEATURES
from tests.simulated_market.world.moments import END, at, features, last_bar

_FREE = ("listing", "relisting", "delisting_period")


def test_every_feature_names_an_instrument_of_the_world(world):
    for feature in FEATURES:
        assert world.find(feature.symbol) is not None, feature
        assert feature.date in world.trade_dates(), feature


def test_digits_of_an_index_belong_to_a_stock_as_well(world):
    stock, index = world.find("sz000300"), world.find("sh000300")
    assert (stock.kind, index.kind) == ("stock", "index")
    assert world.bars(stock, END).close[-1] != world.bars(index, END).close[-1]


@pytest.mark.parametrize("feature", [f for f in FEATURES if "suspension" in f.name], ids=lambda f: f.symbol)
def test_suspensions(world, feature):
    bars = world.bars(world.find(feature.symbol), END)
    inside = (bars.date >= feature.date) & (bars.date <= feature.until)
    assert not bars.traded[inside].any()
    after = int(np.flatnonzero(inside)[-1]) + 1
    assert bars.traded[np.flatnonzero(inside)[0] - 1]
    assert bars.traded[after]
    quote = world.quote(world.find(feature.symbol), at(feature.date, "10:30"))
    assert quote.suspended
    assert (quote.price, quote.volume, quote.bids) == (quote.preclose, 0, ())


@pytest.mark.parametrize(
    "feature", [f for f in FEATURES if len(f.values) == 4], ids=lambda f: f.symbol + str(f.date)
)
def test_ex_rights(world, feature):
    cash, rights_price, bonus, rights = feature.values
    security = world.find(feature.symbol)
    bars = last_bar(world, feature.symbol, feature.date)
    records = [r for r in world.exrights(security, at(feature.date)) if r.date == feature.date]
    assert [r.values for r in records if r.category == 1] == [(cash, rights_price, bonus, rights)]
    exact = (bars.close[-2] / 1e4 * 10 - cash + rights_price * rights) / (10 + bonus + rights)
    tolerance = 0.0151 if feature.name == "treasury_shares" else 0.00501
    assert abs(bars.preclose[-1] / 1e4 - exact) <= tolerance
    assert not [r for r in world.exrights(security, at(feature.date - 1)) if r.date == feature.date]
    if bonus or rights:
        before, after = (world.shares(security, at(feature.date - d)) for d in (1, 0))
        assert after[0] == pytest.approx(before[0] * (1 + (bonus + rights) / 10), abs=1)
        share = next(r for r in records if r.category == 2)
        assert share.values[1] == pytest.approx(before[0] / 1e4)
        assert share.values[3] == pytest.approx(after[0] / 1e4)


def test_treasury_shares_move_the_reference_by_a_fen(world):
    (feature,) = features(world, "treasury_shares")
    bars = last_bar(world, feature.symbol, feature.date)
    plain = bars.close[-2] - round(feature.values[0] / 10 * 10_000)
    assert bars.preclose[-1] - plain == 100


def test_a_bonus_cuts_the_price_by_more_than_fifteen_percent(world):
    (feature,) = features(world, "bonus")
    bars = last_bar(world, feature.symbol, feature.date)
    assert bars.preclose[-1] / bars.close[-2] - 1 < -0.15


@pytest.mark.parametrize(
    ("symbol", "date", "name"),
    [
        ("sh600043", 20240620, "XD沅陵药"),
        ("sh600043", 20240619, "沅陵药业"),
        ("sh600043", 20240621, "沅陵药业"),
        ("sh600124", 20240718, "XR珩渡物"),
        ("sh600134", 20250612, "DR漪湾股"),
        ("sz000101", 20240606, "英 岭 特"),
        ("sh600045", 20240102, "蔚海能Ａ"),
        ("sz000105", 20250228, "邺城电缆"),
        ("sz000105", 20250303, "邺源电气"),
        ("sh600047", 20250430, "筠庭置业"),
        ("sh600047", 20250506, "ST筠庭"),
        ("sz000103", 20240430, "*ST钧野"),
        ("sz000103", 20250527, "ST钧野"),
        ("sz000103", 20260512, "钧野地产"),
        ("sh688014", 20240910, "N屹港微电-U"),
        ("sh688014", 20240911, "C屹港微电-U"),
        ("sh688014", 20240914, "C屹港微电-U"),
        ("sh688014", 20240920, "屹港微电-U"),
        ("bj920012", 20260210, "N瀚洲电气"),
        ("bj920012", 20260211, "瀚洲电气"),
        ("sh605400", 20250609, "*ST颢晖"),
        ("sh605400", 20250610, "退市颢晖"),
        ("sh605400", 20250701, "颢晖(退)"),
        ("sh000300", 20240102, "沪深300"),
    ],
)
def test_names_are_those_of_the_date(world, symbol, date, name):
    assert world.name(world.find(symbol), at(date)) == name


def test_special_treatment_band_changes_on_its_date(world):
    security = world.find("sz000109")
    for date, pct in ((20260703, 5), (20260706, 10)):
        bars = last_bar(world, "sz000109", date)
        up, _ = world.limits(security, date)
        assert world.is_st(security, date)
        assert bars.close[-1] == up
        assert up / bars.preclose[-1] - 1 == pytest.approx(pct / 100, abs=0.003)


def test_special_treatment_on_chinext_keeps_twenty_percent(world):
    security = world.find("sz300704")
    bars = last_bar(world, "sz300704", 20250506)
    assert world.is_st(security, 20250506)
    assert world.limits(security, 20250506)[0] / bars.preclose[-1] == pytest.approx(1.2, abs=0.005)


@pytest.mark.parametrize("feature", [f for f in FEATURES if f.name == "listing"], ids=lambda f: f.symbol)
def test_listings_begin_without_limits(world, feature):
    security = world.find(feature.symbol)
    issue, gain = feature.values
    day = at(feature.date)
    assert security not in world.securities(at(feature.date - 1))
    assert security in world.securities(day)
    bars = world.bars(security, day)
    assert len(bars) == 1
    assert bars.preclose[0] == round(issue * 10_000)
    assert bars.close[0] / bars.preclose[0] - 1 == pytest.approx(gain, abs=0.01)
    dates = world.bars(security, END).date
    free = 1 if security.board == "bj" else 5
    assert [world.limits(security, int(d)) is None for d in dates[: free + 2]] == [True] * free + [False] * 2
    assert world.quote(security, at(feature.date - 1)) is None
    assert [r.date for r in world.exrights(security, day)] == [feature.date]


def test_delisting_removes_the_stock_and_keeps_its_bars(world):
    (feature,) = features(world, "delisting")
    security = world.find(feature.symbol)
    last = at(feature.date)
    listed = next(s for s in world.securities(last) if s.symbol == feature.symbol)
    assert listed.delist_date is None  # the future is not visible
    assert security.delist_date == 20250701
    assert security not in world.securities(at(20250701))
    assert world.quote(security, at(20250701)) is None
    assert int(world.bars(security, END).date[-1]) == feature.date
    (period,) = features(world, "delisting_period")
    assert world.limits(security, period.date) is None
    day = last_bar(world, feature.symbol, 20250611)
    assert world.limits(security, 20250611)[0] / day.preclose[-1] == pytest.approx(1.10, abs=0.005)


def test_relisting_day_has_no_limit(world):
    (feature,) = features(world, "relisting")
    bars = last_bar(world, feature.symbol, feature.date)
    assert world.limits(world.find(feature.symbol), feature.date) is None
    assert bars.close[-1] / bars.preclose[-1] == pytest.approx(1.46, abs=0.01)  # beyond any band
    assert not bars.traded[-2]


def test_lockup_releases_raise_the_float(world):
    for feature in features(world, "lockup_release"):
        security = world.find(feature.symbol)
        before, after = (world.shares(security, at(feature.date - d)) for d in (1, 0))
        assert before[0] == after[0]
        assert before[1] < after[1] == int(after[0] * feature.values[0])
        record = world.exrights(security, at(feature.date))[-1]
        assert (record.date, record.category) == (feature.date, 5)


@pytest.mark.parametrize(
    "feature",
    [f for f in FEATURES if f.name.startswith(("limit_", "st_limit"))],
    ids=lambda f: f.symbol + str(f.date),
)
def test_sealed_days(world, feature):
    security = world.find(feature.symbol)
    bars = last_bar(world, feature.symbol, feature.until or feature.date)
    days = [int(d) for d in bars.date if d >= feature.date]
    side = 1 if "down" in feature.name else 0
    sealed = [world.limits(security, d)[side] for d in days]
    assert bars.close[-len(days) :].tolist() == sealed
    assert len(days) >= (2 if "streak" in feature.name else 1)


def test_one_word_boards_open_the_long_streak(world):
    bars = last_bar(world, "sz002000", 20250909)
    for column in (bars.open, bars.high, bars.low):
        assert column[-2:].tolist() == bars.close[-2:].tolist()
    third = last_bar(world, "sz002000", 20250910)
    assert third.low[-1] < third.close[-1]


def test_broken_boards_touch_and_fall_back(world):
    for feature in features(world, "broken_limit_up"):
        bars = last_bar(world, feature.symbol, feature.date)
        up, _ = world.limits(world.find(feature.symbol), feature.date)
        assert bars.high[-1] == up > bars.close[-1]


def test_market_days(world):
    (crash,) = features(world, "crash")
    (rally,) = features(world, "rally_week")
    index = last_bar(world, "sh000001", crash.date)
    assert index.close[-1] / index.preclose[-1] - 1 < -0.06
    assert index.up_count[-1] <= 2
    week = last_bar(world, "sh000001", rally.until)
    assert week.close[-1] / week.close[-6] - 1 > 0.10


@pytest.mark.parametrize("name", ["cup_handle", "double_bottom", "island", "old_duck"])
def test_patterns_break_out_on_their_date(world, name):
    (feature,) = features(world, name)
    bars = last_bar(world, feature.symbol, feature.date)
    assert bars.close[-1] > bars.high[-16 if name != "island" else -7 : -1].max()
    assert bars.volume[-1] > 1.5 * bars.volume[-21:-1].mean() * (0.6 if name == "island" else 1)


def test_island_has_two_gaps(world):
    (feature,) = features(world, "island")
    bars = last_bar(world, feature.symbol, feature.date)
    isle = slice(-7, -1)
    assert bars.low[-8] > bars.high[isle].max() * 1.005
    assert bars.low[-1] > bars.high[isle].max() * 1.005


def test_scripted_prices(world):
    high = world.bars(world.find("sh600042"), END)
    assert high.close[0] > 10_000_000
    penny = world.bars(world.find("sh600046"), at(20240131))
    assert penny.close.max() < 20_000


@pytest.mark.real_data
def test_no_scripted_company_is_real(world, medium, real_data):
    import pandas as pd

    basic = pd.read_csv(real_data / "stock_basic_2026-03-04.csv", dtype=str)
    names = {str(n).removesuffix("(退)") for n in basic["name"]}
    codes = set(basic["symbol"])
    assert not {p.code for p in world.plans if p.board} & codes
    for some in (world, medium):
        assert not {name for p in some.plans if p.board for _, name in p.names} & names


def test_renames_are_the_dated_names(world):
    reported = [(r.symbol, r.old_name, r.date) for r in world.renames(at(20260821))]
    assert [one for one in reported if one[0] == "sz000103"] == [
        ("sz000103", "钧野地产", 20240430),
        ("sz000103", "*ST钧野", 20250527),
        ("sz000103", "ST钧野", 20260512),
    ]
    dated = features(world, "rename", "st", "star_st", "star_st_to_st", "st_removed", "gem_st")
    assert {(f.symbol, f.date) for f in dated} <= {(symbol, date) for symbol, _, date in reported}
    # Also of what is gone: its names ended as well.
    assert ("sh605400", "*ST颢晖", 20250610) in reported


def test_no_rename_is_visible_before_its_day(world):
    assert ("sz000109", 20260429) in {(r.symbol, r.date) for r in world.renames(at(20260429))}
    assert ("sz000109", 20260429) not in {(r.symbol, r.date) for r in world.renames(at(20260428))}
