"""The page of the scorecards: hit rates stand beside their sample sizes and intervals."""

from typing import Any

import pytest
from playwright.sync_api import Browser

from serving_api.console.texts import texts_of
from tests.console.opened import (
    ConsolePage,
    answer_recorded,
    api_gone,
    is_sound,
    opened,
    says_what_to_do_without_data,
    tries_again,
    waits_for_a_slow_api,
)
from tests.console.record import answers

PANELS = ("overview", "curve", "months", "picks")
TOLD = {"overview": "overview", "curve": "curve", "months": "curve", "picks": "picks"}
SOME = [
    (1280, "zh"),
    pytest.param(1280, "en", marks=pytest.mark.soak),
    pytest.param(390, "zh", marks=pytest.mark.soak),
    pytest.param(390, "en", marks=pytest.mark.soak),
]


def emptied(answer: Any) -> Any:
    for key in ("items", "curve", "months"):
        if key in answer:
            answer[key] = []
    return answer


@pytest.mark.parametrize(("width", "language"), SOME)
@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.soak)])
def test_every_hit_rate_stands_beside_its_sample_and_its_interval(
    browser: Browser, site: str, width: int, language: str, theme: str
) -> None:
    rows = answers("scorecards")["scorecard/overview"]["items"]
    few = texts_of(language, "scorecards")["cards.few"]
    with opened(browser, width=width, language=language) as one:
        answer_recorded(one.page, of="scorecards")
        one.page.goto(f"{site}/console/scorecards?theme={theme}")
        one.ready()

        shown = [
            one.page.locator("#overview tbody tr").nth(at).locator("td").all_inner_texts()
            for at in range(len(rows))
        ]
        assert [cells[3] for cells in shown] == [f"{row['reviewed']:,}" for row in rows]
        assert [cells[6] == few for cells in shown] == [row["reviewed"] < 30 for row in rows]
        # 12 of 14, by the textbook: 60.1 to 96.0 percent.
        dragon = next(at for at, row in enumerate(rows) if row["group_key"] == "dragon")
        assert (rows[dragon]["reviewed"], shown[dragon][4], shown[dragon][5]) == (14, "85.7", "60.1–96.0")
        for chart in ("curve", "months"):
            assert one.page.locator(f"#{chart} .main-svg").count() > 0
        months = answers("scorecards")["scorecard/record"]["months"]
        labels = one.page.locator("#months .annotation-text").all_text_contents()
        assert labels == [f"n={row['reviewed']}" for row in months if row["reviewed"]]
        for panel in PANELS:
            assert "/api/v1/" in one.page.locator(f"#{panel}-source").inner_text()
        is_sound(one, site)


@pytest.mark.soak
@pytest.mark.parametrize(("width", "language"), [(390, "zh"), (1280, "en")])
def test_without_data_each_panel_says_what_to_do(
    browser: Browser, site: str, width: int, language: str
) -> None:
    says_what_to_do_without_data(
        ConsolePage(browser, site, "scorecards", "scorecards", width, language), emptied, TOLD
    )


@pytest.mark.soak
def test_with_the_api_gone_each_panel_says_so_and_tries_again(browser: Browser, site: str) -> None:
    page = ConsolePage(browser, site, "scorecards", "scorecards", language="en")
    with api_gone(page, PANELS) as one:
        tries_again(page, one, "overview")


@pytest.mark.soak
def test_with_the_api_slow_a_panel_says_that_it_waits_and_then_shows(browser: Browser, site: str) -> None:
    page = ConsolePage(browser, site, "scorecards", "scorecards")
    waits_for_a_slow_api(page, "overview", "**/scorecard/overview*", "table")


@pytest.mark.soak
def test_a_reader_without_a_mouse_chooses_a_preset_in_the_table(browser: Browser, site: str) -> None:
    with opened(browser) as one:
        answer_recorded(one.page, of="scorecards")
        one.page.goto(f"{site}/console/scorecards")
        one.ready()
        one.page.locator("#overview button.number", has_text="龙头").focus()
        with one.page.expect_request("**/scorecard/record?source=builtin&group=dragon*"):
            one.page.keyboard.press("Enter")
        one.ready()
        assert one.page.input_value("#group") == "builtin/dragon"
        assert one.errors == []


def test_a_pick_leads_to_its_row_and_a_rate_says_how_it_was_calculated(browser: Browser, site: str) -> None:
    texts = texts_of("en", "scorecards")
    pick = answers("scorecards")["scorecard/picks"]["items"][0]
    with opened(browser, language="en") as one:
        page = one.page
        answer_recorded(page, of="scorecards")
        one.show(f"{site}/console/scorecards")
        page.locator("#picks button.number").nth(1).focus()
        page.keyboard.press("Enter")
        key = f"trade_date={pick['trade_date']}&board_key=tactic&code={pick['code']}&column=buy_price"
        assert f"/lineage/track_builtin?{key}" in page.locator("#lineage-source").inner_text()
        page.keyboard.press("Escape")

        page.locator("#overview tr.self [data-calculated]").nth(2).click()
        shown = page.locator("#lineage-body").inner_text()
        assert texts["how.rate"] in shown
        assert "board_key=tactic" in shown
        assert "/api/v1/scorecard/picks?source=builtin" in shown
        page.keyboard.press("Escape")
        page.locator("#curve-body").focus()
        page.keyboard.press("Enter")
        assert "fusion_index_daily.close code=sh000300" in page.locator("#lineage-body").inner_text()
        is_sound(one, site)


CARDS = {
    "source": "decision",
    "group_key": "ai",
    "hold_days": 10,
    "picks": 40,
    "reviewed": 34,
}


@pytest.mark.soak
@pytest.mark.parametrize(("width", "language"), [(1280, "zh"), (390, "en")])
def test_the_holding_time_of_decision_cards_is_offered_and_stands_in_the_address(
    browser: Browser, site: str, width: int, language: str
) -> None:
    texts = texts_of(language, "scorecards")
    recorded = answers("scorecards")["scorecard/overview"]
    of_cards = recorded | {"hold_days": 10, "items": [recorded["items"][0] | CARDS]}
    with opened(browser, width=width, language=language) as one:
        page = one.page
        answer_recorded(page, of="scorecards")
        page.route(
            lambda url: "scorecard/overview" in url and "source=decision" in url,
            lambda route: route.fulfill(json=of_cards),
        )
        one.show(f"{site}/console/scorecards?group=preset/valueDeep&days=90")
        assert page.locator("#hold option").all_inner_texts() == [
            texts["cards.hold_picks"].format(days=5), texts["cards.hold_cards"].format(days=10),
        ]  # fmt: skip
        assert page.input_value("#group") == "preset/valueDeep"
        with page.expect_request("**/scorecard/breakdown?source=decision&by=month&days=90"):
            page.select_option("#hold", "10")
        one.ready()
        assert page.locator("#overview tbody tr").count() == 1
        assert one.text("curve") == texts["empty.no_curve"]
        kept = page.url
        assert "hold=10" in kept
        is_sound(one, site)
        page.goto(f"{site}/console/login")
        one.show(kept)
        assert page.input_value("#hold") == "10"
        assert page.locator("#overview tbody tr").count() == 1
