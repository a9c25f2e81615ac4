"""`make dev`: which processes a changed file restarts, and that they come back with the new code."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from resources.redact import redact
from schedules.supervisor.child_processes import Child, ChildSpec
from schedules.supervisor.development import PACKAGES, RESTARTED, restart, restarted_by
from tests.docs.pages import ROOT


@pytest.mark.parametrize(
    ("changed", "restarted"),
    [
        (["serving_api/stocks/routes.py"], ["api"]),
        (["schedules/tasks/readiness.py"], ["code_server", "worker"]),
        (["platform_assets/pipeline/load.py", "serving_api/app.py"], ["code_server", "worker", "api"]),
        (["core/errors.py"], ["code_server", "worker", "api"]),
        (["platform_assets/datasets/news.py"], ["code_server", "worker", "api"]),
        (["simulated_market/faults.py"], ["simulated_market"]),
        (["schedules/supervisor/app.py"], []),
        ([], []),
    ],
)
def test_a_change_restarts_the_processes_that_import_it(changed: list[str], restarted: list[str]) -> None:
    assert restarted_by(changed) == restarted


def test_the_folders_of_the_table_exist() -> None:
    assert [name for name in PACKAGES if not (ROOT / name).is_dir()] == []
    assert [folder for folder, _ in RESTARTED if not (ROOT / folder).is_dir()] == []


def test_a_restarted_process_runs_the_code_as_it_is_now(tmp_path: Path) -> None:
    module = tmp_path / "program.py"
    module.write_text("import time\nprint('old code', flush=True)\ntime.sleep(60)\n", encoding="utf-8")
    child = Child(ChildSpec("program", (sys.executable, str(module))), tmp_path, dict(os.environ), redact)
    log = tmp_path / "program.log"

    def waits_for(text: str) -> bool:
        patience = time.monotonic() + 20
        while time.monotonic() < patience:
            if log.exists() and text in log.read_text(encoding="utf-8"):
                return True
            time.sleep(0.05)
        return False

    child.spawn(time.monotonic())
    try:
        assert waits_for("old code")
        first = child.pid
        module.write_text("import time\nprint('new code', flush=True)\ntime.sleep(60)\n", encoding="utf-8")

        restart(child)

        assert waits_for("new code")
        assert child.running
        assert child.pid != first
    finally:
        child.send(signal.SIGKILL)
        while child.running:
            time.sleep(0.01)
        child.close()
