"""The index providers' answers: workbooks and lists, units, corrupted responses, and the damage of
networks."""

import json
import math
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PayloadError, Refused
from resources.upstreams.cnindex.client import parse_sample
from resources.upstreams.csindex.client import parse_members, parse_perf, parse_ratios
from resources.upstreams.parsing.xls import book_rows
from simulated_market.indexers.csindex import _MEMBER_HEAD, _RATIO_HEAD
from simulated_market.indexers.workbook import workbook
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

SINCE, UNTIL = "2026-09-01", "2026-09-30"
PERF = {
    "tradeDate": "20260901",
    "indexCode": "000300",
    "indexNameCnAll": "沪深300指数",
    "indexNameCn": "沪深300",
    "indexNameEnAll": "CSI 300 Index",
    "indexNameEn": "CSI 300",
    "open": 4500.1,
    "high": 4530.2,
    "low": 4480.3,
    "close": 4520.4,
    "change": 20.3,
    "changePct": 0.45,
    "tradingVol": 15_000.5,
    "tradingValue": 3_200.25,
    "consNumber": 300,
    "peg": 13.52,
}
SAMPLE = {
    "indexcode": "399001",
    "date": 1_785_427_200_000,
    "dateStr": "2026-07-31",
    "seccode": "000001",
    "secname": "平安银行",
    "trade": "金融",
    "market": None,
    "totalMarketValue": 2000.1,
    "freeMarketValue": 1900.1,
    "weight": 1.25,
}


def members(*rows: list[Any], weighted: bool = True) -> bytes:
    head = [*_MEMBER_HEAD, "权重(%)weight"] if weighted else list(_MEMBER_HEAD)
    return workbook([head, *rows])


def member(code: Any, weight: float, day: Any = 20260731, index: Any = "000300") -> list[Any]:
    return [day, index, "沪深300", "CSI 300", code, "平安银行", "", "深圳证券交易所", "Shenzhen", weight]


def perf(**changed: Any) -> bytes:
    return body({"code": "200", "msg": "Success", "data": [PERF | changed]})


def sample(*rows: Any, total: int | None = None) -> bytes:
    return body({"code": 200, "message": "", "data": {"total": total or len(rows), "rows": list(rows)}})


def body(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def test_codes_in_a_number_cell_have_their_zeros_again() -> None:
    rows = parse_members(members(member(1, 60.0), member("600519", 40.0, index=300)), "000300", weighted=True)

    assert rows["code"].tolist() == ["000001", "600519"]
    assert rows["as_of_date"].unique().tolist() == ["2026-07-31"]
    assert rows["weight_pct"].tolist() == [60.0, 40.0]


@pytest.mark.parametrize(
    ("book", "reason"),
    [
        (members(member("000001", 60.0), member("000001", 40.0)), "make 60.00"),
        (members(member("000001", 60.0), member("600519", 20.0)), "make 80.00"),
        (members(member("000001", 60.0), member("600519", 40.0, day=20260630)), "several dates"),
        (members(member("000001", 100.0, index="000905")), "instead of 000300"),
        (members(member("ABC", 100.0)), "no code"),
        (members(), "no member"),
        (members(member("000001", 100.0)[:-1], weighted=False), "no column 权重"),
        (b"PK\x03\x04 a newer workbook", "no old workbook"),
    ],
)
def test_rejected_weights(book: bytes, reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        parse_members(book, "000300", weighted=True)


def test_a_page_instead_of_a_workbook() -> None:
    with pytest.raises(Refused):
        book_rows(b"<html>login</html>", "members")


def test_ratios_oldest_first() -> None:
    names = ["沪深300指数", "沪深300", "CSI 300 Index", "CSI 300"]
    book = workbook(
        [
            _RATIO_HEAD,
            [20260821, "000300", *names, 14.2, 13.1, 2.6, 2.9],
            [20260820, "000300", *names, 14.1, 13.0, 2.7, 2.9],
        ]
    )

    rows = parse_ratios(book, "000300")

    assert rows["date"].tolist() == ["2026-08-20", "2026-08-21"]
    assert rows["pe"].tolist() == [14.1, 14.2]
    assert rows["dividend_yield"].tolist() == [2.7, 2.6]


def test_history_in_shares_and_yuan() -> None:
    row = parse_perf(perf(), "000300", SINCE, UNTIL).iloc[0]

    assert (row["date"], row["close"], row["pe_ttm"]) == ("2026-09-01", 4520.4, 13.52)
    assert row["volume"] == 15_000_500_000
    assert row["amount"] == 320_025_000_000
    assert math.isnan(parse_perf(perf(peg=None, open=None), "000300", SINCE, UNTIL).iloc[0]["pe_ttm"])
    assert len(parse_perf(body({"code": "200", "data": []}), "000300", SINCE, UNTIL)) == 0


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (perf(indexCode="000905"), "instead of 000300"),
        (perf(tradeDate="20260831"), "asked was"),
        (perf(close=-1), "not above zero"),
        (body({"code": "500", "msg": "error", "data": None}), "code '500'"),
    ],
)
def test_rejected_history(answer: bytes, reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        parse_perf(answer, "000300", SINCE, UNTIL)


def test_the_sample_of_a_month() -> None:
    page = parse_sample(sample(SAMPLE), "399001", "2026-07")

    assert page.rows == [
        {"as_of_date": "2026-07-31", "code": "000001", "name": "平安银行", "weight_pct": 1.25}
    ]
    assert parse_sample(body({"code": 200, "data": None}), "399001", "2026-08").total == 0
    for wrong, reason in (
        (SAMPLE | {"indexcode": "399006"}, "instead of"),
        (SAMPLE | {"dateStr": "2026-06-30"}, "rows of 2026-06-30"),
        (SAMPLE | {"weight": 125}, "weight of 125"),
    ):
        with pytest.raises(PayloadError, match=reason):
            parse_sample(sample(wrong), "399001", "2026-07")


@quick
@given(st.data())
def test_damaged_answers_are_refused_or_true(data: st.DataObject) -> None:
    book = members(member("000001", 60.0), member("600519", 40.0))
    with suppress(*ACCEPTED):
        parse_members(data.draw(damaged_bytes(book)), "000300", weighted=True)
    for whole, parse in (
        (perf(), partial(parse_perf, index="000300", since=SINCE, until=UNTIL)),
        (sample(SAMPLE), partial(parse_sample, index="399001", month="2026-07")),
    ):
        for damage in (damaged_bytes, damaged_json):
            with suppress(*ACCEPTED):
                parse(data.draw(damage(whole)))


def test_the_recorded_card_has_the_names_of_this_index() -> None:
    """The provider's card of an index is another call; what both show agrees."""
    recorded = json.loads((Path(__file__).parent / "payloads" / "csindex_series_20260720.json").read_bytes())
    card = recorded["data"]["indexMainAlls"][0]

    row = {"tradeDate": recorded["data"]["tradeDate"], "indexCode": card["indexCode"], "close": card["close"]}
    answer = body({"code": recorded["code"], "msg": recorded["msg"], "data": [PERF | row]})

    assert parse_perf(answer, "000300", "2026-07-01", "2026-07-31").iloc[0]["close"] == 4598.32
