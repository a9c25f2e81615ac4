"""Requests that come at the same time, and how many reads they cost."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import httpx

from tests.serving_api.client import BASE, Api

_LONG = 0.05
"""Seconds that a watched read lasts at least: long enough for all who ask to have asked."""


class Watched:
    """A read that counts its calls, and how many ran side by side."""

    def __init__(self, read: Callable[..., Any]) -> None:
        self._read = read
        self._lock = threading.Lock()
        self._running = 0
        self.calls = self.most = 0

    def __call__(self, *args: Any) -> Any:
        with self._lock:
            self.calls += 1
            self._running += 1
            self.most = max(self.most, self._running)
        try:
            time.sleep(_LONG)
            return self._read(*args)
        finally:
            with self._lock:
                self._running -= 1


def answers_at_once(api: Api, paths: Sequence[str]) -> list[Any]:
    """The bodies, all asked for at the same time."""

    async def ask() -> list[httpx.Response]:
        return await asyncio.gather(*(api._client.get(f"{BASE}{path}") for path in paths))

    answers = api.call(ask)
    assert [answer.status_code for answer in answers] == [200] * len(paths)
    return [answer.json() for answer in answers]
