"""The watch list: what an upload must be, what becomes of its rows, and how the list is read."""

import io
import struct
import time
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serving_api.datasets.portfolio import sheets
from serving_api.datasets.portfolio.entries import holdings
from serving_api.datasets.portfolio.sheets import table_rows
from serving_api.framework.error_responses import BadRequest
from simulated_market.exchanges.sheet import workbook
from tests.serving_api.conftest import Bench, bearer

HEAD = ["代码", "名称", "持股", "成本", "备注"]
XLS = Path(__file__).with_name("holdings.xls")


def csv_of(*rows: list[str], encoding: str = "utf-8") -> bytes:
    return "\r\n".join(",".join(row) for row in rows).encode(encoding)


def packed(parts: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as book:
        for name, body in parts.items():
            book.writestr(name, body)
    return target.getvalue()


def sheet_of(cells: str) -> bytes:
    return packed(
        {"xl/worksheets/sheet1.xml": f"<worksheet><sheetData>{cells}</sheetData></worksheet>".encode()}
    )


# -- files ------------------------------------------------------------------------------------------

ROWS = [HEAD, ["000001", "平安银行", "1000", "10.5", "长期"], ["600519", "贵州茅台", "100", "1500.25", ""]]


@pytest.mark.parametrize(
    "body",
    [
        workbook(ROWS),
        csv_of(*ROWS),
        csv_of(*ROWS, encoding="utf-8-sig"),
        csv_of(*ROWS, encoding="gb18030"),
        csv_of(*ROWS, encoding="utf-16"),
        "\n".join("\t".join(row) for row in ROWS).encode("gbk"),
        "\n".join(";".join(row) for row in ROWS).encode(),
    ],
    ids=["xlsx", "utf-8", "with mark", "gb18030", "utf-16", "tabs of a broker", "semicolons"],
)
def test_a_table_is_read_whatever_it_is_written_in(body: bytes) -> None:
    assert table_rows(body) == ROWS


def test_a_binary_workbook_gives_back_zeros_that_numbers_lost() -> None:
    found = holdings(table_rows(XLS.read_bytes()))

    assert [(row["code"], row["shares"], row["cost_price"], row["note"]) for row in found.rows] == [
        ("000001", 1000.0, 10.5, "长期"),
        ("600519", 100.0, 1500.25, None),
        ("000002", None, -0.5, None),
        # A formula whose value nobody calculated: nothing here calculates it.
        ("300750", None, None, None),
    ]
    assert found.problems == []


def test_the_value_of_a_formula_is_taken_and_the_formula_is_not() -> None:
    cells = (
        '<row><c t="inlineStr"><is><t>code</t></is></c><c t="inlineStr"><is><t>note</t></is></c></row>'
        '<row><c><f>1+1</f><v>600519</v></c><c t="str"><f>HYPERLINK("x")</f><v>held</v></c></row>'
    )
    assert holdings(table_rows(sheet_of(cells))).rows == [{"code": "600519", "note": "held"}]


def test_a_workbook_whose_first_sheet_was_deleted_is_read() -> None:
    row = '<row><c t="inlineStr"><is><t>code</t></is></c></row>'
    body = packed({"xl/worksheets/sheet3.xml": f"<worksheet>{row}</worksheet>".encode()})

    assert table_rows(body) == [["code"]]


def bomb() -> bytes:
    return sheet_of("<row/>" * (sheets.MOST_XML // 6 + 1))


def entities(encoding: str) -> bytes:
    text = '<!DOCTYPE a [<!ENTITY b "boom">]><worksheet><row><c><v>&b;</v></c></row></worksheet>'
    return packed({"xl/worksheets/sheet1.xml": text.encode(encoding)})


def many_parts() -> bytes:
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 65_535, 65_535, sheets.MOST_DIRECTORY + 1, 0, 0)
    return workbook(ROWS) + end


def shared_by_all() -> bytes:
    """One long text, used by many cells: each use must not cost a copy."""
    cells = "".join(f'<row><c r="A{at}" t="s"><v>0</v></c></row>' for at in range(1, 9_000))
    return packed(
        {
            "xl/worksheets/sheet1.xml": f"<worksheet>{cells}</worksheet>".encode(),
            "xl/sharedStrings.xml": b"<sst><si><t>" + b"x " * 1_000_000 + b"</t></si></sst>",
        }
    )


HOSTILE = {
    "a zip bomb": (bomb(), "too large"),
    "entities": (entities("utf-8"), "is not plausible"),
    "entities in UTF-16": (entities("utf-16"), "is not plausible"),
    "a long list of members": (many_parts(), "so many parts"),
    "a zip without a sheet": (packed({"x.txt": b"x"}), "no workbook"),
    "half a workbook": (workbook(ROWS)[:400], "no workbook"),
    "a row of many columns": (sheet_of('<row><c r="XFD1"><v>1</v></c></row>'), "columns"),
    "half a binary workbook": (XLS.read_bytes()[:1000], "no workbook"),
    "noise behind the mark of a binary workbook": (
        XLS.read_bytes()[:8] + bytes(range(256)) * 40,
        "no workbook",
    ),
    "a huge sheet": (csv_of(HEAD, *[["600519"]] * (sheets.MOST_ROWS + 1)), "at most 10000 are read"),
    "an image": (b"\x89PNG\r\n\x1a\n" + bytes(64), "neither a workbook nor text"),
    "a broken encoding": (b"code\n\xff\xff\x80", "neither a workbook nor text"),
    "a quoted text without end": (b'code\n"' + b"x" * 200_000, "no table of texts"),
}


@pytest.mark.parametrize(("body", "words"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_files_are_refused_with_the_rule_they_break(body: bytes, words: str) -> None:
    with pytest.raises(BadRequest, match=words):
        table_rows(body)


def test_a_long_text_of_many_cells_is_stored_once() -> None:
    began = time.process_time()

    rows = table_rows(shared_by_all())

    assert len({id(row[0]) for row in rows}) == 1
    assert time.process_time() - began < 5


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(
    st.sampled_from([workbook(ROWS), XLS.read_bytes(), csv_of(*ROWS)]),
    st.integers(0, 5_000),
    st.binary(max_size=8),
)
def test_a_damaged_file_is_read_or_refused(body: bytes, at: int, damage: bytes) -> None:
    broken = body[: at % len(body)] + damage + body[at % len(body) + len(damage) :]
    try:
        found = holdings(table_rows(broken))
    except BadRequest:
        return
    assert all(len(row["code"]) == 6 for row in found.rows)


# -- rows -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("600519", "600519"),
        ("1", "000001"),
        ("SH600519", "600519"),
        ("sz.000001", "000001"),
        ("600519.SH", "600519"),
        ("600519.0", "600519"),
        ('="600519"', "600519"),
    ],
)
def test_codes_as_people_write_them(text: str, code: str) -> None:
    assert holdings([["Code"], [text]]).rows == [{"code": code}]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (["", "x"], "code: '' is no code"),
        (["AAPL"], "code: 'AAPL' is no code"),
        (["６００５１９"], "no code"),
        (["=cmd|' /C calc'!A0"], "no code"),
        (["600519", "=1+1"], "name: is a formula"),
        (["600519", "x" * 65], "name: 65 characters; 64 are allowed"),
        (["600519", "a\x07b"], "name: holds control characters"),
        (["600519", "", "many"], "shares: 'many' is no number"),
        (["600519", "", "-1"], "shares: -1 is out of range"),
        (["600519", "", "1e400"], "out of range"),
        (["600519", "", "1e300"], "out of range"),
        (["600519", "", "nan"], "no number"),
        (["600519", "", "1", "9e9"], "cost: 9e9 is out of range"),
        (["600519", "", "1", "1", "x" * 256], "note: 256 characters"),
    ],
)
def test_a_row_that_is_no_holding_is_skipped_with_its_reason(row: list[str], reason: str) -> None:
    found = holdings([["持仓明细"], HEAD, row, ["000001", "平安银行", "1,000", "--"]])

    assert [(problem.row, reason in problem.reason) for problem in found.problems] == [(3, True)]
    assert found.rows == [
        {"code": "000001", "name": "平安银行", "shares": 1000.0, "cost_price": None, "note": None}
    ]


