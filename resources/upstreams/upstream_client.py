"""What the clients of all upstreams are made of."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from resources.transport.request import Fetcher, Request

T = TypeVar("T")
P = ParamSpec("P")


class UpstreamClient:
    """`fetcher` is a transport bound to the log of one piece of work."""

    source = ""
    """The upstream's key."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def _ask(
        self, request: Request, parse: Callable[Concatenate[bytes, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """The answer to a request as `parse` reads its body; further arguments are those of `parse`."""
        return self._fetcher.call(request, lambda body: parse(body, *args, **kwargs))
