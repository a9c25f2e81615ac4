"""Topical lists: the fallback when the portal is away, and what is refused."""

from contextlib import suppress

import pandas as pd
import pytest

from platform_assets.pipeline.download import AllSourcesFailed
from platform_assets.pipeline.load import load_raw
from tests.pipeline.conftest import TODAY, Services

REPORTS_DOWN = {"upstream": "eastmoney", "call": "report", "kind": "status", "args": {"code": 503}}
LISTS_DOWN = {"upstream": "eastmoney", "call": "clist", "kind": "status", "args": {"code": 503}}
QUOTES_DOWN = {"upstream": "tencent", "call": "*", "kind": "status", "args": {"code": 503}}
BEFORE = "2026-08-20"


@pytest.fixture
def services(alone: Services) -> Services:
    """What the engines must do alike is tested elsewhere."""
    return alone


def change(services: Services, statement: str) -> None:
    with services.warehouse.engine.begin() as connection:
        connection.exec_driver_sql(statement)


def test_a_list_that_comes_out_late_is_asked_for_again(services: Services) -> None:
    services.raw("raw_risk_pledge")
    rows = services.warehouse.frame("raw_risk_pledge")
    assert set(rows["trade_date"]) == {"2026-08-14"}  # Friday's own comes out at 18:00

    services.at("2026-08-24")
    loaded = services.raw("raw_risk_pledge", "2026-08-24")
    assert set(services.warehouse.frame("raw_risk_pledge")["trade_date"]) == {"2026-08-14", TODAY}
    assert sum(result.rows_written for result in loaded.results) == len(
        services.warehouse.frame("raw_risk_pledge")
    ) - len(rows)

    code = str(rows["code"].iloc[0])
    load_raw(
        services.run, services.registry.raws["raw_risk_pledge"], services.scope("2026-08-24", codes=(code,))
    )
    held = services.warehouse.frame("raw_risk_pledge").set_index("code").loc[code]
    assert len(held) > 20  # two years by week


def test_a_list_without_an_answer_is_a_failure_and_not_empty(services: Services) -> None:
    services.faults.replace([REPORTS_DOWN])
    for name in ("raw_risk_pledge", "raw_risk_comment", "raw_risk_goodwill"):
        with pytest.raises(AllSourcesFailed):
            services.raw(name)


def test_stored_balances_stand_in_for_the_report_on_goodwill(services: Services) -> None:
    services.raw("raw_risk_goodwill")
    reported = services.warehouse.frame("raw_risk_goodwill").set_index("code")
    code = str(reported.index[0])
    load_raw(services.run, services.registry.raws["raw_finstmt"], services.scope(codes=(code,)))
    change(services, "DELETE FROM raw_risk_goodwill")
    services.faults.replace([REPORTS_DOWN])
    services.fresh()

    services.raw("raw_risk_goodwill")

    rows = services.warehouse.frame("raw_risk_goodwill").set_index("code")
    assert list(rows.index) == [code]
    assert rows.loc[code, "src"] == "balance"
    for column in ("goodwill", "goodwill_prev", "goodwill_equity_ratio_pct", "ann_date"):
        assert rows.loc[code, column] == reported.loc[code, column], column


def test_prices_of_bonds_come_from_the_quote_site_beside_stored_terms(services: Services) -> None:
    services.raw("raw_convertible_bond")
    reported = services.warehouse.frame("raw_convertible_bond")
    change(services, f"UPDATE raw_convertible_bond SET trade_date='{BEFORE}'")
    services.faults.replace([LISTS_DOWN])
    services.fresh()

    services.raw("raw_convertible_bond")

    rows = services.warehouse.frame("raw_convertible_bond")
    mine = rows[rows["trade_date"] == TODAY].set_index("code")
    assert set(mine["src"]) == {"tencent"}
    for row in reported.to_dict("records"):
        one = mine.loc[row["code"]]
        assert (one["stock_code"], one["convert_price"]) == (row["stock_code"], row["convert_price"])
        assert one["price"] == row["price"]
        assert one["premium_pct"] == pytest.approx(row["premium_pct"], abs=0.01)
        assert pd.isna(one["ytm_pct"])


def test_without_stored_terms_the_quote_site_cannot_tell_of_bonds(services: Services) -> None:
    services.faults.replace([LISTS_DOWN])
    with pytest.raises(AllSourcesFailed, match="no terms of bonds"):
        services.raw("raw_convertible_bond")


def test_the_quote_site_stands_in_for_the_lists_of_funds(services: Services) -> None:
    services.faults.replace([LISTS_DOWN])
    for name in ("raw_reit", "raw_fund_etf"):
        services.raw(name)
        rows = services.warehouse.frame(name)
        assert set(rows["src"]) == {"tencent"}
        assert rows[["price", "nav", "premium_pct", "total_shares", "market_cap_yi"]].notna().all().all()


