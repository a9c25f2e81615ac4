"""Old answers of the doctor and stacks of processes that hung go; what people made by hand stays."""

import os
from datetime import datetime
from pathlib import Path

from resources.folder_retention import shorten_folders

NOW = datetime(2026, 8, 24, 4, 30)


def test_old_files_go_and_what_was_made_by_hand_stays(tmp_path: Path) -> None:
    assert shorten_folders(tmp_path, NOW) == {}
    for name in ("2026-01-05-101500", "2026-08-20-101500"):
        (tmp_path / "answers" / name).mkdir(parents=True)
        (tmp_path / "answers" / name / "quote.json").write_text("{}", encoding="utf-8")
    for name in ("recordings/2020-01-02", "backups/20200102-203000"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "logs").mkdir()
    for name, day in (("worker.stacks", 1577934000), ("api.stacks", 1787500000), ("worker.log", 1577934000)):
        path = tmp_path / "logs" / name
        path.write_text("text", encoding="utf-8")
        os.utime(path, (day, day))

    assert shorten_folders(tmp_path, NOW) == {"answers": 1, "logs": 1}

    def names(folder: str) -> list[str]:
        return sorted(path.name for path in (tmp_path / folder).iterdir())

    assert names("answers") == ["2026-08-20-101500"]
    assert names("logs") == ["api.stacks", "worker.log"]
    assert names("recordings") + names("backups") == ["2020-01-02", "20200102-203000"]
