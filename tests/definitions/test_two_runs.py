"""The deadlock that run processes are there for, with the pinned Dagster."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.soak
def test_two_runs_in_one_process_hang(tmp_path: Path) -> None:
    """Green as long as the reason for the pool holds. Red: Dagster has mended it, one process would do."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.definitions.two_runs", str(tmp_path)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        timeout=600,
        check=False,
    )

    assert done.returncode == 1, "all runs came to their end"
    stacks = (tmp_path / "stacks").read_text()
    threads = stacks.split("Thread 0x")
    setting_up = [text for text in threads if "in dictConfig" in text]
    writing = [text for text in threads if "in emit" in text or "in handle" in text]
    assert setting_up, stacks
    assert [text for text in writing if text not in setting_up], stacks
