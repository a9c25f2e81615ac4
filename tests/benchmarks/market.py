"""One trading day of profile L (5,500 stocks): the tables of the close through Dagster, then all tables that
there are, and staging and fusion anew from RAW: time, memory, calls."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks.day_run import paced_seconds
from tests.benchmarks.measure import MIB, Figure, at_most, seconds
from tests.benchmarks.panel_data import LAST_DAY, trade_dates
from tests.benchmarks.runs import Services, new_services, simulated_market

NOW = f"{LAST_DAY}T22:30"
"""After the last task of the day: all that a day has is out."""
JOB = "eod_core"
PROFILES = ("S", "L")
WEEK = trade_dates(5)
"""LAST_DAY is a Friday: the week's bars need its other dates."""
ROOM = 8 * 1024 * MIB
"""What profile L may take in all (two cores, 8 GiB)."""
DAY_S, FUSION_S = 300.0, 300.0
DAY_ROOM = 2048 * MIB


def run() -> Iterator[Figure]:
    taken: dict[str, float] = {}
    peaks: dict[str, int] = {}
    again: dict[str, float] = {}
    whole: dict[str, dict[str, Any]] = {}
    for profile in PROFILES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            with simulated_market(profile, NOW, folder) as market:
                services = new_services(folder / "services", market, NOW)
                _week(services)
                first, second = services.execute(JOB, LAST_DAY, LAST_DAY)
                if profile == "L":
                    other = new_services(folder / "other", market, NOW)
                    _week(other)
                    whole = other.load_every_table(LAST_DAY)
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
    yield from every_table(whole)


def _week(services: Services) -> None:
    """The securities and the dates before the measured one."""
    services.execute("security_list", LAST_DAY)
    services.execute("history", f"{WEEK[0]}..{WEEK[-2]}")


def every_table(whole: dict[str, dict[str, Any]]) -> Iterator[Figure]:
    """From the reports of `day_run`."""
    day, fusion = whole["day"], whole["fusion"]
    calls = dict(sorted(day["calls"].items()))
    asked = sum(calls.values())
    yield at_most(
        "profile L day, all tables from the simulated upstreams, pacing off",
        day["seconds"],
        DAY_S,
        1.0,
        note=f"{day['written']:,} rows written; four dates of bars are stored before it",
    )
    yield Figure(
        "profile L day, all tables, highest memory of the process",
        f"{day['peak'] / MIB:.0f} MiB",
        f"{DAY_ROOM / MIB:.0f} MiB",
        day["peak"] / DAY_ROOM,
        1.0,
        at_most=True,
    )
    paced = paced_seconds(calls)
    yield Figure(
        f"profile L day, all tables, {asked:,} calls: time that real pacing would add",
        f"{paced / 60:.0f} min",
        seconds(day["seconds"]),
        paced / day["seconds"],
        at_most=True,
        note="calls per upstream: " + ", ".join(f"{name} {number:,}" for name, number in calls.items()),
    )
    yield at_most(
        f"profile L, full fusion from RAW: {fusion['tables']} staged, fused and calculated tables",
        fusion["seconds"],
        FUSION_S,
        1.0,
        note=f"{fusion['written']:,} rows written into emptied tables, no upstream asked",
    )
