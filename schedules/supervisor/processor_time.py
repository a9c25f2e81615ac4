"""How long a child ran and waited for a core: that tells a slow machine from a hanging child."""

import os
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_NS = 1e9


class ProcessorTime(NamedTuple):
    """Seconds of all threads of a session's processes. Zeros on a system that does not tell (no /proc)."""

    ran_s: float = 0.0
    waited_s: float = 0.0

    @property
    def wanted_s(self) -> float:
        return self.ran_s + self.waited_s


def processor_time(session: int) -> ProcessorTime:
    """Of the processes of a session that run now (`/proc/<pid>/task/<tid>/schedstat`)."""
    ran = waited = 0
    for process in _PROC.glob("[0-9]*"):
        try:
            if os.getsid(int(process.name)) != session:
                continue
            for thread in (process / "task").iterdir():
                words = (thread / "schedstat").read_text().split()
                ran, waited = ran + int(words[0]), waited + int(words[1])
        except (OSError, ValueError, IndexError):
            continue  # it has just ended
    return ProcessorTime(ran / _NS, waited / _NS)
