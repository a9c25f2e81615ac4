"""Why a run has a process for itself: two runs in one process end in a deadlock.

`python -m tests.definitions.two_runs <folder>`: two threads, each executes a job that logs, again and again.
Where the instance has a logging set-up (`python_logs`), Dagster calls `logging.config.dictConfig` when a run
begins, which takes the lock of `logging` and then that of each handler; the other run's handler holds its
own, writes its line into the event storage, and wants the lock of `logging` for the debug line of a pool.
After HANG_S without the end of any run the stacks go to `<folder>/stacks`, and it ends with 1.
"""

import faulthandler
import sys
import threading
from pathlib import Path

import dagster as dg

RUNS = 100
HANG_S = 10.0
"""A run of this job takes a fraction of a second."""


@dg.op
def talk(context: dg.OpExecutionContext) -> None:
    for number in range(5):
        context.log.info(f"line {number}")


@dg.job
def chatter() -> None:
    talk()


def main() -> None:
    folder = Path(sys.argv[1])
    overrides = {"python_logs": {"python_log_level": "INFO"}}
    with (
        (folder / "stacks").open("w") as stacks,
        dg.DagsterInstance.local_temp(sys.argv[1], overrides) as made,
    ):

        def execute() -> None:
            for _ in range(RUNS):
                chatter.execute_in_process(instance=made)
                faulthandler.dump_traceback_later(HANG_S, exit=True, file=stacks)

        faulthandler.dump_traceback_later(HANG_S * 3, exit=True, file=stacks)
        threads = [threading.Thread(target=execute) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main()
