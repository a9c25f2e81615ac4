"""A model that refuses, breaks or lies: nobody gets an error, nothing false is shown, nothing is written."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.models_api.fake import Asked, Fails, Reply, Says, Silent, fake_models
from tests.models_api.wire import Asks
from tests.serving_api.analysis.conftest import (
    CODE,
    KEYS,
    NAME,
    FetchContext,
    corrupted,
    facts_in,
    honest,
    submission,
)

REFUSED, AWAY = "模型凭证无效或无权限，请管理员检查密钥", "模型暂时不可用"
UNREADABLE = "模型的回答不能读取，或含有没有证据的内容"


def told_as(**changes: Any) -> Callable[[Asked], Reply]:
    return lambda asked: Asks("submit_analysis", submission(asked, **changes))


def stored(ctx: FetchContext) -> tuple[int, int]:
    """(analyses, cards)."""
    return ctx.made.reported(f"/analysis/{CODE}/history")["total"], len(ctx.cards())


FAILURES: list[tuple[str, Reply | Callable[[Asked], Reply], str, int]] = [
    ("401", Fails(401, "authentication_error"), REFUSED, 1),
    ("403 is not asked again", Fails(403, "permission_error"), REFUSED, 1),
    ("a message that names the key", Fails(400, message="invalid x-api-key"), REFUSED, 1),
    ("529 is asked again", Fails(529), AWAY, 2),
    ("500 is asked again", Fails(500), AWAY, 2),
    ("silence", Silent(), AWAY, 2),
    ("no JSON in the call", Asks("submit_analysis", '{"scores": {'), UNREADABLE, 2),
    ("words instead of a call", "这家公司很好。", UNREADABLE, 2),
    ("another tool", Asks("buy", {"code": CODE}), UNREADABLE, 2),
    ("a score of 6", lambda asked: Asks("submit_analysis", submission(asked, score=6.0)), UNREADABLE, 2),
    ("a score as a word", told_as(scores=dict.fromkeys(KEYS, "高")), UNREADABLE, 2),
    ("a dimension too many", told_as(scores={**dict.fromkeys(KEYS, 3.0), "luck": 5.0}), UNREADABLE, 2),
    ("2,001 characters", told_as(conclusion="长" * 2001), UNREADABLE, 2),
    ("a false number", corrupted, UNREADABLE, 2),
]


@pytest.mark.parametrize(
    ("reply", "said", "questions"), [one[1:] for one in FAILURES], ids=[x[0] for x in FAILURES]
)
def test_a_failure_gives_the_rules_and_writes_nothing(
    shared: FetchContext, reply: Reply | Callable[[Asked], Reply], said: str, questions: int
) -> None:
    ctx = shared
    with fake_models(reply) as fake:
        ctx.configure(fake)
        reported = ctx.run()
        assert (reported["llmError"], reported["fallbackOf"]) == (said, "quant_prefill")
        assert (reported["provenance"], reported["label"]) == ("quant_prefill", "规则预填，非模型生成")
        assert "77.7" not in json.dumps(reported, ensure_ascii=False)
        assert len(fake.asked) == questions
    assert stored(ctx) == (0, 0)
    assert ctx.reported()["provenance"] == "empty"


@pytest.mark.parametrize("reply", [Fails(401), Silent(), corrupted], ids=["401", "silence", "a false number"])
def test_what_a_model_wrote_before_comes_back_as_it_was(context_on_both: FetchContext, reply: Reply) -> None:
    ctx = context_on_both
    with fake_models(honest) as fake:
        ctx.configure(fake)
        before = ctx.run()
        fake.then(reply)
        reported = ctx.run(refresh=True)
        assert reported.pop("fallbackOf") == "cached"
        assert reported.pop("llmError")
        assert reported == before
        assert ctx.reported() == before
    assert stored(ctx) == (1, 1)


def test_rules_that_are_stored_are_no_cached_answer(ctx: FetchContext) -> None:
    ctx.run()
    with fake_models(Fails(401)) as fake:
        ctx.configure(fake)
        assert ctx.run()["fallbackOf"] == "quant_prefill"
    assert stored(ctx) == (1, 0)


def test_a_recovered_source_is_accepted_the_second_time(ctx: FetchContext) -> None:
    with fake_models(corrupted, honest) as fake:
        ctx.configure(fake)
        reported = ctx.run()
        assert (reported["provenance"], reported["receipt"]["asked_again"]) == ("ai", True)
        second = fake.asked[1]
        assert "77.7%" in second.said
        assert "没有对应的数据" in second.said
        assert [turn["role"] for turn in second.body["messages"]] == ["user", "assistant", "user"]
    assert stored(ctx) == (1, 1)


CORRUPTIONS: dict[str, Callable[[dict[str, tuple[str, str, str]]], str]] = {
    "invented": lambda reported: f"{NAME}毛利率88.8%[{reported['毛利率'][0]}]。",
    "not cited": lambda reported: f"{NAME}毛利率{reported['毛利率'][1]}。",
    "cites another fact": lambda reported: (
        f"{NAME}毛利率{reported['毛利率'][1]}[{reported['市盈率TTM'][0]}]。"
    ),
    "wrong sign": lambda reported: f"{NAME}毛利率下降{reported['毛利率'][1]}[{reported['毛利率'][0]}]。",
    "wrong unit": lambda reported: (
        f"{NAME}毛利率{reported['毛利率'][1].rstrip('%')}元[{reported['毛利率'][0]}]。"
    ),
    "another company": lambda reported: f"工商银行毛利率{reported['毛利率'][1]}[{reported['毛利率'][0]}]。",
    "in words": lambda reported: f"{NAME}毛利率超过百分之八十八[{reported['毛利率'][0]}]。",
    "no such fact": lambda reported: f"{NAME}毛利率{reported['毛利率'][1]}[E9999]。",
    "a day to come": lambda reported: f"{NAME}将于2026年12月31日公布[{reported['毛利率'][0]}]。",
    "in a table": lambda reported: f"| 公司 | 毛利率 |\n| {NAME} | 88.8% |",
    "a name nobody spoke of": lambda reported: f"{NAME}与五粮液股同属白酒。",
}


@pytest.mark.parametrize("corruption", CORRUPTIONS.values(), ids=CORRUPTIONS)
@pytest.mark.parametrize("where", ["conclusion", "sections"])
def test_no_corruption_reaches_the_reader(
    shared: FetchContext, corruption: Callable[[dict[str, tuple[str, str, str]]], str], where: str
) -> None:
    ctx = shared

    def script(asked: Asked) -> Reply:
        given = submission(asked)
        text = corruption(facts_in(asked))
        if where == "conclusion":
            given["conclusion"] = text
        else:
            given["sections"]["stage"] = text
        return Asks("submit_analysis", given)

    with fake_models(script) as fake:
        ctx.configure(fake)
        reported = ctx.run()
        assert reported["fallbackOf"] == "quant_prefill"
        assert len(fake.asked) == 2
    assert "88.8" not in reported["conclusion"]


def test_keys_and_addresses_of_a_model_are_not_shown(ctx: FetchContext) -> None:
    def script(asked: Asked) -> Reply:
        given = submission(asked)
        given["sections"]["stage"] = f"{NAME}详见 https://evil.example/x 或写信 boss@example.com。"
        return Asks("submit_analysis", given)

    with fake_models(script) as fake:
        ctx.configure(fake)
        reported = ctx.run()
    assert reported["provenance"] == "ai"
    assert "evil.example" not in json.dumps(reported, ensure_ascii=False)
    assert "boss@" not in json.dumps(reported, ensure_ascii=False)


def test_an_answer_as_json_text_is_read(ctx: FetchContext) -> None:
    with fake_models(
        lambda asked: Says(f"好的：{json.dumps(submission(asked), ensure_ascii=False)}")
    ) as fake:
        ctx.configure(fake)
        assert ctx.run()["provenance"] == "ai"
