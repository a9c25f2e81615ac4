"""`python -m schedules.runs.process <fd>`: executes Dagster runs for the worker that started it, one by one.

Started ahead of time, so that no command waits for Python, Dagster and the definitions. A run has the process
for itself: Dagster sets up logging for the whole process when a run begins, which two runs in one process do
not survive. Requests are lines of JSON on standard input:

    {"run": {"job", "run_id", "partition_key"?, "tags"?, "run_config"?}}  execute it
    {"stop": "<reason>"}                                                 end it at its next safe point

and answers lines of JSON on the file descriptor: `{"ready": [job, ...]}` once, then `{"outcome": {...}}` for
each run.
When standard input ends, the worker is gone: the process ends at once, and an open transaction rolls back.
"""

import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, TextIO

from core.stopping import stoppable
from resources import logs, tracing
from resources.settings import process_settings
from schedules.code_location import defs
from schedules.runs.execution import DagsterRunner
from schedules.runs.outcome import RunOutcome

NAME = "run"


class Requests:
    """What the worker says, read in a thread of its own, so that a stop reaches a run that is at work."""

    def __init__(self, source: TextIO) -> None:
        self._source = source
        self._runs: queue.SimpleQueue[Mapping[str, Any]] = queue.SimpleQueue()
        self._stop: str | None = None
        threading.Thread(target=self._listen, name="requests", daemon=True).start()

    def next_run(self) -> Mapping[str, Any]:
        """The next run; waits for it."""
        asked = self._runs.get()
        self._stop = None
        return asked

    def stop_reason(self) -> str | None:
        """Why the run at hand is to end; None while it is to go on."""
        return self._stop

    def _listen(self) -> None:
        for line in self._source:
            said = json.loads(line)
            if "run" in said:
                self._runs.put(said["run"])
            else:
                self._stop = str(said["stop"])
        os._exit(1)


def execute(runner: DagsterRunner, asked: Mapping[str, Any], requests: Requests) -> RunOutcome:
    """One run; whatever keeps it from starting is its failure."""
    try:
        with stoppable(requests.stop_reason), logs.bound(run_id=asked["run_id"]):
            return runner.run(**asked)
    except Exception as error:
        return RunOutcome(asked["run_id"], False, f"{type(error).__name__}: {error}")
    finally:
        # A run closes every log handler of its process.
        logs.configure(process_settings(), NAME)


def main() -> int:
    answers = os.fdopen(int(sys.argv[1]), "w", encoding="utf-8", buffering=1)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the worker decides, and its end is ours
    logs.configure(process_settings(), NAME)
    tracing.configure(process_settings(), NAME)
    requests = Requests(sys.stdin)
    runner = DagsterRunner(defs)

    def say(**what: Any) -> None:
        answers.write(json.dumps(what, ensure_ascii=False, default=str) + "\n")

    say(ready=runner.jobs())
    while True:
        say(outcome=asdict(execute(runner, requests.next_run(), requests)))


if __name__ == "__main__":
    sys.exit(main())
