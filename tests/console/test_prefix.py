"""The console behind a reverse proxy that serves it below a prefix: pages, scripts, login and data."""

import threading
from collections.abc import Iterator

import httpx
import pytest
import uvicorn
from playwright.sync_api import Browser
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from tests.console.opened import is_sound, opened
from tests.serving_api.conftest import ADMIN

PREFIX = "/research"
HOP = {"connection", "content-encoding", "content-length", "transfer-encoding"}
METHODS = ["GET", "POST", "HEAD"]


@pytest.fixture
def behind(site: str) -> Iterator[str]:
    """Address of the proxy: what is below the prefix goes to the app without it, all else is not there."""
    client = httpx.AsyncClient(base_url=site, timeout=30.0)

    async def forward(request: Request) -> Response:
        answer = await client.request(
            request.method,
            request.url.path.removeprefix(PREFIX),
            params=request.url.query.encode() or None,
            headers=[(name, value) for name, value in request.headers.raw if name != b"accept-encoding"],
            content=await request.body(),
        )
        shown = Response(answer.content, answer.status_code)
        for name, value in answer.headers.multi_items():
            if name.lower() not in HOP:
                shown.headers.append(name, value)
        return shown

    async def nothing(request: Request) -> Response:
        return PlainTextResponse(f"{request.url.path} is not below {PREFIX}", 404)

    routes = [
        Route(f"{PREFIX}/{{path:path}}", forward, methods=METHODS),
        Route("/{path:path}", nothing, methods=METHODS),
    ]
    server = uvicorn.Server(
        uvicorn.Config(Starlette(routes=routes), host="127.0.0.1", port=0, log_config=None)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.05)
        assert thread.is_alive(), "the proxy did not start"
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(20)


@pytest.mark.soak
def test_below_a_prefix_pages_login_and_data_are_there_and_nothing_is_asked_beside_it(
    browser: Browser, behind: str
) -> None:
    with opened(browser) as one:
        page = one.page
        page.goto(f"{behind}{PREFIX}/console/login")
        page.locator("#username").fill(ADMIN["username"])
        page.locator("#password").fill(ADMIN["password"])
        page.keyboard.press("Enter")
        page.wait_for_url(f"{behind}{PREFIX}/console/today")
        one.ready()
        assert page.locator("#freshness-body tbody tr").count() == 52
        assert [cookie["path"] for cookie in page.context.cookies() if cookie["httpOnly"]] == [PREFIX]
        page.goto(f"{behind}{PREFIX}/console/stock/600519")
        one.ready()
        assert page.locator("#candles .main-svg").count() > 0 or one.text("candles")
        assert [url for url in one.asked if not url.startswith((f"{behind}{PREFIX}/", "data:"))] == []
        is_sound(one, behind)
