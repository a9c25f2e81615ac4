"""A tool call over a channel: its answer, or its error, as a result of the protocol."""

import logging
from collections.abc import Mapping
from typing import Any

from core.errors import Forbidden, InputError, NotFound, PlatformError
from resources.redact import redact
from serving_api.framework.error_responses import error_response_of
from serving_api.framework.permissions import Subject
from serving_api.framework.state import State
from serving_api.tools.model import Progress, no_progress
from serving_api.tools.registry import AnyTool, tool_named

logger = logging.getLogger(__name__)

INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32600, -32601, -32602


class Refused(Exception):
    """A call for which no tool was run: a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


def annotations(tool: AnyTool) -> dict[str, Any]:
    """Hints of the protocol: no tool changes data, but a counted one uses one of its user's calls."""
    return {
        "title": tool.title,
        "readOnlyHint": not tool.counted,
        "destructiveHint": False,
        "idempotentHint": not tool.counted,
        "openWorldHint": tool.open_world,
    }


def found(name: str) -> AnyTool:
    """Raises Refused for an unknown tool."""
    try:
        return tool_named(name)
    except NotFound as error:
        raise Refused(INVALID_PARAMS, error.message) from None


async def called(
    state: State,
    subject: Subject,
    tool: AnyTool,
    arguments: Mapping[str, Any],
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """{structuredContent, isError}, or a `failure`. Raises Refused (bad arguments), Forbidden (401 and 403
    of a tool that belongs to a user, an interface that is not readable)."""
    try:
        answer = await tool.run(state, subject, arguments, progress)
    except InputError as error:
        wrong = {
            "loc": ["arguments", *error.parameter.split(".")],
            "msg": error.problem,
            "type": "value_error",
        }
        raise Refused(INVALID_PARAMS, error.message, {"errors": [wrong]}) from None
    except NotFound as error:
        raise Refused(INVALID_PARAMS, error.message) from None
    except Forbidden:
        raise
    except PlatformError as error:
        logger.warning("%s failed: %s: %s", tool.name, type(error).__name__, redact(error.message))
        return failure(error_response_of(error).detail)
    reported = answer.model_dump(mode="json")
    return {"content": [], "structuredContent": reported, "isError": False}


def failure(why: str) -> dict[str, Any]:
    """A result that states the error."""
    return {"content": [{"type": "text", "text": why}], "isError": True}
