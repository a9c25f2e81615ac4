"""Scores of the five dimensions: each by hand, gates, the cap, what is missing, words that are true."""

from pathlib import Path
from typing import Any

import pytest

from platform_assets.compute.analysis.found import on_line
from platform_assets.compute.analysis.report_text import conclusion, sections
from platform_assets.compute.analysis.rules import NAMES, RULES, THEMES
from platform_assets.compute.analysis.scoring import direction_of, score, total_of
from platform_assets.compute.evidence.binding import check
from platform_assets.compute.evidence.facts import COUNT, Pack
from platform_assets.compute.parameters import analysis as own

NAME = "瀚岳股份"
FINANCE, VALUATION = "fusion_finance_indicator", "fusion_valuation"


def pack_of(**changes: Any) -> Pack:
    """A company of which everything is known; a change of None leaves the fact out."""
    pack = Pack("2026-08-21 17:40:00")
    values: dict[str, tuple[str, str, Any, str]] = {
        "is_st": ("fusion_stock_master", "是否ST", "否", ""),
        "controller": ("fusion_stock_profile", "实际控制人", "某省国有资产监督管理委员会", ""),
        "quadrant": ("calc_industry_rank", "行业轮动象限", "improving", ""),
        "chg_20d": ("calc_industry_rank", "行业近月涨跌幅", 7.5, "pct"),
        "predict_type": ("raw_earnings_forecast", "预告类型", "预增", ""),
        "revenue_yoy": (FINANCE, "营业收入同比", 20.0, "pct"),
        "net_profit_yoy": (FINANCE, "归母净利润同比", 12.0, "pct"),
        "gross_margin": (FINANCE, "毛利率", 30.0, "pct"),
        "net_margin": (FINANCE, "净利率", 10.0, "pct"),
        "roe": (FINANCE, "净资产收益率", 6.0, "pct"),
        "debt_ratio": (FINANCE, "资产负债率", 45.0, "pct"),
        "operating_cash_flow": (FINANCE, "经营现金流净额", 1.1e9, "CNY"),
        "net_profit": (FINANCE, "归母净利润", 1.0e9, "CNY"),
        "eps_fy1": (VALUATION, "本年预期每股收益", 1.0, "CNY"),
        "eps_fy2": (VALUATION, "次年预期每股收益", 1.1, "CNY"),
        "pe_pct_5y": (VALUATION, "市盈率5年分位", 25.0, "pct"),
        "pb_pct_5y": (VALUATION, "市净率5年分位", 75.0, "pct"),
        "pe_ttm": (VALUATION, "市盈率TTM", 30.0, ""),
        "pe_weighted": ("raw_industry_valuation", "行业市盈率", 20.0, ""),
        "quality_score": ("calc_factor_score", "质量分", 80.0, ""),
        "trend": ("calc_factor_score", "趋势结构分", 50.0, ""),
        "ratio_total_pct": ("raw_lockup", "解禁占总股本比例", 10.0, "pct"),
    }
    for column, (table, label, value, unit) in values.items():
        given = changes.get(column, value)
        if given is not None:
            pack.add(NAME, label, given, unit, table=table, column=column, as_of="2026-06-30")
    for column, before in (("revenue_yoy", 10.0), ("net_profit_yoy", 32.0)):
        label = values[column][1]
        pack.add(NAME, label, before, "pct", table=FINANCE, column=column, as_of="2026-03-31")
    pack.add(NAME, THEMES, changes.get("themes", 2), COUNT, table="fusion_stock_industry", column="concepts",
             as_of="2026-08-21")  # fmt: skip
    pack.add(NAME, NAMES, "国产芯片、5G", "", table="fusion_stock_industry", column="concepts",
             as_of="2026-08-21")  # fmt: skip
    pack.add("", "M1同比", 5.0, "pct", table="fusion_macro_indicator", column="value", as_of="2026-07-31",
             key={"indicator": "cn_m1_yoy"})  # fmt: skip
    return pack


def test_every_score_by_hand() -> None:
    scored = score(pack_of(), NAME)
    by_rule = {rule.key: round(found.score, 4) for rule, found in scored.found}
    assert by_rule == {
        "policy_themes": 4.0, "controller": 4.0, "money": 3.0,
        "revenue_growth": 3.75, "expected_growth": 3.0, "industry_change": 3.5,
        "quadrant": 4.5, "revenue_turn": 3.5, "profit_turn": 1.5, "forecast": 4.5,
        "roe": 3.5, "gross_margin": 2.75, "net_margin": 3.0, "cash": 4.0, "quality": 3.7,
        "pe_percentile": 3.5, "pb_percentile": 1.5, "pe_to_industry": 1.5, "trend": 2.5, "lockup": 2.0,
    }  # fmt: skip
    assert scored.missing == ()
    assert scored.scores == {
        "national_will": 3.67, "era_trend": 3.42, "industry_turning": 3.5, "competition": 3.39, "stage": 2.2,
    }  # fmt: skip
    assert scored.total == 3.24
    assert scored.direction == "bullish"


