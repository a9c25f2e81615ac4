"""/notes over HTTP: what is stored, newest first, and asked for by administrators."""

import json
from datetime import datetime
from typing import Any

import pytest

from platform_assets.notes.notes import Note
from platform_assets.notes.store import MORNING, REVIEW, store
from platform_assets.task_table import TASKS
from resources.warehouse.ledger.tasks_state import TaskTable
from tests.serving_api.admin.conftest import FetchContext

NOW = datetime(2026, 8, 21, 16, 6)
SECTIONS = [{"key": "indices", "title": "主要指数", "lines": ["上证指数上涨1.00%。"], "evidence": ["E1"]}]


def written(
    bare: FetchContext, table: str, day: str, content: str = "上证指数上涨1.00%。", source: str = "local_rule"
) -> bool:
    note = Note(f"{day} 复盘", content, SECTIONS, {"source": source, "evidence": []}, source)
    return store(bare.warehouse.engine, table, day, note, NOW)


def items(bare: FetchContext, path: str, **query: Any) -> list[Any]:
    answer = bare.api.get(path, params=query)
    assert answer.status_code == 200, answer.text
    reported: list[Any] = answer.json()["items"]
    return reported


def reach(bare: FetchContext, path: str, **params: Any) -> tuple[str | None, str | None]:
    reported = bare.api.get(path, params=params).json()
    return reported["first_date"], reported["note"]


def test_a_note_is_served_when_it_is_written_and_another_sources_stays(bare: FetchContext) -> None:
    assert items(bare, "/notes/daily-review") == []
    assert written(bare, REVIEW, "2026-08-20")
    assert written(bare, REVIEW, "2026-08-21")
    assert [row["date"] for row in items(bare, "/notes/daily-review")] == ["2026-08-21", "2026-08-20"]
    (row,) = items(bare, "/notes/daily-review", date="20260821")
    assert (row["source"], row["sections"]) == ("local_rule", SECTIONS)
    assert row["source_summary"] == {"source": "local_rule", "evidence": []}
    assert row["created_at"].endswith("+08:00")
    assert items(bare, "/notes/morning") == []
    assert reach(bare, "/notes/morning") == (None, "nothing is stored yet")
    assert reach(bare, "/notes/daily-review") == ("2026-08-20", None)
    assert reach(bare, "/notes/daily-review", date="2026-08-19") == (
        "2026-08-20",
        "nothing is stored of 2026-08-19; the first stored date is 2026-08-20",
    )
    assert len(items(bare, "/notes/daily-review", page=2, page_size=1)) == 1

    assert written(bare, REVIEW, "2026-08-21", "更新")
    assert items(bare, "/notes/daily-review")[0]["content"] == "更新"
    bare.execute("UPDATE note_daily_review SET source=?", "ai")
    assert not written(bare, REVIEW, "2026-08-21", "rules")
    assert items(bare, "/notes/daily-review")[0]["content"] == "更新"
    assert written(bare, REVIEW, "2026-08-21", "of a newer model", source="ai")
    assert items(bare, "/notes/daily-review")[0]["content"] == "of a newer model"
    bare.execute("UPDATE note_daily_review SET source=?", "manual")
    assert not written(bare, REVIEW, "2026-08-21", "of a model", source="ai")
    assert written(bare, REVIEW, "2026-08-19")
    assert written(bare, REVIEW, "2026-08-19", "of a model", source="ai"), "rules give way to a model"
    assert written(bare, MORNING, "2026-08-21")
    assert bare.scalar("SELECT row_count FROM table_version WHERE table_name='note_morning'") == 1


@pytest.mark.parametrize(("query", "named"), [({"date": "2026-13-01"}, "date"), ({"page": 0}, "page")])
def test_wrong_questions_are_named(bare: FetchContext, query: dict[str, Any], named: str) -> None:
    answer = bare.api.get("/notes/morning", params=query)
    assert (answer.status_code, named in answer.json()["detail"]) == (422, True)


def test_writing_is_asked_of_the_platform_by_administrators(bare: FetchContext) -> None:
    assert bare.api.post("/notes/morning/generate").status_code == 401
    assert bare.send("POST", "/notes/evening/generate").status_code == 422
    wrong = bare.send("POST", "/notes/morning/generate", json={"date": "2020-01-02"})
    assert (wrong.status_code, "date" in wrong.json()["detail"]) == (422, True)
    TaskTable(bare.warehouse.engine).publish(TASKS)
    asked = bare.send("POST", "/notes/daily-review/generate").json()
    assert (asked["status"], asked["date"], asked["source"]) == ("accepted", "2026-08-20", "local_rule")
    command = bare.scalar("SELECT args_json FROM sys_command WHERE id=?", asked["commandId"])
    assert json.loads(command)["job"] == "daily_review"
    assert bare.send("POST", "/notes/daily-review/generate").status_code == 409
