"""The start page: what an administrator sees after a real login, and what anybody else is told."""

import pytest
from playwright.sync_api import Browser, Page

from serving_api.console.texts import texts_of
from tests.console.opened import is_sound, opened
from tests.serving_api.conftest import ADMIN

SCHEDULE = {
    "query_time": "2026-11-25T18:00:00+08:00",
    "results": [
        {"key": "fusion_kline_sync", "time": "15:40", "cron": "40 15 * * *", "enabled": True}
        | {"nextRunAt": "2026-11-26T15:40:00+08:00"}
    ],
}
RUNS = {
    "runs": [
        {"key": "fusion_kline_sync", "status": "success", "trigger": "schedule", "durationSec": 120.0}
        | {"slotAt": "2026-11-25T15:40:00+08:00", "startedAt": "2026-11-25T15:52:00+08:00"}
        | {"finishedAt": "2026-11-25T15:54:00+08:00"}
    ]
}
"""The test app has no scheduler: one task, which started twelve minutes late."""
PANELS = ("look", "sources", "fresh", "tasks")


def enter(page: Page, site: str) -> None:
    page.goto(f"{site}/console/login")
    page.locator("#username").fill(ADMIN["username"])
    page.locator("#password").fill(ADMIN["password"])
    page.keyboard.press("Enter")
    page.wait_for_url("**/console/today")


@pytest.mark.parametrize(
    ("width", "language"), [(1280, "en"), pytest.param(390, "zh", marks=pytest.mark.soak)]
)
def test_an_administrator_starts_with_the_state_of_the_data(
    browser: Browser, site: str, width: int, language: str
) -> None:
    texts = texts_of(language, "today")
    with opened(browser, width=width, language=language) as one:
        one.page.route("**/datamgr/schedule", lambda route: route.fulfill(json=SCHEDULE))
        one.page.route("**/tasks/runs*", lambda route: route.fulfill(json=RUNS))
        enter(one.page, site)
        one.ready()
        one.page.locator("#fresh tbody tr").first.wait_for()
        assert one.page.locator("#fresh thead th.day").count() <= 30
        known = {
            texts[f"states.{state}"] for state in ("complete", "fallback", "partial", "failed", "missing")
        }
        signs = one.page.locator("#fresh tbody .sign")
        assert signs.count() > 0
        assert {sign.get_attribute("aria-label") for sign in signs.all()[:60]} <= known
        assert "fusion_kline_sync" in one.text("tasks")
        assert "15:52–15:54" in one.text("tasks")
        assert texts["tasks.late"].replace("{minutes}", "12") in one.text("tasks")
        for panel in PANELS:
            assert "/api/v1/" in one.page.locator(f"#{panel}-source").inner_text()
        is_sound(one, site)


@pytest.mark.soak
def test_without_a_login_each_panel_leads_to_it(browser: Browser, site: str) -> None:
    texts = texts_of("zh", "today")
    with opened(browser, gone=True) as one:
        one.page.goto(f"{site}/console/")
        one.page.wait_for_url("**/console/today")
        one.ready()
        for panel in PANELS:
            assert texts["login.enter"] in one.text(panel)


@pytest.mark.soak
def test_with_the_api_gone_each_panel_says_so(browser: Browser, site: str) -> None:
    texts = texts_of("en", "today")
    with opened(browser, language="en", gone=True) as one:
        one.page.route("**/api/v1/**", lambda route: route.abort())
        one.page.goto(f"{site}/console/today")
        one.ready()
        for panel in PANELS:
            assert texts["problem.gone"] in one.text(panel)
