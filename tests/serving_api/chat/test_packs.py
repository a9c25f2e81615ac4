"""Evidence packs: what a question gets to know, and what it must not know yet."""

from collections.abc import Callable
from typing import Any

import pytest

from platform_assets.compute.evidence.facts import Pack
from serving_api.evidence.market import macro_pack, market_pack
from serving_api.evidence.packs import fact_of, facts_of, stock_pack, stocks_pack
from tests.serving_api.areas.handmade import Handmade
from tests.serving_api.chat import rows

Packs = Callable[..., Pack]


@pytest.fixture
def packed(made: Handmade) -> Packs:
    def call(make: Any, *args: Any) -> Pack:
        pack: Pack = made.api.call(make, made.api.app.state.platform, *args)
        return pack

    return call


def test_a_fact_names_its_row_and_links_to_its_lineage(made: Handmade, packed: Packs) -> None:
    fact = fact_of(packed(stock_pack, "600519"), "fusion_valuation", "pe_ttm")
    assert fact is not None
    assert fact.batch_id
    assert (fact.subject, fact.label, fact.value, fact.as_of, fact.quality) == (
        "贵州茅台", "市盈率TTM", 21.53, rows.DAY, "ok"
    )  # fmt: skip
    admin = made.api.post("/auth/login", json={"username": "admin", "password": "correct horse"}).json()
    reported = made.api.get(
        str(fact.link).removeprefix("/api/v1"), headers={"Authorization": f"Bearer {admin['access_token']}"}
    )
    assert reported.status_code == 200
    assert reported.json()["results"]["columns"]["pe_ttm"]["value"] == 21.53


def test_units_are_those_of_the_declaration(packed: Packs) -> None:
    pack = packed(stock_pack, "600519")
    units = {fact.column: fact.unit for fact in pack.facts}
    assert (units["total_market_cap"], units["roe"], units["main_net"], units["forecast_orgs"]) == (
        "wan", "pct", "CNY", "count"
    )  # fmt: skip


def test_nothing_of_tomorrow_is_in_a_pack(packed: Packs) -> None:
    pack = packed(stock_pack, "600519")
    periods = [fact.as_of for fact in facts_of(pack, "fusion_finance_indicator", "revenue")]
    assert periods == ["2026-06-30", "2026-03-31"]  # the third report is announced in October
    assert "尚未发生的消息" not in [fact.value for fact in packed(market_pack).facts]


def test_what_was_looked_for_is_said(packed: Packs) -> None:
    assert "贵州茅台的融资融券" in packed(stock_pack, "600519").missing
    unknown = packed(stock_pack, "999999")
    assert not unknown.facts
    assert unknown.missing == ["证券列表中的999999"]


def test_several_companies_keep_their_figures_apart(packed: Packs) -> None:
    pack = packed(stocks_pack, ["600519", "601398"])
    reported = {name: fact_of(pack, "fusion_valuation", "pb", name) for name in ("贵州茅台", "工商银行")}
    assert {name: fact and fact.value for name, fact in reported.items()} == {
        "贵州茅台": 7.25,
        "工商银行": 0.71,
    }
    ratio = fact_of(pack, "raw_industry_valuation", "pe_weighted", "工商银行")
    assert ratio is not None
    assert ratio.value == 6.84


def test_the_market_and_the_economy(packed: Packs) -> None:
    pack = packed(market_pack)
    assert {"上证指数", "深证成指", "食品饮料", "贵州茅台"} <= pack.subjects
    ups = fact_of(pack, "calc_market_phase", "up_count")
    assert ups is not None
    assert (ups.value, ups.unit) == (3214, "count")
    economy = packed(macro_pack)
    loans = next(fact for fact in economy.facts if fact.label == "新增人民币贷款")
    assert (loans.value, loans.unit, loans.as_of) == (7261.0, "yi", "2026-07-31")
    assert "2026-08-14" in economy.days  # the day of its release may be said
