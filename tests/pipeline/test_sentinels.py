"""Values by which upstreams say that there is none, and dates that cannot be: nothing of it is stored."""

from typing import Any

import pytest

from resources.warehouse.stored import ANY
from tests.pipeline.conftest import TODAY, Services

BEFORE = "2026-08-20"


def said(services: Services, match: dict[str, Any], **fields: Any) -> None:
    """The portal says so of the objects that match."""
    args = {"match": match, "fields": fields}
    services.faults.replace([{"upstream": "eastmoney", "call": "*", "kind": "set_fields", "args": args}])
    services.fresh()


@pytest.mark.parametrize("nothing", [-2147483648, 2147483647, "4294967295", "--", "N/A", "—", None])
def test_the_ends_of_32_bits_and_dashes_are_no_figures(alone: Services, nothing: Any) -> None:
    services = alone
    services.raw("raw_margin", BEFORE)
    true = services.warehouse.frame("raw_margin").set_index("code")
    code = str(true.index[5])
    with services.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM raw_margin")
    said(services, {"SCODE": code}, RZMRE=nothing)
    services.raw("raw_margin", BEFORE)

    rows = services.warehouse.frame("raw_margin").set_index("code")
    assert rows.loc[[code], "rzmre"].isna().all()
    assert rows.drop(index=code)["rzmre"].notna().all()
    assert rows.loc[[code], "rzye"].tolist() == true.loc[[code], "rzye"].tolist()
    assert len(rows) == len(true)


@pytest.mark.parametrize("nothing", ["1900-01-01 00:00:00", "0001-01-01 00:00:00", "0", "-", "19000101", ""])
def test_the_zero_of_a_calendar_is_no_date(alone: Services, nothing: str) -> None:
    services = alone
    services.raw("raw_dividend", *services.run.calendar.last(20, TODAY))
    plans = services.warehouse.frame("raw_dividend")
    code = str(plans[plans["ex_date"].notna()]["code"].iloc[0])
    with services.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM raw_dividend")
    said(services, {"SECURITY_CODE": code}, EX_DIVIDEND_DATE=nothing, EQUITY_RECORD_DATE=nothing)
    services.raw("raw_dividend", *services.run.calendar.last(20, TODAY))

    rows = services.warehouse.frame("raw_dividend")
    assert set(rows["code"]) == set(plans["code"])
    mine = rows[(rows["code"] == code) & (rows["src"] == "eastmoney")]
    assert mine["ex_date"].isna().all()
    assert mine["record_date"].isna().all()


def test_a_notice_of_a_day_to_come_rejects_its_report(alone: Services) -> None:
    services = alone
    services.master()
    services.raw("raw_fin_indicator")
    code = str(services.warehouse.frame("raw_fin_indicator")["code"].iloc[3])
    with services.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM raw_fin_indicator")
    said(
        services,
        {"SECURITY_CODE": code},
        NOTICE_DATE="2099-01-01 00:00:00",
        UPDATE_DATE="2099-01-01 00:00:00",
    )
    services.raw("raw_fin_indicator")
    services.stage("finance_indicator")
    services.fuse("finance_indicator")

    rows = services.warehouse.frame("fusion_finance_indicator")
    assert code not in set(rows["code"])
    assert len(rows) > 10
    records = services.warehouse.rows(
        "sys_quality_record", ANY.check_name == "is_announced", ANY.code.is_not(None)
    )
    assert [row["code"] for row in records] == [code]
