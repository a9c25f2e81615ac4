"""`make screenshots [ADDRESS=http://127.0.0.1:8000]`: the pictures of the console in the README.

    python -m tests.console.screenshots [ADDRESS] [--password-file FILE]

Without an address it starts the sample platform in a folder of its own, waits until its calculated tables are
there (some minutes), and stops it. The pictures are of the user `admin`.
"""

import argparse
import io
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from serving_api.console.pages import PAGES
from tests.console.opened import ARGUMENTS, CHROMIUM, CODE, WAIT_MS

FOLDER = Path("docs/pictures")
WIDTH, HEIGHT = 1280, 640
COLORS = 40
MAX_BYTES = 150_000
START_S = 1800.0
LINES = 120
"""Dates that the picture of a stock shows with their indicators."""
QUESTION = f"{CODE}现在估值如何？"


def nothing(page: Page) -> None:
    """For a page that shows its best by itself."""


def see_lineage(page: Page) -> None:
    """A price of the wide table, and on to the row that it was taken over from, where the sources are."""
    page.locator("#summary button.number").first.click()
    page.locator("#lineage-body button.number").first.click()
    page.locator("#lineage-body td", has_text="stg_").first.wait_for()


def ask_and_point(page: Page) -> None:
    page.locator("#question").fill(QUESTION)
    page.locator("#question").press("Enter")
    page.locator("[data-evidence]").nth(6).wait_for()
    page.locator("#talk-body").evaluate("(one) => { one.scrollTop = 0; }")
    page.locator("[data-evidence]").nth(6).focus()


def make_a_mistake(page: Page) -> None:
    page.locator("#dsl").fill("pe_tm between 0 and 20 and roe >= 8% order by roe desc")
    page.locator("#dsl").press("Control+Enter")
    page.locator("#dsl[aria-invalid=true]").wait_for()


@dataclass(frozen=True)
class Shot:
    """A picture: its name, the page that it shows, the rest of the address, what a reader did."""

    name: str
    page: str
    rest: str = ""
    act: Callable[[Page], None] = nothing


SHOTS = (
    Shot("stock", "stock", f"{CODE}?lang=zh"),
    Shot("lineage", "stock", f"{CODE}?lang=zh&theme=dark", see_lineage),
    Shot("market", "market"),
    Shot("screens", "screens", "?lang=zh"),
    Shot("errors", "screens", "?lang=en&theme=dark&habit=western", make_a_mistake),
    Shot("ask", "ask", "", ask_and_point),
)


def compressed(png: bytes) -> bytes:
    """The same picture in few colours."""
    out = io.BytesIO()
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    picture.quantize(COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        out, "PNG", optimize=True
    )
    return out.getvalue()


def log_in(page: Page, address: str, password: str) -> None:
    """As the user `admin`."""
    page.goto(f"{address}/console/login")
    page.locator("#username").fill("admin")
    page.locator("#password").fill(password)
    page.locator("#password").press("Enter")
    page.wait_for_url(lambda url: "login" not in url)


def take(address: str, password: str) -> None:
    """All pictures."""
    paths = {page.name: page.path for page in PAGES}
    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, locale="zh-CN")
        page.set_default_timeout(WAIT_MS)
        log_in(page, address, password)
        for shot in SHOTS:
            page.goto(f"{address}/console/{paths[shot.page]}{shot.rest}")
            page.wait_for_function("() => document.documentElement.dataset.ready === '1'")
            page.wait_for_function("() => !document.querySelector('[aria-busy=true]')")
            shot.act(page)
            page.wait_for_timeout(1000)
            png = compressed(page.screenshot())
            if len(png) > MAX_BYTES:
                raise SystemExit(f"{shot.name}: {len(png)} bytes are more than {MAX_BYTES}")
            (FOLDER / f"{shot.name}.png").write_bytes(png)
            print(f"{FOLDER / shot.name}.png: {len(png):,} bytes")
        browser.close()


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def is_calculated(address: str, dates: int) -> bool:
    """Whether the newest date has what the pictures show."""
    try:
        api = f"{address}/api/v1"
        scores = httpx.get(f"{api}/factor/breakdown/{CODE}", timeout=10.0)
        chips = httpx.get(f"{api}/quant/cyq/{CODE}", timeout=10.0)
        bars = httpx.get(f"{api}/stocks/{CODE}/kline?days={dates}", timeout=10.0)
    except httpx.HTTPError:
        return False
    answers = (scores, chips, bars)
    return all(one.is_success for one in answers) and bool(
        scores.json()["factors"] and chips.json()["distribution"] and bars.json()["total"] == dates
    )


@contextmanager
def sample_platform(dates: int = LINES, **more: str) -> Iterator[tuple[str, str]]:
    """Address and password of a sample platform that ends with this, when so many dates have indicators;
    `more` is environment."""
    with tempfile.TemporaryDirectory() as name:
        ports = {"API_PORT": str(free_port()), "DAGSTER_PORT": str(free_port())}
        environment = {**os.environ, **ports, "DATA_DIR": name, **more}
        started = subprocess.Popen([Path(sys.executable).with_name("ashare"), "run"], env=environment)
        try:
            address = f"http://127.0.0.1:{ports['API_PORT']}"
            until = time.monotonic() + START_S
            while not is_calculated(address, dates):
                if started.poll() is not None or time.monotonic() > until:
                    raise SystemExit("the sample platform did not come up")
                time.sleep(5)
            yield address, (Path(name) / "secrets" / "admin_password").read_text(encoding="utf-8").strip()
        finally:
            started.send_signal(signal.SIGINT)
            started.wait(60)


def main() -> None:
    parser = argparse.ArgumentParser(prog="make screenshots")
    parser.add_argument("address", nargs="?")
    parser.add_argument("--password-file", type=Path, default=Path("data/secrets/admin_password"))
    asked = parser.parse_args()
    if asked.address:
        take(asked.address.rstrip("/"), asked.password_file.read_text(encoding="utf-8").strip())
        return
    with sample_platform() as (address, password):
        take(address, password)


if __name__ == "__main__":
    main()
