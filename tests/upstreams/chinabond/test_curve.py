"""Yield curves of the bond depository: a page with tables, and pages that are none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PayloadError, Refused, Transient
from resources.upstreams.chinabond import client
from resources.upstreams.chinabond.client import ChinabondClient
from resources.upstreams.parsing.html_tables import html_tables
from tests.upstreams.eastmoney.test_reports import Pages
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_text, quick

SPAN = ("2026-09-01", "2026-09-30")
HEADS = ("曲线名称", "日期", *client.TENORS)
OTHER = "中债商业银行普通债收益率曲线(AAA)"


def page(*rows: tuple[str, ...], heads: tuple[str, ...] = HEADS) -> bytes:
    lines = ["".join(f"<td>\n {cell}&nbsp;</td>" for cell in row) for row in rows]
    reported = "".join(f"<tr>{line}</tr>" for line in lines)
    head = "".join(f"<th>{name}</th>" for name in heads)
    return (
        f"<html><body><table><tr><td>起始日期</td></tr></table><table><tr>{head}</tr>{reported}</table>"
        "</body></html>"
    ).encode()


def row(day: str, first: str = "1.3650", name: str = client.CURVE) -> tuple[str, ...]:
    return (name, day, first, "1.4", "1.42", "1.5", "1.61", "1.7", "1.8312", "2.1")


PAGE = page(row("2026-09-24"), row("2026-09-24", name=OTHER), row("2026-09-23"))


def test_rows_of_the_government_curve_oldest_first() -> None:
    made = client.parse_curve(PAGE, *SPAN)

    assert made["date"].tolist() == ["2026-09-23", "2026-09-24"]
    assert made.iloc[-1][["m3", "y1", "y10", "y30"]].tolist() == [1.365, 1.42, 1.8312, 2.1]
    assert client.parse_curve(page(), *SPAN).empty
    missing = client.parse_curve(page(row("2026-09-24", "---".replace("---", "-"))), *SPAN)
    assert missing["m3"].isna().all()


@pytest.mark.parametrize(
    ("body", "error", "reason"),
    [
        (b"  ", Transient, "empty"),
        ("<html><body>请完成验证</body></html>".encode(), Refused, "page"),
        (b"{}", PayloadError, "no page"),
        (PAGE[:-20], PayloadError, "breaks off"),
        (PAGE.decode().encode("gbk"), PayloadError, "utf-8"),
        (page(row("2026-08-31")), PayloadError, "asked was"),
        (page(row("2026-09-24", "136.5")), PayloadError, "another unit"),
        (page(row("2026-09-24")[:-1]), PayloadError, "9 values"),
        (page(heads=HEADS[:-1]), PayloadError, "heads"),
        (b"<html><table></table></html>", PayloadError, "no table"),
    ],
)
def test_rejected_answers(body: bytes, error: type[Exception], reason: str) -> None:
    with pytest.raises(error, match=reason):
        client.parse_curve(body, *SPAN)


def test_a_long_span_is_asked_in_parts_of_less_than_a_year() -> None:
    pages = Pages(page(row("2024-02-01")), page(row("2025-02-03")), page())
    rows = ChinabondClient(pages).government_curve("2024-01-01", "2026-01-31")

    spans = [(dict(one.params)["startDate"], dict(one.params)["endDate"]) for one in pages.asked]
    assert spans == [("2024-01-01", "2024-12-26"), ("2024-12-27", "2025-12-22"), ("2025-12-23", "2026-01-31")]
    assert rows["date"].tolist() == ["2024-02-01", "2025-02-03"]


def test_tables_within_tables() -> None:
    text = "<table><tr><td>a<table><tr><th>b c</th></tr></table></td></tr><tr><td>d</table>"
    assert html_tables(text)[1] == [["bc"]]
    assert html_tables("<td>x</td>") == []


@quick
@given(st.data())
def test_damaged_pages(data: st.DataObject) -> None:
    body = data.draw(
        st.one_of(damaged_bytes(PAGE), damaged_text(PAGE.decode(), "td>").map(lambda text: text.encode()))
    )
    try:
        made = client.parse_curve(body, *SPAN)
    except (*ACCEPTED, Refused):
        return
    assert list(made.columns) == list(client.CURVE_COLUMNS)
    assert made["date"].between(*SPAN).all()
    assert not (made.drop(columns="date").abs() > 30).any().any()
