"""The replay world over the committed slice, and over the full set where it is at hand."""

import csv
import gzip
import time

import numpy as np
import pytest

from core.errors import NotFound
from simulated_market.world.replay import ReplayWorld
from tests.simulated_market.world.conftest import SLICE
from tests.simulated_market.world.moments import at


def rows(name):
    with gzip.open(SLICE / name, "rt", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def test_every_price_of_the_file_is_exact(replay):
    end = at(20220729)
    bars = {s.symbol: world_bars for s in replay.securities(end) if (world_bars := replay.bars(s, end))}
    seen = 0
    for row in rows("bars_daily_raw_hs300_2020_2025.csv.gz"):
        found = bars[row["code"]]
        at_row = int(np.searchsorted(found.date, int(row["date"].replace("-", ""))))
        for field in ("open", "high", "low", "close", "preclose"):
            assert int(getattr(found, field)[at_row]) == round(float(row[field]) * 10_000)
        assert int(found.volume[at_row]) == round(float(row["volume"] or 0))
        assert float(found.amount[at_row]) == pytest.approx(float(row["amount"] or 0), abs=0.005)
        assert bool(found.traded[at_row]) == (row["tradestatus"] == "1")
        seen += 1
    assert seen == sum(len(b) for s, b in bars.items() if s not in _INDICES)


_INDICES = {"sh000001", "sz399001", "sh000016", "sh000300", "sh000852", "sh000905"}


def test_the_window_of_the_real_day_run_is_complete(replay):
    stocks = [s for s in replay.securities(at(20220729)) if s.kind == "stock"]
    assert len(stocks) == 12
    bars = replay.bars(replay.find("sh601318"), at(20220729))
    assert int(((bars.date >= 20220505) & (bars.date <= 20220729)).sum()) == 61
    assert {s.board for s in stocks} == {"main", "gem", "star"}
    assert {s.symbol for s in replay.securities(at(20220729)) if s.kind == "index"} == _INDICES


def test_derived_event_gives_the_reference_price(replay):
    moutai = replay.find("sh600519")
    records = list(replay.exrights(moutai, at(20220630)))
    assert [(r.date, r.category) for r in records] == [(20220630, 1)]
    assert records[0].values == pytest.approx((216.7, 0, 0, 0), abs=0.2)
    bars = replay.bars(moutai, at(20220630))
    assert bars.close[-2] - records[0].values[0] * 1_000 == pytest.approx(bars.preclose[-1])
    assert not replay.exrights(moutai, at(20220629))


def test_every_difference_of_preclose_has_one_record(replay):
    end = at(20220729)
    for security in replay.securities(end):
        if security.kind != "stock":
            continue
        bars = replay.bars(security, end)
        cut = {int(d) for d in bars.date[1:][bars.preclose[1:] != bars.close[:-1]]}
        assert {r.date for r in replay.exrights(security, end)} == cut
    cut = replay.bars(replay.find("sz002709"), at(20220516))
    assert cut.preclose[-1] / cut.close[-2] - 1 < -0.45


def test_special_treatment_prefix_and_band(replay):
    security = replay.find("sh600515")
    now = at(20220506)
    assert replay.name(security, now) == "ST海南机场"
    assert replay.name(replay.find("sh600519"), now) == "贵州茅台"
    quote = replay.quote(security, now)
    assert quote.limit_up / quote.preclose == pytest.approx(1.05, abs=0.005)


def test_names_change_on_the_days_of_the_file(replay):
    airport, now = replay.find("sh600515"), at(20220729)
    names = [replay.name(airport, at(day)) for day in (20120831, 20120903, 20210218, 20210219, 20220506)]
    assert names == ["ST海建", "海岛建设", "海航基础", "ST海南机场", "ST海南机场"]
    renames = [(r.old_name, r.date) for r in replay.renames(now) if r.symbol == "sh600515"]
    assert renames[0] == ("第一投资", 20050510)
    assert renames[-2:] == [("海岛建设", 20160129), ("海航基础", 20210219)]


def test_a_rename_is_not_visible_before_its_day(replay):
    assert not [r for r in replay.renames(at(20210218)) if r.date > 20210218]
    assert len(replay.renames(at(20210219))) == len(replay.renames(at(20210218))) + 1


def test_suspended_rows(replay):
    security = replay.find("sh600372")
    quote = replay.quote(security, at(20220606))
    assert quote.suspended
    assert (quote.price, quote.volume, quote.open) == (quote.preclose, 0, 0)
    assert quote.turnover_pct is None
    bars = replay.bars(security, at(20220610))
    assert not bars.traded[-10:].any()


def test_a_listing_without_limits(replay):
    security = replay.find("sz301269")
    assert security not in replay.securities(at(20220728))
    assert replay.quote(security, at(20220728)) is None
    quote = replay.quote(security, at(20220729))
    assert (quote.limit_up, quote.limit_down) == (None, None)
    assert quote.price / quote.preclose > 2


def test_old_first_day_rule(replay):
    up, down = replay.limits(replay.find("sh600938"), 20220421)
    assert (up, down) == (155_500, 69_100)  # 44 % and 36 % of 10.80
    assert replay.limits(replay.find("sh600938"), 20220422)[0] == 151_700


def test_no_close_outside_the_limits(replay):
    end = at(20220729)
    checked = 0
    for security in replay.securities(end):
        bars = replay.bars(security, end)
        for k in np.flatnonzero(bars.traded).tolist():
            limits = replay.limits(security, int(bars.date[k]))
            if limits:
                assert limits[1] <= bars.low[k] <= bars.high[k] <= limits[0], (security.symbol, bars.date[k])
                checked += 1
    assert checked > 1_400


def test_a_session_is_visible_from_its_close(replay):
    security = replay.find("sh600519")
    assert int(replay.bars(security, at(20220630, "14:59")).date[-1]) == 20220629
    assert int(replay.bars(security, at(20220630, "15:00")).date[-1]) == 20220630
    assert replay.quote(security, at(20220630, "10:00")).date == 20220629


def test_what_the_files_do_not_hold_is_absent(replay):
    security, now = replay.find("sh600519"), at(20220630)
    quote = replay.quote(security, now)
    assert (quote.bids, quote.asks, quote.inner_volume, quote.speed_pct) == ((), (), 0, None)
    assert replay.minutes(security, 20220630, now) is None
    assert replay.ticks(security, 20220630, now) is None
    assert list(replay.flows(security, now)) == []
    assert replay.finance(security, now) is None
    assert replay.company_text(security, now) == {}
    assert replay.manifest()["exrights"].startswith("derived")


def test_valuation_and_shares(replay):
    security, now = replay.find("sh600519"), at(20220630)
    value = replay.valuation(security, now)
    assert (value.pe_ttm, value.pb, value.ps_ttm) == (46.0788, 12.4233, 22.419)
    total, floating = replay.shares(security, now)
    assert total == pytest.approx(1_256_197_800, rel=1e-3)
    assert floating == pytest.approx(1_256_197_800, rel=1e-3)
    assert replay.shares(replay.find("sh000001"), now) == (0, 0)


def test_industries_and_regions_are_boards(replay):
    boards = replay.boards(at(20220729))
    assert {b.kind for b in boards} == {"industry", "region"}
    assert any("sh600519" in b.members for b in boards)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(NotFound, match=r"the replay set in .* has no file"):
        ReplayWorld(tmp_path)


def test_the_slice_is_small():
    assert sum(f.stat().st_size for f in SLICE.iterdir() if f.suffix in (".gz", ".csv")) <= 500_000


@pytest.mark.real_data
def test_the_full_set_loads_quickly(real_data):
    begin = time.perf_counter()
    full = ReplayWorld(real_data)
    assert time.perf_counter() - begin < 10
    end = at(full.last_date)
    stocks = [s for s in full.securities(end) if s.kind == "stock"]
    assert len(stocks) == 300
    assert sum(len(full.bars(s, end)) for s in stocks) == 369_338
    records = [r for s in stocks for r in full.exrights(s, end)]
    assert len(records) == 1_552
    assert all(r.values[0] > 0 for r in records)
    assert full.limits(full.find("sz000792"), 20210810) is None  # a re-listing: 8.84 to 35.90


@pytest.mark.real_data
def test_the_slice_equals_the_full_set(real_data, replay):
    full = ReplayWorld(real_data)
    for symbol in ("sh600519", "sz300782", "sh688169"):
        whole, cut = (w.bars(w.find(symbol), at(20220729)) for w in (full, replay))
        since = whole.date >= 20220104
        assert np.array_equal(whole.close[since], cut.close)
        assert np.array_equal(whole.preclose[since], cut.preclose)


@pytest.mark.real_data
def test_special_treatment_of_the_bars_begins_and_ends_with_a_name(real_data):
    """Two independent sources agree: every day of `isST` has a name with ST and no other day has, and where
    the file of names ends, the bars go on."""
    full = ReplayWorld(real_data)
    end = at(full.last_date)
    changes = {(r.symbol, r.date) for r in full.renames(end)}
    turns = set()
    for security in full.securities(end):
        bars = full.bars(security, end)
        states = [full.is_st(security, int(day)) for day in bars.date] if security.kind == "stock" else []
        days = zip(bars.date[1:].tolist(), states, states[1:], strict=False)
        turns |= {(security.symbol, day) for day, before, after in days if before != after}
    assert turns == {
        ("sz000408", 20200506), ("sh600515", 20210219), ("sz000408", 20210512), ("sz000792", 20210810),
        ("sh600515", 20221014),
    }  # fmt: skip
    assert turns <= changes
    names = {symbol: full.find(symbol) for symbol, _ in turns}
    for symbol, day in turns:
        shown = [full.name(names[symbol], at(date)) for date in (day - 1, day)]
        assert "ST" in shown[0] + shown[1]
        assert ("ST" in shown[0]) != ("ST" in shown[1])
