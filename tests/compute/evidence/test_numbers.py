"""Numbers of Chinese texts: what they say and how precisely."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from platform_assets.compute.evidence.numbers import day_of, mentions


@pytest.mark.parametrize(
    ("text", "kind", "value", "step"),
    [
        ("上涨3.25%", "pct", 3.25, 0.01),
        ("变动-1.5％", "pct", -1.5, 0.1),
        ("成交1,234.5万元", "cny", 12_345_000.0, 1_000.0),
        ("成交额1.2万亿元", "cny", 1.2e12, 1e11),
        ("高出2个百分点", "pct", 2.0, 1.0),
        ("下行15个基点", "pct", 0.15, 0.01),
        ("共35家", "count", 35.0, 1.0),
        ("增加120手", "share", 12_000.0, 100.0),
        ("市盈率18.3倍", "multiple", 18.3, 0.1),
        ("报3,245.67点", "plain", 3245.67, 0.01),
        ("利润翻倍", "pct", 100.0, 2.0),
        ("２０家", "count", 20.0, 1.0),
    ],
)
def test_a_number_is_read_with_its_unit_and_precision(
    text: str, kind: str, value: float, step: float
) -> None:
    (found,) = mentions(text)
    assert str(found.kind) == kind
    assert found.value == pytest.approx(value)
    assert found.step == pytest.approx(step)
    assert text[found.start : found.end] == found.text


@pytest.mark.parametrize("text", ["一家公司", "万一下跌", "统一部署", "一个方向", "第一季度", "千万不要"])
def test_words_that_only_look_like_numbers_are_none(text: str) -> None:
    assert mentions(text) == []


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("2026-08-21", (2026, 8, 21)), ("2026年8月21日", (2026, 8, 21)), ("8月21日", (None, 8, 21)),
        ("2026年", (2026, None, None)), ("2026年8月", (2026, 8, None)), ("15:30", (None, None, None)),
    ],
)  # fmt: skip
def test_dates_and_times_are_no_amounts(text: str, parts: tuple[int | None, ...]) -> None:
    (found,) = mentions(f"截至{text}，")
    assert (found.kind, found.text) == ("date", text)
    assert day_of(found.text) == parts


def test_a_security_code_is_one() -> None:
    assert [(one.kind, one.text) for one in mentions("600519和000001上涨5%，成交600519元")] == [
        ("code", "600519"), ("code", "000001"), ("pct", "5%"), ("cny", "600519元"),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["成交三千五百万元", "约三成", "占百分之三点五", "共二十三家", "两倍"])
def test_a_numeral_in_words_is_not_computed_with(text: str) -> None:
    assert [one.kind for one in mentions(text)] == ["opaque"]


@given(st.text(alphabet="0123456789.,%万亿元家跌涨一二十百零点半年月日-—:+ ，。", max_size=40))
def test_no_text_breaks_the_reader_and_no_two_numbers_overlap(text: str) -> None:
    found = mentions(text)
    assert all(one.end <= two.start for one, two in pairwise(found))
    assert all(0 <= one.start < one.end <= len(text) for one in found)
