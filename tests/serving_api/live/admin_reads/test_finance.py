"""Results that nobody stored: the portal's page answers, once an hour, and never for the past."""

from serving_api.stocks.finance.shapes import GROUPS
from tests.serving_api import market as stored
from tests.serving_api.live.admin_reads.conftest import FetchContext

CODE = "600043"
OF_A_KIND = {
    group: {key for key, _, _ in items}
    for group, _, items in GROUPS
    if group in {"bank", "broker", "insurer"}
}
"""Told by companies of one kind."""
CALCULATED = {"roe_diluted", "net_interest_margin", "loan_provision_ratio"}
"""Not on the page: ours, of the fused rows and of notes."""


def test_what_is_not_stored_is_asked_of_the_portal(ctx: FetchContext) -> None:
    before = ctx.calls("eastmoney")
    answer = ctx.get(f"/stocks/{CODE}/finance").json()

    report = ctx.world.reports(ctx.world.find(f"sh{CODE}"), ctx.clock.now())[-1]
    assert answer["source"] == "live"
    newest = answer["results"][0]
    assert newest["report_period"].replace("-", "") == str(report.period)
    assert (newest["revenue"], newest["netProfit"]) == (report.revenue, report.net_profit)
    found = ctx.results(f"/stocks/{CODE}/finance-indicators")
    assert len(found["periods"]) <= 12
    assert {"per_share", "growth", "profitability", "solvency", "operation"} <= {
        group["key"] for group in found["groups"]
    }
    assert ctx.calls("eastmoney") == before + 1  # shared
    ctx.results(f"/stocks/{CODE}/finance-indicators", refresh=True)
    assert ctx.calls("eastmoney") == before + 2
    past = ctx.get(f"/stocks/{CODE}/finance", as_of="2026-08-01").json()
    assert (past["results"], past["source"]) == ([], "fusion")


def put_raw(ctx: FetchContext, src: str, periods: list[str], text: str, code: str = CODE) -> None:
    stored.put(
        ctx.warehouse,
        ctx.warehouse.table("raw_fin_indicator"),
        [{"code": code, "report_period": one, "src": src, "indicators": text} for one in periods],
    )


def test_a_summary_of_the_market_does_not_hide_the_page(ctx: FetchContext) -> None:
    """A few figures of some periods are stored; the company's page has all of all."""
    code = next(
        one.code
        for one in ctx.world.securities(ctx.clock.now())
        if one.kind == "stock" and one.market == "SH" and one.list_date < 20150101
        if ctx.world.reports(one, ctx.clock.now())[-1].gross_profit is not None  # no bank
    )
    put_raw(ctx, "eastmoney", ["2026-03-31", "2025-12-31"], '{"eps":9.75}', code)
    before = ctx.calls("eastmoney")

    found = ctx.results(f"/stocks/{code}/finance-indicators")

    assert ctx.calls("eastmoney") == before + 1
    assert len(found["periods"]) == 12
    reported = {item["key"]: item["values"] for group in found["groups"] for item in group["items"]}
    special = set().union(*OF_A_KIND.values())
    page = {key for _, _, items in GROUPS for key, _, _ in items} - special - CALCULATED
    assert len(page) == 55
    assert page <= reported.keys()
    assert None not in reported["revenue"]
    # Of the silent portal the stored ones are left.
    ctx.silence("eastmoney")
    ctx.ticks.advance(2 * 3600)
    left = ctx.results(f"/stocks/{code}/finance-indicators")
    assert left["periods"] == ["2026-03-31", "2025-12-31"]


def test_the_page_of_every_kind_of_company_is_whole(ctx: FetchContext) -> None:
    """82 numbers in all, twelve periods: what a bank, a broker and an insurer tell is told by nobody else."""
    special = set().union(*OF_A_KIND.values()) - CALCULATED
    seen: set[str] = set()
    for one in ctx.world.securities(ctx.clock.now()):
        if one.kind != "stock" or one.list_date > 20150101:
            continue
        found = ctx.results(f"/stocks/{one.code}/finance-indicators")
        reported = {item["key"]: item["values"] for group in found["groups"] for item in group["items"]}
        assert "other" not in {group["key"] for group in found["groups"]}
        kind = {"银行": "bank", "证券": "broker", "保险": "insurer"}.get(one.industry, "")
        kind = "bank" if one.sector == "银行" else kind
        assert len(found["periods"]) == 12, one.code
        assert reported.keys() & special == OF_A_KIND.get(kind, set()) - CALCULATED, one.code
        assert all(None not in values for values in reported.values()), one.code
        seen |= reported.keys()
    assert len(seen - special) == 55
    assert len((seen | special) - CALCULATED) == 82
    assert {key for key in seen if key in special} >= OF_A_KIND["bank"] - CALCULATED


def test_a_stored_page_is_not_asked_for_again(ctx: FetchContext) -> None:
    put_raw(ctx, "em_f10", ["2026-03-31", "2025-12-31"], '{"eps":9.75,"current_ratio":1.5}')
    before = ctx.calls("eastmoney")

    found = ctx.results(f"/stocks/{CODE}/finance-indicators")

    assert ctx.calls("eastmoney") == before
    assert [item["key"] for group in found["groups"] for item in group["items"]] == ["eps", "current_ratio"]
    # A newer report that only the market's summary tells makes it incomplete.
    put_raw(ctx, "eastmoney", ["2026-06-30"], '{"eps":9.75}')
    ctx.results(f"/stocks/{CODE}/finance-indicators")
    assert ctx.calls("eastmoney") == before + 1


def test_without_the_portal_the_answer_is_empty(ctx: FetchContext) -> None:
    ctx.silence("eastmoney")

    assert ctx.results(f"/stocks/{CODE}/finance") == []
    assert ctx.results(f"/stocks/{CODE}/finance-indicators")["periods"] == []
    assert ctx.results("/stocks/999999/finance") == []
