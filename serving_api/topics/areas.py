"""The areas of the topics, each behind its own prefix.

A topic is a sub-package (routes, schemas, queries) or, where it is small, a module; its router is named
here on a line of its own. Within a router, fixed paths stand before those with a parameter.
"""

from fastapi import APIRouter

from serving_api.topics.bonds.routes import router as bonds_router
from serving_api.topics.earnings.routes import router as earnings_router
from serving_api.topics.funds.routes import fund_router, reit_router
from serving_api.topics.hk_finance.routes import premium_router
from serving_api.topics.hk_finance.routes import router as hk_finance_router
from serving_api.topics.risk.routes import router as risk_router

TOPIC_ROUTERS: tuple[APIRouter, ...] = (
    risk_router,
    bonds_router,
    reit_router,
    fund_router,
    earnings_router,
    hk_finance_router,
    premium_router,
)
