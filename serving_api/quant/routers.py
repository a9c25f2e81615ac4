"""The routers of /quant and of other reads of calculated tables.

Within a router, fixed paths come before those with a parameter.
"""

from fastapi import APIRouter

from serving_api.quant.pattern_records import router as pattern_records_router
from serving_api.quant.routes import router as daily_router
from serving_api.quant.routes import router as recalc_router
from serving_api.quant.screener.routes import formula_router
from serving_api.quant.screener.routes import quant_router as quant_screener_router
from serving_api.quant.screener.routes import router as screener_router
from serving_api.quant.strength.routes import router as strength_router
from serving_api.quant.strength.routes import stocks_router as stocks_strength_router

QUANT_ROUTERS: tuple[APIRouter, ...] = (
    daily_router,
    pattern_records_router,
    recalc_router,
    strength_router,
    stocks_strength_router,
    screener_router,
    quant_screener_router,
    formula_router,
)
