"""The OpenAPI document of an app: all areas, once."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from serving_api.framework.routing import platform_routes

BEARER = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}


def build_document(app: FastAPI) -> dict[str, Any]:
    """The document of all areas, made once."""
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title,
            version=app.version,
            description="Research data of the China A-share market: fused series, live reads, accounts.",
            routes=list(platform_routes(app)),
        )
        document.setdefault("components", {})["securitySchemes"] = {"bearer": BEARER}
        app.openapi_schema = document
    return app.openapi_schema
