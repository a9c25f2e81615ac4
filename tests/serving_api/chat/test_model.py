"""Answers of a scripted model, over HTTP on both sides."""

import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests.models_api.fake import Asked, Fails, FakeModels, Says, Silent
from tests.models_api.wire import Asks
from tests.serving_api.chat.served import Served, events, texts

RECORDED = Path(__file__).with_name("recorded_stream.txt")
QUESTION = "贵州茅台现在估值如何？"
TRUE = "贵州茅台市盈率TTM 21.53倍[{pe}]，低于预期。"


@pytest.fixture
def who(modelled: Served) -> dict[str, str]:
    return modelled.admin()


def ids(asked: Asked) -> dict[tuple[str, str], str]:
    """(subject, label) -> number of the newest fact, as the prompt lists them."""
    lines = re.findall(
        r"^(E\d+) \| (.*?) \| (.*?) \| .* \| \S+$",
        asked.body["messages"][0]["content"]
        if isinstance(asked.body["messages"][0]["content"], str)
        else asked.body["messages"][0]["content"][0]["text"],
        re.MULTILINE,
    )
    found: dict[tuple[str, str], str] = {}
    for number, subject, label in lines:
        found.setdefault((subject, label), number)
    return found


def says(text: str, **how: Any) -> Any:
    """A script that fills the numbers of facts into a text."""

    def script(asked: Asked) -> Says:
        known = ids(asked)
        filled = text.format(pe=known["贵州茅台", "市盈率TTM"], price=known["贵州茅台", "最新价"])
        return Says(filled, **how)

    return script


def test_a_models_answer_is_shown_when_every_number_is_bound(
    modelled: Served, fake: FakeModels, who: dict[str, str]
) -> None:
    fake.then(says(TRUE))
    reported = modelled.ask(QUESTION, who)
    assert reported["answer"] == re.sub(r"\{pe\}", next(one["id"] for one in reported["evidence"]), TRUE)
    assert (reported["provenance"], reported["model"], reported["label"], reported["unbound"]) == (
        "ai", fake.asked[-1].model, None, 0,
    )  # fmt: skip
    assert reported["usage"]["output_tokens"] > 0
    receipt = modelled.http.get(f"/chat/receipts/{reported['receipt_id']}", headers=who).json()
    assert (receipt["provider"], receipt["model"]) == ("anthropic", reported["model"])
    assert re.fullmatch(r"[0-9a-f]{64}", receipt["prompt_hash"])


def test_it_is_asked_once_more_and_then_the_rules_answer(
    modelled: Served, fake: FakeModels, who: dict[str, str]
) -> None:
    before = len(fake.asked)
    fake.then(says("贵州茅台市盈率33.33倍[{pe}]。"), says(TRUE))
    reported = modelled.ask(QUESTION, who)
    assert (reported["provenance"], "21.53" in reported["answer"], len(fake.asked) - before) == (
        "ai",
        True,
        2,
    )
    assert "33.33" in fake.asked[-1].said

    before = len(fake.asked)
    fake.then(says("贵州茅台市盈率33.33倍[{pe}]。"))
    reported = modelled.ask(QUESTION, who)
    assert len(fake.asked) - before == 2
    assert (reported["provenance"], reported["fallbackOf"], "33.33" in str(reported)) == (
        "quant_prefill", "quant_prefill", False,
    )  # fmt: skip


@pytest.mark.parametrize("way", ["ask", "stream"])
def test_a_model_points_at_figures_and_the_platform_writes_them(
    modelled: Served, fake: FakeModels, who: dict[str, str], way: str
) -> None:
    fake.then(says("## 估值\n1. 贵州茅台市盈率TTM{{{{{pe}}}}}\n2. 收于{{{{{price}}}}}，见{{{{E999}}}}。\n"))
    if way == "ask":
        text = modelled.ask(QUESTION, who)["answer"]
    else:
        text = texts(events(modelled.stream(QUESTION, who)))

    shown = re.sub(r"E\d+", "E", text)
    assert shown.startswith("## 估值\n1. 贵州茅台市盈率TTM21.53[E]\n2. 收于1432.50元[E]，见—。")


