"""Holders, share capital, business and consensus: the reports of the simulated companies, stored as
reported."""

from collections.abc import Iterator

import pandas as pd
import pytest

from core.declaration.scope import Scope
from platform_assets.datasets import _rotation
from platform_assets.datasets.fund_holding import with_changes
from platform_assets.datasets.share_capital import keyed as keyed_events
from platform_assets.datasets.top_holders import keyed
from platform_assets.pipeline.download import AllSourcesFailed
from platform_assets.pipeline.on_demand import download
from resources.warehouse.stored import ANY
from simulated_market import capital, forecasts, shareholders
from simulated_market.wire import View
from simulated_market.world.model import Security, World
from tests.conftest import SQLITE_OFTEN, mariadb_database
from tests.pipeline.conftest import TODAY, Services, opened_services

BEFORE = "2026-08-20"
PERIOD = "2026-06-30"
STOCKS = 60
TABLES = ("raw_top_holders", "raw_fund_holding", "aux_equity", "aux_capital", "aux_operate", "aux_worth")


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def services(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, sample_world: World
) -> Iterator[Services]:
    """The evening of one date: holders, capital, business, consensus, then the counts with them."""
    folder = tmp_path_factory.mktemp("f10")
    urls = (
        [f"sqlite:///{folder / 'warehouse.sqlite3'}"]
        if request.param == "sqlite"
        else mariadb_database("builtin")
    )
    for url in urls:
        with opened_services(url, folder, sample_world) as services:
            services.at(BEFORE)
            for name in (*TABLES, "aux_holders"):
                services.raw(name, BEFORE)
            services.at(TODAY)
            yield services


def view(services: Services, day: str = BEFORE) -> View:
    return View(services.world, pd.Timestamp(f"{day}T15:45").to_pydatetime())


def stocks(services: Services) -> list[Security]:
    return [one for one in services.world.securities(view(services).now) if one.kind == "stock"]


def iso(day: int) -> str:
    return pd.Timestamp(str(day)).date().isoformat()


def test_the_largest_holders_are_those_of_the_world(services: Services) -> None:
    rows = services.warehouse.frame("raw_top_holders")
    reported = {(one.security.code, iso(one.period), kind, one.name): one
            for security in stocks(services) for kind in (shareholders.TOP, shareholders.FLOAT)
            for one in shareholders.top_holders(view(services), security, kind, 20260630)}  # fmt: skip
    assert len(reported) > 200
    kept = {(row.code, row.report_period, row.holder_type, row.holder_name): row for row in rows.itertuples()}
    assert kept.keys() == reported.keys()
    for name, one in reported.items():
        row = kept[name]
        assert (row.rank_no, row.hold_shares) == (one.rank, one.shares)
        assert row.ratio_pct == pytest.approx(one.shares / one.of * 100, abs=1e-4)
        assert pd.isna(row.change_shares) == (one.change is None)
        assert (row.change_text == "新进") == (one.change is None)
    ties = rows[rows.duplicated(["code", "report_period", "holder_type", "rank_no"], keep=False)]
    assert len(ties) > 0


def test_counts_stand_beside_what_the_largest_hold(services: Services) -> None:
    rows = services.warehouse.frame("aux_holders").set_index(["code", "date"])
    held = services.warehouse.frame("raw_top_holders")
    sums = held[held["holder_type"] == "top10"].groupby(["code", "report_period"])["ratio_pct"].sum()
    both = rows.loc[rows.index.isin(sums.index)]
    assert len(both) > 3
    assert both["top10_ratio_pct"].to_numpy(float) == pytest.approx(sums.loc[both.index].to_numpy(), abs=1e-3)
    assert both["float10_ratio_pct"].notna().all()


def test_funds_hold_together_what_their_kind_of_institution_holds(services: Services) -> None:
    rows = services.warehouse.frame("raw_fund_holding")
    sums = rows.groupby(["code", "report_period"])["hold_shares"].sum()
    reported = {}
    for security in stocks(services):
        for one in shareholders.positions(view(services), security, 20260331):
            key = (security.code, iso(one.period))
            reported[key] = reported.get(key, 0) + one.shares
    assert sums.to_dict() == reported
    assert (rows["float_ratio_pct"] > 0).all()
    assert rows[rows["report_period"] == "2026-03-31"]["change_shares"].notna().mean() > 0.3


