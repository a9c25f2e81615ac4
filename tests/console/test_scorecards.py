"""The page of the scorecards: hit rates stand beside their sample sizes and intervals."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Route

from serving_api.console.texts import texts_of
from tests.console.opened import answer_recorded, holding, is_sound, opened
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
    texts = texts_of(language, "scorecards")
    with opened(browser, width=width, language=language) as one:
        answer_recorded(one.page, emptied, of="scorecards")
        one.page.goto(f"{site}/console/scorecards")
        one.ready()
        assert {panel: one.text(panel) for panel in PANELS} == {
            panel: texts[f"empty.{name}"] for panel, name in TOLD.items()
        }
        is_sound(one, site)


@pytest.mark.soak
def test_with_the_api_gone_each_panel_says_so_and_tries_again(browser: Browser, site: str) -> None:
    texts = texts_of("en", "scorecards")
    with opened(browser, language="en", gone=True) as one:
        one.page.route("**/api/v1/**", lambda route: route.abort())
        one.page.goto(f"{site}/console/scorecards")
        one.ready()
        for panel in PANELS:
            assert texts["problem.gone"] in one.text(panel)
        is_sound(one, site)

        one.page.unroute("**/api/v1/**")
        answer_recorded(one.page, of="scorecards")
        one.page.locator("#overview button", has_text=texts["problem.again"]).click()
        one.page.locator("#overview table").wait_for()


@pytest.mark.soak
def test_with_the_api_slow_a_panel_says_that_it_waits_and_then_shows(browser: Browser, site: str) -> None:
    held: list[Route] = []
    with opened(browser) as one:
        answer_recorded(one.page, of="scorecards")
        one.page.route("**/scorecard/overview*", holding(held))
        one.page.goto(f"{site}/console/scorecards")
        one.page.locator("#overview-body", has_text=texts_of("zh", "scorecards")["state.slow"]).wait_for()
        held[0].fallback()
        one.page.locator("#overview table").wait_for()
        is_sound(one, site)


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
