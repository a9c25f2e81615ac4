"""Ex-rights that daily bars are marked with: the marks that public clients print, on recorded bars."""

import json
from pathlib import Path
from typing import Any

import pytest

from resources.upstreams.tencent.bars import parse_bars, parse_exrights

RECORDED = Path(__file__).parent / "payloads" / "tencent_newfqkline_sh600000_202609.json"


def marked(mark: Any) -> bytes:
    """The recorded answer with a mark on its bar of 2026-09-10."""
    document = json.loads(RECORDED.read_text(encoding="utf-8"))
    next(bar for bar in document["data"]["sh600000"]["day"] if bar[0] == "2026-09-10")[6] = mark
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("text", "cash", "bonus"),
    [
        ("10派2.343元", 2.343, 0.0),
        ("10派0.04元", 0.04, 0.0),
        ("10送3股转4.5股派1元", 1.0, 7.5),
        ("10转10股", 0.0, 10.0),
        ("10派6元(含税)", 6.0, 0.0),
    ],
)
def test_a_mark_is_an_event(text: str, cash: float, bonus: float) -> None:
    mark = {"nd": "2025", "fh_sh": str(cash), "djr": "2026-09-09", "cqr": "2026-09-10", "FHcontent": text}

    (row,) = parse_exrights(marked(mark), "sh600000").to_dict("records")

    assert row == {"code": "600000", "date": "2026-09-10", "cash_per10": cash, "bonus_per10": bonus}
    assert len(parse_bars(marked(mark), "sh600000", period="day")) == len(
        json.loads(RECORDED.read_text(encoding="utf-8"))["data"]["sh600000"]["day"]
    )


@pytest.mark.parametrize("text", ["", "10配3股配股价5元", "10送2股配3股", "末期息5.3港元;", "派"])
def test_what_is_not_understood_is_no_event(text: str) -> None:
    assert parse_exrights(marked({"cqr": "2026-09-10", "FHcontent": text}), "sh600000").empty


def test_recorded_bars_have_empty_marks() -> None:
    assert parse_exrights(RECORDED.read_bytes(), "sh600000").empty
