"""One trading day of profile L (5,500 stocks), from the wire to the display table: time and memory."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.measure import MIB, Figure, seconds
from tests.benchmarks.panel_data import LAST_DAY, trade_dates
from tests.benchmarks.runs import new_house, simulated_market

NOW = f"{LAST_DAY}T15:45"
JOB = "eod_core"
PROFILES = ("S", "L")
WEEK = trade_dates(5)
"""LAST_DAY is a Friday: the week's bars need its other dates."""
ROOM = 8 * 1024 * MIB
"""What profile L may take in all (two cores, 8 GiB)."""


def run() -> Iterator[Figure]:
    taken: dict[str, float] = {}
    peaks: dict[str, int] = {}
    again: dict[str, float] = {}
    for profile in PROFILES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            with simulated_market(profile, NOW, folder) as market:
                house = new_house(folder / "house", market, NOW)
                house.execute("security_list", LAST_DAY)
                house.execute("history", f"{WEEK[0]}..{WEEK[-2]}")
                first, second = house.execute(JOB, LAST_DAY, LAST_DAY)
        taken[profile], peaks[profile] = first["seconds"], second["peak"]
        again[profile] = second["seconds"]
    yield Figure(
        f"{JOB} of one date, profile L vs profile S with its 60 stocks",
        seconds(taken["L"]),
        seconds(taken["S"]),
        taken["L"] / taken["S"],
        at_most=True,
        note="four dates are stored before it, so there is no year of bars behind the display table",
    )
    yield Figure(
        f"{JOB} of the same date again, profile L vs its first run",
        seconds(again["L"]),
        seconds(taken["L"]),
        again["L"] / taken["L"],
        at_most=True,
    )
    yield Figure(
        f"{JOB}, profile L, highest memory of the process vs the 8 GiB of the profile",
        f"{peaks['L'] / MIB:.0f} MiB",
        f"{ROOM / MIB:.0f} MiB",
        peaks["L"] / ROOM,
        1.0,
        at_most=True,
    )
