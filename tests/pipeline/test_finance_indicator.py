"""Results by report period: which periods a day loads, which source wins, corrections, express reports, and
what the wide table may show of them."""

from contextlib import suppress

import pytest

from core.calendar import shipped_calendar
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from platform_assets.pipeline.batches import Loaded
from platform_assets.pipeline.download import AllSourcesFailed
from platform_assets.pipeline.load import load_raw
from platform_assets.pipeline.on_demand import download
from platform_assets.pipeline.windows import Window
from resources.warehouse.slices import Slice
from resources.warehouse.stored import ANY
from tests.pipeline.conftest import TODAY, Services

RAWS = ("raw_finstmt", "raw_fin_indicator", "raw_earnings_express", "aux_finance_changes")
TYPES = ("finstmt", "fin_indicator", "earnings_express", "aux_finance_changes", "earnings_forecast")
PORTAL_DOWN = {"upstream": "eastmoney", "kind": "garbage", "args": {}}
MAY = "2026-05-15"


def load(services: Services, day: str = TODAY) -> Loaded:
    services.at(day)
    for name in RAWS:
        services.raw(name, day)
    services.stage("finance_indicator", day)
    return services.fuse("finance_indicator", day)


def row_of(services: Services, code: str, period: str, as_of: str | None = None) -> dict[str, object]:
    found = services.warehouse.rows(
        "fusion_finance_indicator", ANY.code == code, ANY.report_period == period, as_of=as_of
    )
    return found[0] if found else {}


def window(*dates: str, codes: tuple[str, ...] | None = None) -> Window:
    return Window(Partition.REPORT_PERIOD, "report_period", Scope(dates, codes), shipped_calendar())


def test_a_date_stands_for_the_periods_that_are_being_disclosed() -> None:
    whole = window(MAY)
    assert whole.slice() == Slice(date_column="report_period", since="2025-12-31", until="2026-03-31")
    assert whole.slice_of("2025-12-31", ()) == Slice.of_date("report_period", "2025-12-31")
    mine = window(MAY, codes=("600040",))
    assert mine.slice() == Slice(codes=("600040",))
    assert (mine.dated, mine.cut) == (False, True)
    assert mine.slice_of("2020-12-31", ()) == Slice.of_date("report_period", "2020-12-31", ("600040",))


def test_a_season_of_reports(services: Services) -> None:
    """Nothing in January, express reports in February, statements in April, a correction in May; the wide
    table follows."""
    services.master()
    nothing = load(services, "2026-01-05")
    services.raw("raw_earnings_forecast", "2026-01-05")
    assert sum(result.rows_in for result in nothing.results) == 0
    express = load(services, "2026-02-10")
    assert [result.partition_key for result in express.results] == ["2025-12-31"]
    reported = services.warehouse.frame("fusion_finance_indicator")
    assert len(reported) > 3
    assert reported["is_express"].all()
    first = reported.iloc[0]
    assert first["valid_from"] == f"{first['ann_date']} 00:00:00.000000"

    load(services, "2026-04-30")
    rows = services.warehouse.frame("fusion_finance_indicator")
    assert not rows["is_express"].any()
    assert set(rows["report_period"]) == {"2025-12-31", "2026-03-31"}
    assert len(rows) > 100
    assert (rows["quality"] == "ok").all()
    assert (
        rows[["revenue", "net_profit", "total_assets", "roe", "eps", "name", "roa"]].notna().mean().min()
        > 0.4
    )
    mine = row_of(services, first["code"], "2025-12-31")
    assert mine["revenue"] != first["revenue"]
    before = row_of(services, first["code"], "2025-12-31", as_of="2026-03-01 12:00:00.000000")
    assert (before["revenue"], before["is_express"]) == (first["revenue"], True)

    load(services, MAY)
    corrected = services.warehouse.query(
        "SELECT code, net_profit FROM fusion_finance_indicator_history "
        "WHERE report_period='2025-12-31' AND is_express=0 AND valid_to>='2026-05-15'"
    )
    assert corrected
    code, profit = corrected[0]
    new = row_of(services, code, "2025-12-31")
    assert new["net_profit"] < profit
    assert "2026-05-05" < str(new["ann_date"]) <= MAY
    known = row_of(services, code, "2025-12-31", as_of="2026-05-10 12:00:00.000000")
    assert known["net_profit"] == profit

    again = load(services, MAY)
    assert sum(result.rows_written for result in again.results) == 0

    # A day before its notice the first quarter is nobody's newest report.
    services.at(MAY)
    quarter = rows[(rows["report_period"] == "2026-03-31") & (rows["ann_date"] == rows["ann_date"].max())]
    late = quarter.iloc[0]
    day = shipped_calendar().offset(late["ann_date"], -1)
    services.raw("raw_quote", day)
    services.stage("quote_snapshot", day)
    services.fuse("quote_snapshot", day)
    services.fuse("stock_wide", day)
    shown = {row["code"]: row for row in services.warehouse.rows("fusion_stock_wide")}
    assert shown[late["code"]]["report_period"] != "2026-03-31"
    periods = {row["report_period"] for row in shown.values() if row["report_period"]}
    assert periods == {"2025-12-31", "2026-03-31"}
    one = next(row for row in shown.values() if row["report_period"] == "2026-03-31")
    owner = row_of(services, one["code"], "2026-03-31")
    assert owner["ann_date"] <= day
    for name in ("revenue", "net_profit", "roe", "eps", "bvps", "gross_margin"):
        assert one[name] == owner[name], name


