"""Child processes: started in groups of their own, watched, restarted with backoff, stopped together."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from resources.errors import PlatformError
from resources.log_files import RotatingLog
from resources.logs import said
from resources.transport.redact import redact
from schedules.supervisor import leash
from schedules.supervisor.logs import pump

POLL_S = 0.1
STOP_S = 15.0
BACKOFF_S = (1.0, 2.0, 5.0, 10.0, 30.0)
STEADY_S = 60.0
"""A child that lived so long starts its backoff from the beginning."""

Say = Callable[[str], None]
Mask = Callable[[str], str]


class ChildFailed(PlatformError):
    """A child died, or did not become ready, while the start waited for it."""


class Interrupted(PlatformError):
    """Somebody asked to stop during the start."""


@dataclass(frozen=True)
class ChildSpec:
    """One process: what to run, with what environment beside the supervisor's, and how it shows that it
    is ready (`ready`, asked every 0.1 s, at most `patience_s`)."""

    name: str
    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    ready: Callable[[], bool] | None = None
    patience_s: float = 90.0


class Child:
    """One running (or dying) process of a spec."""

    def __init__(self, spec: ChildSpec, folder: Path, env: Mapping[str, str], mask: Mask) -> None:
        self.spec = spec
        self.log = RotatingLog(folder / f"{spec.name}.log")
        self.started = 0.0
        self.failures = 0
        self.restart_at: float | None = None
        self._env = env
        self._mask = mask
        self._process: subprocess.Popen[bytes] | None = None
        self._pump: threading.Thread | None = None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def spawn(self, now: float) -> None:
        """Start it. From the main thread only: the parent-death signal belongs to the thread that forks."""
        command = [
            sys.executable,
            "-S",
            "-E",
            str(Path(leash.__file__)),
            str(os.getpid()),
            *self.spec.command,
        ]
        self._process = subprocess.Popen(  # noqa: S603  commands are the specs' own
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**self._env, **self.spec.env},
            start_new_session=True,
        )
        assert self._process.stdout is not None  # noqa: S101  asked for above
        self._pump = pump(self._process.stdout, self.log, mask=self._mask)
        self.started = now
        self.restart_at = None

    def exit_code(self) -> int | None:
        """None while it runs (or was never started)."""
        return None if self._process is None else self._process.poll()

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def send(self, number: signal.Signals) -> None:
        """Signal the whole group: a code server has children of its own."""
        if self._process is None:
            return
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            return  # the group is gone; macOS says 'not permitted' for a group of zombies

    def close(self) -> None:
        if self._pump is not None:
            self._pump.join(1.0)
        self.log.close()


class Family:
    """All children of one supervisor."""

    def __init__(
        self,
        logs: Path,
        env: Mapping[str, str],
        say: Say,
        *,
        stop_s: float = STOP_S,
        backoff_s: tuple[float, ...] = BACKOFF_S,
        changed: Callable[[], None] = lambda: None,
        mask: Mask = redact,
    ) -> None:
        """`mask` takes the secrets out of what children print."""
        self._logs = logs
        self._env = dict(env)
        self._say = say
        self._stop_s = stop_s
        self._backoff = backoff_s
        self._changed = changed
        self._mask = mask
        self.children: dict[str, Child] = {}
        self.stopping = threading.Event()

    def start(self, spec: ChildSpec, *, wait: bool = True) -> None:
        """Start a child and, unless told otherwise, wait until it is ready."""
        child = Child(spec, self._logs, self._env, self._mask)
        self.children[spec.name] = child
        child.spawn(time.monotonic())
        self._changed()
        if wait:
            self.wait_ready(spec.name)

    def wait_ready(self, name: str) -> None:
        """ChildFailed when it died or took too long, Interrupted when the start is to stop."""
        child = self.children[name]
        ready = child.spec.ready
        deadline = time.monotonic() + child.spec.patience_s
        while ready is not None and not ready():
            if self.stopping.is_set():
                raise Interrupted("stopped during the start")
            code = child.exit_code()
            if code is not None:
                raise ChildFailed(f"{name} ended with {code} at its start: {self._last_words(child)}")
            if time.monotonic() > deadline:
                raise ChildFailed(
                    f"{name} is not ready after {child.spec.patience_s:.0f} s, see {child.log.path}"
                )
            self.stopping.wait(POLL_S)

    def watch(self) -> None:
        """One look: say who died, and restart who is due."""
        now = time.monotonic()
        for name, child in self.children.items():
            if child.restart_at is not None:
                if now >= child.restart_at:
                    child.spawn(now)
                    self._say(f"{name} restarted as process {child.pid}")
                    self._changed()
                continue
            code = child.exit_code()
            if code is None:
                continue
            child.send(signal.SIGKILL)  # what it left in its group
            child.failures = 1 if now - child.started > STEADY_S else child.failures + 1
            pause = self._backoff[min(child.failures, len(self._backoff)) - 1]
            child.restart_at = now + pause
            self._say(f"{name} ended with {code}, restarting in {pause:g} s: {self._last_words(child)}")

    def stop(self) -> list[str]:
        """TERM to every group, KILL after `stop_s`. Returns the names that had to be killed."""
        for child in reversed(self.children.values()):
            if child.running:
                child.send(signal.SIGTERM)
        deadline = time.monotonic() + self._stop_s
        while any(child.running for child in self.children.values()) and time.monotonic() < deadline:
            time.sleep(POLL_S / 2)
        killed = [name for name, child in self.children.items() if child.running]
        for child in self.children.values():
            # Also where the leader is gone: a run that it started may live on in its group.
            child.send(signal.SIGKILL)
        for child in self.children.values():
            while child.running:
                time.sleep(POLL_S / 10)
            child.close()
        return killed

    def pids(self) -> dict[str, int]:
        return {
            name: child.pid
            for name, child in self.children.items()
            if child.running and child.pid is not None
        }

    def _last_words(self, child: Child) -> str:
        return child.log.tail(shown=said) or f"see {child.log.path}"
