"""`python -m schedules.commands.worker`: claims commands and carries them out: their runs are launched by
Dagster, and watched.

Two lanes (threads): one for commands of many minutes, one for the rest. A third thread keeps the node's
and the commands' heartbeats, a fourth makes changed trigger times effective, a fifth follows backfills.
"""

import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Mapping
from typing import Any

from core.errors import InputError, PlatformError, StorageError
from resources import logs, tracing
from resources.orchestrator import Orchestrator
from resources.redact import redact
from resources.settings import process_settings
from resources.spans import Span
from resources.warehouse.ledger.commands import BEAT_S, POLL_S, Command
from resources.warehouse.ledger.heartbeats import this_node
from schedules.commands import lane_heartbeats
from schedules.commands.backfill import BackfillWatch
from schedules.commands.command_context import GOING_DOWN, Handler, Stopped, Work
from schedules.commands.handlers import HANDLERS
from schedules.commands.kernel_compilation import compile_in_background, stop_compiling
from schedules.commands.operator_notices import try_tell
from schedules.commands.reaper import ROLE, reap_node, try_reap
from schedules.runs.outcome import JobRunner
from schedules.services import Services, open_services
from schedules.tasks.location_reload import RetimeWatcher

log = logging.getLogger(__name__)
REAP_S = 60.0
LAST_WORDS_S = 8.0
"""How long a lane may take to end after SIGTERM; the supervisor kills after 15 s."""
PARENT_S = 1.0
LANES = (True, False)
"""Commands of many minutes, and the rest."""


class Worker:
    """One worker process. `run` works until `stop`."""

    def __init__(
        self,
        services: Services,
        runner: JobRunner,
        *,
        handlers: Mapping[str, Handler] | None = None,
        orchestrator: Orchestrator | None = None,
        instance: Any = None,
        beat_s: float = BEAT_S,
        lane_limit_s: float = lane_heartbeats.LIMIT_S,
    ) -> None:
        """A lane without a sign of life for `lane_limit_s` hangs, and with it the worker: its heartbeat
        stops."""
        self.services = services
        self.node = this_node(ROLE)
        self.stopping = threading.Event()
        self._runner = runner
        self._handlers = HANDLERS if handlers is None else handlers
        self._orchestrator = orchestrator
        self._instance = instance
        self._beat_s = beat_s
        self._pulses = lane_heartbeats.Pulses(lane_limit_s)
        self._active: dict[int, Command] = {}
        self._lock = threading.Lock()

    def run(self) -> bool:
        """Work until stopped. True when every lane came to its end; False when one had to be left behind
        (its command is queued again)."""
        self._beat()
        try_reap(self.services, self.node, self._instance)
        lanes = [
            threading.Thread(target=self._lane, args=(long,), name=_lane_name(long), daemon=True)
            for long in LANES
        ]
        for lane in lanes:
            self._pulses.watch(lane.name)
        others = [threading.Thread(target=self._keep_alive, name="heartbeat", daemon=True)]
        if self._orchestrator is not None:
            watcher = RetimeWatcher(self.services, self._orchestrator)
            backfills = BackfillWatch(self.services, self._runner)
            others += [
                threading.Thread(target=watch, args=(self.stopping,), name=name, daemon=True)
                for name, watch in (("retime", watcher.run), ("backfills", backfills.run))
            ]
        for thread in (*lanes, *others):
            thread.start()
        self.stopping.wait()
        for thread in lanes:
            thread.join(LAST_WORDS_S / len(lanes))
        ended = not any(thread.is_alive() for thread in lanes)
        if ended:
            self.services.heartbeats.forget(self.node.node_id)
        else:
            reap_node(self.services, self.node.node_id, self._instance)
        return ended

    def stop(self) -> None:
        self.stopping.set()

    def work_once(self, *, long: bool | None = None) -> Command | None:
        """Claim one command and carry it out; None when there is none. `long` limits it to a lane."""
        names = tuple(name for name, handler in self._handlers.items() if handler.long)
        which = {} if long is None else {"names" if long else "without": names}
        command = self.services.commands.claim(self.node.node_id, **which)
        if command is not None:
            self._carry_out(command)
        return command

    # -- threads ----------------------------------------------------------------------------------

    def _lane(self, long: bool) -> None:
        self._pulses.join(_lane_name(long))
        while not self.stopping.is_set():
            lane_heartbeats.alive()
            try:
                if self.work_once(long=long) is None:
                    self.stopping.wait(POLL_S)
            except StorageError as error:
                log.warning("queue: %s", error.message)
                self.stopping.wait(1.0)
        self._pulses.leave(_lane_name(long))

    def _keep_alive(self) -> None:
        since_reap = 0.0
        while not self.stopping.wait(self._beat_s):
            since_reap += self._beat_s
            try:
                self._beat()
            except StorageError as error:
                log.warning("heartbeat: %s", error.message)
            if since_reap >= REAP_S:
                since_reap = 0.0
                try_reap(self.services, self.node, self._instance)
                try_tell(self.services)

    def _beat(self) -> None:
        with self._lock:
            active = list(self._active.values())
        silent = self._pulses.silent()
        if silent:
            for name, seconds in silent.items():
                log.error("%s has given no sign of life for %.0f s: the heartbeat stops", name, seconds)
            return
        self.services.heartbeats.beat(
            self.node, {"commands": [{"id": item.id, "command": item.command} for item in active]}
        )
        for command in active:
            if not self.services.commands.beat(command):
                log.warning("command %s was taken over while it was worked on", command.id)

    # -- one command ------------------------------------------------------------------------------

    def _carry_out(self, command: Command) -> None:
        with self._lock:
            self._active[command.id] = command
        try:
            with (
                logs.bound(command_id=command.id),
                tracing.span(
                    f"command {command.command}",
                    "consumer",
                    {"ashare.command_id": command.id, "ashare.attempt": command.attempts},
                    parent=command.traceparent,
                ) as step,
            ):
                self._settle(command, step)
        finally:
            with self._lock:
                self._active.pop(command.id, None)

    def _settle(self, command: Command, step: Span) -> None:
        """Run the handler and write what came of it; nothing that a handler raises ends the worker."""
        queue = self.services.commands
        work = Work(
            command, self.services, self._runner, self.node.node_id, self.stopping, facts=dict(command.result)
        )
        log.info("command %s: %s", command.id, command.command)
        try:
            work.end_earlier_runs()
            result = self._handler(command.command).run(work)
        except Stopped as error:
            if error.message == GOING_DOWN:
                queue.give_back(command)
            else:
                queue.finish(command, "canceled", result=work.facts, error=error.message)
            step.set({"ashare.status": "canceled"})
        except PlatformError as error:
            facts = {**work.facts, "error_kind": type(error).__name__}
            queue.finish(command, "failed", result=facts, error=redact(error.message))
            step.fail(error.message)
        except Exception as error:
            trace = redact(traceback.format_exc())
            log.error("command %s failed\n%s", command.id, trace)  # noqa: TRY400  the redacted one
            facts = {**work.facts, "error_kind": type(error).__name__}
            queue.finish(command, "failed", result=facts, error=redact(f"{type(error).__name__}: {error}"))
            step.fail(type(error).__name__)
        else:
            queue.finish(command, "success", result=result)

    def _handler(self, name: str) -> Handler:
        try:
            return self._handlers[name]
        except KeyError:
            raise InputError("command", f"{name!r} is unknown to this worker") from None


