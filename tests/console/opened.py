"""A page of the console as a reader has it: what it logged, whom it asked, whether anything moved."""

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Request, Route

from tests.console.record import answers

CHROMIUM = os.environ.get("TEST_CHROMIUM", "/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
CODE = "600040"
WAIT_MS = 60_000
# Whatever moved after the page had loaded, and not because of a key or a click.
_SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifts.push(
    one.value + " " + one.sources.map(({ node }) => node?.id || node?.className || node?.nodeName));
}).observe({ type: "layout-shift", buffered: true });
"""
_NO_CONNECTION = "Failed to load resource"

Change = Callable[[Any], Any]


@dataclass
class Opened:
    page: Page
    errors: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def ready(self) -> None:
        """Wait until no panel is busy."""
        self.page.wait_for_function("() => document.documentElement.dataset.ready === '1'")
        self.page.wait_for_function("() => !document.querySelector('[aria-busy=true]')")

    def shifts(self) -> list[str]:
        self.page.wait_for_timeout(300)
        found: list[str] = self.page.evaluate("() => window.shifts")
        return found

    def hosts(self) -> set[str]:
        return {urlsplit(url).netloc for url in self.asked if not url.startswith("data:")}

    def text(self, panel: str) -> str:
        return self.page.locator(f"#{panel}-body").inner_text()


@contextmanager
def opened(
    browser: Browser, *, width: int = 1280, language: str = "zh", gone: bool = False
) -> Iterator[Opened]:
    """A new browser profile with an empty page. Where the API is `gone`, the browser's own line about the
    lost connection is no error of the page."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, locale="zh-CN" if language == "zh" else "en-GB"
    )
    context.set_default_timeout(WAIT_MS)
    context.add_init_script(_SHIFTS)
    page = context.new_page()
    one = Opened(page)
    page.on("pageerror", lambda error: one.errors.append(str(error)))
    page.on("request", lambda request: one.asked.append(request.url))

    def said(message: Any) -> None:
        if message.type in {"error", "warning"} and not (gone and _NO_CONNECTION in message.text):
            one.errors.append(message.text)

    page.on("console", said)
    try:
        yield one
    finally:
        context.close()


def recorded_key(request: Request) -> str:
    """The name under which `record.py` keeps the answer of a request."""
    body = json.loads(request.post_data or "{}") if request.method == "POST" else {}
    if "interface" in body:
        return str(body["interface"])
    path = urlsplit(request.url).path.partition("/api/v1/")[2]
    return re.sub(r"\d{6}", "{code}", path)


def answer_recorded(page: Page, change: Change = lambda answer: answer, of: str = "stock") -> None:
    """The API answers what was recorded for the page `of`, changed by `change`; other requests reach the
    app."""
    found = answers(of)

    def answer(route: Route) -> None:
        key = recorded_key(route.request)
        if key in found:
            route.fulfill(json=change(json.loads(json.dumps(found[key]))))
        else:
            route.continue_()

    page.route("**/api/v1/**", answer)


def holding(held: list[Route]) -> Callable[[Route], None]:
    """Keeps requests without an answer. A function of our own: Playwright sets an attribute of it."""

    def hold(route: Route) -> None:
        held.append(route)

    return hold


def is_sound(one: Opened, site: str) -> None:
    """No error, no other host, nothing that moved, nothing that keeps people out."""
    assert one.errors == []
    assert one.hosts() == {site.removeprefix("http://")}
    assert one.shifts() == []
    found = Axe().run(one.page).response["violations"]
    assert [
        (rule["id"], [node["html"][:90] for node in rule["nodes"]])
        for rule in found
        if rule["impact"] in {"serious", "critical"}
    ] == []
