"""Keys of text, and what headlines are taken to say."""

import pytest

from core.text_keys import KEY_LENGTH, text_key, text_keys
from platform_assets.compute.notices import CATEGORIES, category_of, importance_of
from platform_assets.compute.sentiment import sentiment_of


def test_one_key_for_the_spellings_of_one_text() -> None:
    assert (
        text_key("关于 公告（2026）")
        == text_key("关于公告(2026)")
        == text_key("\u3000关于公告（２０２６）\n")
    )
    assert text_key("关于公告(2026)") != text_key("关于公告(2025)")
    assert text_key("abc") == "a9993e364706816a"  # SHA-1 of abc
    assert len(text_key("x" * 10_000)) == KEY_LENGTH
    assert text_key("\ud800") != text_key("")


def test_no_text_no_key() -> None:
    assert text_keys([None, " \u3000", "a"]) == [None, None, text_key("a")]


@pytest.mark.parametrize(
    ("title", "category", "importance"),
    [
        ("2026年半年度报告", "report", 2),
        ("2026年半年度报告摘要", "report", 1),
        ("2025年年度权益分派实施公告", "dividend", 2),
        ("关于控股股东减持股份的公告", "equity", 1),
        ("关于公司股票可能被终止上市的风险提示公告", "risk", 3),
        ("关于收到《行政处罚决定书》的公告", "risk", 3),
        ("重大资产重组报告书（草案）", "reorg", 3),
        ("关于签订日常经营重大合同的公告", "trade", 1),
        ("第五届董事会第三次会议决议公告", "other", 1),
    ],
)
def test_what_a_notice_is_about(title: str, category: str, importance: int) -> None:
    assert (category_of(title), importance_of(title)) == (category, importance)
    assert category in CATEGORIES


@pytest.mark.parametrize(
    ("title", "tone"),
    [
        ("某某股份涨停 机构买入", 1),
        ("某某股份跌停 股东拟减持", -1),
        ("业绩增长 股东拟减持", 0),
        ("某某股份终止减持", 1),
        ("第五届董事会决议", None),
        ("", None),
    ],
)
def test_the_tone_of_a_headline(title: str, tone: int | None) -> None:
    assert sentiment_of(title) == tone
