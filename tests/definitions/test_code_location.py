"""What the code server loads: all of it together, as the daemon and the UI ask for it."""

import dagster as dg
import pytest

from platform_assets.task_table import TASKS
from schedules.code_location import defs

TIMED = {task.key: task.timing.cron for task in TASKS if task.timing.timed}
LOADED = {
    "fusion_kline_sync": {
        "ref/ref_name_history",
        "ref/ref_exright",
        "ref/ref_exright_item",
        "dwd/fusion_kline_daily",
        "dwd/fusion_kline_bar",
        "dwd/fusion_index_daily",
    },
    "quant_calc": {
        "calc/calc_indicator_daily",
        "calc/calc_pattern_daily",
        "calc/calc_chip_daily",
        "calc/calc_strategy_hit",
        "calc/calc_signal_hit",
        "calc/calc_valuation_band",
    },
    "market_phase_sync": {"calc/calc_market_phase", "calc/calc_limit_count", "raw/raw_limit_pool"},
    "preset_track": {"calc/calc_factor_score", "calc/track_preset", "calc/scorecard_daily"},
}


def test_everything_of_the_code_location_loads_together() -> None:
    dg.Definitions.validate_loadable(defs)
    repository = defs.get_repository_def()
    ops = [
        node.definition.name
        for job in repository.get_all_jobs()
        for node in job.graph.nodes
        if job.name in {"download", "download_market", "data_cleanup"}
    ]
    assert len(ops) == len(set(ops)) >= 3


def test_every_timed_task_has_its_schedule_and_every_task_its_job() -> None:
    repository = defs.get_repository_def()
    crons = {one.job_name: one.cron_schedule for one in repository.schedule_defs}
    assert crons == TIMED
    assert {task.key for task in TASKS} <= set(repository.job_names)


@pytest.mark.parametrize("task", sorted(LOADED))
def test_a_tasks_job_loads_the_assets_of_the_datasets_that_name_it(task: str) -> None:
    job = defs.get_repository_def().get_job(task)
    assert {key.to_user_string() for key in job.asset_layer.selected_asset_keys} == LOADED[task]