def test_blank_rows_count_for_nothing_and_a_code_counts_once() -> None:
    found = holdings([["code", "note"], ["600519", "a"], [], ["", ""], ["SH600519", "b"]])

    assert found.rows == [{"code": "600519", "note": "a"}]
    assert [(problem.row, problem.reason) for problem in found.problems] == [
        (5, "code: 600519 is already in row 2")
    ]


# -- routes -----------------------------------------------------------------------------------------


def upload(bench: Bench, body: bytes, headers: dict[str, str], name: str = "list.csv") -> httpx.Response:
    return bench.api.post("/datamgr/portfolio/import", headers=headers, files={"file": (name, body)})


def listed(bench: Bench, headers: dict[str, str]) -> Any:
    answer = bench.api.get("/datamgr/portfolio", headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def test_an_import_adds_and_changes_and_keeps_what_the_file_lacks(own_on_both: Bench) -> None:
    headers = own_on_both.admin()
    assert listed(own_on_both, headers) == {"stocks": [], "total": 0, "updatedAt": None}

    first = upload(own_on_both, csv_of(*ROWS, ["AAPL"]), headers)
    second = upload(
        own_on_both, workbook([["code", "cost"], ["600519", "1600"], ["300750", ""]]), headers, "B.XLSX"
    )
    found = listed(own_on_both, headers)

    reported = first.json()["results"]
    assert (reported["status"], reported["saved"], reported["skipped"], reported["total"]) == (
        "success",
        2,
        1,
        3,
    )
    assert reported["errors"] == [
        {"row": 4, "reason": "code: 'AAPL' is no code; 600519, sh600519, 600519.SH or 1.600519 is allowed"}
    ]
    assert (first.json()["stats"]["total"], second.json()["results"]["saved"]) == (3, 2)
    assert [stock["code"] for stock in found["stocks"]] == ["000001", "600519", "300750"]
    kept = found["stocks"][1]
    assert (kept["name"], kept["shares"], kept["costPrice"], kept["group"]) == (
        "贵州茅台",
        100.0,
        1600.0,
        "默认",
    )
    assert (kept["price"], kept["profitPct"], kept["buyDate"]) == (None, None, None)
    assert (found["total"], found["updatedAt"] is not None) == (3, True)


def test_the_list_shows_quotes_and_profit_and_its_tag_moves_with_an_import(bench: Bench) -> None:
    headers = bench.admin()
    upload(bench, csv_of(["code", "cost"], ["600519", "1000"], ["000001", "-1"]), headers)

    before = bench.api.get("/datamgr/portfolio", headers=headers)
    held = {stock["code"]: stock for stock in before.json()["results"]["stocks"]}
    same = bench.api.get("/datamgr/portfolio", headers={**headers, "If-None-Match": before.headers["etag"]})
    upload(bench, csv_of(["code", "cost"], ["600519", "2000"]), headers)
    bench.ticks.advance(2)
    after = bench.api.get("/datamgr/portfolio", headers={**headers, "If-None-Match": before.headers["etag"]})

    price = held["600519"]["price"]
    assert price is not None
    assert held["600519"]["profitPct"] == pytest.approx((price / 1000 - 1) * 100, abs=1e-4)
    assert held["000001"]["profitPct"] is None
    assert (same.status_code, after.status_code) == (304, 200)


@pytest.mark.parametrize(
    ("name", "body", "words"),
    [
        ("list.txt", b"code\n600519", ".xlsx, .xls, .csv"),
        ("list", b"code\n600519", "extension"),
        ("list.csv", b"", "is empty"),
        ("list.csv", b"name\nx", "no code column"),
        ("list.xlsx", b"PK\x03\x04", "no workbook"),
    ],
)
def test_refused_uploads_name_the_rule(own: Bench, name: str, body: bytes, words: str) -> None:
    answer = upload(own, body, own.admin(), name)

    assert answer.status_code == 400
    assert words in answer.json()["detail"]


def test_a_file_without_one_holding_failed_and_changes_nothing(own: Bench) -> None:
    headers = own.admin()

    found = upload(own, csv_of(["code"], ["AAPL"]), headers).json()["results"]

    assert (found["status"], found["saved"], found["skipped"]) == ("failed", 0, 1)
    assert listed(own, headers)["total"] == 0


def test_members_may_neither_read_nor_import(own: Bench) -> None:
    assert upload(own, b"code\n1", {}).status_code == 401
    assert upload(own, b"code\n1", own.member()).status_code == 403
    assert own.api.get("/datamgr/portfolio", headers=bearer("x")).status_code == 401
