"""Secrets that come as files: the command sees values, and errors name variables alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import InputError
from resources.secret_variables import with_secrets


def test_the_command_gets_the_value_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "db_password"
    file.write_text("p@ss word\n")
    shown = "import os; print(os.environ['DB_PASSWORD'], 'DB_PASSWORD_FILE' in os.environ)"
    command = [sys.executable, "-m", "resources.secret_variables", sys.executable, "-c", shown]
    env = {**os.environ, "DB_PASSWORD_FILE": str(file)}

    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)

    assert done.stdout == "p@ss word False\n"


def test_what_is_no_secret_keeps_its_variable() -> None:
    given = {"ENV_FILE": ".env", "SMTP_FILE": "x"}

    assert with_secrets(given) == given


@pytest.mark.parametrize("content", [None, "", b"\xff\xfe"])
def test_a_file_that_holds_no_secret_is_named(tmp_path: Path, content: str | bytes | None) -> None:
    file = tmp_path / "key"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())

    with pytest.raises(InputError, match="TAVILY_API_KEY_FILE"):
        with_secrets({"TAVILY_API_KEY_FILE": str(file)})


def test_a_value_and_a_file_are_refused_without_showing_it(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("hunter3")

    with pytest.raises(InputError) as refused:
        with_secrets({"DB_PASSWORD": "hunter2", "DB_PASSWORD_FILE": str(file)})
    assert "hunter" not in str(refused.value)


def test_without_a_command_or_with_an_unknown_one_it_ends() -> None:
    for arguments, code in (([], 2), (["no-such-command"], 1)):
        command = [sys.executable, "-m", "resources.secret_variables", *arguments]
        assert subprocess.run(command, capture_output=True, check=False).returncode == code
