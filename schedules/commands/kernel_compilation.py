"""The kernels of the daily calculations are compiled once, in the background, while the first data comes in.

A process of its own compiles them into `NUMBA_CACHE_DIR` (`DATA_DIR/numba` under the supervisor); runs read
them from there. It has low priority and ends with the worker that started it.
"""

import logging
import subprocess
import sys
from collections.abc import Callable

from schedules.supervisor.parent_watchdog import bound_command

LOOK_S = 0.5
PATIENCE_S = 300.0
_NICE = 10
log = logging.getLogger(__name__)
_compiling: list[subprocess.Popen[bytes]] = []


def compile_in_background() -> None:
    """Start it. From the main thread: the parent-death signal belongs to the thread that forks."""
    code = f"import os; os.nice({_NICE}); from platform_assets.compute.warm import warm; warm()"
    command = bound_command(sys.executable, "-c", code)
    process = subprocess.Popen(  # noqa: S603  our own modules
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    _compiling.append(process)


def wait_for_kernels(check: Callable[[], None]) -> None:
    """Until the background compilation has ended; `check` is called meanwhile and may raise. A compilation
    that failed or takes too long is left alone: runs compile what is missing themselves."""
    for process in _compiling:
        for _ in range(int(PATIENCE_S / LOOK_S)):
            check()
            try:
                code = process.wait(LOOK_S)
            except subprocess.TimeoutExpired:
                continue
            if code:
                log.warning("the kernels could not be compiled in the background (exit code %s)", code)
            break
    _compiling.clear()


def stop_compiling() -> None:
    """The worker ends: so does the compilation."""
    for process in _compiling:
        if process.poll() is None:
            process.terminate()
            process.wait()
    _compiling.clear()
