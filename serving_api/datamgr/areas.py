"""The areas of the administrators' side, each behind its own prefix."""

from serving_api.datamgr.backfill.routes import router as backfill_router
from serving_api.datamgr.batches.routes import router as batches_router
from serving_api.datamgr.cleanup.routes import router as cleanup_router
from serving_api.datamgr.commands.routes import router as commands_router
from serving_api.datamgr.config.routes import router as config_router
from serving_api.datamgr.contracts.routes import router as contracts_router
from serving_api.datamgr.day_report.routes import router as day_report_router
from serving_api.datamgr.gaps.routes import router as gaps_router
from serving_api.datamgr.lineage.routes import router as lineage_router
from serving_api.datamgr.probes.routes import router as probes_router
from serving_api.datamgr.reconcile.routes import router as reconcile_router
from serving_api.datamgr.records.routes import quality_router, sync_logs_router
from serving_api.datamgr.schedule.routes import alias_router, runs_router
from serving_api.datamgr.schedule.routes import router as schedule_router
from serving_api.datamgr.stats.routes import router as stats_router

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
