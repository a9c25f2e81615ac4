"""The three built-in scoring systems have the same keys wherever the service tells of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.test_tracks import CODES, DAYS, leaders, market, techniques
from tests.serving_api.areas.handmade import Handmade, handmade

DAY = 5
KEYS = {"dragon", "tactic", "composite"}


@pytest.fixture(scope="module")
def boards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Handmade]:
    """The boards of a date with picks of every system, made by the real loads, the scorecards after them."""
    folder: Path = tmp_path_factory.mktemp("boards")
    with handmade(f"sqlite:///{folder / 'warehouse.sqlite3'}", folder, DAYS[DAY]) as made:
        techniques(made.run)
        market(made.run, DAY)
        leaders(made.run, DAY)
        made.at(DAYS[DAY], "18:15")
        made.calculate("track_builtin", DAYS[DAY])
        made.calculate("scorecard_daily", DAYS[DAY])
        yield made


def of(rows: list[dict[str, Any]], name: str) -> set[str]:
    """Values of a column, of rows of the built-in systems where they say of what source they are."""
    return {row[name] for row in rows if row.get("source", "builtin") == "builtin"}


def test_the_same_keys_everywhere(boards: Handmade) -> None:
    cards = boards.reported("/builtin-strategies")["items"]
    audit = boards.reported(f"/stocks/{CODES[3]}/strategy-audit")["results"]["systems"]
    sources = {one["key"]: one["groups"] for one in boards.reported("/scorecard/sources")["items"]}
    reported = {
        "/builtin-strategies": of(cards, "key"),
        "/stocks/{code}/strategy-audit": of(audit, "key"),
        "/scorecard/sources": of(sources["builtin"], "key"),
        "/scorecard/overview": of(boards.reported("/scorecard/overview")["items"], "group_key"),
        "/scorecard/picks": of(boards.reported("/scorecard/picks", source="builtin")["items"], "group_key"),
        "/scorecard/stock/{code}": of(boards.reported(f"/scorecard/stock/{CODES[3]}")["items"], "group_key"),
        "get_builtin_picks": of(boards.call("get_builtin_picks"), "board_key"),
        "get_scorecard": of(boards.call("get_scorecard"), "group_key"),
    }
    assert reported == dict.fromkeys(reported, KEYS)

    names = {one["key"]: one["name"] for one in cards}
    assert {one["key"]: one["name"] for one in audit} == names
    assert {one["key"]: one["label"] for one in sources["builtin"]} == names


@pytest.mark.parametrize("key", sorted(KEYS))
def test_every_key_is_taken_where_one_is_asked_for(boards: Handmade, key: str) -> None:
    codes = [row["code"] for row in boards.reported(f"/builtin-strategies/{key}/board")["items"]]

    assert codes
    assert boards.reported(f"/builtin-strategies/{key}/performance")["stats"]["picks"] == len(codes)
    found = boards.reported("/scorecard/picks", source="builtin", group=key)
    assert [row["code"] for row in found["items"]] == codes
    assert {row["code"] for row in boards.call("get_builtin_picks", board_key=key)} == set(codes)


def test_another_key_is_refused_with_those_that_there_are(boards: Handmade) -> None:
    asked = {"interface": "get_builtin_picks", "params": {"board_key": "leader"}}
    answers = [
        boards.api.get("/builtin-strategies/leader/board"),
        boards.api.get("/builtin-strategies/leader/performance"),
        boards.api.get("/scorecard/picks", params={"source": "builtin", "group": "leader"}),
        boards.api.post("/datamgr/fusion/call", json=asked),
    ]

    assert [one.status_code for one in answers] == [404, 404, 422, 422]
    for answer in answers:
        assert "dragon, tactic, composite" in answer.json()["detail"]
    assert "board_key" in answers[-1].json()["detail"]


def test_a_preset_that_there_is_not_is_refused_as_well(boards: Handmade) -> None:
    asked = {"interface": "get_preset_picks", "params": {"preset_key": "leader"}}
    answer = boards.api.post("/datamgr/fusion/call", json=asked)

    assert answer.status_code == 422
    assert "preset_key: 'leader' is none of momentumCore, valueDeep" in answer.json()["detail"]
    assert boards.call("get_preset_picks", preset_key="valueDeep") == []
