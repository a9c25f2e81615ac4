"""Notes of the day in runs of Dagster: written from what is stored, traceable to it, never over another's."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from resources.mail.settings import PASSWORD_KEY, SMTP_KEY
from resources.secret_files import settings_box
from resources.warehouse.engine import transaction
from resources.warehouse.sql import Sql
from schedules.runs.outcome import RunOutcome
from schedules.services import Services
from tests.definitions.conftest import BANK
from tests.definitions.in_process import InProcessRuns
from tests.definitions.test_portfolio_run import put, watch
from tests.definitions.test_sync_runs import carried_out
from tests.mail.server import PASSWORD, USER, Inbox, smtp_server
from tests.models_api.fake import Asked, Fails, fake_models

DAY, NEXT = "2026-08-21", "2026-08-24"
RUN = "-1111-1111-1111-111111111111"


def run(runner: InProcessRuns, job: str, number: int) -> RunOutcome:
    return runner.run(job, run_id=f"{number:08d}{RUN}")


def note(services: Services, table: str, day: str) -> dict[str, Any]:
    columns = ("title", "content", "sections_json", "source", "source_summary_json")
    statement = Sql(services.engine).text(f"SELECT {', '.join(columns)} FROM {table} WHERE date=?")
    with services.engine.connect() as connection:
        row = dict(zip(columns, connection.exec_driver_sql(statement, (day,)).one(), strict=True))
    reported = {name: json.loads(row[f"{name}_json"]) for name in ("sections", "source_summary")}
    return {**row, "sections": reported["sections"], "summary": reported["source_summary"]}


def stored_value(services: Services, fact: dict[str, Any]) -> Any:
    """The column of the row that a piece of evidence names, asked of the table itself."""
    sql = Sql(services.engine)
    where = " AND ".join(f"{sql.name(name)}=?" for name in fact["key"])
    statement = sql.text(f"SELECT {sql.name(fact['column'])} FROM {sql.name(fact['table'])} WHERE {where}")
    with services.engine.connect() as connection:
        return connection.exec_driver_sql(statement, tuple(fact["key"].values())).scalar_one()


def test_the_notes_of_a_day_say_what_is_stored_and_nothing_else(
    services: Services, runner: InProcessRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = run(runner, "daily_review", 1)
    assert (empty.success, "nothing is stored" in str(empty.error)) == (False, True)
    for job in ("security_list", "fusion_kline_sync", "market_phase_sync"):
        assert carried_out(services, runner, job, partition_key=DAY).status == "success", job

    monkeypatch.setenv("SAMPLE_NOW", f"{DAY}T16:05")
    assert run(runner, "daily_review", 2).success
    review = note(services, "note_daily_review", DAY)
    assert (review["source"], review["title"]) == ("local_rule", f"{DAY} 复盘")
    assert [section["key"] for section in review["sections"]] == ["indices", "breadth", "extremes"]
    assert f"{DAY}的资金流向" in review["summary"]["missing"]

    monkeypatch.setenv("SAMPLE_NOW", f"{NEXT}T06:30")
    assert run(runner, "morning_note", 3).success
    morning = note(services, "note_morning", NEXT)
    assert {"overnight", "indices", "breadth", "extremes"} <= {one["key"] for one in morning["sections"]}

    for reported in (review, morning):
        assert reported["summary"]["unbound"] == []
        facts = [fact for fact in reported["summary"]["evidence"] if fact["key"]]
        assert len(facts) > 15
        assert all(stored_value(services, fact) == fact["value"] for fact in facts)
        assert all(fact["as_of"][:10] <= reported["summary"]["as_of"][:10] for fact in facts)
        assert all(
            line in reported["content"] for section in reported["sections"] for line in section["lines"]
        )

    sql = Sql(services.engine)
    with transaction(services.engine) as connection:
        connection.exec_driver_sql(
            sql.text("UPDATE note_morning SET source='ai', content=? WHERE date=?"), ("of a model", NEXT)
        )
    assert run(runner, "morning_note", 4).success
    assert note(services, "note_morning", NEXT)["content"] == "of a model"

    by_a_model(services, runner, monkeypatch)


def by_a_model(services: Services, runner: InProcessRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a key, the same pack in the words of a model; without credit, the rules again, and why."""
    monkeypatch.setenv("SAMPLE_NOW", f"{DAY}T16:05")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    with fake_models(Fails(401, "authentication_error", "invalid x-api-key")) as fake:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", fake.url)
        assert run(runner, "daily_review", 9).success, "a refused key is no failed task"
        refused = note(services, "note_daily_review", DAY)
        assert refused["source"] == "local_rule"
        assert refused["summary"]["fallbackOf"] == "quant_prefill"
        assert "credentials are refused" in refused["summary"]["llmError"]

        fake.then(retold)
        assert run(runner, "daily_review", 10).success
        reported = note(services, "note_daily_review", DAY)
        assert (reported["source"], reported["summary"]["attempts"]) == ("ai", 1)
        assert [one["key"] for one in reported["sections"]] == [one["key"] for one in refused["sections"]]
        assert len(reported["summary"]["bindings"]) >= len(reported["sections"])
        assert all(
            stored_value(services, one) == one["value"]
            for one in reported["summary"]["evidence"]
            if one["key"]
        )

        fake.then(Fails(401))
        assert run(runner, "daily_review", 11).success
        assert note(services, "note_daily_review", DAY) == reported, "rules replace no note of a model"