def test_share_capital_of_a_day_is_that_of_the_world(services: Services) -> None:
    rows = services.warehouse.frame("aux_equity").set_index(["code", "change_date"])
    reported = {(security.code, iso(one.date)): one for security in stocks(services)
            for one in capital.share_changes(view(services), security)}  # fmt: skip
    assert len(rows) > 20
    assert set(rows.index) == set(reported)
    for name, one in reported.items():
        row = rows.loc[name]
        assert (row["total_shares"], row["float_shares"], row["reason"]) == (
            one.total,
            one.floating,
            one.reason,
        )
        assert row["restricted_shares"] == one.total - one.floating


@pytest.mark.parametrize("away", [("eastmoney",), ("eastmoney", "cninfo")])
def test_share_capital_of_a_company_comes_from_the_fallbacks(alone: Services, away: tuple[str, ...]) -> None:
    calls = {"eastmoney": "report", "cninfo": "share_changes"}
    code = next(
        security.code for security in stocks(alone) if len(capital.share_changes(view(alone), security)) > 1
    )
    alone.faults.replace(
        [{"upstream": one, "call": calls[one], "kind": "status", "args": {"code": 403}} for one in away]
    )
    reported = download(alone.run, [code], ["aux_equity"], TODAY)

    assert reported["types"]["aux_equity"]["status"] == "success"
    rows = alone.warehouse.frame("aux_equity").sort_values("change_date")
    assert set(rows["src"]) == {"tdx" if "cninfo" in away else "cninfo"}
    (security,) = [one for one in stocks(alone) if one.code == code]
    meant = capital.share_changes(view(alone), security)
    assert rows["change_date"].tolist() == [iso(one.date) for one in meant]
    assert (rows["total_shares"].to_numpy() / [one.total for one in meant]).tolist() == pytest.approx(
        [1.0] * len(meant)
    )
    assert rows["float_shares"].notna().all()


def test_a_buyback_is_reported_step_by_step(services: Services) -> None:
    reported = [
        one for security in stocks(services) for one in capital.buybacks(view(services, TODAY), security)
    ]
    one = max(reported, key=lambda buyback: buyback.spent)
    download(services.run, [one.security.code], ["aux_capital"], TODAY)

    rows = services.warehouse.frame("aux_capital")
    rows = rows[(rows["code"] == one.security.code) & (rows["event_type"] == "回购")]
    row = rows[rows["ann_date"] == f"{one.reported}"].iloc[0]
    assert row["amount"] == one.spent
    assert f"{one.planned}" in row["title"]
    assert row["progress"] in {"实施中", "完成实施", "停止实施"}
    assert f"价格上限{one.price_cap:g}元/股" in row["content"]


def test_the_parts_of_the_business_add_up_to_the_report(services: Services) -> None:
    rows = services.warehouse.frame("aux_operate")
    newest = rows[rows["report_period"] == "2025-12-31"]
    now = view(services).now
    revenue = {one.code: report.revenue for one in stocks(services)
               for report in services.world.reports(one, now) if report.period == 20251231}  # fmt: skip
    sums = newest.groupby(["code", "dim_type"])["revenue"].sum()
    assert set(sums.index.get_level_values("dim_type")) == {"product", "industry", "region"}
    for (code, _), total in sums.items():
        assert total == pytest.approx(revenue[code], abs=0.05)
    assert newest.groupby(["code", "dim_type"])["revenue_ratio_pct"].sum().between(99.99, 100.01).all()
    known = newest[newest["gross_margin"].notna()]
    assert (known["profit"] / known["revenue"] * 100 - known["gross_margin"]).abs().max() < 0.01


def test_consensus_comes_from_the_report_and_for_a_code_from_its_page(services: Services) -> None:
    rows = services.warehouse.frame("aux_worth")
    assert set(rows["src"]) == {"em_f10"}
    reported = {one.code: found for one in stocks(services)
            if (found := forecasts.outlook(view(services), one)) is not None}  # fmt: skip
    assert set(rows["code"]) == set(reported)
    code, outlook = next(iter(reported.items()))
    followed = rows[rows["code"] == code].sort_values("forecast_year")
    assert followed["eps_mean"].tolist() == [one.mean for one in outlook.years]
    assert followed["forecast_year"].tolist() == [2026, 2027, 2028]

    download(services.run, [code], ["aux_worth"], TODAY)

    page = services.warehouse.frame("aux_worth")
    page = page[(page["code"] == code) & (page["src"] == "ths")].sort_values("forecast_year")
    assert page["eps_mean"].tolist() == [one.mean for one in outlook.years]
    assert page["org_count"].tolist() == [one.brokers for one in outlook.years]
    assert (page["eps_min"] <= page["eps_max"]).all()
    assert page["net_profit_mean"].to_numpy(float) == pytest.approx(
        [one.profit for one in outlook.years], abs=0.006e8
    )
    assert set(page["update_date"]) == {iso(outlook.reported)}


