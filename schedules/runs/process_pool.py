"""Runs in processes of their own: started ahead of time, one run each at a time, watched by the worker."""

import contextlib
import json
import logging
import os
import queue
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from core.errors import NotFound, PlatformError
from core.stopping import stop_reason
from schedules.commands import lane_heartbeats
from schedules.runs.outcome import RunOptions, RunOutcome

log = logging.getLogger(__name__)

LOOK_S = 0.1
"""How often a run that is waited for is asked whether somebody wants it to end."""
TAKE_S = 1.0
"""How often who waits for a process says that it waits."""
STOP_S = 180.0
"""A run that does not reach a safe point for so long after it was asked to stop is ended."""
START_S = 180.0
"""How long a process may take until it is ready."""
START_TRIES = 3
"""So many processes in a row that do not start fail the run that waits for one."""
DIED = "its process died"
HUNG = f"it reached no safe point within {STOP_S:.0f} s of being asked to stop"
COMMAND = (sys.executable, "-m", "schedules.runs.process")


class RunProcessDied(PlatformError):
    """A run process ended by itself."""


class RunProcess:
    """One child and the two pipes to it. Used by one thread at a time."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        answers, theirs = os.pipe()
        try:
            # A session of its own: a signal to the worker's group is the worker's to hand on.
            self._child = subprocess.Popen(  # noqa: S603  our own modules
                [*command, str(theirs)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs,),
                env=environment,
                start_new_session=True,
            )
        except OSError:
            os.close(answers)
            raise
        finally:
            os.close(theirs)
        self._answers = answers
        self._buffer = b""
        self.jobs: frozenset[str] = frozenset()

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def alive(self) -> bool:
        return self._child.poll() is None

    def wait_ready(self) -> None:
        """Until the definitions are loaded. Raises RunProcessDied."""
        said = self.answer(START_S)
        if said is None:
            raise RunProcessDied(f"a run process was not ready after {START_S:.0f} s")
        self.jobs = frozenset(said["ready"])

    def say(self, **what: Any) -> None:
        """Raises RunProcessDied when nobody listens any more."""
        pipe = self._child.stdin
        try:
            if pipe is not None:
                pipe.write(json.dumps(what, ensure_ascii=False).encode() + b"\n")
                pipe.flush()
        except OSError as error:
            raise RunProcessDied(DIED) from error

    def answer(self, timeout: float) -> dict[str, Any] | None:
        """The next answer; None when none comes in time. Raises RunProcessDied."""
        end = time.monotonic() + timeout
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                return None
            part = os.read(self._answers, 65_536)
            if not part:
                raise RunProcessDied(DIED)
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\n")
        said: dict[str, Any] = json.loads(line)
        return said

    def kill(self) -> None:
        """End it now. From any thread: a thread that waits for it sees that it died."""
        with contextlib.suppress(OSError):
            self._child.kill()
        self._child.wait()

    def discard(self) -> None:
        """End it and give back the pipes; by its user alone: a closed descriptor may be given out again."""
        self.kill()
        if self._child.stdin is not None:
            with contextlib.suppress(OSError):
                self._child.stdin.close()
        if self._answers >= 0:
            os.close(self._answers)
            self._answers = -1


class RunPool:
    """A JobRunner whose runs each have a process for themselves; `size` of them are ready ahead of time.

    `open_instance` gives Dagster's instance (opened at the first use). `on_death(run_id, reason)` sets right
    what a run left whose process ended under it.
    """

    def __init__(
        self,
        open_instance: Callable[[], Any],
        *,
        size: int,
        on_death: Callable[[str, str], None],
        command: Sequence[str] = COMMAND,
    ) -> None:
        self._open_instance = open_instance
        self._instance: Any = None
        self._on_death = on_death
        self._command = command
        # A process that is started later, in another's place, has the settings of the first ones.
        self._environment = dict(os.environ)
        self._idle: queue.SimpleQueue[RunProcess | Exception] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._all: set[RunProcess] = set()
        self._busy: set[RunProcess] = set()
        self._jobs: frozenset[str] | None = None
        self._closed = False
        for _ in range(size):
            self._start_another()

    @property
    def instance(self) -> Any:
        with self._lock:
            if self._instance is None:
                self._instance = self._open_instance()
            return self._instance

    @property
    def busy(self) -> list[int]:
        """Ids of the processes that execute a run now."""
        with self._lock:
            return [process.pid for process in self._busy]

    def has(self, job: str) -> bool:
        if self._jobs is None:
            self._idle.put(self._take())
        return job in (self._jobs or ())

    def terminated(self, run_id: str) -> bool:
        """*Terminate* in the Dagster UI leaves a mark on the run (see `run_launcher`)."""
        from schedules.runs.records import is_terminated  # noqa: PLC0415  the worker starts without Dagster

        return is_terminated(self.instance, run_id)

    def run(self, job: str, *, run_id: str, **how: Unpack[RunOptions]) -> RunOutcome:
        """Execute a job in a process that has no other run. NotFound when there is none of this name; a
        failing run is an outcome, also one whose process dies. It ends at a safe point when the work that it
        belongs to is asked to stop (`core.stopping`)."""
        process = self._take()
        if job not in process.jobs:
            self._idle.put(process)
            raise NotFound(f"no job {job!r}")
        with self._lock:
            self._busy.add(process)
        try:
            process.say(run={"job": job, "run_id": run_id, **how})
            outcome = self._outcome(process)
        except RunProcessDied as error:
            self._replace(process)
            return self._end_of(run_id, error.message)
        finally:
            with self._lock:
                self._busy.discard(process)
        self._idle.put(process)
        return RunOutcome(**outcome)

    def close(self) -> None:
        """End every process; a run that is at work ends with it."""
        with self._lock:
            self._closed = True
            processes, self._all = self._all, set()
        for process in processes:
            process.kill()
        with contextlib.suppress(queue.Empty):
            while True:
                idle = self._idle.get_nowait()
                if isinstance(idle, RunProcess):
                    idle.discard()

    # -- inside -------------------------------------------------------------------------------------

    def _end_of(self, run_id: str, reason: str) -> RunOutcome:
        """How a run ended whose process died: as Dagster has it when the run came to its end before."""
        from schedules.runs.records import DagsterRuns  # noqa: PLC0415  the worker starts without Dagster

        fate = DagsterRuns(self.instance).fate(run_id)
        if fate is not None and fate.status != "open":
            return RunOutcome(
                run_id,
                fate.status == "success",
                fate.reason,
                canceled=fate.status == "canceled",
                partial=fate.status == "partial",
            )
        self._on_death(run_id, reason)
        # Of a pool that was closed under it: the command is given back.
        return RunOutcome(run_id, False, reason, canceled=self._closed)

    def _outcome(self, process: RunProcess) -> dict[str, Any]:
        """Wait for the run's end, and hand on a request to stop. Raises RunProcessDied."""
        asked_at: float | None = None
        while True:
            lane_heartbeats.alive()
            said = process.answer(LOOK_S)
            if said is not None:
                found: dict[str, Any] = said["outcome"]
                return found
            if asked_at is not None:
                if time.monotonic() - asked_at > STOP_S:
                    raise RunProcessDied(HUNG)
                continue
            reason = stop_reason()
            if reason is not None:
                asked_at = time.monotonic()
                process.say(stop=reason)

    def _take(self) -> RunProcess:
        """A process that is ready; waits for one. Raises PlatformError when none can be started."""
        failures = 0
        while True:
            lane_heartbeats.alive()
            try:
                found = self._idle.get(timeout=TAKE_S)
            except queue.Empty:
                continue
            if isinstance(found, Exception):
                self._start_another()
                failures += 1
                if failures == START_TRIES:
                    raise PlatformError(f"no run process: {found}")
                continue
            if found.alive:
                return found
            log.warning("run process %s ended while it was idle", found.pid)
            self._replace(found)

    def _replace(self, process: RunProcess) -> None:
        with self._lock:
            self._all.discard(process)
        process.discard()
        self._start_another()

    def _start_another(self) -> None:
        """In the background: nobody waits for a process that nobody needs yet."""
        threading.Thread(target=self._start_one, name="run-process", daemon=True).start()

    def _start_one(self) -> None:
        process: RunProcess | None = None
        try:
            with self._lock:
                if self._closed:
                    return
                process = RunProcess(self._command, self._environment)
                self._all.add(process)
            process.wait_ready()
        except (OSError, PlatformError) as error:
            if process is not None:
                with self._lock:
                    self._all.discard(process)
                process.discard()
            if not self._closed:
                log.warning("a run process did not start: %s", error)
                self._idle.put(error)
            return
        self._jobs = process.jobs
        self._idle.put(process)
