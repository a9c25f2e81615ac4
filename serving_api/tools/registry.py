"""The tools by name."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from core.errors import NotFound
from serving_api.tools import chat, find, hold, hot, info, macro, market, news, scan, schema
from serving_api.tools.model import Tool

AnyTool = Tool[Any, Any]


@cache
def tools() -> Mapping[str, AnyTool]:
    """Every tool, in the order of the list."""
    modules = (chat, find, hold, hot, info, macro, market, news, scan, schema)
    return {module.TOOL.name: module.TOOL for module in modules}


def tool_named(name: str) -> AnyTool:
    """Raises NotFound that lists the tools."""
    found = tools().get(name)
    if found is None:
        raise NotFound(f"unknown tool: {name[:64]}; known are {', '.join(tools())}")
    return found
