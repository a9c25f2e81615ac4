"""Request and response models of the custom channel, for the document."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from serving_api.framework.openapi import example

MOST_SERVERS, MOST_HEADERS = 20, 10
MASK = "***"

HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$")]
HeaderValue = Annotated[str, StringConstraints(max_length=2048, pattern=r"^[\x20-\x7e\x80-\xff]*$")]
ServerName = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[^\x00-\x1f]+$")]


class ToolShown(BaseModel):
    name: str
    title: str
    description: str
    inputSchema: dict[str, Any] = Field(description="JSON Schema of the arguments")
    outputSchema: dict[str, Any] = Field(description="JSON Schema of structuredContent")
    annotations: dict[str, Any] = Field(description="readOnlyHint, openWorldHint and the like")


class ToolList(BaseModel):
    jsonrpc: Literal["2.0"]
    tools: list[ToolShown]


class RequestedTool(BaseModel):
    name: str = Field(min_length=1, max_length=64)
    arguments: dict[str, Any] | None = None


class ToolCall(BaseModel):
    """A JSON-RPC request `tools/call`, or its name and arguments alone."""

    model_config = example(
        jsonrpc="2.0",
        id=1,
        method="tools/call",
        params={"name": "app_find", "arguments": {"query": "600040", "kind": "security"}},
    )

    jsonrpc: Literal["2.0"] | None = None
    id: (
        Annotated[str, StringConstraints(max_length=128)]
        | Annotated[int, Field(ge=-(2**63), lt=2**63)]
        | None
    ) = None
    method: str | None = Field(default=None, max_length=64)
    params: RequestedTool | None = None
    name: str | None = Field(default=None, min_length=1, max_length=64)
    arguments: dict[str, Any] | None = None


class Content(BaseModel):
    type: Literal["text"]
    text: str = Field(description="the error when isError; the answer is in structuredContent")


class CallResult(BaseModel):
    content: list[Content]
    structuredContent: dict[str, Any] | None = Field(
        default=None, description="form: the tool's outputSchema"
    )
    isError: bool = Field(description="the tool failed (database or source unavailable)")


class CallError(BaseModel):
    code: int = Field(description="JSON-RPC: -32600 request, -32601 method, -32602 tool or arguments")
    message: str
    data: dict[str, Any] | None = None


class CallAnswer(BaseModel):
    """`result` or `error`."""

    jsonrpc: Literal["2.0"]
    id: str | int | None
    result: CallResult | None = None
    error: CallError | None = None


class ServerEntered(BaseModel):
    """A header that is given as `***` keeps its stored value."""

    model_config = ConfigDict(extra="forbid")

    name: ServerName
    url: str = Field(min_length=8, max_length=512)
    transport: Literal["streamable_http", "sse"] = "streamable_http"
    enabled: bool = True
    headers: dict[HeaderName, HeaderValue] | None = Field(
        default=None,
        max_length=MOST_HEADERS,
        description="sent with every request; stored sealed, shown masked",
    )


class ServerList(BaseModel):
    """All servers of the user: those that are not in the list are removed."""

    model_config = example(
        extra="forbid",
        servers=[
            {
                "name": "research",
                "url": "https://93.184.215.14/mcp",
                "transport": "streamable_http",
                "enabled": True,
                "headers": {"Authorization": "Bearer token"},
            }
        ],
    )

    servers: list[ServerEntered] = Field(max_length=MOST_SERVERS)


class ServerShown(BaseModel):
    name: str
    url: str
    transport: str
    enabled: bool
    headers: dict[str, str] = Field(description="names with masked values")


class Servers(BaseModel):
    servers: list[ServerShown]


class SavedServers(Servers):
    saved: int


class Offer(BaseModel):
    key: str
    name: str
    description: str
    url: str = Field(
        description="address, or the page that explains how to run it; /mcp is this platform's own"
    )
    category: str


class Marketplace(BaseModel):
    items: list[Offer]
    total: int