def test_one_invented_figure_costs_that_figure_and_not_the_answer(
    modelled: Served, fake: FakeModels, who: dict[str, str]
) -> None:
    fake.then(says("贵州茅台市盈率TTM 21.53倍[{pe}]，目标价1999.99元。"))
    reported = modelled.ask(QUESTION, who)

    assert "21.53倍" in reported["answer"]
    assert "目标价—" in reported["answer"]
    assert (reported["provenance"], reported["unbound"]) == ("ai", 1)


def test_history_of_sixteen_turns_goes_with_the_question(
    modelled: Served, fake: FakeModels, who: dict[str, str]
) -> None:
    fake.then(says(TRUE))
    turns = [{"role": ("user",
    "assistant")[at % 2], "content": f"第{'甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉'[at]}句"}
             for at in range(20)]  # fmt: skip
    modelled.ask(QUESTION, who, history=turns)
    sent = str(fake.asked[-1].body["messages"])
    assert "第丁句" not in sent
    assert "第戊句" in sent
    assert len(fake.asked[-1].body["messages"]) == 17


def test_a_tool_reads_what_the_question_did_not_name(
    modelled: Served, fake: FakeModels, who: dict[str, str]
) -> None:
    def second(asked: Asked) -> Says:
        number = re.findall(r"(E\d+) \| 工商银行 \| 市净率 \|", asked.results[0])[0]
        return Says(f"工商银行市净率0.71倍[{number}]。")

    fake.then(Asks("stock", {"code": "601398"}), second)
    reported = modelled.ask(QUESTION, who)
    assert "工商银行市净率0.71倍" in reported["answer"]
    assert reported["tool_calls"] == [{"name": "stock", "args": {"code": "601398"}, "ok": True}]


def test_a_number_invented_for_a_tool_is_not_shown(
    modelled: Served, fake: FakeModels, who: dict[str, str]
) -> None:
    asks = (Asks("stock", {"code": "300321"}), Asks("fetch_url", {"url": "http://evil.example/a"}))
    fake.then(Says(calls=asks), says(TRUE))
    reported = events(modelled.stream(QUESTION, who))
    calls = [(one["name"], one["args"]) for one in reported if one["type"] == "tool_call"]
    assert calls == [("stock", {"code": "—"}), ("unknown", {"url": "—"})]
    assert [one["ok"] for one in reported if one["type"] == "tool_result"] == [False, False]


@pytest.mark.parametrize("path", ["/chat/ask", "/chat/ask/stream"])
def test_a_model_that_is_not_configured_is_named(modelled: Served, who: dict[str, str], path: str) -> None:
    answer = modelled.http.post(path, json={"message": QUESTION, "model": "nobody"}, headers=who)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("model: not configured; configured: ")


# -- the stream ------------------------------------------------------------------------------------


def test_the_stream_is_what_was_recorded(modelled: Served, fake: FakeModels, who: dict[str, str]) -> None:
    """Byte for byte, but for the ids that every run makes anew."""
    fake.then(
        Says("先看银行。", thinking="比较市净率。", calls=[Asks("stock", {"code": "601398"})]),
        says(
            "贵州茅台市盈率TTM 21.53倍[{pe}]。最新价1432.50元，目标价1999.99元[{price}]。\n"
            "| 市净率 | 88.88 |\n"
        ),
    )
    got = re.sub(rb"[0-9a-f]{32}", b"0" * 32, modelled.stream(QUESTION, who))
    if not RECORDED.exists():  # removed by hand when the frames are meant to change
        RECORDED.write_bytes(got)
    assert got == RECORDED.read_bytes()


def test_frames_are_neither_compressed_nor_held_back(
    modelled: Served, fake: FakeModels, who: dict[str, str]
) -> None:
    fake.then(says("贵州茅台市盈率TTM 21.53倍[{pe}]。" + "这一句没有数字。" * 20, pause_s=0.02))
    accepts = {**who, "Accept-Encoding": "gzip, zstd"}
    arrived: list[float] = []
    with modelled.http.stream(
        "POST", "/chat/ask/stream", json={"message": QUESTION}, headers=accepts
    ) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in answer.headers
        assert answer.headers["cache-control"] == "no-store"
        for chunk in answer.iter_raw():
            arrived += [time.monotonic()] * chunk.count(b'"type":"content"')
    assert len(arrived) >= 20
    assert arrived[-1] - arrived[0] > 0.3


