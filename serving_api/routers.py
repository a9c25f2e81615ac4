"""The areas of the API: the modules whose routers are served, in the order in which requests meet them.

Where areas share their first path segments, the busy ones come first. Within a router, fixed paths come
before those with a parameter.
"""

from importlib import import_module

from fastapi import APIRouter

MODULES = (
    "stocks.routes", "stocks.intraday", "stocks.finance.routes", "stocks.industry_compare", "auth.routes",
    "health.routes", "notifications", "settings.routes", "notes", "chat.routes", "skills.routes",
    "analysis.routes", "interfaces.routes", "datasets.fused.routes", "datasets.northbound",
    "live.admin_reads.routes", "datasets.stock_base", "datasets.download.routes", "datasets.sync",
    "datasets.portfolio.routes", "alt_sources", "market.routes", "market.stored", "market.change_detector",
    "realtime.routes", "quant.factors.routes", "admin.stats", "admin.lineage.routes", "admin.schedule.routes",
    "admin.batches", "admin.commands", "admin.records", "admin.config", "admin.cleanup", "admin.contracts",
    "admin.gaps", "admin.day_report", "admin.day_grid", "admin.backfill", "admin.probes", "admin.upstreams",
    "admin.reconcile", "admin.exrights", "admin.watch_list", "auth.administration",
    "market.backtests.routes", "quant.strategies.routes", "risk.routes",
    "bonds.routes", "quant.decision_cards.routes", "quant.scorecard.routes", "funds", "earnings",
    "hong_kong.routes", "index.constituents", "industry", "macro.routes", "futures.routes",
    "market.billboard", "sectors", "market.phase", "market.dragon.routes", "index.indicators", "quant.routes",
    "quant.pattern_records", "quant.strength", "quant.screener.routes", "research", "mcp.routes",
)  # fmt: skip

AREAS: tuple[APIRouter, ...] = tuple(
    router
    for name in MODULES
    for router in vars(import_module(f"serving_api.{name}")).values()
    if isinstance(router, APIRouter)
)
"""Every router of these modules."""
