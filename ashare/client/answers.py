"""Answers of the API as values, and its refusals as errors."""

import json
from typing import Any

from core.errors import Forbidden, InputError, NotFound, PlatformError, Unavailable

_KINDS = {403: Forbidden, 404: NotFound, 429: Unavailable, 503: Unavailable}


def answered(status: int, content: bytes, factor: str | None = None) -> Any:
    """The JSON of an answer; an object gets `factor`, where the header X-Factor has it. A refusal is raised
    with its own words: InputError for 422 (naming the parameter), NotFound, Forbidden, Unavailable, else
    PlatformError."""
    if status < 400:
        value = json.loads(content) if content else None
        return {**value, "factor": factor} if factor and isinstance(value, dict) else value
    raise refusal(status, content)


def refusal(status: int, content: bytes) -> PlatformError:
    """The error that an answer stands for."""
    try:
        detail = str(json.loads(content)["detail"])
    except (ValueError, KeyError, TypeError):
        detail = f"the API answered {status}"
    if status == 422:
        parameter, found, problem = detail.partition(": ")
        return InputError(parameter, problem) if found else InputError("request", detail)
    if status == 401:
        return Forbidden(f"{detail}: open() with the token of a login")
    return _KINDS.get(status, PlatformError)(detail)
