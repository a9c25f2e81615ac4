"""Intraday anomalies of the portal: the documented answer, and rejected answers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PayloadError
from resources.upstreams.eastmoney.quotes import changes
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

# The row as it is documented; the others differ in what is documented of them.
ROW = {"tm": 92504, "c": "688047", "m": 1, "n": "龙芯中科", "t": 8209, "i": "0.025624,92.46000,0.025624"}
DOCUMENTED = (
    b'{"rc":0,"rt":105,"svr":181734952,"lt":1,"full":0,"data":{"tc":368,"allstock":['
    + json.dumps(ROW, ensure_ascii=False).encode()
    + b"]}}"
)


def body(*rows: dict[str, Any], tc: object = None) -> bytes:
    data = {"tc": len(rows) if tc is None else tc, "allstock": list(rows)}
    return json.dumps({"rc": 0, "rt": 105, "data": data}).encode()


def test_the_documented_row() -> None:
    page = changes.parse_changes(DOCUMENTED)

    assert page.total == 368
    assert list(page.rows.columns) == list(changes.CHANGE_COLUMNS)
    (row,) = page.rows.to_dict("records")
    assert (row["time"], row["symbol"], row["name"]) == ("09:25:04", "sh688047", "龙芯中科")
    assert (row["type"], row["type_label"]) == ("open_above_ma5", "高开5日线")
    assert (row["price"], row["change_pct"], row["info"]) == (92.46, 2.5624, "0.025624,92.46000,0.025624")


def test_texts_mean_what_is_documented_of_their_type_and_nothing_else() -> None:
    bought = {**ROW, "tm": 100203, "t": 8193, "i": "212400,10.21,0.0991,2168604"}
    sealed = {**ROW, "tm": 93001, "t": 4, "i": "10.21,16062203,10.21,0.0991"}

    rows = changes.parse_changes(body(sealed, bought)).rows

    assert rows["type"].tolist() == ["large_buy", "limit_up"]  # newest first
    assert rows["price"].tolist()[0] == 10.21
    assert rows["price"].isna().tolist() == [False, True]
    assert rows["change_pct"].isna().all()
    assert rows["info"].tolist() == [bought["i"], sealed["i"]]


def test_an_opening_below_the_average_has_price_and_change_like_one_above() -> None:
    (row,) = changes.parse_changes(body({**ROW, "t": 8210, "i": "-0.0201,9.07,-0.0201"})).rows.to_dict(
        "records"
    )

    assert (row["type"], row["price"], row["change_pct"]) == ("open_below_ma5", 9.07, -2.01)


@pytest.mark.parametrize("empty", [b'{"rc":102,"data":null}', body()])
def test_nothing_happened_is_an_answer(empty: bytes) -> None:
    page = changes.parse_changes(empty)

    assert (len(page.rows), page.total) == (0, 0)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"t": 8299}, "8299 is no type"),
        ({"t": "x"}, "t is no number"),
        ({"tm": 256000}, "tm is no time"),
        ({"tm": 0}, "has no time"),
        ({"c": "68804"}, "is no code"),
        ({"m": 2}, "market 2"),
        ({"i": None}, "i is no text"),
        ({"i": "0.02,92.46"}, "has 2 parts"),
        ({"i": "0.02,-1,0.02"}, "price is not above zero"),
        ({"i": "0.02,92.46,25"}, "change is not plausible"),
        ({"i": "0.02,abc,0.02"}, "is no number"),
        ({"i": ",".join("1" * 20), "t": 4}, "has 20 parts"),
    ],
)
def test_invalid_answers_are_refused(row: dict[str, Any], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        changes.parse_changes(body({**ROW, **row}))


def test_a_page_has_no_more_rows_than_a_page_and_than_there_are() -> None:
    with pytest.raises(PayloadError, match="2 rows"):
        changes.parse_changes(body(ROW, ROW, tc=1))
    with pytest.raises(PayloadError, match="65 rows"):
        changes.parse_changes(body(*[ROW] * 65))


def test_the_request_is_that_of_the_page() -> None:
    request = changes.changes_request(3)

    params = dict(request.params)
    assert request.path == "/getAllStockChanges"
    assert (params["pageindex"], params["pagesize"], params["dpt"]) == ("3", "64", "wzchanges")
    assert {"8201", "8193", "4", "8216"} <= set(params["type"].split(","))


@quick
@given(st.data())
def test_damaged_pages(data: st.DataObject) -> None:
    whole = body({**ROW, "t": 8193, "i": "212400,10.21,0.0991,2168604"}, ROW)
    damaged = data.draw(st.one_of(damaged_json(whole), damaged_bytes(whole)))
    try:
        rows = changes.parse_changes(damaged).rows
    except ACCEPTED:
        return
    assert list(rows.columns) == list(changes.CHANGE_COLUMNS)
    assert not (rows["price"] <= 0).any()
    assert rows["time"].str.fullmatch(r"\d\d:\d\d:\d\d").all()