def test_what_is_missing_is_left_out_and_never_filled() -> None:
    gone = dict.fromkeys(
        (
            "pe_pct_5y",
            "pb_pct_5y",
            "pe_ttm",
            "trend",
            "ratio_total_pct",
            "quadrant",
            "roe",
            "eps_fy1",
            "controller",
        )
    )
    scored = score(pack_of(**gone), NAME)
    assert scored.scores["stage"] is None
    assert scored.scores["industry_turning"] == 3.17  # (3.5 + 1.5 + 4.5) / 3
    known = [3.5, 3.62, 3.17, 3.36]
    assert [
        scored.scores[key] for key in ("national_will", "era_trend", "industry_turning", "competition")
    ] == known
    assert scored.total == round(sum(known) / 4, 2)
    assert {rule.key for rule in scored.missing} == {
        "pe_percentile", "pb_percentile", "pe_to_industry", "trend", "lockup", "quadrant", "roe",
        "expected_growth", "controller",
    }  # fmt: skip
    assert total_of({"a": 4.0, "b": 4.0, "c": None, "d": None, "e": None}, blocked=False) is None


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"roe": -0.01}, "roe_negative", "净资产收益率为负：-0.01%"),
        ({"debt_ratio": 90.01}, "debt_high", "资产负债率超过硬门槛：90.01%"),
        ({"is_st": "是"}, "st", "名称含ST，属风险警示股票"),
        ({"roe": 0.0, "debt_ratio": 90.0}, None, None),
    ],
)
def test_hard_gates(change: dict[str, Any], code: str | None, words: str | None) -> None:
    scored = score(pack_of(**change), NAME)
    assert (scored.gate.code, scored.gate_reason) == (code, words)
    assert scored.gate.blocked is (code is not None)
    if code:
        assert scored.direction != "bullish"


def test_a_gate_caps_the_total_at_4_4() -> None:
    perfect = dict.fromkeys(own.DIMENSIONS, 5.0)
    assert total_of(perfect, blocked=False) == 5.0
    assert total_of(perfect, blocked=True) == 4.4
    assert total_of(dict.fromkeys(own.DIMENSIONS, 4.39), blocked=True) == 4.39
    assert direction_of(4.4, blocked=True) == "neutral"
    assert direction_of(1.0, blocked=True) == "bearish"


def test_every_number_of_the_words_is_bound() -> None:
    pack = pack_of()
    text = conclusion(score(pack, NAME))
    checked = check(text, pack, cited=True)
    assert checked.unbound == []
    assert checked.text == text
    assert len(checked.bound) >= 17
    assert "规则预填，非模型生成" in text
    reported = sections(score(pack, NAME))
    assert list(reported) == list(own.DIMENSIONS)
    assert {one["key"] for section in reported.values() for one in section["rules"]} == {
        one.key for one in RULES
    }
    # The checker would have seen a wrong one.
    assert check(text.replace("30.00%", "31.00%"), pack, cited=True).unbound == ["31.00%"]


def test_the_conclusion_is_never_longer_than_2000() -> None:
    pack = pack_of(controller="某" * 300)
    for fact in pack.facts:
        assert fact.subject in (NAME, "")
    long = "长" * 600
    renamed = Pack(pack.as_of)
    for fact in pack.facts:
        renamed.add(long if fact.subject else "", fact.label, fact.value, fact.unit, table=fact.table,
                    column=fact.column, as_of=fact.as_of, key=fact.key)  # fmt: skip
    text = conclusion(score(renamed, long))
    assert 0 < len(text) <= 2000
    assert all(line for line in text.split("\n"))


def test_a_report_within_the_year_counts_for_its_months() -> None:
    """The roe of six months is that of twelve at twice the size, that of a year as it is."""
    found = {rule.key: one for rule, one in score(pack_of(roe=6.0), NAME).found}
    assert found["roe"].score == on_line(own.ROE_POINTS, 12.0) == 3.5


def test_without_five_years_the_percentile_is_of_three() -> None:
    pack = pack_of(pe_pct_5y=None)
    pack.add(NAME, "市盈率3年分位", 50.0, "pct", table=VALUATION, column="pe_pct_3y", as_of="2026-08-21")
    found = {rule.key: one for rule, one in score(pack, NAME).found}
    assert found["pe_percentile"].score == 2.5
    assert "pe_to_industry" not in {rule.key for rule, _ in score(pack_of(pe_ttm=-3.0), NAME).found}


def test_an_empty_pack_says_so() -> None:
    scored = score(Pack("2026-08-21 17:40:00"), NAME)
    assert set(scored.scores.values()) == {None}
    assert (scored.total, scored.direction, scored.gate.blocked) == (None, "neutral", False)
    assert "没有可用的入库数据" in conclusion(scored)


def test_lines_are_straight_between_their_points_and_flat_beyond() -> None:
    assert [on_line(((0, 1.0), (10, 3.0)), value) for value in (-5, 0, 5, 10, 99)] == [
        1.0,
        1.0,
        2.0,
        3.0,
        3.0,
    ]
    for name, points in vars(own).items():
        if name.endswith("_POINTS"):
            assert [x for x, _ in points] == sorted(x for x, _ in points), name
            assert all(own.LOWEST <= y <= own.HIGHEST for _, y in points), name


def test_the_page_tells_every_rule_and_theme_of_the_parameters() -> None:
    page = (Path(__file__).parents[3] / "docs" / "calculations" / "analysis.md").read_text(encoding="utf-8")
    assert [rule.key for rule in RULES if f"`{rule.key}`" not in page] == []
    assert [key for key in own.DIMENSIONS if f"`{key}`" not in page] == []
    assert [word for word in own.FORECAST_SCORES if word not in page] == []
    assert f"{own.BULLISH_FROM:g}, bearish up to {own.BEARISH_TO:g}" in page