def test_codes_bring_all_their_periods_and_every_item(services: Services) -> None:
    services.master()
    load(services)
    code = "600043"

    reported = download(services.run, [code], TYPES, TODAY)

    assert {part["status"] for part in reported["types"].values()} == {"success"}
    assert reported["fusion"]["results"]["finance_indicator"]["status"] == "success"
    rows = services.warehouse.rows("fusion_finance_indicator", ANY.code == code, order=["report_period"])
    assert len(rows) > 8
    newest = rows[-1]
    world = {
        r.period: r for r in services.world.reports(services.world.find(f"sh{code}"), services.clock.now())
    }
    for row in rows:
        report = world[int(str(row["report_period"]).replace("-", ""))]
        assert (row["revenue"], row["net_profit"]) == (report.revenue, report.net_profit)
        assert row["quality"] == "ok"
    assert newest["src"] == "eastmoney" or newest["src"] == "em_f10"
    assert newest["free_cash_flow"] == pytest.approx(
        newest["operating_cash_flow"] - newest["capex"], abs=0.02
    )
    assert newest["roe_diluted"] == pytest.approx(
        newest["net_profit"] / newest["parent_equity"] * 100, abs=1e-3
    )
    assert newest["current_ratio"] > newest["quick_ratio"] > 0
    half, quarter = rows[-1]["revenue"], rows[-2]["revenue"]
    assert newest["revenue_qoq"] == pytest.approx(((half - quarter) / quarter - 1) * 100, abs=1e-3)
    changes = services.warehouse.rows("aux_finance_changes", ANY.code == code, ANY.item == "revenue")
    by_period = {row["report_period"]: row for row in changes}
    past = by_period["2025-06-30"]["value"]
    assert by_period["2026-06-30"]["prev_value"] == pytest.approx(past, rel=1e-4)

    # Many codes are asked of the reports, a hundred in one request.
    many = tuple(sorted({row["code"] for row in services.warehouse.rows("raw_fin_indicator")}))[:12]
    services.fresh()
    asked = load_raw(services.run, services.registry.raws["raw_fin_indicator"], services.scope(codes=many))
    assert asked.calls == {"eastmoney": 1}
    assert load_raw(
        services.run, services.registry.raws["raw_finstmt"], services.scope(codes=many)
    ).calls == {"eastmoney": 3}
    stored = services.warehouse.frame("raw_fin_indicator")
    stored = stored[stored["code"].isin(many) & (stored["src"] == "eastmoney")]
    assert stored.groupby("code").size().min() > 5

    # The market's load of the same day agrees with the pages, and a second one says nothing new.
    services.fresh()
    again = load(services)
    assert sum(result.rows_written for result in again.results) == 0


def test_without_the_portal_the_terminal_tells_the_newest_report(services: Services) -> None:
    services.master()
    services.faults.replace([PORTAL_DOWN])
    for name in RAWS:
        with suppress(AllSourcesFailed):
            services.raw(name)
    reported = services.raw("raw_fin_indicator")
    services.stage("finance_indicator")
    services.fuse("finance_indicator")

    assert [item["src"] for item in reported.sources if not item.get("error")] == ["tdx"]
    rows = services.warehouse.frame("fusion_finance_indicator")
    assert set(rows["src"]) == {"tdx"}
    assert rows[["revenue", "net_profit", "eps", "bvps", "net_margin"]].notna().all().all()
    assert rows[["roe", "gross_margin", "inventory"]].isna().all().all()  # not reported, so null

    # A source that comes back replaces it; what it contradicts is marked.
    services.faults.replace([])
    load(services)
    rows = services.warehouse.frame("fusion_finance_indicator")
    assert (rows[~rows["is_express"]]["src"] == "eastmoney").all()
    assert (rows["quality"] == "ok").all()
    victim = rows[~rows["is_express"]].iloc[0]["code"]
    with services.warehouse.engine.begin() as connection:
        connection.exec_driver_sql(
            f"UPDATE raw_fin_indicator SET revenue = revenue * 1.05 WHERE code='{victim}' AND src='tdx'"
        )
    services.stage("finance_indicator")
    services.fuse("finance_indicator")
    marked = row_of(services, victim, "2026-06-30")
    assert "source_conflict:revenue" in str(marked["quality_flags"])


def test_no_lie_of_the_portal_reaches_the_fused_table(services: Services) -> None:
    load(services)
    truth = services.warehouse.frame("fusion_finance_indicator").set_index("code")["revenue"]
    for kind, args in (("double_rows", {}), ("cut_list", {"rows": 1}), ("html", {})):
        services.faults.replace([{"upstream": "eastmoney", "call": "*", "kind": kind, "args": args}])
        services.fresh()
        for name in RAWS:
            with suppress(AllSourcesFailed):
                services.raw(name)
        services.stage("finance_indicator")
        services.fuse("finance_indicator")

        after = services.warehouse.frame("fusion_finance_indicator").set_index("code")["revenue"]
        assert after.to_dict() == truth.to_dict(), kind
