"""Processes of this machine."""

import os


def alive(pid: int) -> bool:
    """Whether a process of this machine exists; one that ended and was not waited for still does."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
