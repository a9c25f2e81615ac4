"""`python -m schedules.supervisor.development`: what `make dev` starts: the platform as `make run` starts it,
and every process again whose code changed."""

import signal
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

import watchfiles

from resources.settings import Settings
from schedules.supervisor.app import Start, run
from schedules.supervisor.child_processes import END_S, POLL_S, Child
from schedules.supervisor.process_plan import API, CODE, SIMULATOR, WORKER

ROOT = Path(__file__).parents[2]
SHOWN = 3
"""Changed files that a line names."""
PACKAGES = ("core", "platform_assets", "resources", "schedules", "serving_api", "simulated_market")
_PIPELINE = (CODE, WORKER)
RESTARTED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("simulated_market", (SIMULATOR,)),
    ("platform_assets/pipeline", _PIPELINE),
    ("platform_assets/definitions", _PIPELINE),
    ("platform_assets/notes", _PIPELINE),
    ("platform_assets/documentation", ()),
    ("schedules/supervisor", ()),
    ("schedules", _PIPELINE),
    ("serving_api", (API,)),
    ("", (*_PIPELINE, API)),
)
"""Folder -> processes that import it; the first row that fits counts. The supervisor itself goes on with the
code that it was started with. Dagster's UI and daemon find the new code server by themselves."""


def restarted_by(changed: Iterable[str]) -> list[str]:
    """The processes that changed files concern, in the order in which they are restarted. Paths are relative
    to the project."""
    found = {
        name
        for path in changed
        for name in next(names for folder, names in RESTARTED if f"{path}/".startswith(folder))
    }
    return [name for name in (SIMULATOR, CODE, WORKER, API) if name in found]


class ReloadingStart(Start):
    """A start that watches the sources beside the processes."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._changed: set[str] = set()
        self._lock = threading.Lock()

    def watch(self) -> None:
        """Restart what dies and what changed, until the start is stopped."""
        threading.Thread(target=self._collect, name="sources", daemon=True).start()
        self._say("watching the sources: a process restarts when its code changes")
        while not self.child_processes.stopping.wait(POLL_S):
            self.child_processes.watch()
            with self._lock:
                changed, self._changed = self._changed, set()
            for name in restarted_by(changed):
                child = self.child_processes.children.get(name)
                if child is not None:
                    self._say(f"{name} restarts: {shown(changed)}")
                    restart(child)

    def _collect(self) -> None:
        folders = [ROOT / package for package in PACKAGES]
        stopping = self.child_processes.stopping
        for batch in watchfiles.watch(*folders, stop_event=stopping, raise_interrupt=False):
            paths = {
                str(Path(path).relative_to(ROOT)) for _, path in batch if path.endswith((".py", ".toml"))
            }
            with self._lock:
                self._changed |= paths


def shown(changed: set[str]) -> str:
    """The first changed files by name, and how many more there are."""
    names = sorted(changed)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def restart(child: Child) -> None:
    """End a process and start it from the code as it is now. From the main thread only, as `Child.spawn`."""
    child.send(signal.SIGTERM)
    deadline = time.monotonic() + END_S
    while child.running and time.monotonic() < deadline:
        time.sleep(POLL_S / 2)
    child.send(signal.SIGKILL)
    while child.running:
        time.sleep(POLL_S / 10)
    child.failures = 0
    child.spawn(time.monotonic())


if __name__ == "__main__":
    sys.exit(run(start_of=ReloadingStart))
