"""`python -m tests.kill.run_child <marks> <owner> <dead owner or -> <die after or 0> <first date> <last>`

Real Dagster runs in a process of their own: sets right what a dead owner left, as code servers and workers do
at their start, then executes the security list and a range of bars on the instance of DAGSTER_HOME. Exit
status 0 = both runs succeeded.
"""

import sys
from pathlib import Path

from dagster import DagsterInstance

from resources.orchestrator import RANGE_END, RANGE_START
from schedules import run_tags
from schedules.code_location import defs
from schedules.commands.reaper import reap_node
from schedules.runs.left_runs import fail_runs, left_runs
from schedules.runs.outcome import RunOutcome
from schedules.services import open_services
from tests.definitions.in_process import InProcessRuns
from tests.kill.marks import Marks


def main(marks: str, owner: str, dead: str, die_after: int, first: str, last: str) -> int:
    report = Marks(Path(marks), die_after=die_after or None)
    services = open_services()
    runner = InProcessRuns(defs, DagsterInstance.get())
    if dead != "-":
        fail_runs(runner.instance, left_runs(runner.instance, services.engine))
        for note in reap_node(services, dead, runner.instance):
            sys.stderr.write(f"{note}\n")
    report.watch()
    report.note("ready")
    common = {run_tags.OWNER: owner, run_tags.TRADE_DATE: last}
    outcomes: list[RunOutcome] = [
        runner.run("security_list", partition_key=last, tags=common),
        runner.run("history", tags={**common, RANGE_START: first, RANGE_END: last}),
    ]
    report.done(owner)
    sys.stderr.write(f"{outcomes}\n")
    return 0 if all(outcome.success for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5], sys.argv[6]))
