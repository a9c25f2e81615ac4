"""The runs of an evening: what each costs beside its work, and the whole day in one run beside the sum of its
parts."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.launches import bare_home, newest_run, times
from tests.benchmarks.measure import Figure, at_most
from tests.benchmarks.panel_data import LAST_DAY, trade_dates
from tests.benchmarks.runs import new_services, simulated_market

NOW = f"{LAST_DAY}T22:30"
WEEK = trade_dates(5)
TASKS = ("fusion_kline_sync", "fusion_daily_sync", "fusion_wide_sync", "industry_index_sync")
WHOLE = "whole_day"


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with simulated_market("S", NOW, folder) as market:
            apart = new_services(folder / "apart", market, NOW)
            home = folder / "apart" / "dagster"
            apart.execute("security_list", LAST_DAY)
            apart.execute("history", f"{WEEK[0]}..{WEEK[-2]}")
            for task in TASKS:
                apart.execute(task, LAST_DAY)
                first, last, steps = times(home, newest_run(home))
                empty = bare_home(folder / f"bare_{task}", apart, task)
                began, ended, _ = times(empty, newest_run(empty))
                yield at_most(
                    f"a run of {task} whose assets do nothing, vs the run",
                    ended - began, last - first, None,
                    note=f"of the run {steps:.1f} s are its steps, {last - first - steps:.1f} s beside them",
                )  # fmt: skip
            whole = new_services(folder / "whole", market, NOW)
            whole.execute("security_list", LAST_DAY)
            whole.execute("history", f"{WEEK[0]}..{WEEK[-2]}")
            whole.execute(WHOLE, LAST_DAY)
            home = folder / "whole" / "dagster"
            first, last, steps = times(home, newest_run(home))
            yield at_most(
                "the whole day in one run, profile S, vs the sum of its steps", last - first, steps, None,
                note="the steps follow each other in the process of the run",
            )  # fmt: skip