def test_a_sentence_is_shown_once_it_is_checked(
    modelled: Served, fake: FakeModels, who: dict[str, str]
) -> None:
    fake.then(says("贵州茅台市盈率TTM 21.53倍。[{pe}]市净率99.99倍[{pe}]。没有数字的一句。"))
    reported = events(modelled.stream(QUESTION, who))
    text = texts(reported)
    assert re.fullmatch(r"贵州茅台市盈率TTM 21\.53倍。\[E\d+\]市净率—\[E\d+\]。没有数字的一句。", text)
    assert reported[-1]["unbound"] == 1
    assert all(one["text"].endswith(("。", "]")) for one in reported if one["type"] == "content")


def test_what_the_model_thinks_aloud_is_checked_as_well(
    modelled: Served, fake: FakeModels, who: dict[str, str]
) -> None:
    fake.then(says(TRUE, thinking="贵州茅台市盈率21.53倍。其实是77.77倍。"))
    reported = events(modelled.stream(QUESTION, who))
    assert texts(reported, "reasoning") == "贵州茅台市盈率21.53倍。其实是—。"
    assert "77.77" not in str(reported)


def test_a_disconnected_client_ends_the_call(modelled: Served, fake: FakeModels, who: dict[str, str]) -> None:
    for script in (says("这一句没有数字。" * 200, pause_s=0.02), Silent()):
        fake.then(script)
        asked = len(fake.asked)
        body = {"message": QUESTION}
        with modelled.http.stream("POST", "/chat/ask/stream", json=body, headers=who) as answer:
            chunks = answer.iter_raw()
            next(chunks)
            wait(lambda asked=asked: len(fake.asked) > asked)
        wait(lambda: fake.asked[-1].gone)


def wait(condition: Any) -> None:
    until = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


# -- failures --------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [401, 403, 529, 500])
def test_a_failed_model_leaves_an_honest_answer_and_writes_nothing(
    modelled: Served, fake: FakeModels, status: int
) -> None:
    who = modelled.member(f"user{status}")
    fake.then(says(TRUE))
    first = modelled.ask(QUESTION, who)
    rows = modelled.warehouse.rows("sys_chat_receipt")
    fake.then(Fails(status))
    cached = modelled.ask(QUESTION, who)
    assert (cached["answer"], cached["fallbackOf"], cached["provenance"]) == (first["answer"], "cached", "ai")
    again = events(modelled.stream(QUESTION, who))
    assert texts(again) == first["answer"]
    # It cites the evidence of its own day, not that of a pack that was read since.
    assert (again[-1]["items"], again[-1]["fallbackOf"]) == (first["evidence"], "cached")
    other = modelled.ask("工商银行怎么样？", who)
    assert (other["fallbackOf"], other["provenance"]) == ("quant_prefill", "quant_prefill")
    assert "工商银行最新价7.31元" in other["answer"]
    reported = events(modelled.stream("工商银行怎么样？", who))
    assert "工商银行最新价7.31元" in texts(reported)
    assert reported[-1]["type"] == "evidence"
    assert {one["llmError"] for one in (cached, other, reported[-1])} == {
        "模型凭证无效或无权限，请管理员检查密钥" if status in (401, 403) else "模型暂时不可用"
    }
    assert modelled.warehouse.rows("sys_chat_receipt") == rows
    wait_for_rest(modelled)


def wait_for_rest(modelled: Served) -> None:
    """Failures of a key and of a model are remembered for half a minute; the next test begins anew."""
    from serving_api.settings.language_model import Model

    state = modelled.app.state.platform
    state.part(Model)._providers = ()


def test_a_stream_that_breaks_says_so_and_ends(
    modelled: Served, fake: FakeModels, who: dict[str, str]
) -> None:
    fake.then(says("贵州茅台市盈率TTM 21.53倍[{pe}]。" + "这一句没有数字。" * 20, cut_after=12))
    reported = events(modelled.stream(QUESTION, who))
    assert "21.53倍" in texts(reported)
    assert reported[-1] == {"type": "error", "message": "模型暂时不可用"}
    wait_for_rest(modelled)


def test_a_model_that_says_nothing_leaves_the_answer_to_the_rules(
    modelled: Served, fake: FakeModels, who: dict[str, str]
) -> None:
    fake.then(Says(""))
    reported = events(modelled.stream("五粮液股的估值？", who))
    assert "五粮液股市盈率TTM 14.85倍" in texts(reported)
    assert (reported[-1]["provenance"], reported[-1]["fallbackOf"]) == ("quant_prefill", "quant_prefill")


