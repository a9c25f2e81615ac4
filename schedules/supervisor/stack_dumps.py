"""`python -m schedules.supervisor.stack_dumps <module> <arguments...>`: runs the module as `python -m`
would, and writes the stacks of all its threads into APP_STACKS when it gets SIGUSR1.

The interpreter does that below Python: also while every thread waits for a lock, or one spins.
"""

import faulthandler
import os
import runpy
import signal
import sys

STACKS = "APP_STACKS"
"""Environment name of the file; without it nothing is written."""


def main() -> None:
    path = os.environ.get(STACKS)
    if path:
        # Kept open: a process that hangs cannot open anything.
        file = open(path, "ab", buffering=0)  # noqa: SIM115
        faulthandler.register(signal.SIGUSR1, file=file, all_threads=True)
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
