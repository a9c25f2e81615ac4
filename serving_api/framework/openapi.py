"""What the OpenAPI document says of every route, and the page that shows it.

The envelope around a model, the body of each refusal, the parameters that a route declares, and /docs. The
document itself is FastAPI's own (`Application.openapi`).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import fastapi_offline
from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict, Field, create_model
from starlette.requests import Request
from starlette.responses import HTMLResponse

DESCRIPTION = "Research data of the China A-share market: fused series, live reads, accounts."
BEARER = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
PAGE = "/docs"
FILES = "/docs/files"
_FOLDER = Path(fastapi_offline.__file__).parent / "static"


def example(*, extra: Literal["allow", "forbid", "ignore"] = "ignore", **values: Any) -> ConfigDict:
    """The configuration of a model that the document shows with these values."""
    return ConfigDict(json_schema_extra={"examples": [values]}, extra=extra)


class Refusal(BaseModel):
    """Every refusal but 422."""

    detail: str = Field(description="why, in words for the user")


class Problem(BaseModel):
    loc: list[str | int]
    msg: str
    type: str


class BadText(BaseModel):
    """Where a query or a formula is wrong."""

    code: Literal["unknown_field", "syntax", "type", "limit", "lookahead"]
    position: int = Field(description="characters before it")
    line: int = Field(description="from 1")
    column: int = Field(description="from 1")
    token: str
    expected: list[str]
    suggestion: str | None = Field(default=None, description="the known name that is most like it")


class InvalidInput(BaseModel):
    """422: `detail` names the parameter, what is wrong and what is allowed."""

    detail: str
    errors: list[Problem]
    error: BadText | None = Field(default=None, description="of the condition language and formulas alone")


class Stats(BaseModel):
    total: int | None = Field(default=None, description="rows of the whole answer")


class Envelope(BaseModel):
    """Around every 2xx JSON answer of /datamgr/* and /stocks/*."""

    model_config = ConfigDict(extra="allow")
    ok: Literal[True]
    schema_version: Literal[1]
    query_time: str = Field(description="ISO 8601 local exchange time with offset")
    stats: Stats
    disclaimer: str


class DataAvailability(BaseModel):
    """Whether a row of each kind exists for the code."""

    kline: bool
    valuation: bool
    moneyflow: bool
    quote: bool
    finance: bool


_TEXTS = {
    400: "refused by a rule that the detail names",
    401: "missing, invalid or expired token",
    403: "not allowed",
    404: "no such thing",
    409: "somebody else holds or did this already",
    429: "too many requests; Retry-After says when to come back",
    500: "unexpected error; its number is in X-Request-ID",
    503: "the database is busy or away; Retry-After says when to come back",
}


_RETRY = {"Retry-After": {"description": "seconds", "schema": {"type": "integer"}}}
_HEADERS: dict[int, dict[str, Any]] = {
    401: {"headers": {"WWW-Authenticate": {"schema": {"type": "string", "const": "Bearer"}}}},
    429: {"headers": _RETRY},
    503: {"headers": _RETRY},
}
UNCHANGED: dict[int | str, dict[str, Any]] = {
    304: {"description": "the answer is what If-None-Match names", "model": None}
}


def _label(model: Any) -> str:
    """A name for a type: KBarList, KBarListMap, DownloadedOrUnknownType."""
    inner = [_label(arg) for arg in get_args(model) if arg is not type(None)]
    origin = get_origin(model)
    if origin is list:
        return f"{inner[0]}List"
    if origin is dict:
        return f"{inner[1]}Map"
    if inner:
        return "Or".join(inner)
    name = "Value" if model is object else str(model.__name__)
    return name[0].upper() + name[1:]


def enveloped(model: Any, top: Sequence[tuple[str, Any]] = ()) -> Any:
    """The envelope's model with `results` of `model`; `top` adds optional top-level keys."""
    fields: dict[str, Any] = {"results": (model, ...)}
    fields |= {name: (kind | None, None) for name, kind in top}
    return create_model(f"{_label(model)}Envelope", __base__=Envelope, **fields)


def refusals(permission: str, raises: Sequence[int], *, writes: bool) -> dict[int | str, dict[str, Any]]:
    """`responses` of a route: what its permission, its own rules and the layers may answer."""
    statuses = {429, 500, *raises}
    if permission != "anyone":
        statuses |= {401, 503}
    if permission in {"admin", "quota"}:
        statuses.add(403)
    if writes:
        statuses |= {400, 503}
    documented: dict[int | str, dict[str, Any]] = {
        status: {"model": Refusal, "description": _TEXTS[status], **_HEADERS.get(status, {})}
        for status in sorted(statuses)
    }
    documented[422] = {"model": InvalidInput, "description": "a value is missing, malformed or out of range"}
    return documented


def parameters_of(dependant: Dependant | None) -> Iterator[Any]:
    """Query and path parameters."""
    if dependant is None:
        return
    yield from dependant.query_params
    yield from dependant.path_params
    children: Sequence[Dependant] = dependant.dependencies
    for child in children:
        yield from parameters_of(child)


def query_names(dependant: Dependant) -> tuple[str, ...]:
    """Names of the query parameters, in the order of their declaration."""
    return tuple(
        dict.fromkeys(
            one.alias for one in parameters_of(dependant) if type(one.field_info).__name__ == "Query"
        )
    )


def add_docs_page(app: FastAPI) -> None:
    """Add /docs, the interactive page of the document, with its script from this machine: FastAPI's own page
    takes it from a public CDN and is blank where that cannot be reached."""
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