def test_the_consensus_of_yesterday_values_today(services: Services) -> None:
    services.at(TODAY)
    services.master(TODAY)
    services.raw("raw_valuation", TODAY)
    services.stage("valuation", TODAY)
    services.fuse("valuation", TODAY)

    rows = services.warehouse.frame("fusion_valuation").set_index("code")
    worth = services.warehouse.frame("aux_worth")
    worth = worth[worth["src"] == "em_f10"].pivot(index="code", columns="forecast_year", values="eps_mean")
    known = rows[rows["eps_fy1"].notna()]
    assert set(known.index) == set(worth.index) & set(rows.index)
    for code, row in known.iterrows():
        assert row["eps_fy1"] == worth.loc[code, 2026]
        assert row["eps_fy3"] == worth.loc[code, 2028]
        if row["eps_fy1"] > 0:
            assert row["pe_forward"] == pytest.approx(row["price"] / row["eps_fy1"], abs=5.1e-5)
        else:
            assert pd.isna(row["pe_forward"])
    assert (known["forecast_orgs"] > 0).all()
    assert set(rows["src"]) == {"eastmoney"}  # most columns: its ratios are the finer ones
    master = services.warehouse.frame("stg_stock_master")
    assert {"em_f10"} < set(master["src"])
    assert set(services.warehouse.frame("fusion_stock_master")["src"]) <= {"tencent", "tdx", "eastmoney"}
    # What was not known then is no part of a past date.
    services.at("2026-08-24")
    services.stage("valuation", TODAY)
    staged = services.warehouse.frame("stg_valuation")
    assert len(staged[staged["src"] == "em_f10"]) == len(known)
    services.at(TODAY)


def test_a_company_without_a_page_takes_nobody_with_it(services: Services) -> None:
    services.at(TODAY)
    rule = {"upstream": "ths", "call": "worth", "kind": "status", "args": {"code": 404}, "count": 1}
    services.faults.replace([rule])
    codes = [one.code for one in stocks(services)[10:18]]
    try:
        part = download(services.run, codes, ["aux_worth"], TODAY)["types"]["aux_worth"]
    finally:
        services.faults.replace([])
    assert part["status"] == "success"
    rows = services.warehouse.frame("aux_worth")
    followed = {code for code in codes if code in set(rows["code"])}
    assert len(followed - set(rows[rows["src"] == "ths"]["code"])) <= 1
    assert set(rows[rows["src"] == "ths"]["code"]) & followed


def test_pages_are_left_alone_when_they_are_switched_off(services: Services) -> None:
    services.at(TODAY)
    services.run.ctx.ths_eps = False
    try:
        code = stocks(services)[3].code
        part = download(services.run, [code], ["aux_worth"], TODAY)["types"]["aux_worth"]
    finally:
        services.run.ctx.ths_eps = True
    assert part["status"] in {"success", "failed"}
    rows = services.warehouse.frame("aux_worth")
    assert "ths" not in set(rows[rows["code"] == code]["src"])


@pytest.mark.parametrize("name", TABLES)
def test_a_date_again_writes_nothing(services: Services, name: str) -> None:
    services.at(BEFORE)
    loaded = services.raw(name, BEFORE)
    assert loaded.results[-1].rows_in > 0
    assert sum(result.rows_written for result in loaded.results) == 0
    services.at(TODAY)


def test_one_download_of_a_code_fills_its_tables_and_what_they_feed(services: Services) -> None:
    services.at(TODAY)
    code = stocks(services)[5].code
    kinds = ["top_holders", "fund_holding", "holding_org", "aux_equity", "aux_operate", "aux_holders"]

    answer = download(services.run, [code], kinds, TODAY)

    assert {name: part["status"] for name, part in answer["types"].items()} == dict.fromkeys(kinds, "success")
    assert set(answer["fusion"]["results"]) == {"stock_master", "holder"}
    assert answer["fusion"]["status"] == "success"
    rows = services.warehouse.frame("raw_top_holders")
    assert rows[rows["code"] == code]["report_period"].nunique() >= 6


