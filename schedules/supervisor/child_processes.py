"""Child processes: started in groups of their own, watched, restarted with backoff, stopped together.

One that gives no sign of life (`ChildSpec.sign`) leaves its stacks, is ended and started again.
"""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.clock import SystemClock, stamp
from core.errors import PlatformError
from resources.log_files import RotatingLog
from resources.logs import said
from resources.redact import redact
from schedules.supervisor.liveness import Sign
from schedules.supervisor.logs import pump
from schedules.supervisor.parent_watchdog import bound_command
from schedules.supervisor.processor_time import ProcessorTime, processor_time
from schedules.supervisor.stack_dumps import STACKS

POLL_S = 0.1
STOP_S = 15.0
BACKOFF_S = (1.0, 2.0, 5.0, 10.0, 30.0)
STEADY_S = 60.0
"""A child that lived so long starts its backoff from the beginning."""
LOOK_S, TELL_S = 1.0, 30.0
"""While a start waits: between two looks at the child's progress, and between two lines about it."""
IDLE_SHARE = 0.05
"""A child that wants less of a core than this, and writes nothing, makes no progress."""
LISTEN_S = 5.0
"""Between two questions for a sign of life."""
STACKS_S = 1.0
"""What a silent process is given for its stacks before TERM."""
END_S = 5.0
"""What it is given after TERM before KILL."""
LOOP_S, LOOP_ENDS = 600.0, 3
"""A child that ended so often within this time keeps ending: it is in a loop."""
MOST_STACKS = 1 << 20
"""Bytes of a file of stacks that a new process goes on with."""

Say = Callable[[str], None]
Mask = Callable[[str], str]


class ChildFailed(PlatformError):
    """A child died, or did not become ready, while the start waited for it."""


class Interrupted(PlatformError):
    """Somebody asked to stop during the start."""


@dataclass(frozen=True)
class ChildSpec:
    """One process: what to run, with what environment beside the supervisor's, and how it shows that it
    is ready (`ready`, asked every 0.1 s, until it has made no progress for `patience_s`). `sign` tells
    whether it lives; after `silence_s` without one it is ended, time in which it waited for a core not
    counted. `traced`: it writes its stacks at SIGUSR1."""

    name: str
    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    ready: Callable[[], bool] | None = None
    patience_s: float = 90.0
    sign: Sign | None = None
    silence_s: float = 60.0
    traced: bool = False


class Child:
    """One running (or dying) process of a spec."""

    def __init__(self, spec: ChildSpec, folder: Path, env: Mapping[str, str], mask: Mask) -> None:
        self.spec = spec
        self.log = RotatingLog(folder / f"{spec.name}.log")
        self.started = 0.0
        self.failures = 0
        self.restart_at: float | None = None
        self.restarts = 0
        self.last_exit: int | None = None
        self.since = ""
        self.heard = self.asked = 0.0
        self.ending: float | None = None
        self.termed = False
        self.ends: deque[float] = deque(maxlen=LOOP_ENDS)
        self.used = ProcessorTime()
        self.stacks = folder / f"{spec.name}.stacks"
        self._env = env
        self._mask = mask
        self._process: subprocess.Popen[bytes] | None = None
        self._pump: threading.Thread | None = None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def spawn(self, now: float) -> None:
        """Start it. From the main thread only: the parent-death signal belongs to the thread that forks."""
        self._process = subprocess.Popen(  # noqa: S603  commands are the specs' own
            bound_command(*self.spec.command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**self._env, **self.spec.env, **self._stacks_of_it()},
            start_new_session=True,
        )
        assert self._process.stdout is not None  # noqa: S101  asked for above
        self._pump = pump(self._process.stdout, self.log, mask=self._mask)
        self.started = now
        self.since = stamp(SystemClock().now())
        # What has not begun its work yet has no sign to give.
        self.heard = now + self.spec.patience_s
        self.asked = now
        self.restart_at = self.ending = None
        self.termed = False
        self.used = ProcessorTime()

    def _stacks_of_it(self) -> dict[str, str]:
        if not self.spec.traced:
            return {}
        if self.stacks.is_file() and self.stacks.stat().st_size > MOST_STACKS:
            self.stacks.unlink()
        return {STACKS: str(self.stacks)}

    def silent_s(self, now: float) -> float:
        """Seconds since its last sign of life; negative while it starts."""
        return now - self.heard

    def in_loop(self, now: float) -> bool:
        """Whether it keeps ending."""
        return len(self.ends) == LOOP_ENDS and now - self.ends[0] <= LOOP_S

    def facts(self, now: float) -> dict[str, Any]:
        """What others may know about it."""
        state = "running" if self.running else "restarting" if self.restart_at is not None else "ended"
        return {
            "pid": self.pid if self.running else None,
            "state": "silent" if self.running and self.ending is not None else state,
            "since": self.since,
            "restarts": self.restarts,
            "last_exit": self.last_exit,
            "in_loop": self.in_loop(now),
        }

    def end_silent(self, now: float) -> None:
        """One step of the end of a process that gives no sign: stacks, TERM, KILL. A stopped one is let go
        on, since it takes no signal but KILL."""
        if self.ending is None:
            self.ending = now
            if self.spec.traced and self._process is not None:
                with contextlib.suppress(OSError):
                    with self.stacks.open("ab") as file:
                        file.write(f"\n--- process {self.pid}, {stamp(SystemClock().now())}\n".encode())
                    os.kill(self._process.pid, signal.SIGUSR1)
            self.send(signal.SIGCONT)
        elif now - self.ending >= STACKS_S + END_S:
            self.send(signal.SIGKILL)
        elif now - self.ending >= STACKS_S and not self.termed:
            self.termed = True
            self.send(signal.SIGTERM)

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


