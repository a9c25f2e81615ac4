"""`python parent_watchdog.py <parent pid> <command...>`: replaces itself by the command, which ends
when its parent does.

Signals that the shell set to be ignored are set to their defaults (Dagster copies the SIGINT handler to
SIGTERM: a child that inherits 'ignored' could only be killed). On Linux the kernel sends SIGTERM when the
parent dies. A file of its own without imports of the project, so that it costs 20 ms and not a second.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def bound_command(*command: str) -> list[str]:
    """A command that ends with this process."""
    return [sys.executable, "-S", "-E", __file__, str(os.getpid()), *command]


def main() -> None:
    parent, command = int(sys.argv[1]), sys.argv[2:]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        raise SystemExit("the parent died before its child was bound to it")
    os.execvp(command[0], command)  # noqa: S606  no shell wanted


if __name__ == "__main__":
    main()
