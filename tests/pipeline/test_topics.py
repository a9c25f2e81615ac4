"""Topical lists: what stands in when the portal is away, and what is refused."""

from contextlib import suppress

import pandas as pd
import pytest

from platform_assets.pipeline.download import AllSourcesFailed
from platform_assets.pipeline.load import load_raw
from tests.pipeline.conftest import TODAY, House

REPORTS_DOWN = {"upstream": "eastmoney", "call": "report", "kind": "status", "args": {"code": 503}}
LISTS_DOWN = {"upstream": "eastmoney", "call": "clist", "kind": "status", "args": {"code": 503}}
QUOTES_DOWN = {"upstream": "tencent", "call": "*", "kind": "status", "args": {"code": 503}}
BEFORE = "2026-08-20"


@pytest.fixture
def house(alone: House) -> House:
    """What the engines must do alike is tested elsewhere."""
    return alone


def change(house: House, statement: str) -> None:
    with house.warehouse.engine.begin() as connection:
        connection.exec_driver_sql(statement)


def test_a_list_that_comes_out_late_is_asked_for_again(house: House) -> None:
    house.raw("raw_risk_pledge")
    rows = house.warehouse.frame("raw_risk_pledge")
    assert set(rows["trade_date"]) == {"2026-08-14"}  # Friday's own comes out at 18:00

    house.at("2026-08-24")
    loaded = house.raw("raw_risk_pledge", "2026-08-24")
    assert set(house.warehouse.frame("raw_risk_pledge")["trade_date"]) == {"2026-08-14", TODAY}
    assert sum(result.rows_written for result in loaded.results) == len(
        house.warehouse.frame("raw_risk_pledge")
    ) - len(rows)

    code = str(rows["code"].iloc[0])
    load_raw(house.run, house.registry.raws["raw_risk_pledge"], house.scope("2026-08-24", codes=(code,)))
    held = house.warehouse.frame("raw_risk_pledge").set_index("code").loc[code]
    assert len(held) > 20  # two years by week


def test_a_list_without_an_answer_is_a_failure_and_not_empty(house: House) -> None:
    house.faults.replace([REPORTS_DOWN])
    for name in ("raw_risk_pledge", "raw_risk_comment", "raw_risk_goodwill"):
        with pytest.raises(AllSourcesFailed):
            house.raw(name)


def test_stored_balances_stand_in_for_the_report_on_goodwill(house: House) -> None:
    house.raw("raw_risk_goodwill")
    told = house.warehouse.frame("raw_risk_goodwill").set_index("code")
    code = str(told.index[0])
    load_raw(house.run, house.registry.raws["raw_finstmt"], house.scope(codes=(code,)))
    change(house, "DELETE FROM raw_risk_goodwill")
    house.faults.replace([REPORTS_DOWN])
    house.fresh()

    house.raw("raw_risk_goodwill")

    rows = house.warehouse.frame("raw_risk_goodwill").set_index("code")
    assert list(rows.index) == [code]
    assert rows.loc[code, "src"] == "balance"
    for column in ("goodwill", "goodwill_prev", "goodwill_equity_ratio_pct", "ann_date"):
        assert rows.loc[code, column] == told.loc[code, column], column


def test_prices_of_bonds_come_from_the_quote_site_beside_stored_terms(house: House) -> None:
    house.raw("raw_convertible_bond")
    told = house.warehouse.frame("raw_convertible_bond")
    change(house, f"UPDATE raw_convertible_bond SET trade_date='{BEFORE}'")
    house.faults.replace([LISTS_DOWN])
    house.fresh()

    house.raw("raw_convertible_bond")

    rows = house.warehouse.frame("raw_convertible_bond")
    mine = rows[rows["trade_date"] == TODAY].set_index("code")
    assert set(mine["src"]) == {"tencent"}
    for row in told.to_dict("records"):
        one = mine.loc[row["code"]]
        assert (one["stock_code"], one["convert_price"]) == (row["stock_code"], row["convert_price"])
        assert one["price"] == row["price"]
        assert one["premium_pct"] == pytest.approx(row["premium_pct"], abs=0.01)
        assert pd.isna(one["ytm_pct"])


def test_without_stored_terms_the_quote_site_cannot_tell_of_bonds(house: House) -> None:
    house.faults.replace([LISTS_DOWN])
    with pytest.raises(AllSourcesFailed, match="no terms of bonds"):
        house.raw("raw_convertible_bond")


def test_the_quote_site_stands_in_for_the_lists_of_funds(house: House) -> None:
    house.faults.replace([LISTS_DOWN])
    for name in ("raw_reit", "raw_fund_etf"):
        house.raw(name)
        rows = house.warehouse.frame(name)
        assert set(rows["src"]) == {"tencent"}
        assert rows[["price", "nav", "premium_pct", "total_shares", "market_cap_yi"]].notna().all().all()


