"""The page of the day: what an administrator sees first, with data and without."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page

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
from tests.console.record import answers
from tests.serving_api.conftest import ADMIN

PANELS = ("look", "upstreams", "exrights", "tasks", "freshness")


def show(one: Opened, site: str, query: str = "") -> None:
    one.page.goto(f"{site}/console/today{query}")
    one.ready()


def enter(page: Page, site: str) -> None:
    """Log in as the administrator, who then is at the page of the day."""
    page.goto(f"{site}/console/login")
    page.locator("#username").fill(ADMIN["username"])
    page.locator("#password").fill(ADMIN["password"])
    page.keyboard.press("Enter")
    page.wait_for_url("**/console/today")


@pytest.mark.parametrize(
    ("width", "language", "theme"),
    [
        (1280, "en", "light"),
        pytest.param(1280, "zh", "dark", marks=pytest.mark.soak),
        pytest.param(390, "zh", "light", marks=pytest.mark.soak),
        pytest.param(390, "en", "dark", marks=pytest.mark.soak),
    ],
)
def test_the_day_is_shown_with_its_tasks_and_thirty_dates_of_every_table(
    browser: Browser, site: str, width: int, language: str, theme: str
) -> None:
    recorded, texts = answers("today"), texts_of(language, "today")
    with opened(browser, width=width, language=language) as one:
        answer_recorded(one.page, of="today")
        show(one, site, f"?theme={theme}")

        grid = recorded["datamgr/day-grid"]
        assert one.page.locator("#freshness-body tbody tr").count() == len(grid["results"]) == 52
        assert one.page.locator("#freshness-body thead th").count() == 31
        assert grid["dates"][-1].replace("-", "")[4:] in one.page.locator("#freshness-body thead th").nth(
            1
        ).inner_text().replace("\n", "")
        for task in recorded["datamgr/schedule"]["results"]:
            assert task["name"] in one.text("tasks")
        for stale in recorded["datamgr/stats/freshness"]["results"]["staleDimensions"]:
            assert stale in one.text("look")
        calls = recorded["datamgr/upstreams"]["results"]["counters"]
        assert one.page.locator("#upstreams-body tbody tr").count() == len(calls)
        assert texts["today.breaker"].partition("{")[0] in one.text("upstreams")
        waiting, closed = recorded["datamgr/exrights"]["results"]
        rows = one.page.locator("#exrights-body tbody tr")
        for shown in (waiting["code"], waiting["date"], "6.590", "8.000", "1.21396"):
            assert shown in rows.nth(0).inner_text()
        assert closed["reason"] in rows.nth(1).inner_text()
        is_sound(one, site)

        one.page.locator("#upstreams button.number").first.click()
        said = one.page.locator("#lineage-body").inner_text()
        assert texts["how.calls"] in said
        assert "/api/v1/datamgr/upstreams" in said


def test_a_reason_is_given_beside_an_open_item_and_taken_back(browser: Browser, site: str) -> None:
    texts = texts_of("en", "today")
    done = {"results": {"status": "accepted", "command_id": 7, "message": "…"}}
    with opened(browser, language="en") as one:
        answer_recorded(one.page, of="today")
        for path in ("reason", "withdraw"):
            one.page.route(f"**/datamgr/exrights/{path}", lambda route: route.fulfill(json=done))
        show(one, site)
        waiting, closed = (one.page.locator("#exrights-body tbody tr").nth(at) for at in (0, 1))
        waiting.get_by_role("button", name=texts["exright.close"]).click()
        assert not [url for url in one.asked if url.endswith("/reason")]  # the form asks for a reason first
        waiting.locator("input").fill("quote of another share")
        waiting.locator("select").select_option("ignored")
        with one.page.expect_request("**/datamgr/exrights/reason") as asked:
            waiting.locator("input").press("Enter")
        item = {"code": "600040", "date": "2026-07-28"}
        assert asked.value.post_data_json == {**item, "reason": "quote of another share", "counts": False}
        waiting.get_by_text(texts["exright.accepted"]).wait_for()

        with one.page.expect_request("**/datamgr/exrights/withdraw") as asked:
            closed.get_by_role("button", name=texts["exright.reopen"]).click()
        assert asked.value.post_data_json == {"code": "600040", "date": "2026-07-21"}
        closed.get_by_text(texts["exright.accepted"]).wait_for()
        is_sound(one, site)


def emptied(answer: Any) -> Any:
    if isinstance(answer.get("results"), list):
        answer["results"] = []
    for name in ("runs", "problems"):
        if name in answer:
            answer[name] = []
    found = answer.get("results")
    if isinstance(found, dict):
        for name in ("counters", "details", "staleDimensions"):
            if name in found:
                found[name] = type(found[name])()
    return answer


def healthy(one: Opened) -> None:
    one.page.route("**/health", lambda route: route.fulfill(json={"problems": []}))


@pytest.mark.soak
@pytest.mark.parametrize(("width", "language"), [(1280, "zh"), (390, "en")])
def test_without_data_each_panel_says_so(browser: Browser, site: str, width: int, language: str) -> None:
    page = ConsolePage(browser, site, "today", "today", width, language, healthy)
    says_what_to_do_without_data(page, emptied, {panel: panel for panel in PANELS})


@pytest.mark.soak
def test_somebody_who_may_not_read_it_is_led_to_the_login(browser: Browser, site: str) -> None:
    with opened(browser, gone=True) as one:  # the browser logs each refused request
        show(one, site)
        for panel in PANELS:
            assert texts_of("zh")["problem.login"] in one.text(panel)
        one.page.goto(f"{site}/console/")
        assert one.page.url.endswith("/console/stock/")


@pytest.mark.soak
@pytest.mark.parametrize(("width", "language"), [(1280, "en"), (390, "zh")])
def test_with_the_api_gone_each_panel_says_so_and_tries_again(
    browser: Browser, site: str, width: int, language: str
) -> None:
    page = ConsolePage(browser, site, "today", "today", width, language)
    with api_gone(page, PANELS) as one:
        tries_again(page, one, "upstreams")


@pytest.mark.soak
def test_with_the_api_slow_a_panel_says_that_it_waits_and_then_shows(browser: Browser, site: str) -> None:
    waits_for_a_slow_api(
        ConsolePage(browser, site, "today", "today"), "upstreams", "**/datamgr/upstreams", "table"
    )


@pytest.mark.soak
def test_the_arrow_keys_go_to_the_day_before_and_back(browser: Browser, site: str) -> None:
    with opened(browser) as one:
        answer_recorded(one.page, of="today")
        show(one, site)
        newest = one.page.locator("#day").inner_text()
        with one.page.expect_request("**/datamgr/tasks/runs?date=*"):
            one.page.keyboard.press("ArrowLeft")
        one.ready()
        assert one.page.locator("#day").inner_text() < newest
        one.page.keyboard.press("ArrowRight")
        one.ready()
        assert one.page.locator("#day").inner_text() == newest


SCHEDULE = {
    "query_time": "2026-11-25T18:00:00+08:00",
    "results": [{"key": "fusion_kline_sync", "name": "bars", "time": "15:40", "enabled": True}],
}
RUNS = {
    "runs": [
        {"key": "fusion_kline_sync", "status": "success", "trigger": "schedule", "durationSec": 120.0}
        | {"slotAt": "2026-11-25T15:40:00+08:00", "startedAt": "2026-11-25T15:52:00+08:00"}
        | {"finishedAt": "2026-11-25T15:54:00+08:00"}
    ]
}
"""The test app has no scheduler: one task, which started twelve minutes late."""


@pytest.mark.soak
@pytest.mark.parametrize(("width", "language"), [(1280, "en"), (390, "zh")])
def test_a_real_login_leads_to_the_real_answers_and_a_late_task(
    browser: Browser, site: str, width: int, language: str
) -> None:
    texts = texts_of(language, "today")
    with opened(browser, width=width, language=language) as one:
        one.page.route("**/datamgr/schedule", lambda route: route.fulfill(json=SCHEDULE))
        one.page.route("**/tasks/runs*", lambda route: route.fulfill(json=RUNS))
        enter(one.page, site)
        one.ready()
        assert one.page.locator("#freshness-body tbody tr").count() == 52
        assert texts["today.late"].replace("{minutes}", "12") in one.text("tasks")
        assert "15:52" in one.text("tasks")
        for panel in PANELS:
            assert "/api/v1/" in one.page.locator(f"#{panel}-source").inner_text()
        is_sound(one, site)
