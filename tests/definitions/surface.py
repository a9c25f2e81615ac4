"""The code location as text, and who starts its jobs.

`python -m tests.definitions.surface` renews the file that tests/definitions/test_surface.py compares with.
"""

from pathlib import Path

import dagster as dg

from platform_assets.definitions import cleanup_job, corrected_day_job, download_job, jobs
from platform_assets.task_table import TASKS
from schedules.code_location import defs
from schedules.commands import handlers, initial_load, watched
from serving_api.datasets import sync

FILE = Path(__file__).with_name("surface.txt")


def starters() -> dict[str, str]:
    """Job -> what starts it."""
    loads = (initial_load.SECURITY_LIST, initial_load.PAST, initial_load.HISTORY, initial_load.REPORTS,
             initial_load.RECENT, initial_load.CALCULATIONS, initial_load.BAR_CALCULATIONS,
             initial_load.WHOLE_DAY, initial_load.EARLIER, initial_load.PICKS,
             initial_load.DISCLOSED)  # fmt: skip
    found: dict[str, list[str]] = {}
    for starter, names in {
        "schedule": [task.key for task in TASKS if task.timing.timed],
        "request for a task": [task.key for task in TASKS if not task.timing.timed],
        "sensor breadth": [jobs.SAMPLE],
        "sensor profiles": [jobs.BASEINFO],
        "command initial_load": loads,
        "command load_watched": [watched.CODE_HISTORY, watched.SECURITY_LIST, watched.INDICES],
        "command fusion_sync": [*handlers.FUSION_JOBS, handlers.CODES_JOB],
        "command quant_recalc": [handlers.QUANT_JOB],
        "command download": [download_job.JOB],
        "command download_market": [download_job.MARKET_JOB],
        "command cleanup": [cleanup_job.JOB],
        "repair of bars": [jobs.RECALCULATIONS],
        "corrected calendar": [corrected_day_job.JOB, jobs.AGAIN],
        "sync of one dataset": [sync.BLOCKS, sync.INDICES, sync.BARS],
    }.items():
        for name in names:
            found.setdefault(name, []).append(starter)
    return {name: ", ".join(starters) for name, starters in sorted(found.items())}


def surface() -> str:
    """Assets with what they depend on and their checks, jobs with who starts them, schedules, sensors and
    resources: a line each."""
    repository = defs.get_repository_def()
    graph = repository.asset_graph
    started = starters()
    lines = []
    for key in sorted(graph.get_all_asset_keys()):
        node = graph.get(key)
        kinds = sorted(node.kinds - {"sqlite", "mariadb"})  # the engine of whoever looks
        lines.append(f"asset {key.to_user_string()} [{', '.join((str(node.group_name), *kinds))}]")
        lines += [f"  from {parent.to_user_string()}" for parent in sorted(node.parent_keys)]
        lines += [f"  check {check.name}" for check in sorted(node.check_keys, key=lambda one: one.name)]
    lines += [
        f"job {job.name} <- {started.get(job.name, 'nobody')}"
        for job in sorted(defs.jobs or (), key=lambda one: one.name)
    ]
    for schedule in sorted(repository.schedule_defs, key=lambda one: one.name):
        lines.append(f"schedule {schedule.name} {schedule.cron_schedule} {schedule.execution_timezone}")
    for sensor in sorted(repository.sensor_defs, key=lambda one: one.name):
        asked = sorted(target.job_name for target in sensor.targets)
        lines.append(f"sensor {sensor.name} -> {', '.join(asked) or 'no job'}")
    resources: dict[str, dg.ConfigurableResource[object]] = dict(defs.resources or {})
    for name, resource in sorted(resources.items()):
        lines.append(f"resource {name} {type(resource).__name__}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(surface(), encoding="utf-8")
