"""/docs: the interactive page of the OpenAPI document, with its script from this machine.

The framework's own page takes it from a public CDN, so it is blank where that cannot be reached.
"""

from pathlib import Path

import fastapi_offline
from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.staticfiles import StaticFiles
from starlette.requests import Request
from starlette.responses import HTMLResponse

PAGE = "/docs"
FILES = "/docs/files"
_FOLDER = Path(fastapi_offline.__file__).parent / "static"


def install(app: FastAPI) -> None:
    """Add the page and its files to the application."""
    app.mount(FILES, StaticFiles(directory=_FOLDER), name="docs_files")
    app.add_api_route(PAGE, read_docs, include_in_schema=False)


# A function of the module: the framework remembers every endpoint, and with a closure every application.
async def read_docs(request: Request) -> HTMLResponse:
    """The page for the application that serves the request."""
    app: FastAPI = request.app
    root = str(request.scope.get("root_path", "")).rstrip("/")
    return get_swagger_ui_html(
        openapi_url=f"{root}{app.openapi_url}",
        title=f"{app.title} - API",
        swagger_js_url=f"{root}{FILES}/swagger-ui-bundle.js",
        swagger_css_url=f"{root}{FILES}/swagger-ui.css",
        swagger_favicon_url=f"{root}{FILES}/favicon.png",
    )