def retold(seen: Asked) -> str:
    """An honest model: in each section it repeats the first piece of evidence that has a number."""
    parts = []
    for block in seen.said.split("小节：")[1:]:
        title, *facts = block.splitlines()
        reported = next(line.split("｜") for line in facts if re.search(r"\d", line.split("｜")[3]))
        parts.append(f"## {title}\n{reported[1]}的{reported[2]}为{reported[3]}[{reported[0]}]。")
    return "\n".join(parts)


def test_a_report_goes_out_once_a_day_and_again_only_after_a_refusal(
    services: Services, runner: InProcessRuns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert carried_out(services, runner, "security_list", partition_key=DAY).status == "success"
    watch(services, BANK)
    assert run(runner, "daily_report", 5).success, "without mail settings it ends at once"

    inbox = Inbox(answer="554 not now")
    with smtp_server(tmp_path, monkeypatch, inbox) as port:
        box = settings_box(services.settings.data_path)
        account = {
            "host": "localhost",
            "port": port,
            "user": USER,
            "from_addr": "desk@example.com",
            "enabled": True,
        }
        put(services, **{
            SMTP_KEY: json.dumps(account), PASSWORD_KEY: box.seal(json.dumps({"password": PASSWORD})),
        })  # fmt: skip
        refused = run(runner, "daily_report", 6)
        assert (refused.success, "refused the mail" in str(refused.error)) == (False, True)
        inbox.answer = "250 OK"
        inbox.mails.clear()
        for number in (7, 8):
            assert run(runner, "daily_report", number).success
        reports_by_a_model(services, runner, monkeypatch)

    texts = [mail.get_body(("plain",)) for mail in inbox.mails]
    ruled, refused_key, written = (text.get_content() for text in texts if text is not None)
    assert [mail["To"] for mail in inbox.mails] == ["desk@example.com"] * 3
    assert DAY in inbox.mails[0]["Subject"]
    for text in (ruled, refused_key):
        assert f"（{BANK}）：" in text
        assert "\n规则预填，非模型生成\n" in text
        assert "—" not in text
    assert "的最新价为" in written
    assert "数字已逐一核对。" in written


def reports_by_a_model(services: Services, runner: InProcessRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report twice more, as if none had gone out: by rules while the key is refused, then by a model."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    with fake_models(Fails(401, "authentication_error", "invalid x-api-key"), retold) as fake:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", fake.url)
        for number in (12, 13):
            (services.settings.data_path / "mail" / "sent.json").unlink()
            assert run(runner, "daily_report", number).success
