"""/skills over HTTP: what is shipped, installed and switched, on both engines and by several processes."""

from typing import Any

import pytest

from serving_api.skills.service import MOST_INSTALLED, Skills, prompt_block
from tests.serving_api.client import running
from tests.serving_api.conftest import Bench, Ticks, make_app

DEFINITION: dict[str, Any] = {
    "key": "rare_earth", "name": "稀土产业链", "description": "稀土价格与配额", "triggers": ["稀土"],
    "hints": ["配额"], "reads": ["get_futures_daily"], "text": "先看价格与配额。",
}  # fmt: skip


def listed(bench: Bench) -> dict[str, dict[str, Any]]:
    return {one["key"]: one for one in bench.api.get("/skills").json()["items"]}


def test_shipped_skills_are_switched_and_never_removed(own_on_both: Bench) -> None:
    own = own_on_both
    assert len(listed(own)) == 37
    assert sum(one["enabled"] for one in listed(own).values()) == 9
    tag = own.api.get("/skills").headers["etag"]
    admin = own.admin()

    toggled = own.api.post("/skills/stock_overview/toggle", json={"enabled": False}, headers=admin)
    assert toggled.json() == {"key": "stock_overview", "enabled": False}
    assert own.api.post("/skills/install", json={"key": "dividend_return"}, headers=admin).json() == {
        "ok": True, "key": "dividend_return",
    }  # fmt: skip
    found = listed(own)
    assert (found["stock_overview"]["enabled"], found["dividend_return"]["enabled"]) == (False, True)
    own.ticks.advance(5)  # versions are looked up once in a while
    assert own.api.get("/skills", headers={"If-None-Match": tag}).status_code == 200

    assert own.api.post("/skills/stock_overview/uninstall", headers=admin).status_code == 409
    assert own.api.post("/skills/nobody_knows/uninstall", headers=admin).status_code == 404
    assert (
        own.api.post("/skills/nobody_knows/toggle", json={"enabled": True}, headers=admin).status_code == 404
    )
    assert own.api.post("/skills/install", json={"key": "nobody_knows"}, headers=admin).status_code == 404
    member = own.member()
    assert own.api.post("/skills/install", json={"definition": DEFINITION}, headers=member).status_code == 403


def test_an_installed_skill_is_matched_by_another_process_and_goes_again(own_on_both: Bench) -> None:
    own, admin = own_on_both, own_on_both.admin()
    answer = own.api.post("/skills/install", json={"definition": DEFINITION}, headers=admin)
    assert answer.json() == {"ok": True, "key": "rare_earth"}
    assert listed(own)["rare_earth"]["builtin"] is False
    again = own.api.post("/skills/install", json={"definition": DEFINITION}, headers=admin)
    assert (again.status_code, "rare_earth" in again.json()["detail"]) == (409, True)
    taken = {**DEFINITION, "key": "stock_overview"}
    assert own.api.post("/skills/install", json={"definition": taken}, headers=admin).status_code == 409

    with running(make_app(own.url, own.folder, Ticks())) as other:
        skills = other.app.state.platform.part(Skills)
        found = other.call(skills.matching, "稀土配额对估值的影响")
        assert [one.key for one in found] == ["rare_earth", "valuation_range"]
        assert "先看价格与配额。" in prompt_block(found)
        named = other.call(skills.matching, "稀土", ["risk_screening", "dividend_return"])
        assert [one.key for one in named] == ["risk_screening", "rare_earth"]  # the other one is off
        own.api.post("/skills/rare_earth/toggle", json={"enabled": False}, headers=admin)
        assert other.call(skills.matching, "稀土") == []
    assert own.api.post("/skills/rare_earth/uninstall", headers=admin).json() == {"ok": True}
    assert "rare_earth" not in listed(own)


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({}, "key"),
        ({"definition": {**DEFINITION, "key": "Bad Key"}}, "definition.key"),
        ({"definition": {**DEFINITION, "text": "长" * 2001}}, "definition.text"),
        ({"definition": {**DEFINITION, "text": "   "}}, "definition.text"),
        ({"definition": {**DEFINITION, "text": "a\u202eb"}}, "definition.text"),
        ({"definition": {**DEFINITION, "triggers": []}}, "definition.triggers"),
        ({"definition": {**DEFINITION, "triggers": ["x"] * 21}}, "definition.triggers"),
        ({"definition": {**DEFINITION, "reads": ["get_nothing"]}}, "definition.reads"),
        ({"definition": {**DEFINITION, "more": 1}}, "definition.more"),
        ({"definition": DEFINITION, "key": "other_key"}, "key"),
    ],
)
def test_a_bad_definition_names_the_parameter(own: Bench, body: dict[str, Any], name: str) -> None:
    answer = own.api.post("/skills/install", json=body, headers=own.admin())
    assert answer.status_code == 422
    assert name in answer.json()["detail"]


def test_so_many_are_installed_and_no_more(own: Bench) -> None:
    admin = own.admin()
    wishes = [{"definition": {**DEFINITION, "key": f"skill_{at}"}} for at in range(MOST_INSTALLED + 1)]
    statuses = [own.api.post("/skills/install", json=wish, headers=admin) for wish in wishes]
    assert [one.status_code for one in statuses] == [200] * MOST_INSTALLED + [422]


def test_without_a_database_the_shipped_ones_are_as_shipped(own: Bench) -> None:
    own.lose_database()
    assert sum(one["enabled"] for one in listed(own).values()) == 9
