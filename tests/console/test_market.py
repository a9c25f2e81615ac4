"""The page of the market: what a reader sees, with data and without, live, two widths, two languages."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Route

from serving_api.console.texts import texts_of
from tests.console.opened import Opened, answer_recorded, holding, is_sound, opened
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


@pytest.mark.parametrize(
    ("width", "language"), [(390, "zh"), pytest.param(1280, "en", marks=pytest.mark.soak)]
)
@pytest.mark.soak
def test_without_data_each_panel_says_what_to_do(
    browser: Browser, site: str, width: int, language: str
) -> None:
    texts = texts_of(language, "market")
    with opened(browser, width=width, language=language) as one:
        answer_recorded(one.page, emptied, of="market")
        streamed(one)
        show(one, site)
        assert {panel: one.text(panel) for panel in PANELS} == {
            panel: texts[f"empty.{panel}"] for panel in PANELS
        }
        is_sound(one, site)


@pytest.mark.parametrize(("width", "language"), [(1280, "en"), (390, "zh")])
@pytest.mark.soak
def test_with_the_api_gone_each_panel_says_so_and_tries_again(
    browser: Browser, site: str, width: int, language: str
) -> None:
    texts = texts_of(language, "market")
    with opened(browser, width=width, language=language, gone=True) as one:
        one.page.route("**/api/v1/**", lambda route: route.abort())
        show(one, site)
        for panel in PANELS:
            assert texts["problem.gone"] in one.text(panel)
        assert one.page.locator("#live").inner_text() == texts["live.lost"]
        is_sound(one, site)

        one.page.unroute("**/api/v1/**")
        answer_recorded(one.page, recorded, of="market")
        one.page.locator("#risk button", has_text=texts["problem.again"]).click()
        one.page.locator("#risk table").wait_for()


@pytest.mark.soak
def test_with_the_api_slow_a_panel_says_that_it_waits_and_then_shows(browser: Browser, site: str) -> None:
    held: list[Route] = []
    with opened(browser) as one:
        answer_recorded(one.page, recorded, of="market")
        streamed(one)
        one.page.route("**/sector-treemap*", holding(held))
        one.page.goto(f"{site}/console/market")
        one.page.locator("#map-body", has_text=texts_of("zh", "market")["state.slow"]).wait_for()
        held[0].fallback()
        one.ready()
        assert one.page.locator("canvas.treemap").is_visible()
        is_sound(one, site)


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
