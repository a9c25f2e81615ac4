"""Notification files: two processes at once, retention, and damaged files."""

import json
import multiprocessing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from core.errors import InputError, NotFound, PayloadError
from resources.notifications import KEEP_DAYS, NotificationStore

NOW = datetime(2026, 11, 23, 10, 0)


def _add(folder: Path, name: int) -> None:
    store = NotificationStore(folder)
    for number in range(25):
        store.add("test", f"{name}-{number}", "x", now=NOW)


def test_two_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    start = multiprocessing.get_context("spawn")
    both = [start.Process(target=_add, args=(tmp_path, name)) for name in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join(60)

    rows = list(NotificationStore(tmp_path).newest_first())
    assert len({row.title for row in rows}) == 50
    assert len({row.id for row in rows}) == 50
    assert [path.name for path in tmp_path.glob("*.json")] == ["2026-11-23.json"]


def test_a_subject_is_notified_once_a_day(tmp_path: Path) -> None:
    store = NotificationStore(tmp_path)
    first = store.add("portfolio_alert", "涨", "x", now=NOW, key="600040 up", code="600040")
    assert first is not None
    assert store.add("portfolio_alert", "涨", "x", now=NOW, key="600040 up") is None
    assert store.add("portfolio_alert", "跌", "x", now=NOW, key="600040 down") is not None
    assert store.add("portfolio_alert", "涨", "x", now=NOW + timedelta(days=1), key="600040 up") is not None


def test_marks_and_order(tmp_path: Path) -> None:
    store = NotificationStore(tmp_path)
    made = [store.add("test", str(i), "x", now=NOW + timedelta(days=i)) for i in range(3)]
    before = store.version()
    assert made[0] is not None
    store.mark_read(made[0].id)

    assert store.version() != before
    assert [(row.title, row.read) for row in store.newest_first()] == [
        ("2", False),
        ("1", False),
        ("0", True),
    ]
    assert store.mark_all_read() == 2
    assert store.mark_all_read() == 0
    with pytest.raises(NotFound):
        store.mark_read("20261123-9")
    with pytest.raises(InputError):
        store.mark_read("../../etc/passwd")


def test_old_days_go_and_a_damaged_file_is_left_as_it_is(tmp_path: Path) -> None:
    store = NotificationStore(tmp_path)
    store.add("test", "old", "x", now=NOW - timedelta(days=KEEP_DAYS + 1))
    (tmp_path / "2026-11-22.json").write_text("{half", encoding="utf-8")
    store.add("test", "new", "x", now=NOW)

    assert [row.title for row in store.newest_first()] == ["new"]
    assert sorted(path.name for path in tmp_path.glob("*.json")) == ["2026-11-22.json", "2026-11-23.json"]
    with pytest.raises(PayloadError):
        store.add("test", "on the damaged day", "x", now=NOW - timedelta(days=1))
    assert (tmp_path / "2026-11-22.json").read_text(encoding="utf-8") == "{half"
    assert json.loads((tmp_path / "2026-11-23.json").read_bytes())[0]["title"] == "new"
