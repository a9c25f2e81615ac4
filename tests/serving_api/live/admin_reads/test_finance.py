"""Results that nobody stored: the portal's page answers, once an hour, and never for the past."""

from serving_api.stocks.finance.shapes import GROUPS
from tests.serving_api import market as stored
from tests.serving_api.live.admin_reads.conftest import Desk

CODE = "600043"
OF_A_KIND = {
    group: {key for key, _, _ in items}
    for group, _, items in GROUPS
    if group in {"bank", "broker", "insurer"}
}
"""Told by companies of one kind."""
CALCULATED = {"roe_diluted", "net_interest_margin", "loan_provision_ratio"}
"""Not on the page: ours, of the fused rows and of notes."""


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


def put_raw(desk: Desk, src: str, periods: list[str], text: str, code: str = CODE) -> None:
    stored.put(
        desk.warehouse,
        desk.warehouse.table("raw_fin_indicator"),
        [{"code": code, "report_period": one, "src": src, "indicators": text} for one in periods],
    )


def test_a_summary_of_the_market_does_not_hide_the_page(desk: Desk) -> None:
    """A few figures of some periods are stored; the company's page has all of all."""
    code = next(
        one.code
        for one in desk.world.securities(desk.clock.now())
        if one.kind == "stock" and one.market == "SH" and one.list_date < 20150101
        if desk.world.reports(one, desk.clock.now())[-1].gross_profit is not None  # no bank
    )
    put_raw(desk, "eastmoney", ["2026-03-31", "2025-12-31"], '{"eps":9.75}', code)
    before = desk.calls("eastmoney")

    found = desk.results(f"/stocks/{code}/finance-indicators")

    assert desk.calls("eastmoney") == before + 1
    assert len(found["periods"]) == 12
    told = {item["key"]: item["values"] for group in found["groups"] for item in group["items"]}
    special = set().union(*OF_A_KIND.values())
    page = {key for _, _, items in GROUPS for key, _, _ in items} - special - CALCULATED
    assert len(page) == 55
    assert page <= told.keys()
    assert None not in told["revenue"]
    # Of the silent portal the stored ones are left.
    desk.silence("eastmoney")
    desk.ticks.advance(2 * 3600)
    left = desk.results(f"/stocks/{code}/finance-indicators")
    assert left["periods"] == ["2026-03-31", "2025-12-31"]


def test_the_page_of_every_kind_of_company_is_whole(desk: Desk) -> None:
    """82 numbers in all, twelve periods: what a bank, a broker and an insurer tell is told by nobody else."""
    special = set().union(*OF_A_KIND.values()) - CALCULATED
    seen: set[str] = set()
    for one in desk.world.securities(desk.clock.now()):
        if one.kind != "stock" or one.list_date > 20150101:
            continue
        found = desk.results(f"/stocks/{one.code}/finance-indicators")
        told = {item["key"]: item["values"] for group in found["groups"] for item in group["items"]}
        assert "other" not in {group["key"] for group in found["groups"]}
        kind = {"银行": "bank", "证券": "broker", "保险": "insurer"}.get(one.industry, "")
        kind = "bank" if one.sector == "银行" else kind
        assert len(found["periods"]) == 12, one.code
        assert told.keys() & special == OF_A_KIND.get(kind, set()) - CALCULATED, one.code
        assert all(None not in values for values in told.values()), one.code
        seen |= told.keys()
    assert len(seen - special) == 55
    assert len((seen | special) - CALCULATED) == 82
    assert {key for key in seen if key in special} >= OF_A_KIND["bank"] - CALCULATED


def test_a_stored_page_is_not_asked_for_again(desk: Desk) -> None:
    put_raw(desk, "em_f10", ["2026-03-31", "2025-12-31"], '{"eps":9.75,"current_ratio":1.5}')
    before = desk.calls("eastmoney")

    found = desk.results(f"/stocks/{CODE}/finance-indicators")

    assert desk.calls("eastmoney") == before
    assert [item["key"] for group in found["groups"] for item in group["items"]] == ["eps", "current_ratio"]
    # A newer report that only the market's summary tells makes it incomplete.
    put_raw(desk, "eastmoney", ["2026-06-30"], '{"eps":9.75}')
    desk.results(f"/stocks/{CODE}/finance-indicators")
    assert desk.calls("eastmoney") == before + 1


def test_without_the_portal_the_answer_is_empty(desk: Desk) -> None:
    desk.silence("eastmoney")

    assert desk.results(f"/stocks/{CODE}/finance") == []
    assert desk.results(f"/stocks/{CODE}/finance-indicators")["periods"] == []
    assert desk.results("/stocks/999999/finance") == []
