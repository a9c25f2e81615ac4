"""The agreement of sources over two real days, and what a wrong stored close leads to."""

import json
from typing import Any

import pytest

from platform_assets.definitions.materialization import shown_whole
from resources.warehouse.stored import ANY
from tests.pipeline.conftest import TODAY, Services

BEFORE = "2026-08-20"


def stocks(services: Services, day: str) -> list[str]:
    """Stocks without an event on the date, by code."""
    rows = services.warehouse.rows("fusion_kline_daily", ANY.date == day, ANY.volume > 0)
    return sorted(row["code"] for row in rows if row["sec_type"] == "stock" and row["market"] != "BJ")


def of_pair(services: Services, dataset: str, field: str, source: str, day: str = TODAY) -> dict[str, Any]:
    (row,) = services.warehouse.rows(
        "calc_reconcile",
        ANY.trade_date == day,
        ANY.dataset == dataset,
        ANY.field_name == field,
        ANY.source_b == source,
    )
    return row


def test_an_open_item_of_the_ledger_is_no_break(alone: Services) -> None:
    """The bars of the code are right with the provisional factor. They are loaded again all the same: it may
    be the stored close that is wrong."""
    before, ex, stock = "2026-07-27", "2026-07-28", "600040"
    late = {"upstream": "tdx", "call": "xdxr", "kind": "late_record", "args": {"code": stock}}
    away = {"upstream": "eastmoney", "call": "report", "kind": "status", "args": {"code": 503}}
    services = alone
    services.at(before)
    services.master(before)
    services.bars(before)
    services.at(ex)
    services.raw("raw_quote", ex)
    services.faults.replace([late, away])
    services.bars(ex)
    services.stage("quote_snapshot", ex)
    assert services.warehouse.rows("ref_exright_item", ANY.code == stock)[0]["status"] == "open"

    services.fuse("reconcile", ex)

    for source in ("tencent", "tdx"):
        pair = of_pair(services, "kline_daily", "last_close", source, ex)
        assert (pair["status"], json.loads(pair["worst_json"])) == ("ok", [])
    ((args,),) = services.warehouse.query("SELECT args_json FROM sys_command WHERE requested_by='reconcile'")
    asked = json.loads(args)
    assert (asked["partition_range"], asked["tags"]) == ([before, ex], {"app/codes": stock})


def test_agreement_breaks_and_what_repairs_them(services: Services) -> None:
    services.at(BEFORE)
    services.day(BEFORE)
    broken, odd = stocks(services, BEFORE)[:2]
    close = services.warehouse.rows("fusion_kline_daily", ANY.code == broken)[0]["close"]
    with services.warehouse.engine.begin() as connection:
        connection.exec_driver_sql(
            services.warehouse.sql.text("UPDATE fusion_kline_daily SET close=? WHERE code=?"),
            (round(close * 1.01, 2), broken),
        )
    services.at(TODAY)
    true = services.run.ctx.tencent.quotes(services.run.ctx.symbols((odd,)))["price"].iloc[0]
    wrong = {"code": odd, "date": 20260821, "close": round(true + 0.01, 2)}
    services.faults.replace([{"upstream": "tencent", "call": "quote", "kind": "override_bar", "args": wrong}])
    services.day(TODAY)
    services.faults.clear()
    for raw in ("raw_margin", "exchange_margin", "raw_block_trade", "exchange_block_trade",
                "raw_dragon_tiger"):  # fmt: skip
        services.raw(raw)
    for name in ("margin", "block_trade"):
        services.stage(name)
        services.fuse(name)
    services.fresh()

    loaded = services.fuse("reconcile")

    rows = services.warehouse.frame("calc_reconcile")
    assert loaded.calls["eastmoney"] == 1
    assert 0 < loaded.calls["tencent"] <= 60
    reported = {(row.dataset, row.field_name) for row in rows.itertuples()}
    assert reported >= {
        ("kline_daily", "close"), ("kline_daily", "last_close"), ("quote_snapshot", "total_market_cap"),
        ("valuation", "pe_ttm"), ("stock_master", "total_shares"), ("fund_flow", "main_net"),
        ("index_daily", "volume"), ("margin", "rzye"), ("block_trade", "deals"),
    }  # fmt: skip
    # The portal's billboard against those of both exchanges.
    for field in ("codes", "amount"):
        assert of_pair(services, "dragon_tiger", field, "exchange", BEFORE)["status"] == "ok"
    # Figures that came out late are compared on their own date.
    assert of_pair(services, "margin", "rzye", "eastmoney", BEFORE)["within_pct"] == 100
    assert set(rows.loc[rows["dataset"] == "margin", "trade_date"]) == {BEFORE}
    price = of_pair(services, "quote_snapshot", "price", "eastmoney")
    assert (price["compared"] - price["within_count"], price["status"]) == (1, "warning")
    assert json.loads(price["worst_json"])[0]["code"] == odd
    assert of_pair(services, "quote_snapshot", "volume", "eastmoney")["status"] == "ok"
    # The drift is of twenty dates, of which two are stored.
    assert of_pair(services, "quote_snapshot", "price", "eastmoney", BEFORE)["mean_diff"] is not None
    assert price["drift_20d"] is None

    # The wrong close is an open item of the ledger first, since an event that is missing looks the same.
    (item,) = services.warehouse.rows("ref_exright_item", ANY.code == broken)
    assert (item["status"], item["factor"]) == ("open", pytest.approx(1.01, abs=2e-3))
    (command,) = services.warehouse.query("SELECT command, args_json, requested_by FROM sys_command")
    asked = json.loads(command[1])
    assert (command[0], command[2], asked["job"]) == ("run_job", "reconcile", "fusion_kline_sync")
    assert (asked["partition_range"], asked["tags"]) == ([BEFORE, TODAY], {"app/codes": broken})
    services.fuse("reconcile")
    assert services.warehouse.query("SELECT COUNT(*) FROM sys_command") == [(1,)]

    shown = shown_whole(loaded)
    assert f"| quote_snapshot.price: tencent / eastmoney | {price['compared']} |" in shown["agreement"].md_str
    assert "█" in shown["agreement_plot"].md_str

    # What the command's run does.
    others = services.warehouse.rows("fusion_kline_daily", ANY.code != broken)
    services.fresh()
    for name in ("exright", "kline_daily"):
        services.fuse(name, BEFORE, TODAY, codes=(broken,))
    services.fuse("exright_item")
    (item,) = services.warehouse.rows("ref_exright_item", ANY.code == broken)
    assert (item["status"], item["closed_by"], item["factor"]) == ("closed", "close", 1.0)
    services.fuse("kline_daily", TODAY, codes=(broken,))
    services.fuse("reconcile")
    assert of_pair(services, "kline_daily", "last_close", "tdx")["status"] == "ok"
    assert services.warehouse.rows("fusion_kline_daily", ANY.code != broken) == others

    # A second source that is away leaves the others, and what is known of its own pair.
    kept = of_pair(services, "fund_flow", "main_net", "tencent")
    down = {"upstream": "tencent", "call": "fund_flow", "kind": "status", "args": {"code": 503}}
    services.faults.replace([down])
    services.fresh()
    services.fuse("reconcile")
    assert of_pair(services, "fund_flow", "main_net", "tencent") == kept
    assert of_pair(services, "index_daily", "close", "eastmoney")["compared"] > 0
