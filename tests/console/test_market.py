"""The page of the market: what a reader sees, with data and without, live, two widths, two languages."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Route

from serving_api.console.texts import texts_of
from tests.console.opened import (
    ConsolePage,
    Opened,
    answer_recorded,
    api_gone,
    holding,
    is_sound,
    opened,
    says_what_to_do_without_data,
    tries_again,
    waits_for_a_slow_api,
)
from tests.console.record import answers

PANELS = ("pulse", "map", "breadth", "emotion", "ladder", "limits", "risk")
BREADTH = [
    {"time": f"2026-11-25 09:{minute}:00", "up": up, "down": 59 - up, "flat": 0, "limit_up": 1}
    | {"limit_down": 0, "amount": 1e9, "index_change_percent": 0.1}
    for minute, up in ((35, 20), (40, 30), (45, 41))
]
SOME = [
    (1280, "zh"),
    pytest.param(1280, "en", marks=pytest.mark.soak),
    pytest.param(390, "zh", marks=pytest.mark.soak),
    pytest.param(390, "en", marks=pytest.mark.soak),
]


def recorded(answer: Any) -> Any:
    """The recorded evening has no samples of breadth: three are added."""
    if answer.get("items") == [] and "days" in answer:
        answer["items"] = BREADTH
    return answer


def emptied(answer: Any) -> Any:
    for key in ("items", "rules", "indices", "buckets"):
        if key in answer:
            answer[key] = []
    if "buckets" in answer:
        answer["total"] = 0
    if "results" in answer:
        answer["results"] = {"trade_date": None, "total": 0, "highest": 0, "levels": []}
    return answer


def streamed(one: Opened, *events: dict[str, Any]) -> None:
    """The event stream has `events`, then nothing for a minute."""
    body = "retry: 60000\n\n" + "".join(
        f"event: quotes_updated\ndata: {json.dumps(event)}\n\n" for event in events
    )
    one.page.route(
        "**/realtime/stream", lambda route: route.fulfill(content_type="text/event-stream", body=body)
    )


def show(one: Opened, site: str, query: str = "") -> None:
    one.page.goto(f"{site}/console/market{query}")
    one.ready()


@pytest.mark.parametrize(("width", "language"), SOME)
@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.soak)])
def test_all_panels_show_the_market_and_name_their_address(
    browser: Browser, site: str, width: int, language: str, theme: str
) -> None:
    expected, texts = answers("market"), texts_of(language, "market")
    with opened(browser, width=width, language=language) as one:
        answer_recorded(one.page, recorded, of="market")
        streamed(one)
        show(one, site, f"?theme={theme}")

        assert expected["market/sentiment"]["indices"][0]["name"] in one.text("pulse")
        rules = one.page.locator("#risk tbody tr td:first-child").all_inner_texts()
        assert rules == [
            texts[f"rules.{rule['key']}"] for rule in expected["market/cross-market-risk"]["rules"]
        ]
        stocks = [
            row for level in expected["get_limit_ladder"]["results"]["levels"] for row in level["stocks"]
        ]
        for row in stocks:
            assert f"{row['name']} {row['code']}" in one.text("ladder")
        for chart in ("breadth", "emotion", "limits"):
            assert one.page.locator(f"#{chart} .main-svg").count() > 0
        for panel in PANELS:
            assert "/api/v1/" in one.page.locator(f"#{panel}-source").inner_text()
        is_sound(one, site)

        one.page.select_option("#view", "table")
        sectors = expected["realtime/sector-treemap"]["items"]
        assert one.page.locator("#map tbody tr td:first-child").all_inner_texts() == [
            row["name"] for row in sectors
        ]
        is_sound(one, site)


@pytest.mark.soak
@pytest.mark.parametrize(("width", "language"), [(390, "zh"), (1280, "en")])
def test_without_data_each_panel_says_what_to_do(
    browser: Browser, site: str, width: int, language: str
) -> None:
    page = ConsolePage(browser, site, "market", "market", width, language, streamed)
    says_what_to_do_without_data(page, emptied, {panel: panel for panel in PANELS})


@pytest.mark.soak
@pytest.mark.parametrize(("width", "language"), [(1280, "en"), (390, "zh")])
def test_with_the_api_gone_each_panel_says_so_and_tries_again(
    browser: Browser, site: str, width: int, language: str
) -> None:
    page = ConsolePage(browser, site, "market", "market", width, language)
    with api_gone(page, PANELS) as one:
        assert one.page.locator("#live").inner_text() == page.texts()["live.lost"]
        tries_again(page, one, "risk", recorded)


@pytest.mark.soak
def test_with_the_api_slow_a_panel_says_that_it_waits_and_then_shows(browser: Browser, site: str) -> None:
    page = ConsolePage(browser, site, "market", "market", prepare=streamed)
    waits_for_a_slow_api(page, "map", "**/sector-treemap*", "canvas.treemap", recorded)


def test_an_event_of_the_stream_changes_map_and_indices_without_a_key(browser: Browser, site: str) -> None:
    """The stream says that prices moved; the page reads again and the reader sees the new ones."""
    changed: list[bool] = []

    def moved(answer: Any) -> Any:
        answer = recorded(answer)
        if changed and "indices" in answer:
            answer["indices"][0]["price"] = 4321.09
        if changed and answer.get("items") and "children" in answer["items"][0]:
            answer["items"][0]["change_percent"] = 8.76
        return answer

    with opened(browser) as one:
        answer_recorded(one.page, moved, of="market")
        waiting: list[Route] = []
        one.page.route("**/realtime/stream", holding(waiting))
        one.page.clock.install()
        show(one, site)
        one.page.select_option("#view", "table")
        assert "8.76" not in one.text("map")
        changed.append(True)
        one.page.clock.fast_forward(16_000)
        event = {"ts": "2026-11-25T10:31:02+08:00", "trade_state": "trading", "codes": [], "count": 0}
        waiting[0].fulfill(
            content_type="text/event-stream",
            body=f"retry: 60000\nevent: quotes_updated\ndata: {json.dumps(event)}\n\n",
        )
        one.page.locator("#map-body", has_text="8.76").wait_for()
        assert "4,321.09" in one.text("pulse")
        assert one.errors == []


def lineage_address(one: Opened) -> str:
    return one.page.locator("#lineage-source").inner_text()


@pytest.mark.parametrize(("width", "language"), SOME)
def test_a_number_leads_to_its_row_or_says_how_it_was_calculated(
    browser: Browser, site: str, width: int, language: str
) -> None:
    """The recorded quotes are those of a source, which no table holds; the limit ladder is stored."""
    texts = texts_of(language, "market")
    with opened(browser, width=width, language=language) as one:
        page = one.page
        answer_recorded(page, recorded, of="market")
        streamed(one)
        show(one, site)
        panel = page.locator("#lineage-body")

        first = answers("market")["get_limit_ladder"]["results"]["levels"][0]["stocks"][0]
        page.locator("#ladder tbody button.number").first.focus()
        page.keyboard.press("Enter")
        assert f"/lineage/raw_limit_pool?trade_date=2026-11-25&pool=up&code={first['code']}" in (
            lineage_address(one)
        )
        page.keyboard.press("Escape")

        page.locator("#pulse button.number").nth(6).click()
        assert texts["lineage.calculated"] in panel.inner_text()
        assert "db_history" in panel.inner_text()
        assert "/api/v1/market/distribution" in panel.inner_text()
        is_sound(one, site)
        page.keyboard.press("Escape")

        page.locator("#risk tbody tr", has_text=texts["rules.margin"]).locator("button").first.click()
        assert "fusion_margin" in panel.inner_text()
        page.keyboard.press("Escape")

        newest = answers("market")["market/emotion-cycle"]["items"][-1]["date"]
        page.locator("#emotion-body").focus()
        page.keyboard.press("Enter")
        assert f"/lineage/calc_market_phase?trade_date={newest}&column=score" in lineage_address(one)
        page.keyboard.press("Escape")

        page.select_option("#view", "table")
        assert page.locator("#map [data-lineage]").count() == 0
        page.locator("#map [data-calculated]").first.click()
        assert "/api/v1/realtime/sector-treemap" in panel.inner_text()
        assert one.errors == []


@pytest.mark.soak
def test_after_the_close_numbers_of_the_map_lead_to_its_stored_rows(browser: Browser, site: str) -> None:
    def stored(answer: Any) -> Any:
        answer = recorded(answer)
        if "_source" in answer:
            answer |= {"_source": "db_history", "timestamp": "2026-11-25T15:00:00+08:00"}
        return answer

    with opened(browser) as one:
        answer_recorded(one.page, stored, of="market")
        streamed(one)
        show(one, site)
        one.page.locator("#pulse button.number").first.click()
        assert "/lineage/fusion_index_daily?code=sh000001&date=2026-11-25" in lineage_address(one)
        one.page.keyboard.press("Escape")
        one.page.select_option("#view", "table")
        one.page.locator("#map [data-lineage]").first.click()
        assert "/lineage/fusion_market_cloud_map?trade_date=2026-11-25&node_code=BK" in lineage_address(one)


def test_a_reader_without_a_mouse_goes_through_the_map_to_a_stock(browser: Browser, site: str) -> None:
    first = answers("market")["realtime/sector-treemap"]["items"][0]
    with opened(browser) as one:
        answer_recorded(one.page, recorded, of="market")
        streamed(one)
        show(one, site)
        page = one.page
        page.locator("canvas.treemap").focus()
        page.keyboard.press("ArrowRight")
        tip = page.locator("#map .tip")
        assert first["children"][0]["code"] in tip.inner_text()
        page.keyboard.press("ArrowRight")
        beside = tip.inner_text()
        assert first["children"][0]["code"] not in beside
        page.keyboard.press("ArrowLeft")
        assert one.errors == []
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(r"/console/stock/\d{6}$"))
