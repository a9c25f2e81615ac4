"""A page of another origin, in a browser: it reads, logs in, reads with its token, and hears the stream."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser

from tests.serving_api import market
from tests.serving_api.conftest import Ticks, make_app

EXAMPLE = Path(__file__).parents[2] / "docs/examples/chart.html"
PAGE = """async (api) => {
  const bars = await fetch(`${api}/stocks/600519/kline`);
  const body = JSON.stringify({ username: "visitor", password: "a quiet Sunday 47", email: "v@example.com" });
  const send = { method: "POST", headers: { "Content-Type": "application/json" }, body };
  await fetch(`${api}/auth/register`, send);
  const { access_token } = await (await fetch(`${api}/auth/login`, send)).json();
  const me = await fetch(`${api}/auth/me`, { headers: { Authorization: `Bearer ${access_token}` } });
  const heard = await new Promise((done) => {
    const stream = new EventSource(`${api}/realtime/stream`);
    stream.onopen = () => { stream.close(); done(true); };
    stream.onerror = () => { stream.close(); done(false); };
  });
  const { results } = await bars.json();
  return [results.length, bars.headers.get("ETag") !== null, (await me.json()).username, heard];
}"""


@contextmanager
def served(app: Any) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, lifespan="on"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.05)
        assert thread.is_alive(), "the server did not start"
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/api/v1"
    server.should_exit = True
    thread.join(20)


@pytest.fixture
def origin(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "index.html").write_text("<!DOCTYPE html><title>another site</title>")
    shutil.copy(EXAMPLE, tmp_path / "pages")
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "pages"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}"
        server.shutdown()


def test_a_frontend_of_another_origin_works(browser: Browser, origin: str, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    warehouse = market.open_warehouse(url, tmp_path)
    warehouse.migrate()
    market.fill(warehouse)
    with served(make_app(url, tmp_path, Ticks(), cors_origins=origin)) as api:
        page = browser.new_page()
        page.goto(origin)
        bars, etag, name, heard = page.evaluate(PAGE, api)
        address = f"{origin}/chart.html?api={api.removesuffix('/api/v1')}"
        page.goto(f"{address}&code=600519")
        page.wait_for_selector("#chart rect")
        drawn, title = page.locator("#chart rect").count(), page.inner_text("#name")
        page.goto(f"{address}&code=699999")
        page.wait_for_function("document.getElementById('error').textContent")
        refused = page.inner_text("#error")
        page.close()
    warehouse.close()

    assert bars > 0
    assert etag
    assert name == "visitor"
    assert heard
    assert (drawn > 2, "600519" in title) == (True, True), "the page of docs/examples draws its chart"
    assert refused.startswith("not_found: "), "and names what went wrong"
