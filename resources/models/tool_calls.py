"""Arguments of tool calls as models write them."""

import json
from collections.abc import Mapping
from typing import Any

from resources.models.protocol import ToolCall


def tool_call(call_id: str, name: str, raw: str, kept: tuple[Mapping[str, Any], ...] = ()) -> ToolCall:
    """`raw`: the JSON as it came; nothing at all means no arguments."""
    try:
        arguments = json.loads(raw) if raw.strip() else {}
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        return ToolCall(call_id, name, None, raw, kept)
    return ToolCall(call_id, name, arguments, raw, kept)
