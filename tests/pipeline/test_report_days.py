"""A report is public from its notice on, and never before its own period has ended."""

from typing import Any

import pandas as pd
import pytest

from resources.warehouse.stored import ANY
from tests.pipeline.conftest import TODAY, Services

END, EARLY, AFTER = "2026-06-30", "2026-04-22", "2026-07-01"
RAWS = ("raw_finstmt", "raw_fin_indicator", "raw_earnings_express", "aux_finance_changes")


def dated_early(code: str, *names: str) -> dict[str, Any]:
    fields = dict.fromkeys(names, f"{EARLY} 00:00:00")
    return {
        "upstream": "eastmoney",
        "call": "*",
        "kind": "set_fields",
        "args": {"match": {"SECURITY_CODE": code}, "fields": fields},
    }


def fused(services: Services) -> pd.DataFrame:
    services.fresh()
    for name in RAWS:
        services.raw(name)
    services.stage("finance_indicator")
    services.fuse("finance_indicator")
    return services.warehouse.frame("fusion_finance_indicator").set_index("code")


@pytest.fixture
def code(alone: Services) -> str:
    """A company whose report is out at the portal and at the terminal."""
    alone.master()
    rows = fused(alone)
    alone.extra["true"] = rows
    return str(rows[rows["ann_date"] > AFTER].index[3])


def public(services: Services, code: str, as_of: str) -> list[Any]:
    rows = services.warehouse.rows("fusion_finance_indicator", ANY.code == code, as_of=as_of)
    return [row["report_period"] for row in rows]


def forgotten(services: Services) -> None:
    tables = (*RAWS, "stg_finance_indicator", "fusion_finance_indicator", "fusion_finance_indicator_history")
    with services.warehouse.engine.begin() as connection:
        for table in tables:
            connection.exec_driver_sql(f"DELETE FROM {table}")


def test_no_report_is_public_before_the_end_of_its_period(alone: Services, code: str) -> None:
    services = alone
    forgotten(services)
    terminal = {"upstream": "tdx", "call": "*", "kind": "dead"}
    services.faults.replace([dated_early(code, "NOTICE_DATE", "UPDATE_DATE"), terminal])
    rows = fused(services)

    received = services.warehouse.frame("raw_fin_indicator").set_index("code")
    assert received.loc[code, "ann_date"] == EARLY  # as the upstream said
    assert rows.loc[code, "ann_date"] == AFTER
    assert rows.loc[code, "quality_flags"] == '["announced_after_the_period"]'
    for moment in (f"{EARLY} 09:00:00", f"{END} 23:59:59.999999"):
        assert public(services, code, moment) == []
    assert public(services, code, f"{AFTER} 00:00:00.000000") == [END]
    others = rows.drop(index=code)
    assert others["ann_date"].equals(services.extra["true"].loc[others.index, "ann_date"])


def test_a_possible_notice_of_another_report_counts(alone: Services, code: str) -> None:
    """The statements are dated early, the summary is not."""
    services = alone
    forgotten(services)
    rule = dated_early(code, "NOTICE_DATE", "UPDATE_DATE")
    rule["args"]["match"]["REPORT_DATE"] = END
    services.faults.replace([rule])
    rows = fused(services)

    statements = services.warehouse.frame("raw_finstmt")
    assert set(statements[statements["code"] == code]["ann_date"]) == {EARLY}
    assert rows.loc[code, "ann_date"] == services.extra["true"].loc[code, "ann_date"]
    assert rows.loc[code, "quality_flags"] is None


def test_a_count_of_holders_is_not_public_before_it_was_made(alone: Services) -> None:
    services = alone
    services.raw("raw_holder_num")
    counts = services.warehouse.frame("raw_holder_num")
    one = counts[counts["ann_date"] > counts["date"]].iloc[0]
    with services.warehouse.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE raw_holder_num SET ann_date='2026-01-05' WHERE code=?", (one["code"],)
        )
    services.stage("holder")
    services.fuse("holder")

    rows = services.warehouse.rows("fusion_holder", ANY.code == one["code"], ANY.date == one["date"])
    assert rows[0]["ann_date"] == "2026-01-05"
    assert rows[0]["valid_from"][:10] > one["date"]
    assert services.warehouse.rows("fusion_holder", ANY.code == one["code"], as_of=one["date"]) == []


def test_a_planned_day_before_the_end_of_the_period_is_none(alone: Services) -> None:
    services = alone
    services.raw("cninfo_periodic_report")
    true = services.warehouse.frame("cninfo_periodic_report").set_index("code")
    one = true[true["actual_date"].notna()].index[0]
    with services.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM cninfo_periodic_report")
    fault = {"match": {"seccode": one}, "fields": {"f006d_0102": EARLY}}
    services.faults.replace([{"upstream": "cninfo", "call": "*", "kind": "set_fields", "args": fault}])
    services.fresh()
    services.raw("cninfo_periodic_report")

    rows = services.warehouse.frame("cninfo_periodic_report").set_index("code")
    assert rows.loc[one, "actual_date"] is None
    assert rows.loc[one, "first_date"] == true.loc[one, "first_date"]
    assert rows["actual_date"].dropna().max() <= TODAY
