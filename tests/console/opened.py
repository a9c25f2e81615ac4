"""A page of the console as a reader has it: what it logged, whom it asked, whether anything moved."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Request, Route

from serving_api.console.texts import texts_of
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

    def show(self, address: str) -> None:
        """Open a page and wait for its panels."""
        self.page.goto(address)
        self.ready()

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


def answer_recorded(
    page: Page, change: Change = lambda answer: answer, of: str = "stock", provisional: Sequence[str] = ()
) -> None:
    """The API answers what was recorded for the page `of`, changed by `change`, those of `provisional` with
    the mark of a provisional factor; other requests reach the app."""
    found = answers(of)

    def answer(route: Route) -> None:
        key = recorded_key(route.request)
        if key in found:
            headers = {"X-Factor": "provisional"} if key in provisional else {}
            route.fulfill(json=change(json.loads(json.dumps(found[key]))), headers=headers)
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


def nothing(one: Opened) -> None:
    """For a page that needs no other answers."""


def as_recorded(answer: Any) -> Any:
    return answer


@dataclass(frozen=True)
class ConsolePage:
    """A page of the console at an address, with a width and a language, and the answers recorded for it.
    `prepare` adds what is not recorded (a stream, another address)."""

    browser: Browser
    site: str
    path: str
    of: str
    width: int = 1280
    language: str = "zh"
    prepare: Callable[[Opened], None] = nothing

    @property
    def address(self) -> str:
        return f"{self.site}/console/{self.path}"

    def texts(self) -> dict[str, str]:
        return texts_of(self.language, self.of)

    @contextmanager
    def opened(self, *, gone: bool = False) -> Iterator[Opened]:
        with opened(self.browser, width=self.width, language=self.language, gone=gone) as one:
            yield one


def says_what_to_do_without_data(page: ConsolePage, emptied: Change, told: Mapping[str, str]) -> None:
    """Over answers without rows each panel shows its sentence: `told` names the key of its text below
    `empty.`."""
    texts = page.texts()
    with page.opened() as one:
        answer_recorded(one.page, emptied, of=page.of)
        page.prepare(one)
        one.show(page.address)
        assert {panel: one.text(panel) for panel in told} == {
            panel: texts[f"empty.{name}"] for panel, name in told.items()
        }
        is_sound(one, page.site)


@contextmanager
def api_gone(page: ConsolePage, panels: Sequence[str]) -> Iterator[Opened]:
    """The page without an API, after each panel has said so."""
    with page.opened(gone=True) as one:
        one.page.route("**/api/v1/**", lambda route: route.abort())
        one.show(page.address)
        texts = page.texts()
        assert [panel for panel in panels if texts["problem.gone"] not in one.text(panel)] == []
        is_sound(one, page.site)
        yield one


def tries_again(page: ConsolePage, one: Opened, panel: str, change: Change = as_recorded) -> None:
    """The API is back: the button of a panel fills it."""
    one.page.unroute("**/api/v1/**")
    answer_recorded(one.page, change, of=page.of)
    one.page.locator(f"#{panel} button", has_text=page.texts()["problem.again"]).click()
    one.page.locator(f"#{panel}-body table").wait_for()
    one.ready()
    assert one.page.locator(f"#{panel}-body tbody tr").count() > 0


def waits_for_a_slow_api(
    page: ConsolePage, panel: str, held_address: str, shown: str, change: Change = as_recorded
) -> None:
    """While the answer to `held_address` is out, the panel says that it waits; then it has the element
    `shown` (a selector)."""
    held: list[Route] = []
    with page.opened() as one:
        answer_recorded(one.page, change, of=page.of)
        page.prepare(one)
        one.page.route(held_address, holding(held))
        one.page.goto(page.address)
        one.page.locator(f"#{panel}-body", has_text=page.texts()["state.slow"]).wait_for()
        for route in held:
            route.fallback()
        one.ready()
        assert one.page.locator(f"#{panel} {shown}").first.is_visible()
        is_sound(one, page.site)
