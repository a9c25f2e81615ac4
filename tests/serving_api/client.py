"""A blocking client of the app: one event loop in a thread, the lifespan run, no socket."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio.from_thread
import httpx
from fastapi import FastAPI

BASE = "/api/v1"


class Api:
    """Requests with paths below /api/v1, or from the root when they start with `//`."""

    def __init__(self, portal: Any, client: httpx.AsyncClient, app: FastAPI) -> None:
        self._portal = portal
        self._client = client
        self.app = app

    def request(self, method: str, path: str, **how: Any) -> httpx.Response:
        url = path[1:] if path.startswith("//") else f"{BASE}{path}"

        async def send() -> httpx.Response:
            return await self._client.request(method, url, **how)

        answer: httpx.Response = self._portal.call(send)
        return answer

    def get(self, path: str, **how: Any) -> httpx.Response:
        return self.request("GET", path, **how)

    def post(self, path: str, **how: Any) -> httpx.Response:
        return self.request("POST", path, **how)

    def forget_cookies(self) -> None:
        """Later requests carry no cookie that an answer set."""
        self._client.cookies.clear()

    def call(self, work: Any, *args: Any) -> Any:
        """Run a coroutine function on the app's loop."""
        return self._portal.call(work, *args)


@contextmanager
def running(app: FastAPI, *, peer: str = "10.0.0.1") -> Iterator[Api]:
    """The app, started; unexpected errors are answered, not raised."""
    with anyio.from_thread.start_blocking_portal() as portal:
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=True, client=(peer, 50000))

        async def open_client() -> httpx.AsyncClient:
            return httpx.AsyncClient(transport=transport, base_url="http://test")

        with portal.wrap_async_context_manager(app.router.lifespan_context(app)):
            client = portal.call(open_client)
            try:
                yield Api(portal, client, app)
            finally:
                portal.call(client.aclose)
