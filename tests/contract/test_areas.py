"""The folder of a route's module follows from its URL prefix."""

import pytest
from fastapi import FastAPI

from resources.settings import Settings
from serving_api.app import create_app
from serving_api.framework.application import platform_routes
from serving_api.framework.envelope import PREFIX

# Path below /api/v1 -> folder below serving_api. A prefix that is not listed is its own folder:
# /alt-sources -> alt_sources. The longest matching prefix decides.
FOLDERS = {
    "/builtin-strategies": "quant.scorecard",
    "/convertible-bond": "bonds",
    "/datamgr": "admin",
    "/datamgr/block": "datasets.sync",
    "/datamgr/download": "datasets.download",
    "/datamgr/download-batch": "datasets.download",
    "/datamgr/finance": "datasets.stock_base",
    "/datamgr/fusion": "datasets.fused",
    "/datamgr/fusion/call": "interfaces",
    "/datamgr/fusion/interfaces": "interfaces",
    "/datamgr/market": "live.admin_reads",
    "/datamgr/portfolio": "datasets.portfolio",
    "/datamgr/realtime": "live.admin_reads",
    "/datamgr/stock": "live.admin_reads",
    "/datamgr/stock-base": "datasets.stock_base",
    "/datamgr/users": "auth.administration",
    "/decision-cards": "quant.decision_cards",
    "/earnings-window": "earnings",
    "/factor": "quant.factors",
    "/fusion/fund": "funds",
    "/fusion/index": "index",
    "/fusion/macro": "macro",
    "/hk-finance": "hong_kong",
    "/reit": "funds",
    "/scorecard": "quant.scorecard",
    "/screener": "quant.screener",
    "/tasks": "admin.schedule",
}
# Path -> (folder, why it is not the folder of its prefix).
EXCEPTIONS = {
    "/datamgr/fusion/index/daily/sync": ("datasets.sync", "starts a download; its neighbours read"),
    "/datamgr/fusion/stock/{code}/kline-bar/sync": (
        "datasets.sync",
        "starts a download; its neighbours read",
    ),
    "/datamgr/fusion/market": ("live.admin_reads", "asks upstreams; its neighbours read stored tables"),
    "/datamgr/fusion/market/northbound": ("datasets.northbound", "the one stored table of that prefix"),
    "/market/factors": ("quant.factors", "the factor library over the whole market"),
    "/market/index-calendar": ("index.indicators", "a calendar of index returns"),
    "/stocks/{code}/ah-premium": ("hong_kong", "half of its prices are those of Hong Kong"),
    "/stocks/{code}/rtsi": ("quant.strength", "calculated with the same code as /quant"),
    "/stocks/{code}/vpa": ("quant.strength", "calculated with the same code as /quant"),
    "/stocks/{code}/strategy-audit": ("quant.strategies", "calculated with the same code as /quant"),
    "/stocks/{code}/strategy-hits": ("quant.strategies", "calculated with the same code as /quant"),
    "/stocks/{code}/tactic-hits": ("quant.strategies", "calculated with the same code as /quant"),
}
TABLE = FOLDERS | {path: folder for path, (folder, _why) in EXCEPTIONS.items()}


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Path below the version prefix -> the modules of its endpoints."""
    app: FastAPI = create_app(Settings(data_dir=str(tmp_path_factory.mktemp("data"))))
    found: dict[str, set[str]] = {}
    for route in platform_routes(app):
        found.setdefault(route.path.removeprefix(PREFIX), set()).add(route.endpoint.__module__)
    return found


def _prefix_of(path: str) -> str | None:
    """The longest listed prefix of a path, by whole segments."""
    listed = [prefix for prefix in TABLE if f"{path}/".startswith(f"{prefix}/")]
    return max(listed, key=len, default=None)


def _folder_of(path: str) -> str:
    prefix = _prefix_of(path)
    return path.split("/")[1].replace("-", "_") if prefix is None else TABLE[prefix]


def test_the_folder_of_a_route_follows_from_its_path(modules: dict[str, set[str]]) -> None:
    misplaced = [
        f"{path} is in {module}, expected serving_api.{_folder_of(path)}"
        for path, places in sorted(modules.items())
        for module in places
        if not f"{module}.".startswith(f"serving_api.{_folder_of(path)}.")
    ]

    assert misplaced == []


def test_no_listed_prefix_is_without_a_route(modules: dict[str, set[str]]) -> None:
    used = {_prefix_of(path) for path in modules}

    assert set(TABLE) - used == set()
