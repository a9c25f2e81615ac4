"""Shapes that the OpenAPI document shows: the envelope around a model, and the body of each refusal."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model


class Detail(BaseModel):
    """Every refusal but 422."""

    model_config = ConfigDict(title="Error")
    detail: str


class Problem(BaseModel):
    loc: list[str | int]
    msg: str
    type: str


class InvalidInput(BaseModel):
    """422: `detail` names the parameter, what is wrong and what is allowed."""

    detail: str
    errors: list[Problem]


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


def enveloped(model: Any, top: Sequence[tuple[str, Any]] = ()) -> Any:
    """The envelope's model with `results` of `model`; `top` adds optional top-level keys."""
    label = getattr(model, "__name__", None) or str(model)
    inner = "".join(getattr(arg, "__name__", "") for arg in getattr(model, "__args__", ()))
    fields: dict[str, Any] = {"results": (model, ...)}
    fields |= {name: (kind | None, None) for name, kind in top}
    name = "Envelope_" + "".join(part for part in f"{label}_{inner}" if part.isalnum() or part == "_")
    return create_model(name, __base__=Envelope, **fields)


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
        status: {"model": Detail, "description": _TEXTS[status]} for status in sorted(statuses)
    }
    documented[422] = {"model": InvalidInput, "description": "a value is missing, malformed or out of range"}
    return documented
