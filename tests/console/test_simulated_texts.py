"""Scripts in the names and titles of the simulated market: through the upstreams' formats, the parsers, the
tables and the API of a whole platform, they run on no page of the console."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from serving_api.console.pages import PAGES
from tests.console.opened import CODE, Opened, opened
from tests.console.payloads import PAYLOADS
from tests.console.screenshots import log_in, sample_platform
from tests.console.test_texts import MADE

pytestmark = pytest.mark.soak

SHOWN = {"stock": 2, "market": 20, "screens": 10}
"""Pages that must show at least so many of the texts."""
OF_THE_TERMINAL = 8
"""Letters of a name that the terminal's protocol carries: the list of securities comes from there."""


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    file: Path = tmp_path_factory.mktemp("texts") / "texts.json"
    file.write_text(json.dumps(PAYLOADS), encoding="utf-8")
    with sample_platform(1, SAMPLE_TEXTS=str(file), SAMPLE_HISTORY_DATES="60") as started:
        yield started


@pytest.fixture
def reader(browser: Browser, platform: tuple[str, str]) -> Iterator[Opened]:
    with opened(browser) as one:
        log_in(one.page, *platform)
        yield one


def act(one: Opened, page: str) -> None:
    """What a reader does to see more of the texts."""
    if page == "market":
        one.page.hover("canvas.treemap")
        one.page.select_option("#view", "table")
    elif page == "screens":
        one.page.locator("#dsl").fill("close > 0")
        one.page.locator("#dsl").press("Control+Enter")
        one.page.locator("#rows-body tbody tr").first.wait_for()
    elif page == "stock":
        one.page.locator("#summary button.number").first.click()
        one.page.locator("#lineage-body dl, #lineage-body .hint").first.wait_for()
    elif page == "ask":
        one.page.locator("#question").fill(f"{CODE}现在估值如何？")
        one.page.locator("#question").press("Enter")
        one.page.locator("[data-evidence]").first.wait_for()


@pytest.mark.parametrize("page", [page.name for page in PAGES])
def test_scripts_of_the_simulated_market_run_nowhere(
    reader: Opened, platform: tuple[str, str], page: str
) -> None:
    address, _ = platform
    path = next(one.path for one in PAGES if one.name == page)
    reader.page.goto(f"{address}/console/{path}{CODE if page == 'stock' else ''}")
    reader.ready()
    act(reader, page)
    reader.page.wait_for_timeout(500)
    shown = reader.page.locator("body").inner_text()
    assert len([text for text in PAYLOADS if text[:OF_THE_TERMINAL] in shown]) >= SHOWN.get(page, 0)
    assert reader.page.evaluate("() => window.hit") is None
    assert reader.page.evaluate(MADE) == []
    assert reader.errors == []
    assert reader.hosts() == {address.removeprefix("http://")}


def test_the_search_finds_a_stock_by_a_script_that_is_its_name(
    reader: Opened, platform: tuple[str, str]
) -> None:
    address, _ = platform
    reader.page.goto(f"{address}/console/")
    reader.ready()
    reader.page.keyboard.press("/")
    reader.page.keyboard.type("<svg")
    reader.page.locator("#search-found [data-code]").first.wait_for()
    assert "<svg" in reader.page.locator("#search-found").inner_text()
    assert reader.page.evaluate("() => window.hit") is None
