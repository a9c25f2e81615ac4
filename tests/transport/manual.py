"""A clock and a sleeper that tests move by hand."""

import random

from resources.transport.gates import MemoryGate, SqliteGate
from resources.transport.settings import TransportSettings


class ManualTime:
    """Wall-clock seconds; sleeping moves them and is remembered."""

    def __init__(self, at: float = 1_790_000_000.0) -> None:
        self.at = at
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.at

    def sleep(self, seconds: float, /) -> None:
        self.slept.append(seconds)
        self.at += seconds


def gate_of(kind: str, folder, time: ManualTime, settings: TransportSettings) -> MemoryGate | SqliteGate:
    extras = {"now": time, "sleeper": time.sleep, "rng": random.Random(1)}
    if kind == "memory":
        return MemoryGate(settings, **extras)
    return SqliteGate(folder / "transport.sqlite3", settings, **extras)