def test_a_silent_quote_site_leaves_the_values_of_funds_out(services: Services) -> None:
    services.faults.replace([QUOTES_DOWN])
    services.raw("raw_reit")
    rows = services.warehouse.rows("raw_reit")
    assert len(rows) > 1
    assert {(row["src"], row["nav"], row["price"] > 0) for row in rows} == {("eastmoney", None, True)}


def test_both_exchanges_tell_the_units_of_the_newest_date(services: Services) -> None:
    services.clock.at = services.clock.at.replace(hour=18, minute=30)
    services.fresh()
    services.raw("raw_fund_etf")
    truth = services.warehouse.frame("raw_fund_etf").set_index("code")["total_shares"]
    change(services, "DELETE FROM raw_fund_etf")
    services.fresh()
    services.faults.replace([{"upstream": "eastmoney", "call": "clist", "kind": "double_rows"},
                          {"upstream": "tencent", "call": "quote", "kind": "truncate"}])  # fmt: skip
    services.raw("raw_fund_etf")
    rows = services.warehouse.frame("raw_fund_etf").set_index("code")

    assert set(rows["src"]) == {"sse", "szse"}
    assert set(rows["trade_date"]) == {TODAY}
    assert ((rows["total_shares"] - truth.loc[rows.index]).abs() <= 50).all()  # 万份 with two decimals


def test_units_of_shenzhen_that_could_not_be_had_are_noted_in_the_batch(services: Services) -> None:
    services.clock.at = services.clock.at.replace(hour=18, minute=30)
    services.fresh()
    lists = {"upstream": "eastmoney", "call": "clist", "kind": "double_rows"}
    refused = {"upstream": "szse", "call": "*", "kind": "status", "args": {"code": 403}}
    services.faults.replace([lists, QUOTES_DOWN, refused])
    services.raw("raw_fund_etf")

    assert set(services.warehouse.frame("raw_fund_etf")["src"]) == {"sse"}
    with services.warehouse.connect() as connection:
        reported = connection.exec_driver_sql("SELECT message FROM sys_quality_record").scalars().all()
    assert any("no source answered for SZSE" in message for message in reported)


def test_units_change_from_one_date_to_the_next(services: Services) -> None:
    services.raw("raw_fund_etf", "2026-08-19", BEFORE)
    change(services, f"UPDATE raw_fund_etf SET total_shares=total_shares-5000 WHERE trade_date='{BEFORE}'")
    services.raw("raw_fund_etf")
    rows = services.warehouse.frame("raw_fund_etf").set_index(["code", "trade_date"]).sort_index()
    code = str(rows.index[rows["src"] == "sse"][0][0])
    assert rows.loc[(code, TODAY), "share_change"] == 5000
    assert rows.loc[(code, BEFORE), "share_change"] == 0
    assert pd.isna(rows.loc[(code, "2026-08-19"), "share_change"])


def test_a_past_date_has_no_marks_and_no_bonds(services: Services) -> None:
    for name in ("raw_risk_comment", "raw_convertible_bond", "raw_reit"):
        services.raw(name, BEFORE)
        assert services.warehouse.frame(name).empty


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        ({"call": "clist", "kind": "double_rows"}, "raw_fund_etf"),
        ({"call": "report", "kind": "truncate"}, "raw_risk_comment"),
        ({"call": "report", "kind": "cut_list", "args": {"rows": 3}}, "raw_risk_goodwill"),
    ],
)
def test_refused_answers_leave_nothing(services: Services, fault: dict[str, object], name: str) -> None:
    services.faults.replace([{"upstream": "eastmoney", **fault}, QUOTES_DOWN])
    with suppress(AllSourcesFailed):
        services.raw(name)
    rows = services.warehouse.frame(name)
    assert rows.empty or set(rows["src"]) <= {"sse", "szse"}


def test_companies_in_hong_kong_are_asked_in_turn(services: Services) -> None:
    services.fuse("ah_pair")
    pairs = set(services.warehouse.frame("ref_ah_pair")["h_code"])
    for day in services.run.calendar.last(10, TODAY):
        services.raw("raw_hk_finance", day)
    early = set(services.warehouse.frame("raw_hk_finance")["code"])
    assert early <= pairs

    home = str(services.warehouse.frame("ref_ah_pair")["a_code"].iloc[0])
    load_raw(services.run, services.registry.raws["raw_hk_finance"], services.scope(codes=(home,)))
    rows = services.warehouse.frame("raw_hk_finance")
    assert set(rows["currency"]) == {"CNY"}
    assert rows["items"].notna().any()
    assert rows.groupby("code")["total_assets"].count().max() <= 4
