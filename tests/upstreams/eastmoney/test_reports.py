"""The data centre: recorded answers, its codes, pages, and rejected answers."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.clock import FrozenClock
from core.errors import InputError, PayloadError, Permanent, Transient
from resources.rejections import noting
from resources.transport.request import Request
from resources.upstreams.eastmoney import data_centre
from resources.upstreams.eastmoney.client import EastmoneyClient
from resources.upstreams.eastmoney.reports import trading
from tests.simulated_market.http.tiny_world import NOW
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

PAYLOADS = Path(__file__).parent / "payloads"
RECORDED = (PAYLOADS / "em_dc_margin_600519.json").read_bytes()
DAY = "2026-06-11"

parse = partial(data_centre.parse_report, what="margin", read=trading.MARGIN.frame)


def body(rows: list[dict[str, Any]], count: int) -> bytes:
    result = {"pages": -(-count // data_centre.PAGE), "data": rows, "count": count}
    return json.dumps({"result": result, "success": True, "message": "ok", "code": 0}).encode()


def row(code: str = "600519", **changed: Any) -> dict[str, Any]:
    first = json.loads(RECORDED)["result"]["data"][0]
    return {**first, "SCODE": code, **changed}


class Pages:
    """A fetcher that answers page by page."""

    def __init__(self, *bodies: bytes) -> None:
        self.bodies = list(bodies)
        self.asked: list[Request] = []

    def call(self, request: Request, parse: Any) -> Any:
        self.asked.append(request)
        return parse(self.bodies[len(self.asked) - 1])


def client(*bodies: bytes) -> tuple[EastmoneyClient, Pages]:
    pages = Pages(*bodies)
    return EastmoneyClient(pages, FrozenClock(NOW)), pages


def test_the_recorded_report() -> None:
    page = parse(RECORDED)

    assert (page.pages, page.count, len(page)) == (1305, 3915, 2)
    first = page.rows.iloc[0]
    assert (first["code"], first["date"], first["rzye"]) == ("600519", DAY, 19_190_663_674)
    assert (first["rqye"], first["loan_volume"]) == (170_919_165, 133_635)  # money, shares: not swapped
    assert (first["rzrqye"], first["close"], first["change_pct"]) == (19_361_582_839, 1279, 0.2445)
    assert list(page.rows.columns) == list(trading.MARGIN.columns)


def test_no_rows_is_an_answer_and_a_missing_report_is_none() -> None:
    empty = parse((PAYLOADS / "em_dc_empty_9201.json").read_bytes())

    assert (len(empty), empty.count) == (0, 0)
    assert list(empty.rows.columns) == list(trading.MARGIN.columns)
    with pytest.raises(Permanent, match="报表配置不存在"):
        parse((PAYLOADS / "em_dc_report_missing_9501.json").read_bytes())
    with pytest.raises(Transient, match="busy"):
        parse('{"success":false,"code":9701,"message":"服务器繁忙"}'.encode())
    with pytest.raises(PayloadError):
        parse(b'{"success":true,"result":null,"code":0}')


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"RQYE": 133_635, "RQYL": 170_919_165}, "RZRQYE"),  # swapped, as a public mapping has it
        ({"RQYL": 133_635 * 100}, "wrong unit"),
        ({"RZYE": -1.0}, "below zero"),
        ({"SZ": 1.6e12, "RZYEZB": 0.012}, "percent"),  # a fraction where percent is promised
        ({"SCODE": "60051"}, "code"),
    ],
)
def test_a_row_that_contradicts_itself_is_refused(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        parse(body([row(**changed)], 1))


def test_an_odd_row_of_a_report_costs_that_row_and_is_counted_as_received() -> None:
    rows = [row() | {"SCODE": f"6005{at:02d}"} for at in range(20)]
    rows[7] |= {"RZRQYE": 1.0}

    with noting() as rejected:
        page = parse(body(rows, 20))

    assert (len(page.rows), len(page)) == (19, 20)
    ((code, why),) = rejected
    assert code == "600507"
    assert "RZRQYE" in why
    for at in (1, 2):
        rows[at] |= {"RZRQYE": 1.0}
    with pytest.raises(PayloadError, match="3 of 20 rows"):
        parse(body(rows, 20))


def test_a_renamed_column_is_named() -> None:
    shorter = row()
    del shorter["RZYE"]
    with pytest.raises(PayloadError, match="RZYE"):
        parse(body([shorter], 1))


def test_all_pages_are_read_and_counted() -> None:
    codes = [f"{600_000 + at}" for at in range(750)]
    pages = [body([row(code) for code in codes[at : at + 500]], 750) for at in (0, 500)]

    portal, asked = client(*pages)
    rows = portal.margin(DAY)

    assert rows["code"].tolist() == codes
    assert [dict(one.params)["pageNumber"] for one in asked.asked] == ["1", "2"]
    first = dict(asked.asked[0].params)
    assert (first["filter"], first["sortColumns"], first["pageSize"]) == (f"(DATE='{DAY}')", "SCODE", "500")
    assert "%28DATE%3D%27" in asked.asked[0].target  # a raw < or > would be a 400


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (body([row("600999")], 700), "count moved"),
        (body([], 501), "500 of 501"),
        (body([row("600000")], 501), "came twice"),
    ],
)
def test_pages_that_do_not_fit_together_are_refused(second: bytes, reason: str) -> None:
    first = body([row(f"{600_000 + at}") for at in range(500)], 501)
    with pytest.raises(PayloadError, match=reason):
        client(first, second)[0].margin(DAY)


def test_rows_of_another_date_are_refused_and_codes_are_bounded() -> None:
    with pytest.raises(PayloadError, match="asked was 2026-06-12"):
        client(body([row()], 1))[0].margin("2026-06-12")
    with pytest.raises(PayloadError, match="not asked for"):
        client(body([row()], 1))[0].margin(DAY, ("688001",))
    with pytest.raises(InputError, match="codes"):
        client()[0].margin(DAY, ())


@quick
@given(st.data())
def test_damaged_reports(data: st.DataObject) -> None:
    parse(RECORDED)
    damaged = data.draw(st.one_of(damaged_json(RECORDED), damaged_bytes(RECORDED)))
    try:
        page = parse(damaged)
    except (*ACCEPTED, Permanent):
        return
    assert list(page.rows.columns) == list(trading.MARGIN.columns)
    assert not (page.rows["rzye"] < 0).any()
    gap = (page.rows["rzye"] + page.rows["rqye"] - page.rows["rzrqye"]).abs()
    assert not (gap > 1.01).any()