def test_equal_lines_keep_their_keys() -> None:
    line = {"code": "600000", "report_period": PERIOD, "holder_type": "top10", "holder_name": "王建国",
            "share_nature": None}  # fmt: skip
    rows = keyed(pd.DataFrame([line, {**line, "share_nature": "A股"}, line]))
    more = keyed(pd.DataFrame([{**line, "holder_name": "李晓明"}, line, line]))

    assert rows["holder_key"].nunique() == 3
    assert set(more["holder_key"].iloc[1:]) == set(rows["holder_key"].iloc[[0, 2]])
    event = {"code": "600000", "ann_date": PERIOD, "event_type": "回购", "title": "股份回购", "amount": None}
    assert keyed_events(pd.DataFrame([event, event, {**event, "amount": 1.0}]))["row_key"].nunique() == 3


def test_changes_of_funds_need_the_period_before() -> None:
    rows = pd.DataFrame(
        [
            {"code": "600000", "report_period": day, "fund_code": fund, "hold_shares": shares}
            for day, fund, shares in (
                ("2026-06-30", "1", 100.0),
                ("2026-06-30", "2", 50.0),
                ("2026-03-31", "1", 80.0),
                ("2025-09-30", "1", 70.0),
            )
        ]
    )
    reported = with_changes(rows, ["2026-06-30", "2026-03-31", "2025-12-31", "2025-09-30"])

    changes = {(row.report_period, row.fund_code): row.change_shares for row in reported.itertuples()}
    assert changes.keys() == {("2026-06-30", "1"), ("2026-06-30", "2"), ("2026-03-31", "1")}
    assert (changes["2026-06-30", "1"], changes["2026-06-30", "2"]) == (20.0, 50.0)
    assert pd.isna(changes["2026-03-31", "1"])


def test_every_stock_has_its_turn_and_events_come_first(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    ctx = services.run.context_for(type(services.run.ctx.log)())
    monkeypatch.setattr(_rotation, "ROTATION", 7)
    calendar = services.run.calendar
    listed = len(ctx.symbols(None, "stock"))
    days = calendar.last(-(-listed // 7), TODAY)

    seen = [_rotation.codes_in_turn(ctx, Scope((day,))) for day in days]

    assert {len(codes) for codes in seen} == {7}
    assert len({code for codes in seen for code in codes}) == listed
    monkeypatch.setattr(_rotation, "reported_codes", lambda *_, **__: [seen[0][-1], "600040"])
    assert _rotation.codes_to_fetch(ctx, Scope((days[0],)))[:2] == (seen[0][-1], "600040")
    assert _rotation.codes_to_fetch(ctx, Scope((days[0],), ("000001",))) == ("000001",)


@pytest.mark.parametrize(
    ("day", "requested"),
    [("2026-08-21", True), ("2026-06-01", True), ("2026-06-02", False), ("2026-12-07", True)],
)
def test_reports_by_period_are_asked_for_in_season_else_once_a_week(
    services: Services, day: str, requested: bool
) -> None:
    ctx = services.run.ctx
    assert _rotation.in_season(ctx, Scope((day,))) is requested
    assert _rotation.in_season(ctx, Scope((day,), ("600040",)))
    if not requested:
        loaded = services.raw("raw_top_holders", day)
        assert (loaded.calls, loaded.results[-1].rows_in) == ({}, 0)


@pytest.mark.parametrize(("kind", "name"), [("double_rows", "raw_top_holders"), ("cut_list", "aux_equity")])
def test_lists_that_are_not_whole_are_refused(services: Services, kind: str, name: str) -> None:
    services.at(TODAY)
    rule = {"upstream": "eastmoney", "call": "report", "kind": kind, "args": {"rows": 3}, "count": 0}
    services.faults.replace([rule])
    before = len(services.warehouse.frame(name))
    try:
        with pytest.raises(AllSourcesFailed, match=r"of [0-9]+ rows|rows, pages|[0-9]+ rows"):
            services.raw(name, TODAY)
    finally:
        services.faults.replace([])
    assert len(services.warehouse.frame(name)) == before


def test_a_market_whose_forecasts_all_changed_over_night_is_marked(services: Services) -> None:
    """As last of this file: the forecasts of each company are those of the next one from here on."""
    monday = "2026-08-24"
    services.at(monday)
    services.faults.replace([{"upstream": "eastmoney", "call": "report", "kind": "swap_rows"}])
    try:
        services.raw("aux_worth", monday)
    finally:
        services.faults.clear()
    services.raw("raw_valuation", monday)
    services.stage("valuation", monday)
    services.fuse("valuation", monday)

    rows = services.warehouse.rows("fusion_valuation", ANY.date == monday, ANY.eps_fy1.is_not(None))
    assert len(rows) > 3
    assert {row["quality"] for row in rows} == {"warning"}
