"""A headless browser, and the app behind a socket."""

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser, sync_playwright

from tests.conftest import require
from tests.console.opened import ARGUMENTS, CHROMIUM
from tests.serving_api import market
from tests.serving_api.conftest import Ticks, make_app


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for the tests of one module. Its driver keeps an event loop running in this process, under
    which no other test could run one of its own: so it ends with the module."""
    require("Chromium", shutil.which(CHROMIUM) is not None, CHROMIUM)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the app over the small market, without a slash at its end."""
    folder: Path = tmp_path_factory.mktemp("console")
    url = f"sqlite:///{folder / 'warehouse.sqlite3'}"
    warehouse = market.open_warehouse(url, folder)
    warehouse.migrate()
    market.fill(warehouse)
    server = uvicorn.Server(
        uvicorn.Config(
            make_app(url, folder, Ticks()), host="127.0.0.1", port=0, log_config=None, lifespan="on"
        )
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.05)
        assert thread.is_alive(), "the server did not start"
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(20)
    warehouse.close()
