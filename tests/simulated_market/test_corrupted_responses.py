"""Rows are found and corrupted in every format of an upstream."""

import json

import pytest

from simulated_market.corrupted_responses import CORRUPTIONS, corrupted_body, sheet_rows
from simulated_market.faults import Fault

ROWS = [
    {"code": "600001", "day": "2026-08-21", "price": 10.5, "volume": 20_000},
    {"code": "600002", "day": "2026-08-21", "price": 20.25, "volume": 30_000},
]


def reported(document: object, kind: str, **args: object) -> object:
    body = json.dumps(document).encode()
    return json.loads(corrupted_body(body, "application/json", Fault(kind, args)))


def test_rows_of_a_document() -> None:
    document = {"total": 2, "data": {"list": ROWS}}

    assert reported(document, "cut_rows") == {"total": 2, "data": {"list": ROWS[:1]}}
    assert reported({"total": 2, "rows": ROWS}, "cut_rows", counted=True) == {"total": 1, "rows": ROWS[:1]}
    assert reported(ROWS, "double_rows") == [ROWS[0], ROWS[0], ROWS[1], ROWS[1]]
    assert [row["price"] for row in reported(ROWS, "prices_x100")] == [1050.0, 2025.0]  # type: ignore[attr-defined]
    assert [row["volume"] for row in reported(ROWS, "volumes_x100")] == [2_000_000, 3_000_000]  # type: ignore[attr-defined]
    assert reported(ROWS, "shift_columns") == [
        {**row, "price": row["volume"], "volume": row["price"]} for row in ROWS
    ]
    assert reported(ROWS, "swap_rows") == [
        {**ROWS[0], "price": 20.25, "volume": 30_000},
        {**ROWS[1], "price": 10.5, "volume": 20_000},
    ]
    assert reported(ROWS, "zero_row", code="600002") == [ROWS[0], {**ROWS[1], "price": 0.0, "volume": 0}]


def test_some_rows_cannot_be_read_or_come_again_and_objects_get_other_values() -> None:
    rows = [{**ROWS[0], "code": f"60000{at}"} for at in range(6)]

    texts = {**rows[3], "price": "spoilt", "volume": "spoilt"}
    assert reported(rows, "spoil_rows") == [*rows[:3], texts, *rows[4:]]
    nulls = {"code": "", "day": "", "price": None, "volume": None}
    assert reported(rows, "spoil_rows", rows=2, how="null") == [rows[0], nulls, *rows[2:4], nulls, rows[5]]
    again = reported({"count": 6, "rows": rows}, "spoil_rows", how="repeat", counted=True)
    assert again == {"count": 7, "rows": [*rows[:4], *rows[3:]]}
    assert reported(rows, "spoil_rows", least=7) == rows
    changed = reported(
        ROWS, "set_fields", match={"code": "600002", "day": "2026"}, fields={"price": 1.5, "x": 1}
    )
    assert changed == [ROWS[0], {**ROWS[1], "price": 1.5}]


def test_an_amount_that_only_looks_like_a_date_is_a_figure() -> None:
    rows = [{**row, "day": day, "sum": total} for row, day, total in zip(
        ROWS, (20260821, 20260824), (20_858_657, 98_765_432_101_234), strict=True
    )]  # fmt: skip

    first, second = reported(rows, "swap_rows")  # type: ignore[misc]
    assert [first["sum"], second["sum"]] == [98_765_432_101_234, 20_858_657]
    assert [first["day"], second["day"]] == [20260821, 20260824]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('cb({"klines":["2026-08-21,10.50,20000"]});', 'cb({"klines": ["2026-08-21,1050.00,20000"]});'),
        ('{"data":"20260821,1.5,3;20260824,2.5,4;20260825,3.5,5"}',
         '{"data": "20260821,150.0,3;20260824,250.0,4;20260825,350.0,5"}'),
        ('v_sh600001="1~中~600001~10.50~20000";\n', 'v_sh600001="1~中~600001~1050.00~20000";\n'),
        ("IF2608,2920.7,1\r\n合计,1\r\n", "IF2608,292070.0,1\r\n合计,1\r\n"),
        ("<table><tr><th>a</th></tr><tr><td>2026</td><td>1.25</td></tr></table>",
         "<table><tr><th>a</th></tr><tr><td>2026</td><td>125.00</td></tr></table>"),
        ('[{"a":NaN,"b":1.5,"c":2.5}]', '[{"a": NaN, "b": 150.0, "c": 250.0}]'),
        ('{"rc":0,"data":null}', '{"rc": 0, "data": null}'),
        ("nothing here", "nothing here"),
    ],
)  # fmt: skip
def test_prices_in_every_format(body: str, expected: str) -> None:
    fault = Fault("prices_x100", {})

    assert corrupted_body(body.encode(), "text/html", fault).decode() == expected
    gbk = corrupted_body(body.encode("gb18030"), "text/html; charset=GBK", fault)
    assert gbk.decode("gb18030") == expected


def test_sheets_keep_their_heading() -> None:
    sheet = [["代码", "余额"], ["600001", "1,234.50"], ["600002", "2.00"]]

    assert sheet_rows(sheet, Fault("prices_x100", {}))[1:] == [["600001", "123,450.00"], ["600002", "200.00"]]
    assert sheet_rows(sheet, Fault("cut_rows", {})) == sheet[:2]
    assert sheet_rows(sheet, None) == sheet


@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_bytes_that_are_no_text_are_left_alone(kind: str) -> None:
    body = b"PK\x03\x04\xff\xfe\x00"

    assert corrupted_body(body, "application/vnd.ms-excel", Fault(kind, {"code": "600001"})) == body
