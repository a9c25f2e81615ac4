"""The group of commands: help without loading them, errors with the parameter and an exit code."""

import subprocess
import sys
from pathlib import Path

import pytest

import ashare.commands
from ashare.main import COMMANDS, main

HEAVY = ("pandas", "numpy", "sqlalchemy", "dagster", "fastapi", "numba", "pydantic")


def test_every_command_has_its_module_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(str(ashare.commands.__file__)).parent
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}

    assert modules == set(COMMANDS)
    for name in COMMANDS:
        assert main([name, "--help"]) == 0
        assert f"ashare {name}" in capsys.readouterr().out


def test_help_loads_no_heavy_package() -> None:
    code = (
        "import sys; from ashare.main import main; main(['--help']); "
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "[]"


def test_records_of_the_platform_do_not_reach_the_terminal_of_run() -> None:
    """The supervisor says each line once; its records go to its file."""
    code = (
        "import logging; import ashare.commands.run as one; "
        "one.run = lambda: logging.getLogger('schedules').error('a record') or 0; "
        "from ashare.main import main; main(['run'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "ERROR" not in done.stdout + done.stderr


def test_completion_knows_the_commands() -> None:
    words = {"_ASHARE_COMPLETE": "bash_complete", "COMP_WORDS": "ashare backf", "COMP_CWORD": "1"}
    script = "import sys; sys.argv = ['ashare']; from ashare.main import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=words, check=False
    )

    assert done.stdout.split() == ["plain,backfill"]


def test_a_shell_can_source_the_completion_script() -> None:
    script = subprocess.run(
        [sys.executable, "-m", "ashare", "completion", "bash"], capture_output=True, text=True, check=True
    ).stdout
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_wrong_usage_is_exit_code_2_and_names_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backfill", "margin", "--from", "2026-08-03"]) == 2
    assert "--to" in capsys.readouterr().err
    assert main(["no-such-command"]) == 2
    assert "no-such-command" in capsys.readouterr().err


def test_a_setting_that_does_not_parse_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("API_PORT", "eighty")

    assert main(["lineage", "fusion_kline_daily", "code=600519"]) == 1
    assert "API_PORT" in capsys.readouterr().err
