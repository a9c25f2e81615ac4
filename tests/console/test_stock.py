"""The page of a stock: what a reader sees, with data and without, at two widths and in two languages."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser

from serving_api.console.texts import texts_of
from tests.console.opened import (
    CODE,
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
from tests.console.record import answers
from tests.console.test_today import enter

PANELS = ("summary", "candles", "chips", "flow", "events", "finance", "peers", "scores")
SOME = [
    (1280, "zh"),
    pytest.param(1280, "en", marks=pytest.mark.soak),
    pytest.param(390, "zh", marks=pytest.mark.soak),
    (390, "en"),
]


def show(one: Opened, site: str, code: str = CODE, query: str = "") -> None:
    one.page.goto(f"{site}/console/stock/{code}{query}")
    one.ready()


@pytest.mark.parametrize(("width", "language"), SOME)
@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.soak)])
def test_all_panels_show_the_stock_and_name_their_address(
    browser: Browser, site: str, width: int, language: str, theme: str
) -> None:
    expected = answers("stock")
    with opened(browser, width=width, language=language) as one:
        answer_recorded(one.page)
        show(one, site, query=f"?theme={theme}")

        assert expected["stocks/{code}"]["results"]["name"] in one.page.locator("h1").inner_text()
        assert expected["get_announcements"]["results"][0]["title"] in one.text("events")
        assert expected["get_limit_history"]["results"][0]["trade_date"] in one.text("events")
        assert texts_of(language, "stock")["events.limit_broken"] in one.text("events")
        marks = one.page.locator("#scores .tag").all_inner_texts()
        assert marks == [factor["mark"] for factor in expected["factor/breakdown/{code}"]["factors"]]
        for chart in ("candles", "chips", "flow"):
            assert one.page.locator(f"#{chart} .main-svg").count() > 0
        for panel in PANELS:
            assert "/api/v1/" in one.page.locator(f"#{panel}-source").inner_text()
        is_sound(one, site)


def test_panels_with_a_provisional_factor_say_so(browser: Browser, site: str) -> None:
    with opened(browser, width=1280, language="en") as one:
        answer_recorded(one.page, provisional=("stocks/{code}/kline", "factor/breakdown/{code}"))
        show(one, site)

        said = {name: one.page.locator(f"#{name}-factor").inner_text() for name in PANELS}
        text = texts_of("en", "stock")["state.provisional"]
        marked = {"summary", "candles", "peers", "scores"}
        assert said == {name: text if name in marked else "" for name in PANELS}
        is_sound(one, site)


@pytest.mark.parametrize(
    ("width", "language"),
    [
        pytest.param(1280, "zh", marks=pytest.mark.soak),
        (390, "zh"),
        pytest.param(1280, "en", marks=pytest.mark.soak),
    ],
)
def test_without_data_each_panel_says_what_to_do(
    browser: Browser, site: str, width: int, language: str
) -> None:
    told = {panel: panel for panel in PANELS} | {"chips": "calculated", "scores": "calculated"}
    page = ConsolePage(browser, site, f"stock/{CODE}", "stock", width, language)
    says_what_to_do_without_data(page, emptied, told)


def emptied(answer: Any) -> Any:
    """The documented empty structure of an answer: lists without rows, no object."""
    for key in ("results", "items", "factors", "distribution"):
        if key in answer:
            answer[key] = [] if isinstance(answer[key], list) else None
    return answer


@pytest.mark.parametrize(
    ("width", "language"), [(1280, "en"), pytest.param(390, "zh", marks=pytest.mark.soak)]
)
def test_with_the_api_gone_each_panel_says_so_and_tries_again(
    browser: Browser, site: str, width: int, language: str
) -> None:
    page = ConsolePage(browser, site, f"stock/{CODE}", "stock", width, language)
    with api_gone(page, PANELS) as one:
        tries_again(page, one, "finance")
        assert "2026" in one.text("finance")


@pytest.mark.soak
def test_with_the_api_slow_a_panel_says_that_it_waits_and_then_shows(browser: Browser, site: str) -> None:
    page = ConsolePage(browser, site, f"stock/{CODE}", "stock")
    waits_for_a_slow_api(page, "finance", "**/finance-detail*", "table")


def test_a_reader_without_a_mouse_finds_a_stock_goes_back_in_time_and_opens_the_lineage(
    browser: Browser, site: str
) -> None:
    with opened(browser) as one:
        page = one.page
        page.goto(f"{site}/console/stock/")
        page.keyboard.press("/")
        page.keyboard.type("gzmt")
        page.locator("#search-found [data-code='600519']").wait_for()
        page.keyboard.press("Enter")
        page.wait_for_url("**/console/stock/600519")
        one.ready()
        assert "贵州茅台" in page.locator("h1").inner_text()
        page.wait_for_function("() => !document.getElementById('asof').disabled")

        with page.expect_request(re.compile(r"/stocks/600519/kline\?.*as_of=\d{4}-\d\d-\d\d")) as asked:
            page.keyboard.press("ArrowLeft")
        date = page.locator("#asof-date").inner_text()
        assert f"as_of={date}" in asked.value.url
        one.ready()
        page.keyboard.press("ArrowRight")
        one.ready()
        assert page.locator("#asof-date").inner_text() == texts_of("zh", "stock")["stock.newest"]
        assert one.errors == []


def test_a_former_code_leads_to_the_page_of_the_one_of_today(browser: Browser, site: str) -> None:
    old, said = "003061", [{"from": "003061", "to": CODE, "date": None}]
    former = texts_of("zh")["search.former"].format(code=old)

    def renumbered(answer: Any) -> Any:
        return {**answer, "renumbered": said}

    with opened(browser) as one:
        answer_recorded(one.page)
        kline = answers("stock")["stocks/{code}/kline"]
        one.page.route(f"**/stocks/{old}/kline*", lambda route: route.fulfill(json=renumbered(kline)))
        hit = {"results": [{"code": CODE, "name": "x", "industry": "y"}]}
        one.page.route("**/stocks/search*", lambda route: route.fulfill(json=renumbered(hit)))
        one.page.goto(f"{site}/console/stock/{old}")
        one.page.wait_for_url(f"**/console/stock/{CODE}?former={old}")
        one.ready()
        assert one.page.locator("#former").inner_text() == former
        one.page.keyboard.press("/")
        one.page.keyboard.type(old)
        one.page.locator(f"#search-found [data-code='{CODE}']", has_text=former).wait_for()
        is_sound(one, site)


def test_a_number_opens_its_lineage_for_an_administrator_alone(browser: Browser, site: str) -> None:
    with opened(browser) as one:
        page = one.page
        answer_recorded(page)
        show(one, site)
        number = page.locator("#summary button.number").first
        number.focus()
        page.keyboard.press("Enter")
        assert texts_of("zh", "stock")["lineage.admins"] in page.locator("#lineage").inner_text()
        page.keyboard.press("Escape")
        assert page.evaluate("() => document.activeElement.dataset.lineage") == number.get_attribute(
            "data-lineage"
        )
        assert not [url for url in one.asked if "/datamgr/lineage/" in url]


@pytest.mark.soak
@pytest.mark.parametrize("width", [1280, 390])
def test_an_administrator_sees_what_each_source_said_the_response_and_the_revisions(
    browser: Browser, site: str, width: int
) -> None:
    texts = texts_of("zh", "stock")
    found = answers("lineage")["datamgr/lineage/fusion_quote_snapshot"]
    value = found["results"]["columns"]["price"]["value"]
    with opened(browser, width=width) as one:
        page = one.page
        enter(page, site)
        one.ready()
        answer_recorded(page)
        page.route("**/datamgr/lineage/**", lambda route: route.fulfill(json=found))
        show(one, site)
        page.evaluate(
            "() => { document.querySelector('#summary button.number').dataset.lineage = JSON.stringify("
            "{ table: 'fusion_quote_snapshot', column: 'price', key: { code: '600040' } }); }"
        )
        page.locator("#summary button.number").first.focus()
        page.keyboard.press("Enter")
        panel = page.locator("#lineage-body")
        panel.locator("mark").first.wait_for()
        assert set(panel.locator("mark").all_inner_texts()) == {str(value)}
        shown = panel.inner_text()
        for heading in ("value", "reported", "asked", "batches", "response", "revisions"):
            assert texts[f"lineage.{heading}"] in shown
        for said in found["results"]["reported"]:
            assert said["source"] in shown
        assert panel.locator("a[href*='/runs/']").count() > 0
        is_sound(one, site)


@pytest.mark.soak
def test_a_number_taken_over_from_another_table_leads_to_what_the_sources_said_there(
    browser: Browser, site: str
) -> None:
    """The row of the wide table names the row that it took the price from; that one has the sources."""
    texts = texts_of("zh", "stock")
    owner = answers("lineage")["datamgr/lineage/fusion_quote_snapshot"]
    key = owner["results"]["key"]
    cell = owner["results"]["columns"]["price"] | {
        "source": "derived",
        "from": {"table": "fusion_quote_snapshot", "key": key, "column": "price"},
    }
    wide = {"results": owner["results"] | {"table": "fusion_stock_wide", "columns": {"current_price": cell}}}
    wide["results"] |= {"reported": [], "raw": []}
    with opened(browser) as one:
        page = one.page
        enter(page, site)
        one.ready()
        answer_recorded(page)
        page.route("**/lineage/fusion_stock_wide?*", lambda route: route.fulfill(json=wide))
        page.route("**/lineage/fusion_quote_snapshot?*", lambda route: route.fulfill(json=owner))
        show(one, site)
        page.locator("#summary button.number").first.click()
        panel = page.locator("#lineage-body")
        panel.locator("[data-lineage]").wait_for()
        assert texts["lineage.reported"] not in panel.inner_text()
        panel.locator("[data-lineage]").focus()
        page.keyboard.press("Enter")
        panel.locator("h3", has_text=texts["lineage.reported"]).wait_for()
        for said in owner["results"]["reported"]:
            assert said["source"] in panel.inner_text()
        assert "/lineage/fusion_quote_snapshot?" in page.locator("#lineage-source").inner_text()
        is_sound(one, site)
        page.locator("#lineage-back").click()
        panel.locator("td", has_text="fusion_stock_wide").first.wait_for()
        assert page.locator("#lineage-back").is_hidden()
        page.keyboard.press("Escape")
        assert "current_price" in page.evaluate("() => document.activeElement.dataset.lineage")


@pytest.mark.soak
def test_a_line_of_an_indicator_breaks_where_dates_have_no_value(browser: Browser, site: str) -> None:
    missing = slice(-40, -30)

    def without(answer: Any) -> Any:
        for line in answer.get("lines", {}).values():
            line[missing] = [None] * 10
        return answer

    with opened(browser) as one:
        answer_recorded(one.page, without)
        show(one, site)
        drawn = one.page.evaluate(
            "() => { const { data } = document.querySelector('#candles .plot');"
            " const line = data.find((one) => one.name === 'MA5');"
            " return [line.y, line.connectgaps]; }"
        )
        assert drawn[0][missing] == [None] * 10
        assert drawn[0][-41] is not None
        assert drawn[1] is False
