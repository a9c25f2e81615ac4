"""The page of questions: an answer over the stream, with the row of each number beside it."""

import json
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

from serving_api.console.texts import texts_of
from tests.console.opened import Opened, holding, is_sound, opened
from tests.console.payloads import PAYLOADS
from tests.serving_api.conftest import ADMIN

STREAM = "**/chat/ask/stream"
QUESTION = "600040现在估值如何？"


def fact(number: int, value: Any, **more: Any) -> dict[str, Any]:
    one = {
        "id": f"E{number}",
        "subject": "瀚岳银行",
        "label": "市盈率TTM",
        "value": value,
        "unit": "times",
        "key": {"code": "600040", "trade_date": "2026-11-25"},
        "as_of": "2026-11-25",
        "quality": "ok",
        "source": "fusion_stock_wide",
        "field": "pe_ttm",
        "link": "/api/v1/datamgr/lineage/fusion_stock_wide?code=600040",
    }
    return one | more


def ended(*facts: dict[str, Any], **more: Any) -> dict[str, Any]:
    made = {"type": "evidence", "items": list(facts), "provenance": "quant_prefill", "model": None}
    return made | {"label": "规则预填，非模型生成", "unbound": 0, "receipt_id": "5e7a"} | more


def answer(route: Route, *frames: dict[str, Any]) -> None:
    lines = [f"data: {json.dumps(one, ensure_ascii=False)}\n\n" for one in frames]
    body = "".join([*lines, "data: [DONE]\n\n"])
    route.fulfill(body=body, content_type="text/event-stream; charset=utf-8")


def said(text: str) -> dict[str, Any]:
    return {"type": "content", "text": text}


def enter(page: Page, site: str) -> None:
    page.goto(f"{site}/console/login")
    page.locator("#username").focus()
    page.keyboard.type(ADMIN["username"])
    page.keyboard.press("Tab")
    page.keyboard.type(ADMIN["password"])
    page.keyboard.press("Enter")
    page.wait_for_url("**/console/today")


def show(one: Opened, site: str, query: str = "") -> None:
    enter(one.page, site)
    one.page.goto(f"{site}/console/ask{query}")
    one.ready()


def ask(page: Page, question: str = QUESTION) -> None:
    page.locator("#question").focus()
    page.keyboard.type(question)
    page.keyboard.press("Enter")


@pytest.mark.parametrize(
    ("width", "language"),
    [
        (1280, "zh"),
        pytest.param(1280, "en", marks=pytest.mark.soak),
        pytest.param(390, "zh", marks=pytest.mark.soak),
        pytest.param(390, "en", marks=pytest.mark.soak),
    ],
)
def test_the_row_of_a_number_is_shown_beside_it_and_a_dash_says_what_it_is(
    browser: Browser, site: str, width: int, language: str
) -> None:
    texts = texts_of(language, "ask")
    frames = (said("【估值】\n市盈率3.57倍[E33]，市净率—。\n\n"), ended(fact(33, 3.5712), unbound=1))
    again = (said("市盈率9.99倍[E33]。"), ended(fact(33, 9.99, key={"code": "600041"})))
    with opened(browser, width=width, language=language) as one:
        page = one.page
        show(one, site)
        page.route(STREAM, lambda route: answer(route, *frames))
        ask(page)
        cited = page.locator("[data-evidence=E33]")
        cited.wait_for()
        maker = page.locator(".maker").inner_text()
        assert "规则预填，非模型生成" in maker
        assert texts["ask.rules"] in maker
        assert texts["ask.unbound"].format(count=1) in maker
        assert page.locator("abbr.dash").get_attribute("title") == texts["ask.dash"]
        assert cited.inner_text() == "3.57倍"
        cited.focus()
        row = page.locator("#evidence-one").inner_text()
        assert "fusion_stock_wide.pe_ttm" in row
        assert "code=600040 trade_date=2026-11-25" in row
        assert "3.57" in row
        is_sound(one, site)

        # The numbers of facts begin again with every answer: each leads to its own.
        page.route(STREAM, lambda route: answer(route, *again))
        ask(page)
        page.locator("[data-evidence=E33]").nth(1).focus()
        assert "code=600041" in page.locator("#evidence-one").inner_text()
        page.locator("[data-evidence=E33]").first.focus()
        assert "code=600040" in page.locator("#evidence-one").inner_text()


