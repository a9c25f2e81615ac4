"""The counts of the specification, asked of the running API."""

import pytest

from core.declaration.registry import builtin_registry
from tests.serving_api.live.admin_reads.conftest import CLOSED, FetchContext

TYPES = (
    "kline quote valuation fund_flow minute_kline reports dragon_tiger margin holder_num lockup block_trade "
    "dividend concept_blocks northbound announcements news finstmt fin_indicator issue_info holding_org "
    "top_holders earnings_forecast earnings_express executive_holding org_survey fund_holding aux_profile "
    "aux_finance_changes aux_holders aux_bonus aux_operate aux_worth aux_equity aux_news aux_capital aux_lhb "
    "aux_rzrq aux_dzjy"
).split()
"""As the specification names them."""


@pytest.fixture
def hasty(ctx: FetchContext) -> FetchContext:
    """Commands are accepted and nobody carries them out."""
    object.__setattr__(ctx.app.state.platform.settings, "command_wait_sec", 0.0)
    return ctx


def test_statistics(ctx: FetchContext) -> None:
    stats = ctx.results("/datamgr/stats")
    tables = {name: entry for name, entry in stats.items() if name != "_totalRows"}
    assert len(tables) == 50
    assert [name for name, entry in tables.items() if "error" in entry] == []

    (code,) = [row["code"] for row in ctx.warehouse.rows("fusion_stock_master", limit=1)]
    for path in (f"/datamgr/stats/{code}", f"/datamgr/stats/{code}/full"):
        status = ctx.results(path)["dataStatus"]
        assert len(status) == 26 + 1
        assert len(status["f10"]["sections"]) == 12
    details = ctx.results("/datamgr/stats/freshness")["details"]
    assert len(details) == 52
    assert [name for name, one in details.items() if "error" in one] == []


def test_tables_of_the_layers(ctx: FetchContext) -> None:
    items = {one["dataset"]: one for one in ctx.results("/datamgr/contracts")}

    assert len({name for one in items.values() for name in one["tables"]["raw"]}) == 59
    assert len([one for one in items.values() if one["tables"]["stg"]]) == 14
    fused = [one for one in items.values() if one["tables"]["dwd"]]
    assert len(fused) == 22
    assert len([one for one in fused if not one["tables"]["stg"]]) == 8
    assert len(ctx.results("/datamgr/fusion/status")["tables"]) == 22

    dry = ctx.api.post("/datamgr/cleanup", json={"dry_run": True}, headers=ctx.headers).json()["results"]
    assert len(dry["deleted"]) == 11
    kept = {one["tables"]["stg"] for one in items.values() if one["tables"]["stg"]} - set(dry["deleted"])
    assert len(kept) == 3
    for name in kept:
        refused = ctx.api.post("/datamgr/cleanup", json={"table": name}, headers=ctx.headers)
        assert refused.status_code == 422


def test_downloads(hasty: FetchContext) -> None:
    def post(path: str, **how: object) -> int:
        answer = hasty.api.post(f"/datamgr/download/{path}", headers=hasty.headers, params=how)
        reported = answer.json()["results"]
        assert "error" not in reported, reported
        return answer.status_code

    (code,) = [row["code"] for row in hasty.warehouse.rows("fusion_stock_master", limit=1)]
    assert len(TYPES) == 38
    assert {post(code, types=name) for name in (*TYPES, "all")} == {202}
    topical = sorted(set(builtin_registry().topical) - {"northbound"})
    assert len(topical) == 21
    assert {post(f"market/{name}") for name in (*topical, "northbound")} == {202}
    nobody = hasty.api.post("/datamgr/download/market/nothing", headers=hasty.headers)
    assert nobody.status_code == 404


def test_probes_and_interfaces(ctx: FetchContext) -> None:
    ctx.clock.at = CLOSED
    code = next(one.code for one in ctx.world.securities(CLOSED) if one.symbol.startswith("sh60"))

    reported = ctx.results("/datamgr/probe-all", code=code)
    assert [one["name"] for one in reported["sources"] if not one["ok"]] == []
    assert reported["summary"] == {"ok": 18, "fail": 0}

    catalog = ctx.api.get("/datamgr/fusion/interfaces").json()
    assert catalog["stats"]["total"] == 180
    assert len({one["name"] for one in catalog["results"]}) == 180
    # Each of them can be called: what lacks is a parameter, never an executor.
    for one in catalog["results"]:
        if any(param["required"] for param in one["params"]):
            answer = ctx.api.post("/datamgr/fusion/call", json={"interface": one["name"], "params": {}})
            assert (answer.status_code, "missing required" in answer.text) == (422, True), one["name"]
