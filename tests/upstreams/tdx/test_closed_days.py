"""`needini.dat`: the form that a public client documents, and what is no such file."""

import pytest

from core.errors import PayloadError
from resources.rejections import noting
from resources.upstreams.tdx.closed_days import parse_closed_days

# The example of needini_dat.py (in the public index), with a section before and one behind it.
FILE = (
    "[System]\r\nY1=1,2\r\n[Holiday]\r\nNUM=36\r\nY1=1991,0101,0215,0218,0501,1001,1002,\r\n"
    "Y35=2025,0101,0128,\r\nY36=2026,0101,0102,0216\r\n[Other]\r\nY1=2031,0101\r\n"
)


def test_closed_days_by_year() -> None:
    columns = parse_closed_days(FILE.encode("gb18030"))

    assert columns["date"][:3] == ["1991-01-01", "1991-02-15", "1991-02-18"]
    assert columns["date"][-3:] == ["2026-01-01", "2026-01-02", "2026-02-16"]
    assert set(columns["year"]) == {1991, 2025, 2026}


@pytest.mark.parametrize("line", ["Y37=2027,0132", "Y37=2027,0101;0102", "Y37=20277,0101", "Y37=1899,0101"])
def test_a_damaged_line_costs_its_year(line: str) -> None:
    with noting() as odd:
        columns = parse_closed_days(FILE.replace("[Other]", f"{line}\r\n[Other]").encode())

    assert set(columns["year"]) == {1991, 2025, 2026}
    assert [item for item, _ in odd] == ["Y37"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no section"),
        (b"\xff\xfe\x00", "closed days"),
        (FILE.replace("[Holiday]", "[Holidays]").encode(), "no section"),
        (FILE.replace("Y36=2026", "Y36=2025").encode(), "2025 twice"),
        (FILE.replace("0101", "0001").encode(), "fail validation"),
    ],
)
def test_what_is_no_list_of_closed_days_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        parse_closed_days(content)
