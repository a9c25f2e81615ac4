"""/factor: screens, presets and breakdowns as a user sees them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import TypeAdapter

from core.calendar import shipped_calendar
from platform_assets.compute.factors.presets import apply_preset, preset_of
from platform_assets.compute.factors.scores import factor_scores
from serving_api.quant.factors import schemas
from serving_api.quant.factors.market import Market
from serving_api.quant.factors.screen import preset_hits
from tests.serving_api.conftest import Bench
from tests.serving_api.quant.factors.conftest import (
    LOSS,
    SIZE,
    ST,
    SUSPENDED,
    TODAY,
    YESTERDAY,
    bars,
    reported,
    screen,
)

DISPLAY = (
    "code name industry market price change_pct turnover_pct volume_ratio pe_ttm pb total_market_cap "
    "float_market_cap vol_accel_5_5 limit_up_count_20d limit_days_today zt_stat_latest seal_fund_latest "
    "break_fail_days_5d"
).split()


def test_the_legend_shows_marks_as_they_are(screens: Bench) -> None:
    legend = reported(screens, "/factor/factors")
    registered = reported(screens, "/market/factors/list")

    assert legend["total"] == registered["total"] == 11
    marks = {row["key"]: row["mark"] for row in legend["items"]}
    assert (marks["value"], marks["trend"], marks["stability"], marks["size"]) == (
        "partial", "proxy", "proxy", "real",
    )  # fmt: skip
    assert registered["items"][0]["inputs"] == ["chg_20d", "chg_60d", "chg_1y"]
    assert len(reported(screens, "/factor/presets")["items"]) == 14
    TypeAdapter(schemas.Presets).validate_python(reported(screens, "/factor/presets"))


def test_a_screen_ranks_the_market_by_its_composite(screens: Bench) -> None:
    answer = screen(screens, pageSize=200)
    scored = factor_scores(screens.extra["rows"])
    allowed = scored[~scored["gate_blocked"]].sort_values("composite", ascending=False)

    TypeAdapter(schemas.Screened).validate_python(answer)
    assert [row["code"] for row in answer["items"]] == allowed["code"].tolist()
    assert (answer["universe_size"], answer["total"], answer["date"]) == (SIZE - 1, SIZE - 3, TODAY)
    first = answer["items"][0]
    assert list(first) == [*DISPLAY, "composite", "scores", "coverage", "gate"]
    assert first["composite"] == pytest.approx(allowed["composite"].iloc[0], abs=5e-5)
    assert answer["marks"]["value"] == "partial"


def test_pages_share_one_order(screens: Bench) -> None:
    whole = [row["code"] for row in screen(screens, pageSize=200)["items"]]
    pages = [screen(screens, pageSize=30, page=page) for page in (1, 2, 3, 4)]

    assert [row["code"] for page in pages for row in page["items"]] == whole
    assert {page["total"] for page in pages} == {len(whole)}
    assert screen(screens, limit=7)["total"] == 7
    assert [row["code"] for row in screen(screens, order="asc", limit=3)["items"]] == whole[:-4:-1]


def test_gates_and_special_treatment_narrow_the_answer_not_the_ranks(screens: Bench) -> None:
    strict = {row["code"]: row for row in screen(screens, pageSize=200)["items"]}
    open_ = screen(screens, gate=False, universe={"exclude_st": False}, pageSize=200)
    loose = {row["code"]: row for row in open_["items"]}

    assert loose.keys() - strict.keys() == {ST, LOSS}
    assert SUSPENDED not in loose
    assert loose[ST]["gate"]["code"] == "st"
    assert loose[LOSS]["gate"] == {**loose[LOSS]["gate"], "blocked": True, "code": "roe_negative"}
    assert all(loose[code]["composite"] == row["composite"] for code, row in strict.items())
    no_st = screen(screens, gate=False, pageSize=200)["items"]
    assert {row["code"] for row in no_st} == loose.keys() - {ST}


def test_a_universe_is_ranked_among_itself(screens: Bench) -> None:
    rows: pd.DataFrame = screens.extra["rows"]
    banks = screen(screens, universe={"industries": ["银行"]}, pageSize=200)
    codes = rows[rows["industry"] == "银行"]["code"].tolist()
    scored = factor_scores(rows[rows["code"].isin(codes)]).set_index("code")

    assert banks["universe_size"] == len(scored)
    for row in banks["items"]:
        assert row["composite"] == pytest.approx(scored.loc[row["code"], "composite"], abs=5e-5)
    by_code = screen(screens, universe={"codes": codes}, pageSize=200)
    assert by_code["items"] == banks["items"]
    some = screen(screens, universe={"market": ["SZ"]}, pageSize=200)["items"]
    assert {row["market"] for row in some} == {"SZ"}


def test_a_preset_selects_what_the_daily_pick_selects(screens: Bench) -> None:
    scored = factor_scores(screens.extra["rows"])
    rows = scored.merge(screens.extra["rows"][["code", "amount", "industry"]], on="code")
    for preset in reported(screens, "/factor/presets")["items"]:
        answer = screen(screens, preset=preset["key"], pageSize=200)
        picked = apply_preset(rows, preset_of(preset["key"]))
        assert [row["code"] for row in answer["items"]] == picked["code"].tolist(), preset["key"]
        assert answer["total"] > 0, preset["key"]


def test_a_manual_filter_replaces_the_presets_on_the_same_factor(screens: Bench) -> None:
    strict = screen(screens, preset="momentumCore", pageSize=200)
    wide = screen(screens, preset="momentumCore", filters=[{"factor": "momentum", "max": 30}], pageSize=200)

    assert all(row["scores"]["momentum"] >= 80 for row in strict["items"])
    assert wide["total"] > 0
    assert all(row["scores"]["momentum"] <= 30 for row in wide["items"])
    assert all(row["scores"]["trend"] >= 60 for row in wide["items"])  # the other filter of the preset stands


def test_own_weights_sort_and_least_composite(screens: Bench) -> None:
    rows = screen(screens, weights={"size": 2, "value": 1}, minComposite=50, sort="size", pageSize=200)[
        "items"
    ]

    assert rows
    sizes = [row["scores"]["size"] for row in rows if row["scores"]["size"] is not None]
    assert sizes == sorted(sizes, reverse=True)
    for row in rows:
        parts = [
            (w, row["scores"][key])
            for key, w in (("size", 2), ("value", 1))
            if row["scores"][key] is not None
        ]
        assert row["composite"] == pytest.approx(
            sum(w * s for w, s in parts) / sum(w for w, _ in parts), abs=1e-3
        )
        assert row["composite"] >= 50
        assert row["coverage"] == pytest.approx(sum(w for w, _ in parts) / 3, abs=1e-4)
    prices = [row["price"] for row in screen(screens, sort="price", limit=5)["items"]]
    assert prices == sorted(prices, reverse=True)


def test_a_date_and_an_instant_decide_what_is_ranked(screens: Bench) -> None:
    today, before = screen(screens), screen(screens, date=YESTERDAY)

    assert (before["date"], today["date"]) == (YESTERDAY, TODAY)
    assert [row["code"] for row in before["items"]] != [row["code"] for row in today["items"]]
    known = screen(screens, as_of="2026-08-20")
    assert (known["date"], known["items"]) == (YESTERDAY, before["items"])
    assert known["as_of"].startswith("2026-08-20T23:59:59")
    early = screen(screens, as_of="2026-08-19", preset="valueDeep")
    assert (early["items"], early["total"], early["universe_size"], early["date"]) == ([], 0, 0, None)


def test_a_date_without_wide_rows_is_ranked_by_what_is_stored_of_it(screens: Bench) -> None:
    dates = shipped_calendar().last(330, TODAY)
    past, early = screen(screens, date=dates[-20], pageSize=200), screen(screens, date=dates[3])

    assert (past["universe_size"], past["date"], past["first_date"]) == (30, dates[-20], dates[0])
    assert "the wide table holds no rows of this date" in past["note"]
    assert past["total"] == len(past["items"]) == 30
    composites = [row["composite"] for row in past["items"]]
    assert composites == sorted(composites, reverse=True)
    history = bars().pivot(index="date", columns="code", values="close")
    change = history.loc[dates[-20]] / history.loc[dates[-40]] - 1
    momentum = {row["code"]: row["scores"]["momentum"] for row in past["items"]}
    assert momentum[change.idxmax()] > 60 > 40 > momentum[change.idxmin()]
    assert all(0 < row["coverage"] < 1 for row in past["items"])
    assert all(row["vol_accel_5_5"] == round(row["vol_accel_5_5"], 4) for row in past["items"])
    # Three sessions have no change of twenty; who has nothing is not ranked by it.
    assert early["universe_size"] == 30
    assert all(row["scores"]["momentum"] is None for row in early["items"])


def test_a_date_before_the_first_bar_says_where_they_begin(screens: Bench) -> None:
    dates = shipped_calendar().last(331, TODAY)
    nothing = screen(screens, date=dates[0])

    assert (nothing["universe_size"], nothing["items"], nothing["first_date"]) == (0, [], dates[1])
    assert nothing["note"] == f"nothing is stored of {dates[0]}; the first stored date is {dates[1]}"
    for path in ("/factor/strategy-hits/000010", "/factor/breakdown/000010"):
        early, newest = reported(screens, path, date=dates[0]), reported(screens, path)
        assert (early["first_date"], early["note"]) == (dates[1], nothing["note"]), path
        assert (newest["first_date"], newest["note"]) == (YESTERDAY, None), path


# -- a score from its breakdown ---------------------------------------------------------------------


def recomputed(answer: Any) -> tuple[dict[str, float | None], float | None]:
    """Scores by factor and the composite from the cells' ranks and counts, by the test's own sums."""
    scores: dict[str, float | None] = {}
    for factor in answer["factors"]:
        shares = []
        for cell in factor["inputs"]:
            if cell["rank"] is not None:
                share = cell["rank"] / cell["count"]
                shares.append(share if cell["direction"] == "high" else 1 - share)
        scores[factor["key"]] = 100 * sum(shares) / len(shares) if shares else None
    told_ = [(factor["weight"], scores[factor["key"]]) for factor in answer["factors"]]
    there = [(weight, score) for weight, score in told_ if score is not None]
    if not there:
        return scores, None
    return scores, sum(weight * score for weight, score in there) / sum(weight for weight, _ in there)


def test_a_score_is_recomputed_from_its_breakdown_alone(screens: Bench) -> None:
    shown = {row["code"]: row for row in screen(screens, pageSize=200)["items"]}
    for code, row in shown.items():
        answer = reported(screens, f"/factor/breakdown/{code}")
        scores, composite = recomputed(answer)
        assert answer["composite"] == pytest.approx(composite, rel=1e-12)
        assert row["composite"] == pytest.approx(composite, abs=5.1e-5)
        for factor in answer["factors"]:
            assert factor["score"] == (
                None if scores[factor["key"]] is None else pytest.approx(scores[factor["key"]], rel=1e-12)
            )
    TypeAdapter(schemas.Breakdown).validate_python(answer)


def test_every_rank_of_a_breakdown_follows_from_the_stored_cells(screens: Bench) -> None:
    rows: pd.DataFrame = screens.extra["rows"]
    traded = rows[rows["code"] != SUSPENDED].set_index("code")
    answer = reported(screens, "/factor/breakdown/000010")
    for factor in answer["factors"]:
        for cell in factor["inputs"]:
            column = traded[cell["field"]]
            valid = column[column > 0] if factor["key"] in ("value", "size") else column.dropna()
            assert cell["count"] == len(valid)
            if cell["rank"] is not None:
                below, equal = (valid < cell["value"]).sum(), (valid == cell["value"]).sum()
                assert cell["rank"] == below + (equal + 1) / 2
    dates = {cell["field"]: cell["date"] for factor in answer["factors"] for cell in factor["inputs"]}
    assert (dates["roe"], dates["chg_20d"]) == ("2026-06-30", TODAY)
    assert answer["factors"][0]["inputs"][0]["owner"] == {"table": "fusion_kline_daily", "column": "close"}


def test_presets_of_a_stock_say_what_keeps_it_out(screens: Bench) -> None:
    for preset in ("capitalFlow", "valueDeep", "smallCapElastic"):
        for rank, row in enumerate(screen(screens, preset=preset)["items"], start=1):
            hits = reported(screens, f"/factor/strategy-hits/{row['code']}")["hits"]
            hit = next(one for one in hits if one["preset_key"] == preset)
            assert (hit["passed"], hit["rank"], hit["failed_filters"]) == (True, rank, [])
    answer = reported(screens, f"/factor/strategy-hits/{ST}")
    assert len(answer["hits"]) == 14
    assert not any(hit["passed"] for hit in answer["hits"])
    assert all({"gate"} <= {one["factor"] for one in hit["failed_filters"]} for hit in answer["hits"])
    TypeAdapter(schemas.PresetHits).validate_python(answer)


def test_a_bound_is_held_against_the_score_itself_not_a_rounded_one() -> None:
    wide = {"code": ["000001", "000002"], "current_price": [1.0, 1.0], "name": ["甲", "乙"]}
    market = Market.of(TODAY, wide)
    high = dict.fromkeys(market.scores.factors, np.array([90.0, 90.0]))
    composite = np.array([69.99996, 70.0])
    market = replace(market, scores=replace(market.scores, factors=high, composite=composite))

    below, at = (preset_hits(market, code)["hits"] for code in market.codes)
    below, at = (next(h for h in one if h["preset_key"] == "multiFactorResonance") for one in (below, at))
    assert (at["passed"], at["failed_filters"]) == (True, [])
    assert not below["passed"]
    assert below["failed_filters"] == [{"factor": "composite", "min": 70.0, "score": 69.99996}]


@pytest.mark.parametrize("code", ["999999", SUSPENDED])
def test_a_code_without_a_bar_has_empty_answers(screens: Bench, code: str) -> None:
    hits, broken = (
        reported(screens, f"/factor/strategy-hits/{code}"),
        reported(screens, f"/factor/breakdown/{code}"),
    )

    assert (hits["hits"], hits["composite"], hits["scores"]) == ([], None, {})
    assert (broken["factors"], broken["composite"], broken["gate"]) == ([], None, None)
    TypeAdapter(schemas.Breakdown).validate_python(broken)


# -- bad input --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "parameter"),
    [
        ({"preset": "valueShallow"}, "preset"),
        ({"filters": [{"factor": "beauty", "min": 1}]}, "filters.0.factor"),
        ({"filters": [{"factor": "value", "min": 101}]}, "filters.0.min"),
        ({"filters": [{"factor": "value"}]}, "filters.0"),
        ({"filters": [{"factor": "value", "min": 5, "max": 4}]}, "filters.0.min"),
        ({"weights": {"beauty": 1}}, "weights"),
        ({"weights": {"value": -1}}, "weights.value"),
        ({"weights": {"value": 0}}, "weights"),
        ({"universe": {"codes": []}}, "universe.codes"),
        ({"universe": {"codes": ["60051"]}}, "universe.codes.0"),
        ({"universe": {"market": ["US"]}}, "universe.market.0"),
        ({"sort": "amount"}, "sort"),
        ({"order": "up"}, "order"),
        ({"limit": 501}, "limit"),
        ({"page": 0}, "page"),
        ({"pageSize": 9}, "pageSize"),
        ({"minComposite": 101}, "minComposite"),
        ({"date": "2026-08-22"}, "date"),
        ({"date": "2026-08-16"}, "date"),
        ({"as_of": "2026-08-22"}, "as_of"),
        ({"as_of": "soon"}, "as_of"),
    ],
)
def test_bad_input_names_its_parameter(screens: Bench, body: dict[str, Any], parameter: str) -> None:
    answer = screens.api.post("/factor/screen", json=body)

    assert answer.status_code == 422, answer.text
    assert answer.json()["detail"].startswith(f"{parameter}: "), answer.text


# -- peers and how factors did ----------------------------------------------------------------------


def test_peers_of_an_industry_the_largest_first(screens: Bench) -> None:
    answer = reported(screens, "/stocks/000004/industry-compare")
    peers = answer["results"]
    rows = screens.extra["rows"].set_index("code")

    assert {peer["code"] for peer in peers} == set(rows[rows["industry"] == "银行"].index)
    assert [peer["rank"] for peer in peers] == list(range(1, len(peers) + 1))
    assert [peer["code"] for peer in peers if peer["isSelf"]] == ["000004"]
    caps = [peer["marketCap"] or 0 for peer in peers]
    assert caps == sorted(caps, reverse=True)
    assert peers[0]["marketCap"] == pytest.approx(rows.loc[peers[0]["code"], "total_market_cap"] * 10_000)
    before = reported(screens, "/stocks/000004/industry-compare", as_of="2026-08-20")["results"]
    assert {peer["code"] for peer in before} == {peer["code"] for peer in peers}
    assert before != peers
    assert reported(screens, "/stocks/000003/industry-compare")["results"] == []  # its industry is not known
    assert reported(screens, "/stocks/999999/industry-compare")["results"] == []


CODES = ",".join(f"{at:06d}" for at in range(30))


def test_the_comparison_of_factors_rests_on_stored_series(screens: Bench) -> None:
    answer = reported(screens, "/market/factors/bench", codes=CODES, forward_days=5, lookback_days=60)

    TypeAdapter(schemas.FactorBench).validate_python(answer)
    assert (answer["forward_days"], answer["sample_days"], answer["total"]) == (5, 60, 11)
    found = {row["key"]: row for row in answer["items"]}
    assert found["trend"]["days"] == 60
    assert -1 <= found["trend"]["ic_mean"] <= 1
    assert found["trend"]["t_stat"] != found["trend"]["t_stat_simple"]
    assert answer["lags"] == 4
    assert "overlap" in answer["note"]
    assert found["value"]["ic_mean"] is None  # no valuation is stored
    # The one report came out on 04-28: dates before it have no quality.
    assert 0 < found["quality"]["coverage"] <= 1
    longer = reported(screens, "/market/factors/bench", codes=CODES, forward_days=5, lookback_days=100)
    assert {row["key"]: row for row in longer["items"]}["quality"]["days"] < longer["sample_days"] <= 100
    again = reported(screens, "/market/factors/bench", codes=CODES, forward_days=5, lookback_days=60)
    assert again == answer


@pytest.mark.parametrize(
    ("params", "parameter"),
    [
        ({"codes": CODES[:90]}, "codes"),
        ({}, "codes"),
        ({"codes": CODES, "forward_days": 61}, "forward_days"),
        ({"codes": CODES, "lookback_days": 19}, "lookback_days"),
    ],
)
def test_bad_questions_about_factors(screens: Bench, params: dict[str, Any], parameter: str) -> None:
    answer = screens.api.get("/market/factors/bench", params=params)

    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(f"{parameter}: ")
