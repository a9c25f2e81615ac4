"""The page of screens: a sentence becomes a query, errors are marked in it, the address keeps all."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser

from serving_api.console.texts import texts_of
from tests.console.opened import (
    ConsolePage,
    Opened,
    answer_recorded,
    api_gone,
    is_sound,
    opened,
    says_what_to_do_without_data,
    tries_again,
    waits_for_a_slow_api,
)
from tests.console.payloads import PAYLOADS
from tests.console.record import SCREEN, SENTENCE, answers

PANELS = ("funnel", "rows", "values")


def show(one: Opened, site: str, query: str = "") -> None:
    one.page.goto(f"{site}/console/screens{query}")
    one.ready()


@pytest.mark.parametrize(
    ("width", "language"),
    [
        (1280, "zh"),
        pytest.param(1280, "en", marks=pytest.mark.soak),
        pytest.param(390, "zh", marks=pytest.mark.soak),
        pytest.param(390, "en", marks=pytest.mark.soak),
    ],
)
@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.soak)])
def test_a_screen_shows_its_funnel_its_stocks_and_their_addresses(
    browser: Browser, site: str, width: int, language: str, theme: str
) -> None:
    found = answers("screens")["screener/find"]
    with opened(browser, width=width, language=language) as one:
        answer_recorded(one.page, of="screens")
        show(one, site, f"?theme={theme}")

        left = one.page.locator("#funnel tbody b").all_inner_texts()
        assert left[1:] == [str(step["remaining"]) for step in found["explain"]]
        for row in found["items"]:
            assert row["code"] in one.text("rows")
        assert one.page.locator("#rows tbody tr").count() == len(found["items"])
        roe = found["matched"][found["items"][0]["code"]]["roe"]
        assert f"{roe:.2f}" in one.page.locator("#rows tbody tr").first.inner_text()
        assert one.page.locator("#preset option").count() == 1 + len(
            answers("screens")["screener/presets"]["items"]
        )
        for panel in PANELS:
            assert "/api/v1/" in one.page.locator(f"#{panel}-source").inner_text()
        is_sound(one, site)
        one.page.locator("#funnel tbody tr").nth(1).locator("b button").click()
        said = one.page.locator("#lineage-body").inner_text()
        assert texts_of(language, "screens")["how.remaining"] in said
        assert found["explain"][0]["condition"] in said


def emptied(answer: Any) -> Any:
    return answer | {name: [] for name in ("items", "explain") if name in answer}


@pytest.mark.soak
@pytest.mark.parametrize(("width", "language"), [(1280, "en"), (390, "zh")])
def test_without_data_each_panel_says_what_to_do(
    browser: Browser, site: str, width: int, language: str
) -> None:
    page = ConsolePage(browser, site, "screens", "screens", width, language)
    says_what_to_do_without_data(page, emptied, {panel: panel for panel in PANELS})


@pytest.mark.soak
@pytest.mark.parametrize(("width", "language"), [(1280, "en"), (390, "zh")])
def test_with_the_api_gone_each_panel_says_so_and_tries_again(
    browser: Browser, site: str, width: int, language: str
) -> None:
    page = ConsolePage(browser, site, "screens", "screens", width, language)
    with api_gone(page, PANELS) as one:
        tries_again(page, one, "rows")


@pytest.mark.soak
def test_with_the_api_slow_a_panel_says_that_it_waits_and_then_shows(browser: Browser, site: str) -> None:
    page = ConsolePage(browser, site, "screens", "screens")
    waits_for_a_slow_api(page, "values", "**/formulas/eval", "tbody tr")


def test_a_reader_without_a_mouse_asks_in_a_sentence_mends_the_query_and_opens_the_saved_address(
    browser: Browser, site: str
) -> None:
    """The errors are those of the app itself; what it finds is recorded."""
    texts = texts_of("zh", "screens")
    with opened(browser, gone=True) as one:
        page = one.page
        answer_recorded(page, of="screens")
        show(one, site)
        page.locator("#sentence").focus()
        page.keyboard.type(SENTENCE)
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.getElementById('dsl').value === 'pe_ttm < 20 and roe > 5%'")
        one.ready()
        assert "银行" in page.locator("#dsl-told").inner_text()

        # The app's own answers from here on.
        page.unroute("**/api/v1/**")
        while page.evaluate("() => document.activeElement.id") != "dsl":
            page.keyboard.press("Tab")
        page.keyboard.press("Control+A")
        page.keyboard.type("change_pct > -50 and pe_tm < 20")
        page.keyboard.press("Control+Enter")
        page.locator("#dsl[aria-invalid=true]").wait_for()
        one.ready()
        assert page.locator("#dsl-under mark").inner_text() == "pe_tm"
        assert one.text("rows") == texts["editor.see"]
        page.keyboard.press("Tab")
        assert page.evaluate("() => document.activeElement.textContent") == "改为 pe_ttm"
        page.keyboard.press("Enter")
        assert page.locator("#dsl").input_value() == "change_pct > -50 and pe_ttm < 20"
        page.keyboard.press("Control+Enter")
        page.wait_for_function("() => new URL(location).searchParams.get('query')?.endsWith('pe_ttm < 20')")
        one.ready()
        assert page.locator("#funnel tbody tr").count() == 3

        saved = page.url
        assert parse_qs(urlsplit(saved).query)["sentence"] == [SENTENCE]
        page.goto(f"{site}/console/login")
        page.goto(saved)
        one.ready()
        assert page.locator("#dsl").input_value() == "change_pct > -50 and pe_ttm < 20"
        assert page.locator("#funnel tbody tr").count() == 3
        page.go_back()
        page.go_back()
        page.wait_for_function("() => document.getElementById('dsl')?.value.includes('pe_ttm')")
        assert one.errors == []


@pytest.mark.soak
def test_arrows_go_through_the_trade_dates(browser: Browser, site: str) -> None:
    with opened(browser) as one:
        answer_recorded(one.page, of="screens")
        month = {
            "today": "2026-11-26",
            "days": [{"date": f"2026-11-{day:02}", "is_open": day not in {21, 22}} for day in range(1, 31)],
        }
        one.page.route("**/market/calendar*", lambda route: route.fulfill(json=month))
        show(one, site, "?date=2026-11-23")
        with one.page.expect_request("**/screener/find"):
            one.page.keyboard.press("ArrowLeft")
        assert one.page.locator("#date").input_value() == "2026-11-20"
        one.ready()
        assert parse_qs(urlsplit(one.page.url).query)["date"] == ["2026-11-20"]
        assert SCREEN in one.page.locator("#dsl").input_value()


@pytest.mark.soak
def test_scripts_in_names_and_notes_run_nowhere(browser: Browser, site: str) -> None:
    def poisoned(answer: Any) -> Any:
        for at, row in enumerate(answer.get("items", [])):
            names = ("name", "industry", "label", "desc", "description")
            row |= {name: PAYLOADS[at % 30] for name in names if name in row}
        for at, step in enumerate(answer.get("explain", [])):
            step |= {"condition": PAYLOADS[at], "note": PAYLOADS[at + 9]}
        return answer | ({"unmatched": list(PAYLOADS)} if "unmatched" in answer else {})

    with opened(browser) as one:
        answer_recorded(one.page, poisoned, of="screens")
        show(one, site)
        one.page.locator("#sentence").fill("x")
        one.page.locator("#sentence").press("Enter")
        one.ready()
        shown = one.page.locator("main").inner_text()
        assert [text for text in PAYLOADS if text not in shown] == []
        assert one.page.evaluate("() => window.hit") is None
        assert one.page.locator("main img, main svg, main iframe, main script, main details").count() == 0
        assert one.errors == []
        assert one.hosts() == {site.removeprefix("http://")}


@pytest.mark.soak
def test_a_reader_without_a_mouse_goes_from_a_screen_to_one_of_its_stocks(
    browser: Browser, site: str
) -> None:
    with opened(browser) as one:
        page = one.page
        answer_recorded(page, of="screens")
        show(one, site)
        code = answers("screens")["screener/find"]["items"][0]["code"]
        page.locator("#dsl").focus()
        while not page.evaluate("() => document.activeElement.matches('#rows td a')"):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/console/stock/{code}")
        page.locator("#asof").wait_for()