class ChildProcesses:
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
        most_start_s: float = 1800.0,
    ) -> None:
        """`mask` takes the secrets out of what children print. `most_start_s`: how long a start waits for
        one child, whatever progress it makes."""
        self._logs = logs
        self._env = dict(env)
        self._say = say
        self._stop_s = stop_s
        self._backoff = backoff_s
        self._changed = changed
        self._mask = mask
        self._most_start_s = most_start_s
        self.children: dict[str, Child] = {}
        self.stopping = threading.Event()

    def start(self, spec: ChildSpec, *, wait: bool = True) -> None:
        """Start a child and, by default, wait until it is ready."""
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
        began = looked = told = time.monotonic()
        idle, size, used = 0.0, -1, ProcessorTime()
        while ready is not None and not ready():
            if self.stopping.is_set():
                raise Interrupted("stopped during the start")
            code = child.exit_code()
            if code is not None:
                raise ChildFailed(f"{name} ended with {code} at its start: {self._last_words(child)}")
            now = time.monotonic()
            if now - looked >= LOOK_S:
                before, used = used, processor_time(child.pid or 0)
                written, size = size, child.log.path.stat().st_size if child.log.path.exists() else 0
                wanted = used.wanted_s - before.wanted_s
                works = wanted >= IDLE_SHARE * (now - looked) or size > written
                idle, looked = 0.0 if works else idle + now - looked, now
            if idle > child.spec.patience_s:
                raise ChildFailed(f"{name} has done nothing for {idle:.0f} s, see {child.log.path}")
            if now - began > self._most_start_s:
                raise ChildFailed(
                    f"{name} is not ready after {now - began:.0f} s (START_LIMIT_S), see {child.log.path}"
                )
            if now - told >= TELL_S:
                told = now
                self._say(
                    f"waiting for {name}: {now - began:.0f} s, it ran {used.ran_s:.0f} s and waited "
                    f"{used.waited_s:.0f} s for a core"
                )
            self.stopping.wait(POLL_S)

    def listen(self, look: Callable[[], None] = lambda: None, *, every_s: float = 0.0) -> threading.Thread:
        """Ask every child for a sign of life until the family stops, in a thread: an answer may take long.
        `look` is called beside it, every `every_s` seconds."""

        def ask() -> None:
            due = 0.0
            while not self.stopping.wait(LISTEN_S):
                if time.monotonic() >= due:
                    due = time.monotonic() + every_s
                    look()
                self.ask()

        thread = threading.Thread(target=ask, name="signs", daemon=True)
        thread.start()
        return thread

    def ask(self) -> None:
        """One question to each child that runs. Where nobody can tell, it counts as heard; what it waited
        for a core is no silence."""
        for child in list(self.children.values()):
            sign, pid = child.spec.sign, child.pid
            if sign is None or pid is None or not child.running:
                continue
            lives = sign(pid) is not False
            used = processor_time(pid)
            now, waited = time.monotonic(), used.waited_s - child.used.waited_s
            child.used = used
            if child.pid == pid:
                starved = min(waited, now - child.asked)
                child.heard = now if lives else max(child.heard, min(now, child.heard + starved))
                child.asked = now

    def processes(self) -> dict[str, dict[str, Any]]:
        now = time.monotonic()
        return {name: child.facts(now) for name, child in self.children.items()}

    def watch(self) -> None:
        """One look: say who died or is silent, end who is silent, restart who is due."""
        now = time.monotonic()
        for name, child in self.children.items():
            if child.restart_at is not None:
                if now >= child.restart_at:
                    child.spawn(now)
                    child.restarts += 1
                    self._say(f"{name} restarted as process {child.pid}")
                    self._changed()
                continue
            code = child.exit_code()
            if code is None:
                self._look_for_silence(child, now)
                continue
            child.send(signal.SIGKILL)  # what it left in its group
            child.last_exit = code
            child.ends.append(now)
            child.failures = 1 if now - child.started > STEADY_S else child.failures + 1
            pause = self._backoff[min(child.failures, len(self._backoff)) - 1]
            child.restart_at = now + pause
            self._say(f"{name} ended with {code}, restarting in {pause:g} s: {self._last_words(child)}")
            if child.in_loop(now):
                self._say(
                    f"warning: {name} keeps ending, {LOOP_ENDS} times within the last "
                    f"{LOOP_S / 60:.0f} minutes; see {child.log.path}"
                )
            self._changed()

    def _look_for_silence(self, child: Child, now: float) -> None:
        silent = child.spec.sign is not None and child.silent_s(now) > child.spec.silence_s
        if not silent and child.ending is None:
            return
        first = child.ending is None
        child.end_silent(now)
        if first:
            where = f"; its stacks are in {child.stacks}" if child.spec.traced else ""
            self._say(
                f"{child.spec.name} (process {child.pid}) has given no sign of life for "
                f"{child.silent_s(now):.0f} s, ending it{where}"
            )
            self._changed()

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
