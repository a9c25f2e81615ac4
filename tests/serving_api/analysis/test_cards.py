"""Decisions from analysis to review, recomputed by arithmetic that shares no code with the product."""

import csv
import io
import random
from collections import Counter
from typing import Any

from core.calendar import shipped_calendar
from tests.models_api.fake import fake_models
from tests.serving_api.analysis.conftest import CODE, DAY, KEYS, FetchContext, bar, honest

DATES = shipped_calendar().between("2026-08-24", "2026-11-20")
OTHER = "000858"
REST = ("601398", "600000", "600001", "600002")
"""The rest of the market, which trades every day: without it a date counts as not loaded."""


def series(seed: int) -> list[dict[str, Any]]:
    """Bars of a walk with two ex-dates and a rest: date, close as traded, cumulative factor."""
    walk, price, factor, rows = random.Random(seed), 20.0, 1.0, []
    for at, day in enumerate(DATES):
        price *= 1 + walk.uniform(-0.03, 0.03)
        if at in (14, 37):
            price, factor = price / 1.25, factor * 1.25
        if at not in (25, 26):
            rows.append({"date": day, "close": round(price, 2), "factor": factor})
    return rows


def decide(ctx: FetchContext, day: str, hour: str, code: str, score: float) -> dict[str, Any]:
    ctx.made.at(day, hour)
    body = {"scores": dict.fromkeys(KEYS, score), "conclusion": "判断"}
    answer = ctx.made.api.request("PUT", f"/analysis/{code}", json=body, headers=ctx.login())
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def witness(bars: dict[str, list[dict[str, Any]]], decisions: str) -> dict[str, tuple[str, float, str]]:
    """trace_id -> (outcome, change in percent, trend) of decisions as CSV, from the bars alone."""
    reported = {}
    for line in csv.DictReader(io.StringIO(decisions)):
        mine = bars[line["code"]]
        before = [
            b for b in mine if b["date"] < line["day"] or (b["date"] == line["day"] and line["hour"] >= "15")
        ]
        session = [d for d in DATES if d <= line["day"]]
        end = DATES[len(session) - 1 + 10]
        after = [b for b in mine if line["day"] < b["date"] <= end]
        change = 100 * (
            after[-1]["close"] * after[-1]["factor"] / (before[-1]["close"] * before[-1]["factor"]) - 1
        )
        if -1 <= change <= 1:
            outcome, trend = "neutral", "震荡"
        else:
            trend = "上涨" if change > 0 else "下跌"
            outcome = "hit" if (trend == "上涨") == (float(line["score"]) > 2.5) else "miss"
        reported[f"manual_{line['code']}_{line['day']}"] = (outcome, change, trend)
    return reported


def test_reviews_agree_with_a_recomputation(context_on_both: FetchContext) -> None:
    ctx = context_on_both
    bars = {CODE: series(1), OTHER: series(2)}
    by_day: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for code, rows in bars.items():
        for one in rows:
            by_day.setdefault(one["date"], []).append((code, one))
    asked = random.Random(3)
    lines = ["code,day,hour,score"]
    for at, day in enumerate(DATES[:-1]):
        morning = [code for code in bars if at and asked.random() < 0.3]
        evening = [code for code in bars if code not in morning and asked.random() < 0.3]
        for code in morning:
            score = asked.choice((1.0, 4.5))
            decide(ctx, day, "10:30", code, score)
            lines.append(f"{code},{day},10,{score}")
        ctx.made.at(day, "15:00")
        traded = [bar(c, day, b["close"], b["factor"]) for c, b in by_day.get(day, [])]
        ctx.made.put("fusion_kline_daily", [*traded, *(bar(code, day, 10.0) for code in REST)])
        for code in evening:
            if at:
                score = asked.choice((1.0, 4.5))
                decide(ctx, day, "16:00", code, score)
                lines.append(f"{code},{day},16,{score}")

    ctx.made.at(DATES[-1], "20:00")
    answer = ctx.post("/decision-cards/review", who=ctx.login(), limit=300).json()
    requested = witness(
        bars, "\n".join(line for line in lines if line.split(",")[1] <= answer["cutoff"] or line[0] == "c")
    )
    assert answer["skipped"] == 0
    found = {one["trace_id"]: one for one in ctx.cards(page_size=200)}
    judged = {key: one for key, one in found.items() if one["review_outcome"] is not None}
    assert set(judged) == set(requested)
    assert len(judged) == answer["reviewed"] >= 25
    for key, (outcome, change, trend) in requested.items():
        assert (judged[key]["review_outcome"], judged[key]["review_actual_trend"]) == (outcome, trend), key
        assert abs(judged[key]["review_profit_pct"] - change) < 1e-3, key
    counts = Counter(outcome for outcome, *_ in requested.values())
    stats = ctx.made.reported("/decision-cards/stats")
    assert (stats["hit"], stats["miss"], stats["neutral"]) == (
        counts["hit"],
        counts["miss"],
        counts["neutral"],
    )
    assert stats["total"] == len(lines) - 1
    assert stats["win_rate_pct"] == round(100 * counts["hit"] / (counts["hit"] + counts["miss"]), 4)
    assert len(set(counts)) == 3

    # What was learnt reaches the next question, and a judged card is not written again.
    with fake_models(honest) as fake:
        ctx.configure(fake)
        ctx.run()
        system = fake.asked[0].system
    assert "过往决策的复盘" in system
    entries = [line for line in system.split("\n") if line.startswith("- 2026-")]
    assert len(entries) == 3
    assert sum("失误" in line for line in entries) <= 1
    assert all("贵州茅台" in line for line in entries)


def test_a_decision_before_the_close_knows_the_close_of_the_day_before(ctx: FetchContext) -> None:
    next_day = shipped_calendar().offset(DAY, 1)
    ctx.made.at(next_day, "15:00")
    ctx.made.put("fusion_kline_daily", [bar(CODE, next_day, 2000.0)])
    decide(ctx, next_day, "10:30", CODE, 4.5)  # as a replay of that morning: the bar is stored, not known
    cards = {one["trace_id"]: one for one in ctx.cards()}
    card = cards[f"manual_{CODE}_{next_day}"]
    assert (card["price_at_decision"], card["price_date"]) == (1432.5, DAY)
    decide(ctx, next_day, "15:30", CODE, 4.5)
    (card,) = ctx.cards()
    assert (card["price_at_decision"], card["price_date"]) == (2000.0, next_day)


def test_a_judged_card_is_not_written_again(ctx: FetchContext) -> None:
    days = shipped_calendar().between(DAY, "2026-09-30")
    ctx.made.put("fusion_kline_daily", [bar(CODE, day, 1400.0 + 20 * at) for at, day in enumerate(days)])
    decide(ctx, DAY, "17:40", CODE, 4.5)
    ctx.made.at("2026-09-30")
    assert ctx.post("/decision-cards/review", who=ctx.login()).json()["reviewed"] == 1
    before = ctx.cards()
    decide(ctx, DAY, "17:40", CODE, 1.0)  # as somebody who wants to have been right
    assert ctx.cards() == before
    assert (before[0]["direction"], before[0]["review_outcome"]) == ("bullish", "hit")