def test_a_title_holds_no_number_of_its_own(modelled: Served, fake: FakeModels, who: dict[str, str]) -> None:
    def title() -> str:
        body = {"message": QUESTION}
        reported: str = modelled.http.post("/chat/generate-title", json=body, headers=who).json()["title"]
        return reported

    fake.then("茅台估值简析")
    assert title() == "茅台估值简析"
    for bad in ("茅台目标价1999元", "茅台见 http://x.example", "茅台" * 20, ""):
        fake.then(bad or Fails(500))
        assert title() == QUESTION
    wait_for_rest(modelled)


def test_a_model_writes_the_conclusion_of_a_comparison(
    modelled: Served, fake: FakeModels, who: dict[str, str]
) -> None:
    def reported() -> dict[str, Any]:
        body = {"codes": ["600519", "601398"]}
        answer: dict[str, Any] = modelled.http.post("/chat/batch-compare", json=body, headers=who).json()
        return answer

    fake.then(says("贵州茅台市盈率TTM 21.53倍[{pe}]。"))
    assert (reported()["provenance"], "21.53倍" in reported()["conclusion"]) == ("ai", True)
    fake.then("贵州茅台市盈率66.66倍[E1]。")
    assert reported()["provenance"] == "quant_prefill"
    assert "66.66" not in str(reported())
    fake.then(Fails(401))
    assert (reported()["fallbackOf"], reported()["provenance"]) == ("cached", "ai")
    wait_for_rest(modelled)


@pytest.mark.parametrize(
    ("failing", "why"),
    [
        (Fails(402, message="Insufficient Balance"), "模型账户额度已用尽或欠费"),
        (Fails(429, "insufficient_quota", "You exceeded your current quota"), "模型账户额度已用尽或欠费"),
        (Fails(404, "not_found_error", "model: claude-9"), "没有这个模型，或模型地址不对"),
        (Fails(400, "invalid_request_error", "messages: too long"), "模型不接受这样的请求"),
        (Fails(529), "模型暂时不可用"),
    ],
)
def test_a_reader_is_told_what_lasts_and_what_passes(
    modelled: Served, fake: FakeModels, failing: Fails, why: str
) -> None:
    fake.then(failing)
    answer = modelled.ask("五粮液股的估值？", modelled.admin())
    assert answer["llmError"].startswith(why)
    assert "五粮液股" in answer["answer"]
    wait_for_rest(modelled)


@pytest.mark.parametrize(
    ("stop", "incomplete", "notice"),
    [("max_tokens", "length", "长度上限"), ("refusal", "filtered", "内容审查")],
)
def test_an_answer_that_is_not_whole_says_so(
    modelled: Served, fake: FakeModels, who: dict[str, str], stop: str, incomplete: str, notice: str
) -> None:
    fake.then(says(TRUE, stop=stop))
    whole, streamed = modelled.ask(QUESTION, who), events(modelled.stream(QUESTION, who))
    assert notice in whole["answer"]
    assert notice in texts(streamed)
    assert whole["incomplete"] == streamed[-1]["incomplete"] == incomplete
    fake.then(says(TRUE))
    assert "incomplete" not in modelled.ask(QUESTION, who)


def test_a_slow_model_shows_that_it_lives_and_is_given_up(
    modelled: Served, fake: FakeModels, who: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from serving_api.chat import answering, frames

    monkeypatch.setattr(frames, "SIGN_OF_LIFE_S", 0.1)
    monkeypatch.setattr(answering, "ANSWER_S", 0.5)
    fake.then(Silent())
    began = time.monotonic()
    streamed = events(modelled.stream("工商银行的估值？", who))
    assert time.monotonic() - began < 3
    assert sum(one == {"type": "thinking", "text": "模型仍在作答"} for one in streamed) >= 2
    assert "工商银行" in texts(streamed)
    assert streamed[-1]["llmError"] == "模型没有在60秒内答完"
    assert modelled.ask("工商银行的估值？", who)["llmError"] == "模型没有在60秒内答完"
    wait_for_rest(modelled)
    fake.then(says(TRUE, pause_s=0.15))
    assert "21.53倍" not in texts(events(modelled.stream("五粮液股？", who)))
    wait_for_rest(modelled)
