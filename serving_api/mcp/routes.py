"""/mcp/tools, tools/call, servers and marketplace: at the root, and the same below /api/v1."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter

from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Anyone, Asker, Login
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.mcp import schemas
from serving_api.mcp.calling import INVALID_REQUEST, NO_METHOD, Refused, annotations, called, found
from serving_api.mcp.servers import Servers
from serving_api.tools.registry import tools

MARKETPLACE = Path(__file__).with_name("marketplace.json")
CALL = "tools/call"


async def list_tools(call: Anyone) -> Answer:
    """The tools with the schemas of their arguments and answers."""
    return Answer({"jsonrpc": "2.0", "tools": _listed()})


@serves(raises=(401, 403))
async def call_tool(call: Asker, body: schemas.ToolCall) -> Answer:
    """Call a tool; an error of the caller is an `error` of JSON-RPC.

    A tool that belongs to a user answers 401 and 403 as routes do."""
    try:
        name, arguments = _requested(body)
        reported = {"result": await called(call.state, call, found(name), arguments)}
    except Refused as refusal:
        error: dict[str, Any] = {"code": refusal.code, "message": refusal.message}
        reported = {"error": error if refusal.data is None else {**error, "data": refusal.data}}
    return Answer({"jsonrpc": "2.0", "id": body.id, **reported})


@serves(cache=NO_STORE)
async def list_servers(call: Login) -> Answer:
    """The caller's own servers."""
    return Answer({"servers": await call.state.part(Servers).shown(call.member)})


async def save_servers(call: Login, body: schemas.ServerList) -> Answer:
    """Replace the caller's servers; addresses are http(s) and public.

    Loopback, private and link-local addresses, and names that resolve to one, are refused unless an
    administrator enters them."""
    servers = call.state.part(Servers)
    saved = await servers.save(call.member, body.servers)
    return Answer({"servers": await servers.shown(call.member), "saved": saved})


async def marketplace(call: Anyone) -> Answer:
    """Suggested tool servers."""
    items = _offers()
    return Answer({"items": items, "total": len(items)})


def _requested(body: schemas.ToolCall) -> tuple[str, Mapping[str, Any]]:
    """The tool and its arguments, from either form. Raises Refused."""
    if body.method is not None and body.method != CALL:
        raise Refused(NO_METHOD, f"no method {body.method}; this address knows {CALL}")
    if body.params is not None:
        return body.params.name, body.params.arguments or {}
    if body.name is None:
        raise Refused(INVALID_REQUEST, "params.name is missing: the name of a tool")
    return body.name, body.arguments or {}


@cache
def _listed() -> list[schemas.ToolShown]:
    return [
        schemas.ToolShown(
            name=tool.name, title=tool.title, description=tool.description, inputSchema=tool.input_schema,
            outputSchema=tool.output_schema, annotations=annotations(tool),
        )
        for tool in tools().values()
    ]  # fmt: skip


@cache
def _offers() -> list[dict[str, Any]]:
    offers: list[dict[str, Any]] = json.loads(MARKETPLACE.read_text(encoding="utf-8"))
    return offers


def _router(prefix: str) -> APIRouter:
    router = area_router(prefix, "mcp")
    router.get("/tools", response_model=schemas.ToolList)(list_tools)
    router.post(f"/{CALL}", response_model=schemas.CallAnswer)(call_tool)
    router.get("/servers", response_model=schemas.Servers)(list_servers)
    router.post("/servers", response_model=schemas.SavedServers)(save_servers)
    router.get("/marketplace", response_model=schemas.Marketplace)(marketplace)
    return router


root_router, router = _router("/mcp"), _router(f"{PREFIX}/mcp")
