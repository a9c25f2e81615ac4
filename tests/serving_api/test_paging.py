"""Every read that is cut into pages says which page it is, how large pages are, and how many rows it has."""

from pathlib import Path
from typing import Any

from resources.settings import Settings
from serving_api.app import create_app

SIZES = {"page_size", "pageSize"}
ONE_PAGE = {"/api/v1/datamgr/market/global-news"}
"""Takes a size alone, as the specification has it."""
PAGED = {
    "/api/v1/stocks/search", "/api/v1/datamgr/stock-base/list", "/api/v1/datamgr/gaps",
    "/api/v1/risk/pledge-list", "/api/v1/risk/goodwill-list", "/api/v1/risk/comment-list",
    "/api/v1/convertible-bond/list", "/api/v1/decision-cards", "/api/v1/scorecard/picks",
}  # fmt: skip
"""As the specification and the list of shapes have them, of what is served so far."""


def test_paged_reads_are_alike(tmp_path: Path) -> None:
    reported = create_app(Settings(data_dir=str(tmp_path))).openapi()
    paged = {}
    for path, operations in reported["paths"].items():
        parameters = {one["name"]: one["schema"] for one in operations.get("get", {}).get("parameters", [])}
        if (SIZES | {"page"}) & set(parameters) and path not in ONE_PAGE:
            paged[path] = parameters
    assert set(paged) >= PAGED
    for path, parameters in paged.items():
        (size,) = SIZES & set(parameters)
        assert (parameters["page"]["minimum"], parameters["page"]["default"]) == (1, 1), path
        assert parameters[size]["maximum"] <= 200, path
        assert parameters[size]["minimum"] <= parameters[size]["default"] <= parameters[size]["maximum"], path
        shape = _shape(reported, reported["paths"][path]["get"])
        if "page_info" in shape:
            continue  # of the search: as the specification names it
        assert {"total", "page", size} <= shape, path


def _shape(reported: dict[str, Any], operation: dict[str, Any]) -> set[str]:
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    while "$ref" in schema:
        schema = reported["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return set(schema["properties"])
