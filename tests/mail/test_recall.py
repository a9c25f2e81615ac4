"""Recall mails: which users get one, and that none gets two."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.engine import Engine

from core.clock import FrozenClock
from core.declaration.registry import builtin_registry
from platform_assets.definitions.mail_jobs import BATCH, inactive, recall_batch
from resources.composition import open_warehouse
from resources.settings import Settings
from resources.warehouse.engine import make_engine, transaction
from resources.warehouse.sql import Sql
from tests.mail.server import Inbox, smtp_server
from tests.mail.test_client import account

NOW = datetime(2026, 11, 23, 9, 10)
COLUMNS = ("username", "email", "password_hash", "role", "status", "last_login_at", "last_recall_sent_at")


@pytest.fixture
def engine(warehouse_url: str) -> Iterator[Engine]:
    settings = Settings(warehouse_url=warehouse_url)
    warehouse = open_warehouse(settings, builtin_registry(), FrozenClock(NOW))
    warehouse.migrate()
    warehouse.close()
    made = make_engine(warehouse_url)
    yield made
    made.dispose()


def add(engine: Engine, name: str, away: int, *, status: str = "active", recalled: int | None = None) -> None:
    def before(days: int) -> str:
        return (NOW - timedelta(days=days)).strftime("%Y-%m-%d %H:%M:%S")

    reported = None if recalled is None else before(recalled)
    values = (name, f"{name}@example.com", "x", "user", status, before(away), reported)
    with transaction(engine) as connection:
        connection.exec_driver_sql(Sql(engine).insert("app_users", COLUMNS), values)


def names(rows: list[dict[str, Any]]) -> list[str]:
    return [row["username"] for row in rows]


def test_a_user_who_was_away_for_a_month_is_recalled_once_a_month(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(engine, "here", 29)
    add(engine, "away", 31)
    add(engine, "longer", 90, recalled=31)
    add(engine, "told", 90, recalled=29)
    add(engine, "closed", 90, status="disabled")
    assert names(inactive(engine, NOW)) == ["longer", "away"]

    inbox = Inbox(refuses="longer@example.com")
    with smtp_server(tmp_path, monkeypatch, inbox) as port:
        sent, refused = recall_batch(engine, account(port), NOW)
        assert (sent, len(refused)) == (1, 1)
        assert names(inactive(engine, NOW)) == ["longer"], "refused: tried again at the next run"
        inbox.refuses, inbox.answer = "", None
        sent, refused = recall_batch(engine, account(port), NOW)
        assert (sent, len(refused)) == (0, 1)
        assert inactive(engine, NOW) == [], "it may have arrived: not sent again"
    assert [mail["To"] for mail in inbox.mails] == ["away@example.com", "longer@example.com"]
    text = inbox.mails[0].get_body(("plain",))
    assert text is not None
    assert "31 天没有登录" in text.get_content()


def test_a_batch_is_at_most_fifty(engine: Engine) -> None:
    for number in range(BATCH + 3):
        add(engine, f"user{number:02d}", 40 + number)
    found = names(inactive(engine, NOW))
    assert (len(found), found[0]) == (BATCH, f"user{BATCH + 2:02d}")
