"""The experience block and its limits."""

from dataclasses import replace

from platform_assets.compute.analysis.experience import Lesson, block, chosen, weight

ONE = Lesson(
    "ai_600519_2026-07-01", "600519", "贵州茅台", "食品饮料", "2026-07-01", "bullish", "hit", 8.0,
    "毛利率稳定[E12]。\n现金流好。",
)  # fmt: skip


def lesson(at: int, **how: object) -> Lesson:
    return replace(ONE, trace_id=f"t{at}", decision_date=f"2026-06-{at:02}", **how)  # type: ignore[arg-type]


def test_weights_by_hand() -> None:
    assert weight(replace(ONE, profit_pct=20.0), "600519", "") == 3.0
    assert weight(replace(ONE, profit_pct=-40.0, outcome="miss"), "600519", "") == 1.5
    assert weight(replace(ONE, profit_pct=0.0), "000858", "食品饮料") == 1.0
    assert weight(replace(ONE, profit_pct=10.0), "000858", "银行") == 0.75
    assert weight(replace(ONE, industry="", profit_pct=20.0), "000858", "") == 1.0


def test_three_at_most_and_one_miss_among_them() -> None:
    misses = [lesson(at, outcome="miss", profit_pct=-20.0) for at in range(1, 6)]
    hits = [lesson(at, code="000001", industry="银行", profit_pct=1.5) for at in range(10, 16)]
    reported = chosen([*misses, *hits], "600519", "食品饮料")
    assert [one.trace_id for one in reported] == ["t5", "t15", "t14"]
    assert [one.outcome for one in chosen(misses, "600519", "")] == ["miss"]
    assert chosen([lesson(1, outcome="neutral")], "600519", "") == []


def test_sixty_candidates_are_looked_at() -> None:
    far = [lesson(1, outcome="neutral")] * 60
    assert chosen([*far, lesson(2)], "600519", "") == []
    assert len(chosen([*far[1:], lesson(2)], "600519", "")) == 1


def test_the_block_is_at_most_1200_characters() -> None:
    text = block([lesson(at, conclusion="长" * 2000) for at in (1, 2, 3, 4)], "600519", "")
    assert len(text) <= 1200
    assert text.count("\n- ") == 3
    short = block([ONE], "600519", "食品饮料")
    assert "看多" in short
    assert "命中" in short
    assert "毛利率稳定。 现金流好。" in short
    assert "[E12]" not in short
    assert block([], "600519", "") == ""
