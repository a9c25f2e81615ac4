"""The areas of /quant and of what stands on the calculated tables; a router on a line of its own.

Within a router, fixed paths stand before those with a parameter.
"""

from fastapi import APIRouter

QUANT_ROUTERS: tuple[APIRouter, ...] = ()