def test_a_silent_quote_site_leaves_the_values_of_funds_out(house: House) -> None:
    house.faults.replace([QUOTES_DOWN])
    house.raw("raw_reit")
    rows = house.warehouse.rows("raw_reit")
    assert len(rows) > 1
    assert {(row["src"], row["nav"], row["price"] > 0) for row in rows} == {("eastmoney", None, True)}


def test_both_exchanges_tell_the_units_of_the_newest_date(house: House) -> None:
    house.clock.at = house.clock.at.replace(hour=18, minute=30)
    house.fresh()
    house.raw("raw_fund_etf")
    truth = house.warehouse.frame("raw_fund_etf").set_index("code")["total_shares"]
    change(house, "DELETE FROM raw_fund_etf")
    house.fresh()
    house.faults.replace([{"upstream": "eastmoney", "call": "clist", "kind": "double_rows"},
                          {"upstream": "tencent", "call": "quote", "kind": "truncate"}])  # fmt: skip
    house.raw("raw_fund_etf")
    rows = house.warehouse.frame("raw_fund_etf").set_index("code")

    assert set(rows["src"]) == {"sse", "szse"}
    assert set(rows["trade_date"]) == {TODAY}
    assert ((rows["total_shares"] - truth.loc[rows.index]).abs() <= 50).all()  # 万份 with two decimals


def test_units_of_shenzhen_that_could_not_be_had_are_told_in_the_batch(house: House) -> None:
    house.clock.at = house.clock.at.replace(hour=18, minute=30)
    house.fresh()
    lists = {"upstream": "eastmoney", "call": "clist", "kind": "double_rows"}
    refused = {"upstream": "szse", "call": "*", "kind": "status", "args": {"code": 403}}
    house.faults.replace([lists, QUOTES_DOWN, refused])
    house.raw("raw_fund_etf")

    assert set(house.warehouse.frame("raw_fund_etf")["src"]) == {"sse"}
    with house.warehouse.connect() as connection:
        told = connection.exec_driver_sql("SELECT message FROM sys_quality_record").scalars().all()
    assert any("no units of Shenzhen" in message for message in told)


def test_units_change_from_one_date_to_the_next(house: House) -> None:
    house.raw("raw_fund_etf", "2026-08-19", BEFORE)
    change(house, f"UPDATE raw_fund_etf SET total_shares=total_shares-5000 WHERE trade_date='{BEFORE}'")
    house.raw("raw_fund_etf")
    rows = house.warehouse.frame("raw_fund_etf").set_index(["code", "trade_date"]).sort_index()
    code = str(rows.index[rows["src"] == "sse"][0][0])
    assert rows.loc[(code, TODAY), "share_change"] == 5000
    assert rows.loc[(code, BEFORE), "share_change"] == 0
    assert pd.isna(rows.loc[(code, "2026-08-19"), "share_change"])


def test_a_past_date_has_no_marks_and_no_bonds(house: House) -> None:
    for name in ("raw_risk_comment", "raw_convertible_bond", "raw_reit"):
        house.raw(name, BEFORE)
        assert house.warehouse.frame(name).empty


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        ({"call": "clist", "kind": "double_rows"}, "raw_fund_etf"),
        ({"call": "report", "kind": "truncate"}, "raw_risk_comment"),
        ({"call": "report", "kind": "cut_list", "args": {"rows": 3}}, "raw_risk_goodwill"),
    ],
)
def test_answers_that_cannot_be_believed_leave_nothing(
    house: House, fault: dict[str, object], name: str
) -> None:
    house.faults.replace([{"upstream": "eastmoney", **fault}, QUOTES_DOWN])
    with suppress(AllSourcesFailed):
        house.raw(name)
    rows = house.warehouse.frame(name)
    assert rows.empty or set(rows["src"]) <= {"sse", "szse"}


def test_companies_in_hong_kong_are_asked_in_turn(house: House) -> None:
    house.fuse("ah_pair")
    pairs = set(house.warehouse.frame("ref_ah_pair")["h_code"])
    for day in house.run.calendar.last(10, TODAY):
        house.raw("raw_hk_finance", day)
    early = set(house.warehouse.frame("raw_hk_finance")["code"])
    assert early <= pairs

    home = str(house.warehouse.frame("ref_ah_pair")["a_code"].iloc[0])
    load_raw(house.run, house.registry.raws["raw_hk_finance"], house.scope(codes=(home,)))
    rows = house.warehouse.frame("raw_hk_finance")
    assert set(rows["currency"]) == {"CNY"}
    assert rows["items"].notna().any()
    assert rows.groupby("code")["total_assets"].count().max() <= 4
