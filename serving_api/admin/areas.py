"""The routers of the administration routes, each with its own prefix."""

from serving_api.admin.backfill import router as backfill_router
from serving_api.admin.batches import router as batches_router
from serving_api.admin.cleanup import router as cleanup_router
from serving_api.admin.commands import router as commands_router
from serving_api.admin.config import router as config_router
from serving_api.admin.contracts import router as contracts_router
from serving_api.admin.day_report import router as day_report_router
from serving_api.admin.gaps import router as gaps_router
from serving_api.admin.lineage.routes import router as lineage_router
from serving_api.admin.probes import router as probes_router
from serving_api.admin.reconcile import router as reconcile_router
from serving_api.admin.records import quality_router, sync_logs_router
from serving_api.admin.schedule.routes import alias_router, runs_router
from serving_api.admin.schedule.routes import router as schedule_router
from serving_api.admin.stats import router as stats_router

DATAMGR_ROUTERS = (
    stats_router,
    lineage_router,
    schedule_router,
    runs_router,
    alias_router,
    batches_router,
    commands_router,
    sync_logs_router,
    quality_router,
    config_router,
    cleanup_router,
    contracts_router,
    gaps_router,
    day_report_router,
    backfill_router,
    probes_router,
    reconcile_router,
)
