"""The disclosure platform's tables: fields as public clients read them, units, and rejected answers."""

import json
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PayloadError
from resources.upstreams.cninfo import records
from resources.upstreams.cninfo.client import CninfoClient
from tests.upstreams.eastmoney.test_reports import Pages
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

PERIOD = "2026-06-30"
NOW = datetime(2026, 8, 21, 15, 45)
# As answered on 2026-08-05.
PLAN = {
    "seccode": "000651", "secname": "格力电器", "orgId": "gssz0000651", "f001d_0102": PERIOD,
    "f002d_0102": "2026-08-27", "f003d_0102": "", "f004d_0102": "", "f005d_0102": "", "f006d_0102": "",
    "latest_time": None,
}  # fmt: skip
COUNT = {
    "SECCODE": "600519", "SECNAME": "贵州茅台", "ENDDATE": PERIOD, "F001N": 221000, "F002N": 225028,
    "F003N": -1.79, "F004N": 5684.14, "F005N": 5580.0, "F006N": 1.87,
}  # fmt: skip
CHANGE = {
    "SECCODE": "600519", "SECNAME": "贵州茅台", "DECLAREDATE": "2020-07-29", "VARYDATE": PERIOD,
    "F002V": "定期报告", "F003N": 125619.78, "F021N": 125619.78, "F022N": 125619.78,
}  # fmt: skip


def plans(*rows: dict[str, Any], total: int | None = None) -> bytes:
    count = len(rows) if total is None else total
    return json.dumps({"prbookinfos": list(rows) or None, "totalRows": count, "totalPages": 1}).encode()


def answer(*rows: dict[str, Any]) -> bytes:
    return json.dumps({"resultcode": 200, "records": list(rows)}).encode()


def test_the_plans_of_a_quarter() -> None:
    pages = Pages(
        plans(PLAN, total=2), plans({**PLAN, "seccode": "603986", "f006d_0102": "2026-08-20"}, total=2)
    )
    rows = CninfoClient(pages).disclosure_schedule(PERIOD)

    assert rows["code"].tolist() == ["000651", "603986"]
    assert rows.loc[0, ["name", "first_date", "report_period"]].tolist() == ["格力电器", "2026-08-27", PERIOD]
    assert rows["actual_date"].tolist() == [None, "2026-08-20"]
    assert b"sectionTime=2026-06-30" in pages.asked[0].content
    assert b"pagenum=2" in pages.asked[1].content
    assert CninfoClient(Pages(plans())).disclosure_schedule(PERIOD).empty


def test_holder_counts_and_share_capital() -> None:
    (count,) = CninfoClient(Pages(answer(COUNT))).holder_counts(PERIOD, NOW).to_dict("records")
    assert (count["code"], count["date"], count["holder_num"], count["change_num"]) == (
        "600519", PERIOD, 221_000, -4_028,
    )  # fmt: skip
    assert (count["change_ratio"], count["avg_shares"]) == (-1.79, 5684.14)

    asked = Pages(answer(CHANGE, {**CHANGE, "VARYDATE": "2014-06-30", "F003N": 114199.8, "F022N": 114199.8}))
    rows = CninfoClient(asked).share_changes("600519", "1990-01-01", "2026-08-21", NOW)
    assert rows["change_date"].tolist() == ["2014-06-30", PERIOD]
    assert rows["total_shares"].tolist() == [1_141_998_000, 1_256_197_800]
    assert rows["float_shares"].iloc[1] == 1_256_197_800
    assert dict(asked.asked[0].params)["scode"] == "600519"
    assert "Accept-Enckey" in dict(asked.asked[0].headers)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (plans({**PLAN, "f001d_0102": "2026-03-31"}), "a report of 2026-03-31"),
        (plans({**PLAN, "seccode": "651"}), "is no code"),
        (plans({name: value for name, value in PLAN.items() if name != "f002d_0102"}), "no field f002d_0102"),
        (plans(PLAN, total=0), "1 of 0 rows"),
    ],
)
def test_rejected_plans(body: bytes, reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        CninfoClient(Pages(body)).disclosure_schedule(PERIOD)


def test_a_list_of_plans_that_ends_early_is_refused() -> None:
    with pytest.raises(PayloadError, match="1 of 3 rows"):
        CninfoClient(Pages(plans(PLAN, total=3), b'{"prbookinfos": [], "totalRows": 3}')).disclosure_schedule(
            PERIOD
        )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (answer({**COUNT, "ENDDATE": "2026-03-31"}), "a count of 2026-03-31"),
        (answer({**COUNT, "F003N": -0.0179}), "is not the change"),
        (answer({**COUNT, "F001N": None}), "F001N is missing"),
        (b'{"resultcode": 401, "resultmsg": "no"}', "resultcode 401"),
        (b'{"msg": "gateway"}', "resultcode None"),
        (b'{"records": []}', "resultcode None"),
        (b'{"resultcode": 200}', "no field records"),
        (b'{"resultcode": 200, "records": ""}', "records"),
    ],
)
def test_rejected_counts(body: bytes, reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        CninfoClient(Pages(body)).holder_counts(PERIOD, NOW)


def test_only_an_answer_of_the_service_says_that_there_is_nothing() -> None:
    for nothing in (b'{"resultcode": 200, "records": []}', b'{"resultcode": 200, "records": null}'):
        assert CninfoClient(Pages(nothing)).holder_counts(PERIOD, NOW).empty
    with pytest.raises(PayloadError, match="resultcode"):
        CninfoClient(Pages(b'{"msg": "gateway"}')).share_changes("600519", "1990-01-01", PERIOD, NOW)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"SECCODE": "000001"}, "a change of 000001"),
        ({"F022N": 1256197800}, "of 1256197800 shares"),
        ({"F003N": 0}, "shares"),
        ({"VARYDATE": None}, "is no text"),
    ],
)
def test_rejected_capital(row: dict[str, Any], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        CninfoClient(Pages(answer({**CHANGE, **row}))).share_changes("600519", "1990-01-01", PERIOD, NOW)


@quick
@given(st.one_of(damaged_json(plans(PLAN)), damaged_bytes(plans(PLAN))))
def test_damaged_plans(body: bytes) -> None:
    try:
        rows = records.parse_schedule(body, PERIOD).rows
    except ACCEPTED:
        return
    assert all(row["report_period"] == PERIOD for row in rows)


@quick
@given(st.one_of(damaged_json(answer(COUNT)), damaged_bytes(answer(CHANGE)), damaged_json(answer(CHANGE))))
def test_damaged_records(body: bytes) -> None:
    for parse, asked in ((records.parse_holders, PERIOD), (records.parse_equity, "600519")):
        try:
            rows = parse(body, asked)
        except ACCEPTED:
            continue
        assert (rows.select_dtypes("number").drop(columns=["change_ratio", "change_num"], errors="ignore")
                .fillna(0) >= 0).all().all()  # fmt: skip
