"""A year of notices on both engines: what the world's companies published, stored as they published it."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from platform_assets.datasets.executive_holding import keyed
from platform_assets.pipeline.batches import Loaded
from resources.simulated_market.corporate import holder_counts, payouts
from resources.simulated_market.insiders import trades, visits
from resources.simulated_market.wire import View
from resources.simulated_market.world.model import World
from tests.conftest import SQLITE_OFTEN, mariadb_database
from tests.pipeline.conftest import TODAY, House, opened_house

PORT, PLANNED, NOTICED, EX_DATE = "601302", "2026-06-15", "2026-08-14", "2026-08-24"
RAWS = {"holder": ("raw_holder_num", "aux_holders"), "dividend": ("raw_dividend", "aux_bonus")}


def load(house: House, dataset: str, *dates: str) -> list[Loaded]:
    raws = [house.raw(name, *dates) for name in RAWS[dataset]]
    house.stage(dataset, *dates)
    return [*raws, house.fuse(dataset, *dates)]


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def house(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, sample_world: World
) -> Iterator[House]:
    """The day of one plan, then a year of all notices up to TODAY."""
    folder = tmp_path_factory.mktemp("notices")
    if request.param == "sqlite":
        url = f"sqlite:///{folder / 'warehouse.sqlite3'}"
        yield from filled(url, folder, sample_world)
        return
    for url in mariadb_database("builtin"):
        yield from filled(url, folder, sample_world)


def filled(url: str, folder: Path, world: World) -> Iterator[House]:
    with opened_house(url, folder, world) as house:
        house.at(PLANNED)
        load(house, "dividend", PLANNED)
        house.at(TODAY)
        house.fuse("exright", *house.run.calendar.last(2, TODAY))
        for dataset in RAWS:
            load(house, dataset, *year(house))
        house.fresh()
        yield house


def iso(day: int) -> str:
    return pd.Timestamp(str(day)).date().isoformat()


def year(house: House) -> list[str]:
    return house.run.calendar.last(250, TODAY)


def test_the_notices_of_a_year_are_the_counts_of_the_reports(house: House) -> None:
    rows = house.warehouse.frame("fusion_holder").set_index(["code", "date"])
    view = View(house.world, house.clock.now())
    since = int(year(house)[0].replace("-", ""))
    told = [one for security in house.world.securities(view.now) if security.kind == "stock"
            for one in holder_counts(view, security, since)]  # fmt: skip
    assert len(rows) >= len(told) > 100
    for one in told:
        row = rows.loc[(one.security.code, pd.Timestamp(str(one.date)).date().isoformat())]
        assert row["holder_num"] == one.holders
        assert row["total_shares"] == one.a_shares
        assert row["avg_shares"] == pytest.approx(one.a_shares / one.holders, abs=0.01)
        if one.before is not None:
            assert row["change_num"] == one.holders - one.before
            assert row["change_ratio"] == pytest.approx((one.holders / one.before - 1) * 100, abs=1e-4)
        if one.close is not None:
            assert row["avg_market_cap"] == pytest.approx(one.a_shares * one.close / one.holders, abs=0.01)
    assert (rows["valid_from"].str[:10] == rows["ann_date"]).all()
    assert not rows["quality_flags"].astype(str).str.contains("shares_per_holder|told_after").any()


def test_the_notices_of_a_year_are_the_dividends_of_the_world(house: House) -> None:
    rows = house.warehouse.frame("fusion_dividend").set_index(["code", "ann_date"])
    since = int(year(house)[0].replace("-", ""))
    view = View(house.world, house.clock.now())
    told = [one for security in house.world.securities(view.now) for one in payouts(view, security)]
    told = [one for one in told if one.noticed >= since]
    assert len(rows) >= len(told) > 20
    for one in told:
        ann_date = pd.Timestamp(str(one.planned)).date().isoformat()
        row = rows.loc[(one.security.code, ann_date)]
        assert row["bonus_rmb"] == one.cash or (not one.cash and pd.isna(row["bonus_rmb"]))
        ex_date = pd.Timestamp(str(one.ex_day)).date().isoformat()
        assert row["ex_date"] == (ex_date if one.stage == "implemented" else None)
        if one.cash:
            assert row["total_cash"] == pytest.approx(one.cash / 10 * one.total_shares, abs=0.01)
            assert row["dividend_yield"] == pytest.approx(one.cash / 10 / one.price * 100, abs=1e-4)
            if one.eps and one.eps > 0:
                assert row["payout_ratio"] == pytest.approx(one.cash / 10 / one.eps * 100, abs=1e-3)
    assert rows["pay_date"].isna().all()
    assert set(rows["src"]) == {"eastmoney"}


def test_every_ex_date_has_its_event(house: House) -> None:
    rows = house.warehouse.frame("fusion_dividend")
    events = house.warehouse.frame("ref_exright")
    events = events[events["category"] == 1].set_index(["code", "date"])
    due = rows[rows["ex_date"].notna() & (rows["ex_date"] <= TODAY)]
    assert len(due) > 20
    for code, ex_date, cash in zip(due["code"], due["ex_date"], due["bonus_rmb"], strict=True):
        assert events.loc[(code, ex_date), "cash_per10"] == pytest.approx(0.0 if pd.isna(cash) else cash)
    assert not rows["quality_flags"].astype(str).str.contains("ex_date").any()


def test_trades_and_visits_are_those_of_the_world(house: House) -> None:
    for name in ("raw_executive_holding", "raw_org_survey"):
        house.raw(name, *year(house))
    view = View(house.world, house.clock.now())
    stocks = [one for one in house.world.securities(view.now) if one.kind == "stock"]

    told = {(one.security.code, iso(one.date)): one for security in stocks for one in trades(view, security)
            if iso(one.date) >= year(house)[0]}  # fmt: skip
    rows = house.warehouse.frame("raw_executive_holding").set_index(["code", "change_date"])
    assert len(told) > 100
    assert set(told) <= set(rows.index)
    for key, one in told.items():
        row = rows.loc[key]
        assert (row["change_shares"], row["price"], row["after_shares"]) == (one.shares, one.price, one.held)
        assert row["amount"] == pytest.approx(one.shares * one.price, abs=0.01)
    seen = {(one.security.code, iso(one.date), one.visitor) for security in stocks
            for one in visits(view, security) if iso(one.announced) >= year(house)[0]}  # fmt: skip
    kept = house.warehouse.frame("raw_org_survey")
    assert len(seen) > 500
    assert seen <= set(zip(kept["code"], kept["survey_date"], kept["org_name"], strict=True))
    assert kept["content"].notna().all()
    house.fresh()
    again = [house.raw(name, TODAY) for name in ("raw_executive_holding", "raw_org_survey")]
    assert [loaded.results[-1].rows_written for loaded in again] == [0, 0]
    assert [loaded.results[-1].rows_in > 0 for loaded in again] == [True, True]


def test_equal_trades_are_two_rows_that_keep_their_keys() -> None:
    one = {"code": "600000", "change_date": "2026-08-18", "person": "王海燕", "change_shares": 600.0,
           "price": 18.46}  # fmt: skip
    rows = keyed(pd.DataFrame([one, {**one, "price": 18.5}, one]))
    more = keyed(pd.DataFrame([{**one, "price": None}, one, one, {**one, "person": "韩振华"}]))

    assert rows["row_key"].nunique() == 3
    assert set(rows["row_key"].iloc[[0, 2]]) == set(more["row_key"].iloc[[1, 2]])
    assert more["row_key"].nunique() == 4


def test_what_was_a_plan_is_read_as_one(house: House) -> None:
    def told(as_of: str) -> tuple[object, ...] | None:
        found = house.warehouse.rows(
            "fusion_dividend", where="code=? AND ann_date=?", values=(PORT, PLANNED), as_of=as_of
        )
        return (found[0]["progress"], found[0]["ex_date"]) if found else None

    assert told("2026-06-14 23:59:59.000000") is None
    assert told(f"{NOTICED} 15:00:00.000000") == ("预案", None)
    assert told(f"{TODAY} 16:00:00.000000") == ("实施方案", EX_DATE)


@pytest.mark.parametrize("dataset", RAWS)
def test_a_day_again_writes_nothing_and_asks_once_for_both_tables(house: House, dataset: str) -> None:
    """The notices of the week before are asked for once more, and are the same."""
    raw, aux, fused = load(house, dataset, TODAY)

    assert (raw.calls, aux.calls) == ({"eastmoney": 1}, {})
    assert raw.results[-1].rows_in > 0
    assert [part.results[-1].rows_written for part in (raw, aux, fused)] == [0, 0, 0]
    assert set(house.warehouse.frame(RAWS[dataset][1])["src"]) == {"em_f10"}
