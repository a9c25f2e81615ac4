"""Processes that hold the definitions return the memory of those that a reload replaced."""

import gc
import subprocess
import sys
import threading
import weakref
from pathlib import Path

from schedules.supervisor import process_plan
from schedules.supervisor.free_memory import free_regularly
from tests.schedules.test_silence import settings_of

MODULE = "schedules.supervisor.free_memory"
LOAD = """
import sys
print(sys.argv[1:], __name__)
"""


class Definitions:
    """A cycle, as those of a code location are."""

    def __init__(self) -> None:
        self.itself = self


def test_a_replaced_load_goes_without_a_growing_number_of_objects() -> None:
    gone, stopping = threading.Event(), threading.Event()
    gc.disable()
    try:
        weakref.finalize(Definitions(), gone.set)
        assert not gone.is_set()
        thread = free_regularly(stopping, 0.01)
        assert gone.wait(30)
    finally:
        gc.enable()
        stopping.set()
    thread.join(30)
    assert not thread.is_alive()


def test_the_module_runs_as_python_m_would(tmp_path: Path) -> None:
    (tmp_path / "some_module.py").write_text(LOAD, encoding="utf-8")
    command = [sys.executable, "-c", f"import sys; sys.path.append({str(tmp_path)!r}); import runpy"]
    command[-1] += (
        f"; sys.argv[1:] = ['some_module', '-x', '1']; runpy.run_module({MODULE!r}, None, '__main__')"
    )
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.split("\n")[0] == "['-x', '1'] __main__"


def test_daemon_and_webserver_are_started_with_it(tmp_path: Path) -> None:
    settings, ports = settings_of(tmp_path), process_plan.Ports(1, 1, 1, 1, (1,))
    for spec in (process_plan.daemon(settings, tmp_path, ports), process_plan.ui(settings, tmp_path, ports)):
        assert MODULE in spec.command, spec.name
