"""Exception handlers of the app: every error is answered by an `ErrorResponse`."""

import logging
from dataclasses import replace
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.params import Form
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from core.errors import InputError, PlatformError
from resources.redact import redact
from serving_api.framework.error_responses import ErrorResponse, error_response_of
from serving_api.framework.openapi import parameters_of

logger = logging.getLogger(__name__)

_PLACES = {"body", "query", "path", "header", "cookie"}


def install(app: FastAPI) -> None:
    app.add_exception_handler(PlatformError, _platform)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _framework)
    app.add_exception_handler(Exception, _unexpected)


async def _platform(request: Request, error: Exception) -> Response:
    answer = error_response_of(error)
    if answer.status == 500:
        raise error  # as `_unexpected`
    if answer.status > 500:
        # The caller gets no reason, which may name an address; the log has it.
        name, reason = type(error).__name__, redact(str(error))
        logger.warning("%s %s: %d, %s: %s", request.method, request.url.path, answer.status, name, reason)
    if isinstance(error, InputError) and answer.errors:
        inside: tuple[str, ...] = getattr(error, "inside", ())
        place = getattr(error, "place", None) or _place(request, error.parameter)
        loc = [place, *inside, error.parameter]
        answer = replace(answer, errors=[{**answer.errors[0], "loc": loc}])
    return answer.response()


def _place(request: Request, parameter: str) -> str:
    """The location of a parameter: path, query, or the body of a route that has one."""
    route = request.scope.get("route")
    fields = parameters_of(getattr(route, "dependant", None))
    known = {field.alias: type(field.field_info).__name__.lower() for field in fields}
    otherwise = "query" if getattr(route, "body_field", None) is None else "body"
    return known.get(parameter, otherwise)


async def _unexpected(_request: Request, error: Exception) -> Response:
    """On to the request layer, which knows the request's id; the framework would answer in its own words."""
    raise error


async def _framework(request: Request, error: Exception) -> Response:
    """Errors that the framework raises itself: unknown path, method, unreadable or oversized body."""
    assert isinstance(error, HTTPException)  # noqa: S101  registered for this class alone
    route = request.scope.get("route")
    uploads = route is not None and getattr(route, "body_field", None) is not None and _is_form(route)
    if error.status_code == 413 and uploads:
        return ErrorResponse(400, "file: the upload is larger than allowed").response()
    if error.status_code in {400, 413}:
        problem = "larger than allowed" if error.status_code == 413 else "cannot be read"
        wrong = {"loc": ["body"], "msg": problem, "type": "body"}
        return ErrorResponse(422, f"body: {problem}", errors=[wrong]).response()
    return ErrorResponse(error.status_code, str(error.detail), dict(error.headers or {})).response()


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    dependant = getattr(request.scope.get("route"), "dependant", None)
    problems = [_problem(item) for item in error.errors()]
    first = problems[0]
    name = ".".join(str(part) for part in first["loc"] if part not in _PLACES) or "body"
    if first["type"] == "json_invalid":
        name = "body"
    detail = f"{name}: {first['msg']}{_allowed(dependant, name)}"
    return ErrorResponse(422, detail, errors=problems).response()


def _problem(item: dict[str, Any]) -> dict[str, Any]:
    """Without the input: it may be a password."""
    message = str(item["msg"]).removeprefix("Value error, ")
    if message.startswith("Expected UploadFile"):
        message = "is no file; a multipart part with a file name is needed"
    return {"loc": list(item["loc"]), "msg": message, "type": str(item["type"])}


def _allowed(dependant: Dependant | None, name: str) -> str:
    """`; allowed: 30..2000` for a parameter with both bounds."""
    for field in parameters_of(dependant):
        if field.alias == name:
            bounds = {
                key: getattr(mark, key)
                for mark in field.field_info.metadata
                for key in ("ge", "le")
                if getattr(mark, key, None) is not None
            }
            if bounds.keys() == {"ge", "le"}:
                return f"; allowed: {bounds['ge']}..{bounds['le']}"
    return ""


def _is_form(route: Any) -> bool:
    return isinstance(route.body_field.field_info, Form)
