"""The group of commands: help without loading them, errors with the parameter and an exit code."""

import subprocess
import sys
from pathlib import Path

import pytest

import ashare.commands
from ashare.main import COMMANDS, main
from tests.ashare.bash import InteractiveBash

HEAVY = ("pandas", "numpy", "sqlalchemy", "dagster", "fastapi", "numba", "pydantic")


def test_every_command_has_its_module_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(str(ashare.commands.__file__)).parent
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}

    assert modules == set(COMMANDS)
    for name in COMMANDS:
        assert main([name, "--help"]) == 0
        assert f"ashare {name}" in capsys.readouterr().out


def test_help_of_every_command_loads_no_heavy_package() -> None:
    code = (
        "import sys; from ashare.main import COMMANDS, main; "
        "[main([*name, '--help']) for name in ([], *([one] for one in COMMANDS))]; "
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "[]"


def test_records_of_the_platform_do_not_reach_the_terminal_of_run() -> None:
    """The supervisor says each line once; its records go to its file."""
    code = (
        "import logging; import schedules.supervisor.app as one; "
        "one.run = lambda: logging.getLogger('schedules').error('a record') or 0; "
        "from ashare.main import main; main(['run'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "ERROR" not in done.stdout + done.stderr


TYPED = {
    "ashare backf": "ashare backfill",
    "ashare user ad": "ashare user add",
    "ashare --js": "ashare --json",
    "ashare export fusion_kline_daily --ad": "ashare export fusion_kline_daily --adjust",
    "ashare export fusion_kline_daily --adjust q": "ashare export fusion_kline_daily --adjust qfq",
    "ashare restore {folder}/a-back": "ashare restore {folder}/a-backup/",
    "ashare backup --out {folder}/a-back": "ashare backup --out {folder}/a-backup/",
    "ashare import {folder}/bars-of": "ashare import {folder}/bars-of-a-vendor.csv",
    "ashare load kline_daily --no": "ashare load kline_daily --no-wait",
}


@pytest.mark.skipif(sys.platform == "darwin", reason="its bash is older than the script of click asks for")
def test_an_interactive_bash_completes_what_is_typed(tmp_path: Path) -> None:
    (tmp_path / "a-backup").mkdir()
    (tmp_path / "bars-of-a-vendor.csv").touch()
    typed = {begun.format(folder=tmp_path): whole.format(folder=tmp_path) for begun, whole in TYPED.items()}

    with InteractiveBash(tmp_path) as bash:
        bash.enter('eval "$(ashare completion bash)"')
        found = {begun: bash.completed(begun) for begun in typed}

    assert found == typed


def test_wrong_usage_is_exit_code_2_and_names_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backfill", "margin", "--to", "2026-08-03"]) == 2
    assert "--from" in capsys.readouterr().err
    assert main(["no-such-command"]) == 2
    assert "no-such-command" in capsys.readouterr().err


def test_a_setting_that_does_not_parse_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("API_PORT", "eighty")

    assert main(["lineage", "fusion_kline_daily", "code=600519"]) == 1
    assert "API_PORT" in capsys.readouterr().err