@pytest.mark.soak
@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (ended(fact(1, 1.0), provenance="ai", model="some-model", label=None), "some-model"),
        (ended(fact(1, 1.0), fallbackOf="quant_prefill", llmError="invalid key"), "invalid key"),
    ],
)
def test_the_page_says_who_made_the_answer(
    browser: Browser, site: str, frame: dict[str, Any], expected: str
) -> None:
    with opened(browser) as one:
        show(one, site)
        one.page.route(STREAM, lambda route: answer(route, said("1倍[E1]。"), frame))
        ask(one.page)
        one.page.locator("[data-evidence]").wait_for()
        assert expected in one.page.locator(".maker").inner_text()


@pytest.mark.soak
@pytest.mark.parametrize(("width", "language"), [(1280, "en"), (390, "zh")])
def test_with_the_api_gone_the_question_can_be_asked_again(
    browser: Browser, site: str, width: int, language: str
) -> None:
    texts = texts_of(language, "ask")
    with opened(browser, width=width, language=language, gone=True) as one:
        page = one.page
        show(one, site)
        page.route(STREAM, lambda route: route.abort())
        ask(page)
        page.locator("#talk-body .problem", has_text=texts["problem.gone"]).wait_for()
        page.route(STREAM, lambda route: answer(route, said("1倍[E1]。"), ended(fact(1, 1.0))))
        page.locator("#talk-body button", has_text=texts["problem.again"]).click()
        page.locator("[data-evidence]").wait_for()
        assert one.errors == []


@pytest.mark.soak
def test_a_slow_answer_is_waited_for_and_can_be_stopped(browser: Browser, site: str) -> None:
    texts = texts_of("zh", "ask")
    held: list[Route] = []
    with opened(browser) as one:
        show(one, site)
        one.page.route(STREAM, holding(held))
        ask(one.page)
        one.page.locator(".maker", has_text=texts["state.slow"]).wait_for()
        one.page.locator("#stop").click()
        one.page.locator(".maker", has_text=texts["ask.stopped"]).wait_for()


@pytest.mark.soak
def test_scripts_in_an_answer_run_nowhere(browser: Browser, site: str) -> None:
    facts = [fact(at, text, subject=text, label=text) for at, text in enumerate(PAYLOADS)]
    text = "".join(f"“{text}”[E{at}]\n\n" for at, text in enumerate(PAYLOADS))
    with opened(browser) as one:
        show(one, site)
        one.page.route(STREAM, lambda route: answer(route, said(text), ended(*facts, label=PAYLOADS[6])))
        ask(one.page)
        one.page.locator("[data-evidence]").first.wait_for()
        for at in range(0, len(PAYLOADS), 5):
            one.page.locator("[data-evidence]").nth(at).focus()
        shown = one.page.locator("#talk-body").inner_text()
        assert [text for text in PAYLOADS if text not in shown] == []
        assert one.page.evaluate("() => window.hit") is None
        assert one.page.locator("main img, main svg, main iframe, main script, main details").count() == 0
        assert one.errors == []
        assert one.hosts() == {site.removeprefix("http://")}


@pytest.mark.soak
def test_a_reader_without_a_mouse_logs_in_asks_and_opens_the_lineage_of_a_number(
    browser: Browser, site: str
) -> None:
    """The lineage is the app's own; it has no such row, and says so."""
    with opened(browser, gone=True) as one:
        page = one.page
        page.goto(f"{site}/console/ask")
        assert texts_of("zh", "ask")["ask.login"] in page.locator("#talk-body").inner_text()
        show(one, site)
        page.route(STREAM, lambda route: answer(route, said("市盈率3.57倍[E33]。"), ended(fact(33, 3.5712))))
        ask(page)
        page.locator("[data-evidence]").first.wait_for()
        while not page.evaluate("() => document.activeElement.dataset.evidence"):
            page.keyboard.press("Shift+Tab")
        assert "fusion_" in page.locator("#evidence-one").inner_text()
        while not page.evaluate("() => document.activeElement.dataset.lineage"):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.locator("#lineage-source a", has_text="/datamgr/lineage/").wait_for()
        page.keyboard.press("Escape")
        assert page.evaluate("() => Boolean(document.activeElement.dataset.lineage)")
        assert one.errors == []
