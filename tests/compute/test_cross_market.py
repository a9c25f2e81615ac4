"""Nine rules of the risk temperature, and the chain of the day's events: by hand."""

import pytest

from platform_assets.compute.cross_market import Reading, score, temperature
from platform_assets.compute.event_chain import Flash, Words, chain
from platform_assets.compute.parameters.cross_market import RULES

BY_KEY = {rule.key: rule for rule in RULES}


def test_three_rules_of_this_market_and_six_of_others() -> None:
    assert [rule.group for rule in RULES] == ["domestic"] * 3 + ["external"] * 6


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("index_trend", 3.0, 0.0), ("index_trend", -2.5, 50.0), ("index_trend", -9.0, 100.0),
        ("breadth", 50.0, 0.0), ("breadth", 32.5, 50.0), ("breadth", 2.0, 100.0),
        ("usdcnh", -0.3, 0.0), ("usdcnh", 0.15, 25.0), ("oil", -8.0, 0.0), ("gold", 2.5, 100.0),
    ],
)  # fmt: skip
def test_a_score_lies_between_calm_and_threshold(key: str, value: float, expected: float) -> None:
    assert score(BY_KEY[key], value) == expected


def test_what_is_stale_or_missing_leaves_the_denominator() -> None:
    known = {
        "index_trend": Reading(-2.5, "2026-08-21", 0),
        "breadth": Reading(15.0, "2026-08-21", 0),
        "spx": Reading(0.4, "2026-08-21", 0),
        "margin": Reading(-3.0, "2026-08-17", 4),
        "hsi": Reading(-3.5, "2026-08-17", 4),
    }
    reported = temperature(known)
    assert (reported["temperature"], reported["level"]) == (50.0, "high")
    assert (reported["coverage"], reported["confidence"]) == ({"used": 3, "total": 9}, 0.33)
    status = {rule["key"]: rule["status"] for rule in reported["rules"]}
    assert (status["margin"], status["hsi"], status["gold"], status["spx"]) == (
        "stale", "stale", "missing", "ok",
    )  # fmt: skip
    assert next(rule for rule in reported["rules"] if rule["key"] == "hsi")["value"] == -3.5
    del known["spx"]
    less = temperature(known)
    assert (less["temperature"], less["level"], less["coverage"]["used"]) == (None, None, 2)
    assert "少于 3 项" in less["reason"]


WORDS = Words(
    themes={"机器人概念": "BK1090", "AI": "BK0800", "人工智能": "BK0801"},
    sectors={"银行": "BK0475", "白酒": "BK0477"},
    stocks={"600001": "瀚岳银行", "600002": "南窖酒业"},
    industry_of={"600001": "银行", "600002": "白酒"},
)


def flash(number: int, title: str, *codes: str) -> Flash:
    return Flash(f"f{number}", f"2026-08-21 10:0{number}:00", title, "", codes)


def test_a_chain_from_flashes_by_hand() -> None:
    reported = chain(
        [
            flash(1, "机器人板块走强"),
            flash(2, "瀚岳银行拟回购"),
            flash(3, "白酒与机器人概念联动", "600002"),
            flash(4, "AI 大会召开"),
            flash(5, "今日天气晴"),
        ],
        WORDS,
    )
    nodes = {
        node["id"]: (node["name"], node["weight"]) for node in reported["nodes"] if node["type"] != "event"
    }
    assert nodes == {
        "theme:BK1090": ("机器人概念", 2),
        "sector:BK0477": ("白酒", 1),
        "sector:BK0475": ("银行", 1),
        "stock:600001": ("瀚岳银行", 1),
        "stock:600002": ("南窖酒业", 1),
    }
    edges = {(edge["source"], edge["target"]): edge["weight"] for edge in reported["edges"]}
    assert edges == {
        ("event:f1", "theme:BK1090"): 1,
        ("event:f2", "stock:600001"): 1,
        ("event:f3", "theme:BK1090"): 1,
        ("event:f3", "sector:BK0477"): 1,
        ("event:f3", "stock:600002"): 1,
        ("stock:600001", "sector:BK0475"): 1,
        ("stock:600002", "sector:BK0477"): 1,
    }
    assert [item["title"] for item in reported["items"]] == [
        "白酒与机器人概念联动",
        "瀚岳银行拟回购",
        "机器人板块走强",
    ]


def test_every_edge_joins_two_nodes_however_many_there_are() -> None:
    words = Words({f"题材{at:03d}": f"BK{at:04d}" for at in range(200)}, {}, {}, {})
    reported = chain([flash(at % 10, f"题材{at:03d}与题材{at // 2:03d}") for at in range(200)], words)
    ids = {node["id"] for node in reported["nodes"]}
    assert all({edge["source"], edge["target"]} <= ids for edge in reported["edges"])
    assert sum(node["type"] == "theme" for node in reported["nodes"]) == 40


def test_without_a_dictionary_nothing_is_named() -> None:
    assert chain([flash(1, "机器人板块走强")], Words({}, {}, {}, {})) == {
        "nodes": [],
        "edges": [],
        "items": [],
    }