def _lane_name(long: bool) -> str:
    return f"lane-{'long' if long else 'short'}"


def watch_parent(pid: int, stopping: threading.Event) -> None:
    """Stop when the process that started us is gone (macOS has no signal for that)."""
    while not stopping.wait(PARENT_S):
        if os.getppid() != pid:
            stopping.set()


def main() -> int:
    try:
        logs.configure(process_settings(), "worker")
        tracing.configure(process_settings(), "worker")
        services = open_services()
    except PlatformError as error:
        sys.stderr.write(f"{redact(error.message)}\n")
        return 1
    # Dagster takes a second or two to import, which is no use to who only looks at this module.
    from dagster import DagsterInstance  # noqa: PLC0415

    from schedules.runs.launching import LaunchedRuns  # noqa: PLC0415

    orchestrator = Orchestrator.of(services.settings)
    instance = DagsterInstance.get()
    worker = Worker(
        services, LaunchedRuns(orchestrator, instance), orchestrator=orchestrator, instance=instance
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: worker.stop())
    parent = os.environ.get("APP_PARENT_PID")
    if parent:
        threading.Thread(
            target=watch_parent, args=(int(parent), worker.stopping), name="parent", daemon=True
        ).start()
    compile_in_background()
    try:
        ended = worker.run()
    except PlatformError as error:
        sys.stderr.write(f"{redact(error.message)}\n")
        return 1
    finally:
        stop_compiling()
    if not ended:
        os._exit(0)  # a lane still waits for something
    return 0


if __name__ == "__main__":
    sys.exit(main())
