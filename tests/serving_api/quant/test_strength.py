"""/stocks/{code}/vpa and /rtsi, /quant/vpa/{code}, /quant/relative-strength."""

import pytest

from serving_api.quant import strength
from tests.pipeline.conftest import TODAY
from tests.serving_api.at_once import Watched, answers_at_once
from tests.serving_api.quant.conftest import Topics

CODE = "600040"


def test_volume_price_analysis_is_an_observation_with_evidence(quant: Topics) -> None:
    reported = quant.reported(f"/stocks/{CODE}/vpa")["results"]

    assert reported["bars"] == 120
    assert [factor["key"] for factor in reported["factors"]] == [
        "sensitivity", "confirmation", "breakout", "divergence",
    ]  # fmt: skip
    scores = [factor["score"] for factor in reported["factors"]]
    assert reported["health"] == pytest.approx(sum(scores) / 4, abs=0.01)
    assert [one["score"] for one in reported["evidence"]] == scores
    assert quant.reported(f"/quant/vpa/{CODE}") == reported


def test_an_analysis_of_the_past_knows_only_the_past(quant: Topics) -> None:
    then = quant.reported(f"/stocks/{CODE}/vpa", as_of="2026-06-30")

    assert then["as_of"].startswith("2026-06-30")
    assert then["results"] != quant.reported(f"/stocks/{CODE}/vpa")["results"]


def test_trend_strength_by_date(quant: Topics) -> None:
    reported = quant.reported(f"/stocks/{CODE}/rtsi", days=30)["results"]

    assert len(reported["series"]) == 30
    newest = reported["series"][-1]
    assert reported["latest"]["rtsi"] == newest["rtsi"]
    assert reported["latest"]["date"] == newest["date"] == TODAY
    assert reported["latest"]["label"] == reported["latest"]["level"].replace("_", " ")
    five = [row["rtsi"] for row in reported["series"][-5:]]
    assert newest["rtsi_ma5"] == pytest.approx(sum(five) / 5, abs=0.01)
    earlier = quant.reported(f"/stocks/{CODE}/rtsi", days=30, as_of=reported["series"][-2]["date"])["results"]
    assert earlier["latest"]["rtsi"] == pytest.approx(reported["series"][-2]["rtsi"], abs=0.01)


def test_trend_strength_says_how_far_back_it_reaches(quant: Topics) -> None:
    first = min(str(row["date"]) for row in quant.rows("fusion_kline_daily") if row["code"] == CODE)
    whole, more = (quant.reported(f"/stocks/{CODE}/rtsi", days=days) for days in (30, 2000))

    assert (whole["first_date"], "note" in whole) == (first, False)
    given = len(more["results"]["series"])
    assert more["note"] == f"{given} of 2000 bars with a value are stored; the first stored date is {first}"
    assert quant.reported("/stocks/999999/rtsi")["note"] == "nothing is stored yet"


def test_a_code_without_bars_is_empty(quant: Topics) -> None:
    assert quant.reported("/stocks/999999/rtsi")["results"]["series"] == []
    reported = quant.reported("/quant/vpa/999999")
    assert (reported["health"], reported["observation"], reported["bars"]) == (None, "neutral", 0)


def test_stocks_by_their_excess(quant: Topics) -> None:
    reported = quant.reported("/quant/relative-strength", limit=500)

    assert (reported["date"], reported["window"], reported["benchmark"]) == (TODAY, 20, "sh000300")
    rows = reported["items"]
    assert len(rows) == reported["total"] > 20
    assert [row["excess_pct"] for row in rows] == sorted((row["excess_pct"] for row in rows), reverse=True)
    assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
    ratings = [row["rating"] for row in rows if row["rating"] is not None]
    assert (min(ratings), max(ratings)) == (1, 99)

    bars = sorted(
        (
            row
            for row in quant.rows("fusion_kline_daily")
            if row["code"] == rows[0]["code"] and not row["is_suspended"]
        ),
        key=lambda row: str(row["date"]),
    )
    index = {
        str(row["date"]): row["close"]
        for row in quant.rows("fusion_index_daily")
        if row["code"] == "sh000300"
    }
    now, then = bars[-1], bars[-21]
    change = now["close"] * now["adj_factor"] / (then["close"] * then["adj_factor"])
    against = index[str(now["date"])] / index[str(then["date"])]
    assert rows[0]["excess_pct"] == pytest.approx((change / against - 1) * 100, abs=0.01)


def test_an_industry_is_ranked_among_itself(quant: Topics) -> None:
    industries = {row["code"]: row["industry"] for row in quant.rows("fusion_stock_industry")}
    whole = quant.reported("/quant/relative-strength", limit=500)["items"]
    industry = next(industries[row["code"]] for row in whole if industries.get(row["code"]))

    rows = quant.reported("/quant/relative-strength", industry=industry, limit=500)["items"]

    assert [row["code"] for row in rows] == [
        row["code"] for row in whole if industries.get(row["code"]) == industry
    ]
    assert rows[0]["rank"] == 1


def test_a_ranking_is_made_once_for_all_requests(quant: Topics, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Watched(strength._read)
    monkeypatch.setattr(strength, "_read", made)

    reported = answers_at_once(quant.api, ["/quant/relative-strength?benchmark=sh000001"] * 4)

    assert made.calls == 1
    assert reported == [reported[0]] * 4


@pytest.mark.parametrize("date", ["1980-01-01", "1991-01-02"])
def test_a_date_with_less_of_a_calendar_than_a_rating_takes_is_empty(quant: Topics, date: str) -> None:
    reported = quant.reported("/quant/relative-strength", date=date)

    assert (reported["date"], reported["items"], reported["total"]) == (date, [], 0)
    first = min(str(row["date"]) for row in quant.rows("fusion_kline_daily"))
    assert (reported["first_date"], reported["note"]) == (
        first,
        f"nothing fits; the first stored date is {first}",
    )
    newest = quant.reported("/quant/relative-strength")
    assert (newest["first_date"], newest["note"]) == (first, None)


@pytest.mark.parametrize(
    ("name", "value"), [("window", 30), ("benchmark", "sh999999"), ("limit", 501), ("date", "2026-08-22")]
)
def test_what_is_not_allowed_is_named(quant: Topics, name: str, value: object) -> None:
    answer = quant.get("/quant/relative-strength", **{name: value})

    assert answer.status_code == 422
    assert name in str(answer.json()["detail"])
