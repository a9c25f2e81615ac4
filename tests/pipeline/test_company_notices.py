"""A year of notices on both engines: what the world's companies published, stored as they published it."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from platform_assets.datasets.executive_holding import keyed
from platform_assets.pipeline.batches import Loaded
from resources.warehouse.stored import ANY
from simulated_market.corporate import holder_counts, payouts
from simulated_market.insiders import trades, visits
from simulated_market.wire import View
from simulated_market.world.model import World
from tests.conftest import SQLITE_OFTEN, mariadb_database
from tests.pipeline.conftest import TODAY, Services, opened_services

PORT, PLANNED, NOTICED, EX_DATE = "601302", "2026-06-15", "2026-08-14", "2026-08-24"
RAWS = {"holder": ("raw_holder_num", "aux_holders"), "dividend": ("raw_dividend", "aux_bonus")}


def load(services: Services, dataset: str, *dates: str) -> list[Loaded]:
    raws = [services.raw(name, *dates) for name in RAWS[dataset]]
    services.stage(dataset, *dates)
    return [*raws, services.fuse(dataset, *dates)]


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def services(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, sample_world: World
) -> Iterator[Services]:
    """The day of one plan, then a year of all notices up to TODAY."""
    folder = tmp_path_factory.mktemp("notices")
    if request.param == "sqlite":
        url = f"sqlite:///{folder / 'warehouse.sqlite3'}"
        yield from filled(url, folder, sample_world)
        return
    for url in mariadb_database("builtin"):
        yield from filled(url, folder, sample_world)


def filled(url: str, folder: Path, world: World) -> Iterator[Services]:
    with opened_services(url, folder, world) as services:
        services.at(PLANNED)
        load(services, "dividend", PLANNED)
        services.at(TODAY)
        services.fuse("exright", *services.run.calendar.last(2, TODAY))
        for dataset in RAWS:
            load(services, dataset, *year(services))
        services.fresh()
        yield services


def iso(day: int) -> str:
    return pd.Timestamp(str(day)).date().isoformat()


def year(services: Services) -> list[str]:
    return services.run.calendar.last(250, TODAY)


def test_the_notices_of_a_year_are_the_counts_of_the_reports(services: Services) -> None:
    rows = services.warehouse.frame("fusion_holder").set_index(["code", "date"])
    view = View(services.world, services.clock.now())
    since = int(year(services)[0].replace("-", ""))
    reported = [one for security in services.world.securities(view.now) if security.kind == "stock"
            for one in holder_counts(view, security, since)]  # fmt: skip
    assert len(rows) >= len(reported) > 100
    for one in reported:
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


def test_the_notices_of_a_year_are_the_dividends_of_the_world(services: Services) -> None:
    rows = services.warehouse.frame("fusion_dividend").set_index(["code", "ann_date"])
    since = int(year(services)[0].replace("-", ""))
    view = View(services.world, services.clock.now())
    reported = [one for security in services.world.securities(view.now) for one in payouts(view, security)]
    reported = [one for one in reported if one.noticed >= since]
    assert len(rows) >= len(reported) > 20
    for one in reported:
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


def test_every_ex_date_has_its_event(services: Services) -> None:
    rows = services.warehouse.frame("fusion_dividend")
    events = services.warehouse.frame("ref_exright")
    events = events[events["category"] == 1].set_index(["code", "date"])
    due = rows[rows["ex_date"].notna() & (rows["ex_date"] <= TODAY)]
    assert len(due) > 20
    for code, ex_date, cash in zip(due["code"], due["ex_date"], due["bonus_rmb"], strict=True):
        assert events.loc[(code, ex_date), "cash_per10"] == pytest.approx(0.0 if pd.isna(cash) else cash)
    assert not rows["quality_flags"].astype(str).str.contains("ex_date").any()


def test_trades_and_visits_are_those_of_the_world(services: Services) -> None:
    for name in ("raw_executive_holding", "raw_org_survey"):
        services.raw(name, *year(services))
    view = View(services.world, services.clock.now())
    stocks = [one for one in services.world.securities(view.now) if one.kind == "stock"]

    reported = {(one.security.code, iso(one.date)): one for security in stocks
                for one in trades(view, security)
            if iso(one.date) >= year(services)[0]}  # fmt: skip
    rows = services.warehouse.frame("raw_executive_holding").set_index(["code", "change_date"])
    assert len(reported) > 100
    assert set(reported) <= set(rows.index)
    for key, one in reported.items():
        row = rows.loc[key]
        assert (row["change_shares"], row["price"], row["after_shares"]) == (one.shares, one.price, one.held)
        assert row["amount"] == pytest.approx(one.shares * one.price, abs=0.01)
    seen = {(one.security.code, iso(one.date), one.visitor) for security in stocks
            for one in visits(view, security) if iso(one.announced) >= year(services)[0]}  # fmt: skip
    kept = services.warehouse.frame("raw_org_survey")
    assert len(seen) > 500
    assert seen <= set(zip(kept["code"], kept["survey_date"], kept["org_name"], strict=True))
    assert kept["content"].notna().all()
    services.fresh()
    again = [services.raw(name, TODAY) for name in ("raw_executive_holding", "raw_org_survey")]
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


def test_what_was_a_plan_is_read_as_one(services: Services) -> None:
    def reported(as_of: str) -> tuple[object, ...] | None:
        found = services.warehouse.rows(
            "fusion_dividend", ANY.code == PORT, ANY.ann_date == PLANNED, as_of=as_of
        )
        return (found[0]["progress"], found[0]["ex_date"]) if found else None

    assert reported("2026-06-14 23:59:59.000000") is None
    assert reported(f"{NOTICED} 15:00:00.000000") == ("预案", None)
    assert reported(f"{TODAY} 16:00:00.000000") == ("实施方案", EX_DATE)


@pytest.mark.parametrize("dataset", RAWS)
def test_a_day_again_writes_nothing_and_asks_once_for_both_tables(services: Services, dataset: str) -> None:
    """The notices of the week before are asked for once more, and are the same."""
    raw, aux, fused = load(services, dataset, TODAY)

    assert (raw.calls, aux.calls) == ({"eastmoney": 1}, {})
    assert raw.results[-1].rows_in > 0
    assert [part.results[-1].rows_written for part in (raw, aux, fused)] == [0, 0, 0]
    assert set(services.warehouse.frame(RAWS[dataset][1])["src"]) == {"em_f10"}
