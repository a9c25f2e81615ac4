"""The fixed cost of a day with nothing new: `eod_core` again for a date that is loaded, with the storage of
events that stays open beside Dagster's own."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.measure import Figure, faster
from tests.benchmarks.panel_data import LAST_DAY
from tests.benchmarks.runs import DAGSTERS_STORAGE, Services, new_services, simulated_market

JOB = "eod_core"
NOW = f"{LAST_DAY}T22:30"
ROUNDS = 1
RUNS = 3
"""Of each process; its first one loads what is loaded once."""


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with simulated_market("S", NOW, folder) as market:
            kept = new_services(folder / "services", market, NOW)
            plain = Services({**kept.environment, DAGSTERS_STORAGE: "1"})
            kept.execute("security_list", LAST_DAY)
            kept.execute(JOB, LAST_DAY)
            ours: list[tuple[float, float]] = []
            theirs: list[tuple[float, float]] = []
            for _ in range(ROUNDS):
                ours.append(best(kept))
                theirs.append(best(plain))
    for number, what in enumerate(("main thread", "wall clock")):
        yield faster(
            f"{JOB} with nothing new, {what}, vs Dagster's own storage of events",
            min(one[number] for one in ours), min(one[number] for one in theirs), 1.4,
            note="profile S",
        )  # fmt: skip


def best(services: Services) -> tuple[float, float]:
    """Seconds of the main thread and by the clock, each the best of a process's later runs."""
    reports = services.execute(JOB, *[LAST_DAY] * RUNS)[1:]
    return min(one["thread_s"] for one in reports), min(one["seconds"] for one in reports)
