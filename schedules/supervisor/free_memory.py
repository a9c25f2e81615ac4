"""`python -m schedules.supervisor.free_memory <module> <arguments...>`: runs a process of Dagster that
returns memory which it no longer needs.

A reload of the code location leaves the definitions before it in reference cycles. Python collects these only
when the number of objects has grown by a quarter, and the C library keeps what was freed. So both are asked
for regularly: then a process holds the definitions of two loads at most, and not of up to five.
"""

import ctypes
import gc
import runpy
import sys
import threading

EVERY_S = 300.0
"""A collection stops a process with 350,000 objects for less than half a second."""
ARENAS = 2
"""Each arena of the C library keeps free memory of its own; by default there are eight for each core."""
_M_ARENA_MAX = -8


def few_arenas() -> None:
    """Limit the arenas of this process to `ARENAS`; without glibc it changes nothing."""
    limit = getattr(ctypes.CDLL(None), "mallopt", None)
    if limit is not None:
        limit(_M_ARENA_MAX, ARENAS)


def free_regularly(stopping: threading.Event, every_s: float = EVERY_S) -> threading.Thread:
    """Start the thread that collects and returns memory every `every_s` seconds until `stopping` is set."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)

    def run() -> None:
        while not stopping.wait(every_s):
            gc.collect()
            if trim is not None:
                trim(0)

    thread = threading.Thread(target=run, name="free-memory", daemon=True)
    thread.start()
    return thread


def main() -> None:
    few_arenas()
    free_regularly(threading.Event())
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
