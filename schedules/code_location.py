"""The code location: assets from the registry, one job per task, schedules and sensors of the task table.

Importing it opens no database and starts no process.
"""

import dagster as dg

from core.declaration.registry import builtin_registry
from platform_assets.definitions.assets import build_assets
from platform_assets.definitions.cleanup_job import cleanup_job
from platform_assets.definitions.corrected_day_job import corrected_days_job
from platform_assets.definitions.download_job import download_job, market_download_job
from platform_assets.definitions.jobs import build_jobs
from platform_assets.definitions.lake_assets import build_lake
from platform_assets.definitions.mail_jobs import daily_report_job, user_recall_job
from platform_assets.definitions.notes_job import daily_review_job, morning_note_job
from platform_assets.definitions.portfolio_job import portfolio_job
from platform_assets.definitions.resources import run_resources
from resources.settings import process_settings
from schedules.steps.executor import run_executor
from schedules.tasks.native_schedules import build_schedules
from schedules.tasks.trigger_times import read_times

_registry = builtin_registry()
_written_jobs = (
    cleanup_job, portfolio_job, morning_note_job, daily_review_job, daily_report_job, user_recall_job,
)  # fmt: skip
_own_jobs = {job.name: job for job in _written_jobs}
_lake, _lake_job = build_lake(_registry)
_jobs = {**build_jobs(_registry), **_own_jobs, _lake_job.name: _lake_job}
_settings = process_settings()
_scheduling = build_schedules(_jobs, times=read_times(_settings.data_path))
_engine = "sqlite" if _settings.warehouse_address.startswith("sqlite") else "mariadb"

defs = dg.Definitions(
    assets=[*build_assets(_registry, _engine, queued=bool(_settings.broker_url)), _lake],
    jobs=[*_jobs.values(), corrected_days_job, download_job, market_download_job],
    schedules=_scheduling.schedules,
    sensors=_scheduling.sensors,
    resources=run_resources(),
    executor=run_executor(_settings),
    # Every event is in Dagster's history; by default each run would write it into the log as well.
    loggers={"console": dg.colored_console_logger.configured({"log_level": "WARNING"})},
)
