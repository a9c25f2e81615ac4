"""Text of upstreams is shown as text: scripts in names, titles and reasons run nowhere."""

from itertools import cycle
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.console.opened import CODE, Change, answer_recorded, opened
from tests.console.payloads import PAYLOADS

TEXTS = {
    "name",
    "title",
    "plan_text",
    "reason",
    "industry",
    "concepts",
    "label",
    "pattern",
    "direction",
    "mark",
    "detail",
}
MADE = """() => [...document.querySelectorAll(
  "script:not([src]):not([type='application/json']), img, iframe, object, embed, video, audio, marquee,"
    + "details, math"
)].map((one) => one.outerHTML)"""


def poisoning() -> Change:
    """Every text of an upstream in an answer becomes the next payload."""
    payloads = cycle(PAYLOADS)

    def poisoned(answer: Any, key: str = "") -> Any:
        if isinstance(answer, dict):
            return {name: poisoned(value, name) for name, value in answer.items()}
        if isinstance(answer, list):
            return [poisoned(value, key) for value in answer]
        return next(payloads) if key in TEXTS and isinstance(answer, str) else answer

    return poisoned


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.soak)])
def test_scripts_in_the_texts_of_upstreams_run_nowhere(browser: Browser, site: str, width: int) -> None:
    assert len(PAYLOADS) == 30
    with opened(browser, width=width) as one:
        answer_recorded(one.page, poisoning())
        found = {
            "results": [{"code": CODE, "name": text, "industry": text, "market": "SH"} for text in PAYLOADS]
        }
        one.page.route("**/stocks/search*", lambda route: route.fulfill(json=found))
        one.page.goto(f"{site}/console/stock/{CODE}")
        one.ready()
        one.page.keyboard.press("/")
        one.page.keyboard.type("x")
        one.page.locator("#search-found [data-code]").nth(29).wait_for()

        shown = one.page.locator("body").inner_text()
        assert [text for text in PAYLOADS if text not in shown] == []
        # The labels of a chart that appear with the mouse.
        box = one.page.locator("#candles-body").bounding_box()
        assert box is not None
        one.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 100)
        one.page.wait_for_timeout(300)
        assert one.page.evaluate("() => window.hit") is None
        assert one.page.evaluate(MADE) == []
        assert one.errors == []
        assert one.hosts() == {site.removeprefix("http://")}


@pytest.mark.soak
@pytest.mark.parametrize("page", ["market", "scorecards", "today", "data"])
def test_scripts_run_nowhere_on_the_other_pages(browser: Browser, site: str, page: str) -> None:
    with opened(browser) as one:
        answer_recorded(one.page, poisoning(), of=page)
        one.page.route("**/realtime/stream", lambda route: route.fulfill(content_type="text/event-stream"))
        one.page.goto(f"{site}/console/{page}")
        one.ready()
        if page == "market":
            one.page.hover("canvas.treemap")
            assert one.page.locator("#map .tip").is_visible()
            one.page.select_option("#view", "table")
        one.page.wait_for_timeout(300)
        shown = one.page.locator("body").inner_text()
        assert len([text for text in PAYLOADS if text in shown]) >= 20
        assert one.page.evaluate("() => window.hit") is None
        assert one.page.evaluate(MADE) == []
        assert one.errors == []
        assert one.hosts() == {site.removeprefix("http://")}
