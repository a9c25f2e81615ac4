"""Requests and replies between the HTTP server and the responders."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar
from urllib.parse import parse_qsl

from simulated_market.faults import Fault
from simulated_market.world.model import Quote, Security, World

T = TypeVar("T")
Row = dict[str, Any]
JSON = "application/json; charset=UTF-8"
_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class HttpRequest:
    """A request as an upstream sees it: `path` without the upstream key, `query` still encoded."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes = b""

    def params(self) -> dict[str, str]:
        """Query parameters, the last of equal names wins."""
        return dict(parse_qsl(self.query, keep_blank_values=True))

    def form(self) -> dict[str, str]:
        """Fields of a form in the body; none of a body that is no form."""
        return dict(parse_qsl(self.body.decode("ascii", "replace"), keep_blank_values=True))

    def document(self) -> dict[str, Any]:
        """The JSON object in the body; {} of anything else."""
        try:
            found = json.loads(self.body)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class Reply:
    body: bytes
    content_type: str = JSON
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class View:
    """The input of a responder for one answer: a world (already with the false facts of a fault), the market
    time, and the fault, for those that only the wire format can show."""

    world: World
    now: datetime
    fault: Fault | None = None

    def cut(self, rows: Sequence[T]) -> list[T]:
        """The rows, or the first of them under the fault of a list that ends early."""
        if self.fault is None or self.fault.kind != "cut_list":
            return list(rows)
        return list(rows)[: int(self.fault.args.get("rows", 100))]

    def page(self, rows: Sequence[T], size: int, page: int) -> list[T]:
        """Page `page` (from 1) of the rows that are left of `cut`."""
        return self.cut(rows)[(page - 1) * size : page * size]

    def quoted(self, symbol: str) -> tuple[Security, Quote] | None:
        """The security of a symbol (`sh600519`) and its quote; None where either is not known."""
        security = self.world.find(symbol)
        quote = None if security is None else self.world.quote(security, self.now)
        return None if security is None or quote is None else (security, quote)

    def lot(self, board: str, lot: int) -> int:
        """Shares per wire unit of volume for `board`; the fault `lots_for_shares` swaps the unit."""
        swapped = self.fault is not None and self.fault.kind == "lots_for_shares"
        if swapped and self.fault is not None and self.fault.args.get("board", board) == board:
            return 100 if lot == 1 else 1
        return lot


def json_reply(
    document: Any, callback: str | None = None, kind: str = JSON, *, end: str = ")", spaced: bool = False
) -> Reply:
    """A document as JSON, or as JSONP of the type `kind` where a callback is asked for."""
    text = json.dumps(document, ensure_ascii=False, separators=None if spaced else (",", ":"))
    return Reply(f"{callback}({text}{end}".encode(), kind) if callback else Reply(text.encode())


Handler = Callable[[HttpRequest, View], Reply]


@dataclass(frozen=True)
class Route:
    """`call` is the name of the request for faults and counts."""

    call: str
    pattern: re.Pattern[str]
    handle: Handler


@dataclass(frozen=True)
class Site:
    """An upstream that is its routes alone."""

    upstream: str
    routes: Sequence[Route]


def route(call: str, pattern: str, handle: Handler) -> Route:
    return Route(call, re.compile(pattern), handle)


class Responder(Protocol):
    """One upstream. `upstream` is its key: the first path segment, `src` in the data."""

    @property
    def upstream(self) -> str: ...

    @property
    def routes(self) -> Sequence[Route]: ...


def unix(when: datetime) -> int:
    """Seconds for a naive Asia/Shanghai time."""
    return int((when - timedelta(hours=8) - _EPOCH).total_seconds())
