"""What the OpenAPI document says of every route, and the page that shows it.

The envelope around a model, the body of each refusal, the parameters that a route declares, and /docs. The
document itself is FastAPI's own (`Application.openapi`).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import fastapi_offline
import orjson
from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, create_model
from starlette.requests import Request
from starlette.responses import HTMLResponse

from serving_api.framework.error_responses import CODES, ERROR_CODE, ErrorCode

DESCRIPTION = "Research data of the China A-share market: fused series, live reads, accounts."
BEARER = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
PAGE = "/docs"
FILES = "/docs/files"
IsoDate = Annotated[str, WithJsonSchema({"type": "string", "format": "date"})]
"""A date of a response, 2026-09-18."""
IsoTime = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
"""A moment of a response, ISO 8601 with its offset."""
EXAMPLES = Path(__file__).with_name("example_answers.json")
"""An answer of each read route, recorded from the sample market (tests/serving_api/documented.py)."""
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
    query_time: IsoTime = Field(description="local exchange time")
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
    401: {"WWW-Authenticate": {"schema": {"type": "string", "const": "Bearer"}}},
    429: _RETRY,
    503: _RETRY,
}
_STORAGE = (ErrorCode.STORAGE_BUSY, ErrorCode.STORAGE_DAMAGED, ErrorCode.DISK_FULL, ErrorCode.SOURCE_AWAY)


def _headers(status: int) -> dict[str, Any]:
    """Headers of a refusal: its code for programs, and those that its status demands."""
    codes = (CODES[status], *(_STORAGE if status == 503 else ()))
    code = {"description": "the reason, for programs", "schema": {"type": "string", "enum": list(codes)}}
    return {ERROR_CODE: code, **_HEADERS.get(status, {})}


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


def summarized(docstring: str) -> tuple[str, str]:
    """(summary, description) of a route: the first sentence of its docstring, and what follows."""
    paragraph, _, rest = docstring.partition("\n\n")
    first, dot, more = " ".join(paragraph.split()).partition(". ")
    return first.rstrip("."), "\n\n".join(part for part in (more if dot else "", rest) if part)


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
        status: {"model": Refusal, "description": _TEXTS[status], "headers": _headers(status)}
        for status in sorted(statuses)
    }
    text = "a value is missing, malformed or out of range"
    documented[422] = {"model": InvalidInput, "description": text, "headers": _headers(422)}
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


def add_examples(document: dict[str, Any]) -> None:
    """Put the recorded answers into the document."""
    examples = orjson.loads(EXAMPLES.read_bytes())
    for operation in (operation for path in document["paths"].values() for operation in path.values()):
        answer = examples.get(operation.get("operationId"))
        content = operation["responses"].get("200", {}).get("content", {}).get("application/json")
        if answer is not None and content is not None:
            content["example"] = answer


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
