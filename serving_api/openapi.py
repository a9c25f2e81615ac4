"""The OpenAPI document. `python -m serving_api.openapi` prints it, without a server or a database."""

import sys
import tempfile
from typing import Any

import orjson
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from serving_api.routing import platform_routes

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


def main() -> int:
    from resources.settings import Settings
    from serving_api.app import create_app

    with tempfile.TemporaryDirectory() as folder:
        app = create_app(Settings(data_dir=folder))
        sys.stdout.buffer.write(orjson.dumps(app.openapi(), option=orjson.OPT_INDENT_2) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
