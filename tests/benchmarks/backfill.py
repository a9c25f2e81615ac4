"""A range of 250 dates in one run beside one run per date (20 measured and scaled)."""

import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from tests.benchmarks.measure import Figure, faster
from tests.benchmarks.panel_data import LAST_DAY, trade_dates
from tests.benchmarks.runs import new_services, simulated_market

DATES = 250
SINGLE = 20
NOW = f"{LAST_DAY}T15:45"


def run() -> Iterator[Figure]:
    days = trade_dates(DATES)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with simulated_market("S", NOW, folder) as market:
            ranged = new_services(folder / "range", market, NOW)
            ranged.execute("security_list", LAST_DAY)
            (whole,) = ranged.execute("history", f"{days[0]}..{days[-1]}")
            single = new_services(folder / "single", market, NOW)
            single.execute("security_list", LAST_DAY)
            # From the middle of the range on, so that each asks for half the bars, as the mean run would;
            # from a week's first date, before which a week bar has no beginning. One process: no run pays
            # for imports.
            start = next(at for at in range(DATES // 2, DATES) if _opens_week(days, at))
            picked = days[start : start + SINGLE]
            each = single.execute("history", *picked)
    scaled = sum(item["seconds"] for item in each) / SINGLE * DATES
    yield faster(
        f"backfill of {DATES} dates (profile S, bars, indices, events), one range run vs runs per date",
        whole["seconds"],
        scaled,
        10.0,
        note=f"{SINGLE} runs of one date measured: {scaled / DATES:.2f} s each, scaled to {DATES}",
    )


def _opens_week(days: list[str], at: int) -> bool:
    return (
        date.fromisoformat(days[at]).isocalendar()[:2] != date.fromisoformat(days[at - 1]).isocalendar()[:2]
    )
