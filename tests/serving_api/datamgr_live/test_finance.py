"""Results that nobody stored: the portal's page answers, once an hour, and never for the past."""

from tests.serving_api.datamgr_live.conftest import Desk

CODE = "600043"


def test_what_is_not_stored_is_asked_of_the_portal(desk: Desk) -> None:
    before = desk.calls("eastmoney")
    answer = desk.get(f"/stocks/{CODE}/finance").json()

    report = desk.world.reports(desk.world.find(f"sh{CODE}"), desk.clock.now())[-1]
    assert answer["source"] == "live"
    newest = answer["results"][0]
    assert newest["report_period"].replace("-", "") == str(report.period)
    assert (newest["revenue"], newest["netProfit"]) == (report.revenue, report.net_profit)
    found = desk.results(f"/stocks/{CODE}/finance-indicators")
    assert len(found["periods"]) <= 12
    assert {"per_share", "growth", "profitability", "solvency", "operation"} <= {
        group["key"] for group in found["groups"]
    }
    assert desk.calls("eastmoney") == before + 1  # shared
    desk.results(f"/stocks/{CODE}/finance-indicators", refresh=True)
    assert desk.calls("eastmoney") == before + 2
    past = desk.get(f"/stocks/{CODE}/finance", as_of="2026-08-01").json()
    assert (past["results"], past["source"]) == ([], "fusion")


def test_without_the_portal_the_answer_is_empty(desk: Desk) -> None:
    desk.silence("eastmoney")

    assert desk.results(f"/stocks/{CODE}/finance") == []
    assert desk.results(f"/stocks/{CODE}/finance-indicators")["periods"] == []
    assert desk.results("/stocks/999999/finance") == []
