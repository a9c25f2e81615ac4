"""The real clients against the fake providers over HTTP: what one provider's answer becomes."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from resources.models.fallback import ConfiguredModels
from resources.models.protocol import (
    Message,
    Part,
    Prompt,
    ReasoningPart,
    Reply,
    TextPart,
    ToolResult,
    Usage,
)
from tests.models_api.asking import ASKED, PROTOCOLS, QUOTE, asked, environment
from tests.models_api.fake import Says, fake_models
from tests.models_api.wire import Asks


async def collected(parts: AsyncIterator[Part]) -> list[Part]:
    return [part async for part in parts]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_stream_gives_parts_and_then_the_whole_reply(protocol: str) -> None:
    with fake_models(Says(["贵州", "茅台"], thinking=["先看", "报价"], usage=(321, 45))) as fake:
        parts = asked(environment(fake, protocol), lambda one: collected(one.stream(ASKED)))

    assert parts == [
        ReasoningPart("先看"), ReasoningPart("报价"), TextPart("贵州"), TextPart("茅台"),
        Reply("贵州茅台", (), protocol, "a-model", Usage(321, 45), "end"),
    ]  # fmt: skip
    (seen,) = fake.asked
    assert (seen.protocol, seen.key, seen.model) == (protocol, "sk-first", "a-model")
    assert (seen.system, seen.said) == ("answer briefly", "茅台多少钱？")
    assert seen.body["max_tokens"] == 300
    assert seen.whole
    assert not seen.gone


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_tool_is_called_and_its_result_goes_back(protocol: str) -> None:
    async def two_turns(models: ConfiguredModels) -> tuple[Reply, Reply]:
        first = await models.reply(ASKED)
        turns = [
            *ASKED.messages,
            Message("assistant", first.text, calls=first.calls),
            Message("user", results=tuple(ToolResult(call.id, f"{call.id}: 1300") for call in first.calls)),
        ]
        return first, await models.reply(Prompt("answer briefly", turns, [QUOTE]))

    calls = [Asks("quote", {"code": "600519"}), Asks("quote")]
    with fake_models(Says("看一下。", calls, thinking="要查"), "1300元。") as fake:
        first, second = asked(environment(fake, protocol), two_turns)

    assert first.stop == "tools"
    assert [(call.name, call.arguments) for call in first.calls] == [
        ("quote", {"code": "600519"}),
        ("quote", {}),
    ]
    assert second.text == "1300元。"
    assert fake.asked[1].results == [f"{call.id}: 1300" for call in first.calls]
    turn = fake.asked[1].body["messages"][-2 if protocol == "anthropic" else -3]
    if protocol == "anthropic":
        # Its thinking comes back unchanged with its signature, before its text and its calls.
        assert [block["type"] for block in turn["content"]] == ["thinking", "text", "tool_use", "tool_use"]
        assert turn["content"][0]["thinking"] == "要查"
        assert turn["content"][0]["signature"]
    else:
        assert turn["content"] == "看一下。"
        assert [call["function"]["arguments"] for call in turn["tool_calls"]] == ['{"code": "600519"}', "{}"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("raw", ['{"code": "6005', "[1]", "code=600519", '{"a": 1} {"b": 2}'])
def test_arguments_that_are_no_json_object_are_passed_on_raw(protocol: str, raw: str) -> None:
    with fake_models(Asks("quote", raw)) as fake:
        reply = asked(environment(fake, protocol), lambda one: one.reply(ASKED))

    (call,) = reply.calls
    assert (call.name, call.arguments, call.raw) == ("quote", None, raw)


@pytest.mark.parametrize(("protocol", "word"), [("anthropic", "max_tokens"), ("openai", "length")])
def test_an_answer_that_was_too_long_says_so(protocol: str, word: str) -> None:
    with fake_models(Says("半句话", stop=word)) as fake:
        reply = asked(environment(fake, protocol), lambda one: one.reply(ASKED))

    assert (reply.text, reply.stop) == ("半句话", "length")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_leaving_a_stream_ends_the_request(protocol: str) -> None:
    async def first_part(models: ConfiguredModels) -> None:
        async for _ in models.stream(ASKED):
            break
        for _ in range(200):
            if fake.asked[0].gone:
                return
            await asyncio.sleep(0.01)

    with fake_models(Says("很长的回答" * 200, pause_s=0.02)) as fake:
        asked(environment(fake, protocol), first_part)

    assert fake.asked[0].gone, "the provider went on writing after the client had left"
    assert len(fake.asked[0].sent) < 40


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_canceled_task_ends_the_request(protocol: str) -> None:
    async def canceled(models: ConfiguredModels) -> None:
        task = asyncio.create_task(models.reply(ASKED))
        while not fake.asked:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        for _ in range(200):
            if fake.asked[0].gone:
                return
            await asyncio.sleep(0.01)

    with fake_models(Says("慢", first_s=30)) as fake:
        asked(environment(fake, protocol), canceled)

    assert fake.asked[0].gone
