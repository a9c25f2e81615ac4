"""The areas of the topics, each behind its own prefix.

A topic is a sub-package (routes, schemas, queries) or, where it is small, a module; its router is named
here on a line of its own. Within a router, fixed paths come before those with a parameter.
"""

from fastapi import APIRouter

from serving_api.bonds.routes import router as bonds_router
from serving_api.earnings import router as earnings_router
from serving_api.funds import fund_router, reit_router
from serving_api.futures.routes import router as futures_router
from serving_api.hong_kong.routes import premium_router
from serving_api.hong_kong.routes import router as hk_finance_router
from serving_api.index.constituents import router as index_router
from serving_api.index.indicators import calendar_router as index_calendar_router
from serving_api.index.indicators import router as index_series_router
from serving_api.industry import router as industry_router
from serving_api.macro.routes import fusion_router as fusion_macro_router
from serving_api.macro.routes import router as macro_router
from serving_api.market.backtests.routes import router as backtests_router
from serving_api.market.billboard import router as billboard_router
from serving_api.market.dragon.routes import router as dragon_router
from serving_api.market.phase import router as phase_router
from serving_api.quant.decision_cards.routes import router as decision_cards_router
from serving_api.quant.scorecard.routes import builtin_router
from serving_api.quant.scorecard.routes import router as scorecard_router
from serving_api.quant.strategies.routes import router as strategies_router
from serving_api.quant.strategies.routes import stock_router as stock_strategies_router
from serving_api.risk.routes import router as risk_router
from serving_api.sectors import router as sectors_router

TOPIC_ROUTERS: tuple[APIRouter, ...] = (
    backtests_router,
    strategies_router,
    stock_strategies_router,
    risk_router,
    bonds_router,
    decision_cards_router,
    scorecard_router,
    builtin_router,
    reit_router,
    fund_router,
    earnings_router,
    hk_finance_router,
    premium_router,
    index_router,
    industry_router,
    macro_router,
    fusion_macro_router,
    futures_router,
    billboard_router,
    sectors_router,
    phase_router,
    dragon_router,
    index_series_router,
    index_calendar_router,
)
