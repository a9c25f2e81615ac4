"""The areas of /quant and of what stands on the calculated tables; a router on a line of its own.

Within a router, fixed paths stand before those with a parameter.
"""

from fastapi import APIRouter

from serving_api.quant.pattern_records.routes import router as pattern_records_router

QUANT_ROUTERS: tuple[APIRouter, ...] = (pattern_records_router,)
