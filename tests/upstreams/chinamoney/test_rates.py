"""Closing curve, SHIBOR and LPR of the interbank market: texts for figures, pages with a count."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError, PayloadError, Refused
from resources.upstreams.chinamoney import client
from resources.upstreams.chinamoney.client import ChinamoneyClient
from tests.upstreams.eastmoney.test_reports import Pages
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

SPAN = ("2026-09-18", "2026-09-24")
CURVE = {"newDateValueCN": "2026-09-24", "yearTermStr": "10.0", "maturityYieldStr": "1.8312",
         "currentYieldStr": "1.8421", "futureYieldStr": "---"}  # fmt: skip
SHIBOR = {"ON": "1.3640", "1W": "1.44", "2W": "1.5", "1M": "1.52", "3M": "1.43", "6M": "1.55", "9M": "1.6",
          "1Y": "---", "showDateCN": "2026-09-24"}  # fmt: skip
LPR = {"1Y": "3.00", "5Y": "3.50", "showDateCN": "2026-09-21"}


def body(*records: dict[str, Any], total: int | None = None, code: str = "200") -> bytes:
    data = {} if total is None else {"totalCount": total}
    return json.dumps({"head": {"rep_code": code}, "data": data, "records": list(records)}).encode()


PARSERS: dict[bytes, Any] = {
    body(CURVE, total=1): lambda text: client.curve_frame(client.parse_curve(text, *SPAN).rows),
    body(SHIBOR): lambda text: client.parse_shibor(text, *SPAN),
    body(LPR): lambda text: client.parse_lpr(text, *SPAN),
}


def test_figures_are_texts_and_dashes_are_missing() -> None:
    curve, shibor, lpr = (parse(text) for text, parse in PARSERS.items())

    assert curve.to_numpy().tolist() == [["2026-09-24", 10.0, 1.8312]]
    assert dict(zip(shibor["tenor"], shibor["rate"], strict=True))["on"] == 1.364
    assert shibor[shibor["tenor"] == "1y"]["rate"].isna().all()
    assert lpr.to_numpy().tolist() == [["2026-09-21", "1y", 3.0], ["2026-09-21", "5y", 3.5]]
    assert client.parse_lpr(body(), *SPAN).empty


@pytest.mark.parametrize(
    ("at", "changed", "reason"),
    [
        (0, {"newDateValueCN": "2026-09-25"}, "asked was"),
        (0, {"yearTermStr": "十年"}, "yearTermStr"),
        (0, {"maturityYieldStr": "183.12"}, "another unit"),
        (0, {"maturityYieldStr": 1.8312}, "no text"),
        (1, {"ON": "abc"}, "no number"),
        (2, {"showDateCN": "21/09/2026"}, "no date"),
    ],
)
def test_rejected_answers(at: int, changed: dict[str, Any], reason: str) -> None:
    text, parse = list(PARSERS.items())[at]
    row = json.loads(text)["records"][0]
    with pytest.raises(PayloadError, match=reason):
        parse(body({**row, **changed}, total=1 if at == 0 else None))


def test_a_refusal_of_the_site_a_missing_field_and_a_day_twice() -> None:
    with pytest.raises(PayloadError, match="rep_code"):
        client.parse_shibor(body(code="400"), *SPAN)
    with pytest.raises(PayloadError, match="no field 5Y"):
        client.parse_lpr(body({"1Y": "3.00", "showDateCN": "2026-09-21"}), *SPAN)
    assert len(client.parse_lpr(body(LPR, LPR), *SPAN)) == 2  # two tenors of one day, once


def test_pages_are_counted_and_spans_are_bounded() -> None:
    many = [{**CURVE, "yearTermStr": f"{years}.0"} for years in range(1, 61)]
    pages = Pages(body(*many[:50], total=60), body(*many[50:], total=60))
    assert len(ChinamoneyClient(pages).closing_curve(*SPAN)) == 60
    with pytest.raises(PayloadError, match="50 of 60"):
        ChinamoneyClient(Pages(body(*many[:50], total=60), body(total=60))).closing_curve(*SPAN)
    with pytest.raises(InputError, match="30 days"):
        ChinamoneyClient(Pages()).closing_curve("2026-01-01", "2026-09-24")


@quick
@given(st.data())
def test_damaged_answers(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(sorted(PARSERS)))
    damaged = data.draw(st.one_of(damaged_json(text), damaged_bytes(text)))
    try:
        rows = PARSERS[text](damaged)
    except ACCEPTED:
        return
    assert rows["date"].between(*SPAN).all()
    assert not (rows["rate"].abs() > 30).any()


def test_a_refusal_message_is_not_a_time_without_rates() -> None:
    """As two public clients read it: code 200, no record, the reason in `data.message`."""
    reported = {"message": "只提供一年历史数据查询及下载"}
    refused = json.dumps({"head": {"rep_code": "200"}, "data": reported, "records": []}).encode()

    for parse in (client.parse_shibor, client.parse_lpr):
        with pytest.raises(PayloadError, match="只提供一年"):
            parse(refused, *SPAN)
    silent = json.dumps({"head": {"rep_code": "200"}, "data": {"message": ""}, "records": [LPR]}).encode()
    assert len(client.parse_lpr(silent, *SPAN)) == 2


PAGE = "<!DOCTYPE html><html><body>请稍后再试</body></html>".encode()
CURVES = json.dumps(
    {"head": {"rep_code": "200"}, "data": {}, "records": [{"value": "CYCC009", "cnLabel": "国债"}]}
).encode()


def test_a_refused_client_registers_as_the_page_does() -> None:
    pages = Pages(PAGE, b"<html></html>", b"{}", b"{}", CURVES, body(CURVE, total=1))

    assert len(ChinamoneyClient(pages).closing_curve(*SPAN)) == 1
    asked = [(one.method, one.path.rsplit("/", 1)[-1] or one.path) for one in pages.asked]
    assert asked == [
        ("GET", "ClsYldCurvHis"), ("GET", "/chinese/bkcurvclosedyhis/"), ("POST", "apply"),
        ("POST", "getSessionUser"), ("GET", "ClsYldCurvCurvGO"), ("GET", "ClsYldCurvHis"),
    ]  # fmt: skip
    assert pages.asked[2].content == b"key=TThwSjc2NWkzV0VSOVRzOA%3D%3D"
    assert dict(pages.asked[-1].params)["bondType"] == "CYCC009"
    assert pages.asked[0].explained == (403,)
    assert pages.asked[-1].explained == ()

    for steps in ((PAGE,), (CURVES, PAGE)):
        with pytest.raises(Refused):
            ChinamoneyClient(Pages(PAGE, b"<html>", b"{}", b"{}", *steps)).closing_curve(*SPAN)


def test_pages_are_counted_by_rows_or_by_pages() -> None:
    """Public clients read `total` or `pageTotal`; `0.083` is a month."""
    month = {**CURVE, "yearTermStr": "0.083", "maturityYieldStr": "1.0150"}
    first, second = (json.loads(body(one)) for one in (month, CURVE))
    for page in (first, second):
        page["data"] = {"pageTotal": 2}
    pages = Pages(*(json.dumps(page).encode() for page in (first, second)))

    assert list(ChinamoneyClient(pages).closing_curve(*SPAN)["years"]) == [0.083, 10.0]
    refused = {"total": 0, "message": "只提供一个月历史数据查询"}
    reported = json.dumps({"head": {"rep_code": "200"}, "data": refused, "records": []}).encode()
    with pytest.raises(PayloadError, match="只提供一个月"):
        ChinamoneyClient(Pages(reported)).closing_curve(*SPAN)
