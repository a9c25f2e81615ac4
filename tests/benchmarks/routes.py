"""`python -m tests.benchmarks.routes <port> <data folder> <number>`: the app with one small route behind so
many others: the product's own, then areas of ten like them."""

import sys

import uvicorn
from fastapi import APIRouter

from resources.settings import Settings
from serving_api.app import create_app
from serving_api.framework.application import Application, add_areas, platform_routes
from serving_api.framework.permissions import Anyone
from serving_api.framework.routing import area_router
from serving_api.routers import AREAS

PROBE = "/api/v1/benchmark/probe"
PER_AREA = 10


async def _answer(call: Anyone) -> dict[str, bool]:
    return {"answered": call.user is None}


async def _filler(call: Anyone, code: str) -> dict[str, str]:
    return {"code": code, "asked": call.member.name}


def crowded(app: Application, number: int) -> None:
    """`number` routes before the probe; 0 leaves the probe alone."""
    probe = area_router("/api/v1/benchmark", "benchmark")
    probe.add_api_route("/probe", _answer, methods=["GET"])
    others: list[APIRouter] = []
    if number:
        missing = number - len(list(platform_routes(app)))
        others = list(AREAS)
        for area in range(-(-missing // PER_AREA)):
            made = area_router(f"/api/v1/benchmark-area-{area}", "benchmark")
            for route in range(PER_AREA):
                made.add_api_route(f"/{{code}}/part-{route}", _filler, methods=["GET"])
            others.append(made)
    app.router.routes.clear()
    add_areas(app, [*others, probe])


def main(port: int, folder: str, number: int) -> None:
    settings = Settings(data_dir=folder, rate_limit_per_min=10**9, log_level="WARNING")
    app = create_app(settings)
    crowded(app, number)
    uvicorn.run(
        app, port=port, loop="uvloop", http="httptools", access_log=False, proxy_headers=False,
        server_header=False, log_level="warning",
    )  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
