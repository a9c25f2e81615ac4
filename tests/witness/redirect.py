"""Public clients, unchanged, with the simulated market in the place of the upstreams.

What leaves through `requests`, `curl_cffi` or the standard library goes to the loopback port, behind the key
of the upstream whose host it names; every other host is refused, so that nothing here reaches a network.
"""

import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, tzinfo
from typing import Any
from urllib.parse import urlsplit

import akshare.stock_feature.stock_ztb_em as their_pools
import curl_cffi.requests
import py_mini_racer
import pytest
import requests

from resources.upstreams.cninfo.records import time_header
from simulated_market.hosts import upstream_of_host
from tests.witness.market import NOW

VISITOR = "xq_a_token=sample-visitor"
"""The token that the simulated social site gives its visitors."""


class NotSimulated(requests.exceptions.ConnectionError):
    """A host that is no upstream of ours: it is not asked."""


def moved(root: str, url: str) -> str:
    """The address of `url` at the simulated market."""
    parts = urlsplit(url)
    upstream = upstream_of_host(parts.netloc)
    if upstream is None:
        raise NotSimulated(f"{parts.netloc} is not simulated")
    path = url.split(parts.netloc, 1)[1]
    return f"{root}/{upstream}{path if path.startswith('/') else '/' + path}"


class Today(datetime):
    """The market's clock for a client that looks at the machine's."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> "Today":
        return cls(NOW.year, NOW.month, NOW.day, NOW.hour, NOW.minute, tzinfo=tz)


@contextmanager
def redirected(root: str) -> Iterator[None]:
    """Within it every request goes to the simulated market at `root`, without pauses between two."""
    send, curl, opened = requests.Session.send, curl_cffi.requests.Session.request, urllib.request.urlopen

    def sent(self: requests.Session, request: requests.PreparedRequest, **how: Any) -> requests.Response:
        if request.url is not None and not request.url.startswith(root):
            request.url = moved(root, request.url)
            request.headers.pop("Host", None)
            if "/xueqiu/" in request.url:
                # What a browser would have from the page before.
                request.headers.setdefault("Cookie", VISITOR)
        return send(self, request, **{**how, "proxies": {}})

    def curled(self: Any, method: str, url: str, *args: Any, **how: Any) -> Any:
        return curl(self, method, url if url.startswith(root) else moved(root, url), *args, **how)

    def opening(url: Any, *args: Any, **how: Any) -> Any:
        if isinstance(url, str):
            return opened(moved(root, url), *args, **how)
        target = urllib.request.Request(moved(root, url.full_url), url.data, dict(url.headers))
        return opened(target, *args, **how)

    call = py_mini_racer.MiniRacer.call

    def called(self: Any, name: str, *args: Any) -> Any:
        # The disclosure platform's header is the time: the script would use the machine's.
        return time_header(NOW) if name == "getResCode1" else call(self, name, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(py_mini_racer.MiniRacer, "call", called)
        patch.setattr(their_pools, "datetime", Today)
        patch.setattr(requests.Session, "send", sent)
        patch.setattr(curl_cffi.requests.Session, "request", curled)
        patch.setattr(urllib.request, "urlopen", opening)
        patch.setattr(time, "sleep", lambda _seconds: None)
        yield
