"""`ashare backup` and `ashare restore`: thin calls of what tests/resources/backup tests."""

import json
from pathlib import Path

import pytest

from ashare.main import main
from tests.resources.backup.installation import DAY, Installation, write


def test_a_backup_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made, other, folder = Installation(tmp_path / "data"), Installation(tmp_path / "other"), tmp_path / "copy"
    made.prepare()
    with made.warehouse() as warehouse:
        write(warehouse, DAY, 1.0)
        before = warehouse.query("SELECT code, close FROM fusion_bars ORDER BY code")
    monkeypatch.setenv("DATA_DIR", str(made.data))

    assert main(["--json", "backup", "--out", str(folder)]) == 0
    assert json.loads(capsys.readouterr().out)["manifest"]["warehouse"]["batches"] == 1
    assert main(["--json", "backup", "--out", str(folder)]) == 1
    assert main(["--json", "restore", str(folder)]) == 1  # there is data
    assert "error" in json.loads(capsys.readouterr().err.splitlines()[-1])

    monkeypatch.setenv("DATA_DIR", str(other.data))
    assert main(["restore", str(folder)]) == 0
    assert "restored" in capsys.readouterr().out
    with other.warehouse() as warehouse:
        assert warehouse.query("SELECT code, close FROM fusion_bars ORDER BY code") == before
