"""The page of the datasets: contract, sources, checks, gaps, and the cost of a backfill before it starts."""

import re
from typing import Any

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
from tests.console.record import answers

PANELS = ("datasets", "contract", "feeds", "rates", "rules", "agreement", "gaps")
READ = "datamgr/contracts/kline_daily"
STARTED = re.compile("/datamgr/backfill$")


def show(one: Opened, site: str, query: str = "") -> None:
    one.page.goto(f"{site}/console/data{query}")
    one.ready()


@pytest.mark.parametrize(
    ("width", "language", "theme"),
    [
        (390, "zh", "dark"),
        pytest.param(1280, "zh", "light", marks=pytest.mark.soak),
        pytest.param(1280, "en", "dark", marks=pytest.mark.soak),
        pytest.param(390, "en", "light", marks=pytest.mark.soak),
    ],
)
def test_a_dataset_is_shown_with_units_sources_checks_and_gaps(
    browser: Browser, site: str, width: int, language: str, theme: str
) -> None:
    recorded = answers("data")
    contract = recorded[READ]["results"]
    with opened(browser, width=width, language=language) as one:
        answer_recorded(one.page, of="data")
        show(one, site, f"?theme={theme}")

        names = one.page.locator("#datasets-body [data-dataset]").all_inner_texts()
        assert names == [row["dataset"] for row in recorded["datamgr/contracts"]["results"]]
        shown = one.page.locator("#contract-body tbody tr td:first-child").all_inner_texts()
        assert shown == [column["name"] for column in contract["columns"]]
        sources = one.page.locator("#feeds-body tbody tr td:nth-child(2)").all_inner_texts()
        assert sources == [source["name"] for source in contract["sources"]]
        for check in contract["checks"]:
            assert check in one.text("rules")
        assert one.page.locator("#rates .main-svg").count() > 0
        for gap in recorded["datamgr/gaps"]["results"]:
            assert gap["partition"] in one.text("gaps")
        for row in recorded["datamgr/reconcile"]["results"]:
            assert row["field"] in one.text("agreement")
        is_sound(one, site)

        # A figure of the reconciliation is a row; that of a check is a sum over records.
        one.page.locator("#agreement button.number").first.click()
        assert "/lineage/calc_reconcile?trade_date=" in one.page.locator("#lineage-source").inner_text()
        one.page.keyboard.press("Escape")
        one.page.locator("#rules button.number").first.click()
        assert "sys_quality_record" in one.page.locator("#lineage-body").inner_text()


@pytest.mark.soak
@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_backfill_is_started_after_its_cost_was_shown(browser: Browser, site: str, language: str) -> None:
    texts, plan = texts_of(language, "data"), answers("data")["datamgr/backfill/plan"]["results"]
    accepted = {"status": "accepted", "id": "b1", "command_id": 1, "partitions": 3, "message": ""}
    with opened(browser, language=language) as one:
        answer_recorded(one.page, of="data")
        one.page.route(
            re.compile("/datamgr/backfill$"), lambda route: route.fulfill(json={"results": accepted})
        )
        show(one, site)
        start = one.page.get_by_role("button", name=texts["plan.start"])
        assert start.count() == 0
        one.page.locator("#plan-from").fill(plan["from"])
        one.page.locator("#plan-to").fill(plan["to"])
        one.page.locator("#plan-form button").focus()
        one.page.keyboard.press("Enter")
        start.wait_for()
        for name, calls in plan["calls"].items():
            assert f"{name} {calls:,}" in one.text("plan")
        with one.page.expect_request(STARTED) as asked:
            start.focus()
            one.page.keyboard.press("Enter")
        sent = asked.value.post_data_json
        assert sent == {"dataset": plan["dataset"], "from": plan["from"], "to": plan["to"]}
        one.page.locator("#plan-body", has_text="b1").wait_for()
        is_sound(one, site)


def emptied(answer: Any) -> Any:
    found = answer["results"]
    if isinstance(found, list):
        answer["results"] = []
    else:
        answer["results"] = {**found, "sources": [], "checks": {}}
    return answer


@pytest.mark.soak
@pytest.mark.parametrize(("width", "language"), [(1280, "en"), (390, "zh")])
def test_without_data_each_panel_says_so(browser: Browser, site: str, width: int, language: str) -> None:
    told = {panel: panel for panel in PANELS if panel != "contract"}
    says_what_to_do_without_data(ConsolePage(browser, site, "data", "data", width, language), emptied, told)


@pytest.mark.soak
@pytest.mark.parametrize(("width", "language"), [(1280, "zh"), (390, "en")])
def test_with_the_api_gone_each_panel_says_so_and_tries_again(
    browser: Browser, site: str, width: int, language: str
) -> None:
    page = ConsolePage(browser, site, "data", "data", width, language)
    with api_gone(page, PANELS) as one:
        tries_again(page, one, "agreement")


@pytest.mark.soak
def test_with_the_api_slow_a_panel_says_that_it_waits_and_then_shows(browser: Browser, site: str) -> None:
    waits_for_a_slow_api(
        ConsolePage(browser, site, "data", "data"), "agreement", "**/datamgr/reconcile*", "table"
    )


@pytest.mark.soak
def test_another_dataset_is_chosen_by_key_and_stands_in_the_address(browser: Browser, site: str) -> None:
    with opened(browser) as one:
        answer_recorded(one.page, of="data")
        show(one, site)
        with one.page.expect_request("**/datamgr/contracts/fund_flow"):
            one.page.locator("[data-dataset=fund_flow]").focus()
            one.page.keyboard.press("Enter")
        assert one.page.url.endswith("?dataset=fund_flow")
        assert one.page.locator("#dataset").inner_text() == "fund_flow"
