"""What servers that call themselves OpenAI-compatible send, as users of other programs reported it. Each form
comes over HTTP from a server on loopback; the report is named where it is public."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from core.errors import Declined, PlatformError, QuotaExhausted, Refused, Transient, WrongName
from resources.models.fallback import ConfiguredModels
from resources.models.profiles import PRESETS, chat_addresses, messages_address
from resources.models.protocol import Message, Prompt, Reply, TextPart, ToolResult
from tests.models_api.asking import ASKED, QUOTE, asked
from tests.models_api.raw_server import (
    EVENTS,
    JSON,
    PAGE,
    Answers,
    Bytes,
    RawServer,
    delta,
    events,
    raw_server,
)

OK = Bytes([events(delta(content="好的。"), delta("stop"))])


def run(
    server: RawServer,
    work: Callable[[ConfiguredModels], Awaitable[Any]],
    *,
    base: str = "/v1",
    model: str = "m",
) -> Any:
    env = {
        "OPENAI_API_KEY": "sk-first",
        "OPENAI_MODEL": model,
        "OPENAI_BASE_URL": server.url + base,
        "AI_LLM_RETRY_DELAY": "0",
    }
    return asked(env, work)


def reply_to(*answers: Bytes | Answers, base: str = "/v1", model: str = "m") -> tuple[Reply, RawServer]:
    with raw_server(*answers) as server:
        return run(server, lambda models: models.reply(ASKED), base=base, model=model), server


def parts_of(answer: Bytes, model: str = "m") -> tuple[str, Reply]:
    """(text, reply) of a stream."""

    async def listen(models: ConfiguredModels) -> list[Any]:
        return [part async for part in models.stream(ASKED)]

    with raw_server(answer) as server:
        parts = run(server, listen, model=model)
    return "".join(part.text for part in parts if isinstance(part, TextPart)), parts[-1]


def error_of(*answers: Bytes | Answers, base: str = "/v1") -> tuple[PlatformError, RawServer]:
    with raw_server(*answers) as server, pytest.raises(PlatformError) as raised:
        run(server, lambda models: models.reply(ASKED), base=base)
    return raised.value, server


def fails(status: int, **error: Any) -> Bytes:
    return Bytes([json.dumps({"error": error}).encode()], JSON, status)


def call(name: str = "", arguments: str | dict[str, Any] = "", **fields: Any) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value}
    return {**fields, "type": "function", "function": function}


def called(reply: Reply) -> list[tuple[str, Any]]:
    return [(one.name, one.arguments) for one in reply.calls]


A, B = '{"code": "600519"}', '{"code": "000858"}'
BOTH = [("quote", {"code": "600519"}), ("quote", {"code": "000858"})]


# -- calls of tools ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "chunks"),
    [
        (
            "index 0 for each call: su-kaka/gcli2api#406",
            [
                delta(tool_calls=[call("quote", A, index=0, id="a")]),
                delta(tool_calls=[call("quote", B, index=0, id="b")]),
                delta("tool_calls"),
            ],
        ),
        (
            "index 0 for each call, no ids",
            [
                delta(tool_calls=[call("quote", A, index=0)]),
                delta(tool_calls=[call("quote", B, index=0)]),
                delta("tool_calls"),
            ],
        ),
        (
            "no index, finish `stop`: open-webui/computer#224",
            [
                delta(tool_calls=[call("quote", '{"code": ', id="a")]),
                delta(tool_calls=[call("", '"600519"}')]),
                delta(tool_calls=[call("quote", B, id="b")]),
                delta("stop"),
            ],
        ),
        (
            "id and name with each piece",
            [
                delta(tool_calls=[call("quote", '{"code": ', index=0, id="a")]),
                delta(tool_calls=[call("quote", '"600519"}', index=0, id="a")]),
                delta(tool_calls=[call("quote", B, index=1, id="b")]),
                delta("tool_calls"),
            ],
        ),
        (
            "arguments as an object, the same id twice",
            [
                delta(
                    tool_calls=[
                        call("quote", json.loads(A), index=0, id="x"),
                        call("quote", json.loads(B), index=1, id="x"),
                    ]
                ),
                delta("stop"),
            ],
        ),
        (
            "Qwen's marks in the text: ollama/ollama#7014",
            [
                delta(content="看一下。<tool_"),
                delta(content=f'call>\n{{"name": "quote", "arguments": {A}}}\n</tool'),
                delta(content=f'_call><tool_call>{{"name": "quote", "arguments": {B}}}</tool_call>'),
                delta("stop"),
            ],
        ),
        (
            "Qwen Coder's marks in the text: mudler/LocalAI#10346",
            [
                delta(
                    content="<tool_call><function=quote><parameter=code>\n600519\n</parameter></function></tool_call>"
                    "<tool_call><function=quote><parameter=code>000858</parameter></function></tool_call>"
                ),
                delta("stop"),
            ],
        ),
        (
            "DeepSeek's marks in the text: deepseek-ai/DeepSeek-R1#352",
            [
                delta(
                    content="<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>quote\n```json\n"
                    + A
                    + "\n```<｜tool▁call▁end｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>quote\n```json\n"
                    + B
                    + "\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
                ),
                delta("stop"),
            ],
        ),
    ],
)
def test_two_calls_are_two_calls(form: str, chunks: list[dict[str, Any]]) -> None:
    text, reply = parts_of(Bytes([events(*chunks)]))

    assert called(reply) == BOTH, form
    assert reply.stop == "tools"
    assert len({one.id for one in reply.calls}) == 2
    assert "tool" not in text


def test_a_call_that_is_the_whole_text() -> None:
    """ollama/ollama-python#279: bare JSON in the content; a JSON that names no tool is an answer."""
    pieces = [delta(content='{"name": "quo'), delta(content=f'te", "parameters": {A}}}'), delta("stop")]
    text, reply = parts_of(Bytes([events(*pieces)]))
    other, _ = parts_of(Bytes([events(delta(content='{"city": "上海"}'), delta("stop"))]))

    assert (text, called(reply)) == ("", BOTH[:1])
    assert other == '{"city": "上海"}'


@pytest.mark.parametrize(
    ("form", "fields", "back"),
    [
        (
            "DeepSeek, Kimi: abhigyanpatwari/GitNexus#43",
            {"reasoning_content": "要查"},
            {"reasoning_content": "要查"},
        ),
        (
            "OpenRouter",
            {"reasoning": "要查", "reasoning_details": [{"type": "reasoning.text", "text": "要查"}]},
            {"reasoning": "要查", "reasoning_details": [{"type": "reasoning.text", "text": "要查"}]},
        ),
    ],
)
def test_thinking_goes_back_with_its_call(form: str, fields: dict[str, Any], back: dict[str, Any]) -> None:
    first = Bytes(
        [events(delta(**fields), delta(tool_calls=[call("quote", A, index=0, id="a")]), delta("tool_calls"))]
    )
    _, turn = two_turns(first)

    assert {name: turn.get(name) for name in back} == back, form


def test_a_signature_goes_back_with_its_call() -> None:
    """THU-MAIC/OpenMAIC#1556, open-webui/computer#224: it may come after the call, in a chunk of its own."""
    signature = {"google": {"thought_signature": "c2ln"}}
    first = Bytes(
        [
            events(
                delta(tool_calls=[call("quote", A, id="a")]),
                delta(tool_calls=[{"extra_content": signature}]),
                delta("stop"),
            )
        ]
    )
    replies, turn = two_turns(first)

    assert called(replies[0]) == BOTH[:1]
    assert turn["tool_calls"][0]["extra_content"] == signature


def two_turns(first: Bytes) -> tuple[list[Reply], dict[str, Any]]:
    """Both replies, and the turn of the model as it went back."""

    async def both(models: ConfiguredModels) -> list[Reply]:
        reply = await models.reply(ASKED)
        turns = [
            *ASKED.messages,
            Message("assistant", reply.text, calls=reply.calls),
            Message("user", results=tuple(ToolResult(one.id, "1300") for one in reply.calls)),
        ]
        return [reply, await models.reply(Prompt("", turns, [QUOTE]))]

    with raw_server(first, OK) as server:
        replies = run(server, both)
    return replies, next(turn for turn in server.bodies[1]["messages"] if turn["role"] == "assistant")


# -- thinking in the text ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_thinking_between_marks_is_no_answer(size: int) -> None:
    said = "<think>\n先算市盈率 99 倍</think>\n\n市盈率1<2，是21.53倍。"
    pieces = [delta(content=said[at : at + size]) for at in range(0, len(said), size)]
    text, reply = parts_of(Bytes([events(*pieces, delta("stop"))]))

    assert text.strip() == reply.text.strip() == "市盈率1<2，是21.53倍。"


def test_thinking_that_is_never_closed_is_no_answer() -> None:
    text, _ = parts_of(Bytes([events(delta(content="<think>想了又想"), delta("length"))]))

    assert text == ""


def test_thinking_that_only_ends_is_no_answer() -> None:
    """open-webui/open-webui#9808: the template opened it. A model that always thinks is known by its name."""
    pieces = [delta(content=one) for one in ("先算", "99倍</th", "ink>是21.53", "倍。")]
    text, _ = parts_of(Bytes([events(*pieces, delta("stop"))]), model="DeepSeek-R1-Distill-Qwen-32B")
    reply, _ = reply_to(Bytes([events(*pieces, delta("stop"))]), model="qwen3:8b")
    plain, _ = parts_of(
        Bytes([events(delta(content="没有标记的回答。"), delta("stop"))]), model="deepseek-r1:7b"
    )

    assert text == reply.text == "是21.53倍。"
    assert plain == "没有标记的回答。"


def test_content_in_parts() -> None:
    """Mistral: the content is a list, thinking is a part of it."""
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "想"}]},
        {"type": "text", "text": "好的。"},
    ]
    text, _ = parts_of(Bytes([events(delta(content=parts), delta("stop"))]))

    assert text == "好的。"


# -- streams -----------------------------------------------------------------------------------

_WHOLE = {
    "id": "c",
    "object": "chat.completion",
    "model": "m",
    "usage": {"prompt_tokens": 7, "completion_tokens": 3},
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "好的。"}, "finish_reason": "stop"}],
}
_TEXT = events(delta(content="好的"), delta(content="。"), delta("stop"))


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        ("no finish reason, but an end", Bytes([events(delta(content="好的。"))])),
        ("an empty finish reason: ollama/ollama#4357", Bytes([events(delta("", content="好的。"))])),
        ("one JSON", Bytes([json.dumps(_WHOLE).encode()], JSON)),
        (
            "one JSON over several lines, called a stream",
            Bytes([json.dumps(_WHOLE, indent=1).encode()], EVENTS),
        ),
        (
            "comments to keep the connection: openai/openai-go#227",
            Bytes([b": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n", _TEXT]),
        ),
        ("CRLF", Bytes([events(delta(content="好的。"), delta("stop"), end="\r\n\r\n")])),
        ("no blank after `data:`", Bytes([_TEXT.replace(b"data: ", b"data:")])),
        ("pieces of one byte", Bytes([_TEXT[at : at + 1] for at in range(len(_TEXT))])),
        ("the last event without its blank line", Bytes([_TEXT.partition(b"data: [DONE]")[0].rstrip()])),
        (
            "usage chunks without choices",
            Bytes(
                [
                    events(
                        {"usage": {"prompt_tokens": 1}, "choices": None},
                        delta(content="好的。"),
                        delta("stop"),
                        {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": None}},
                        {"id": "x"},
                    )
                ]
            ),
        ),
        ("a refusal in its own field", Bytes([events(delta(refusal="好的。", content=None), delta("stop"))])),
    ],
)
def test_the_answer_is_read(form: str, answer: Bytes) -> None:
    text, reply = parts_of(answer)

    assert (text, reply.text, reply.stop) == ("好的。", "好的。", "end"), form


def test_unicode_line_separators_end_no_line() -> None:
    text, _ = parts_of(Bytes([events(delta(content="一\u2028二\x85三"), delta("stop"))]))

    assert text == "一\u2028二\x85三"


@pytest.mark.parametrize(
    ("form", "answer", "family"),
    [
        (
            "an error in the stream: diegosouzapw/OmniRoute#8210",
            Bytes([events({"id": "c", "choices": [], "error": {"code": 502, "message": "Worker limit"}})]),
            Transient,
        ),
        ("an error as text", Bytes([events({"error": "model is loading"})]), Transient),
        (
            "an error as one JSON after 200: ggml-org/llama.cpp#14566",
            Bytes([b'{"error": {"code": 401, "message": "Invalid API Key"}}'], EVENTS),
            Refused,
        ),
        (
            "MiniMax: CherryHQ/cherry-studio#11287",
            Bytes(
                [
                    b'{"choices": null, "base_resp": {"status_code": 1008, '
                    b'"status_msg": "insufficient balance"}}'
                ],
                JSON,
            ),
            QuotaExhausted,
        ),
        (
            "an end without [DONE] and finish reason: can1357/oh-my-pi#9433",
            Bytes([events(delta(content="一半"), done=False)]),
            Transient,
        ),
        ("a web page: songquanpeng/one-api#1473", Bytes([b"<!doctype html><html></html>"], PAGE), WrongName),
        ("a web page that is called a stream", Bytes([b"<!DOCTYPE html>\n<html></html>"], EVENTS), WrongName),
        ("GLM's word for a filter", Bytes([events(delta("sensitive", content=""))]), Declined),
    ],
)
def test_the_failure_is_seen(form: str, answer: Bytes, family: type[PlatformError]) -> None:
    error, _ = error_of(answer)

    assert type(error) is family, form


@pytest.mark.parametrize(("finish", "stop"), [("length", "length"), ("content_filter", "filtered")])
def test_a_part_is_not_the_whole(finish: str, stop: str) -> None:
    reply, _ = reply_to(Bytes([events(delta(finish, content="一半"))]))

    assert (reply.text, reply.stop) == ("一半", stop)


# -- what a status means ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "answer", "family"),
    [
        (
            "OpenAI",
            fails(
                429,
                message="You exceeded your current quota, please check your plan and billing details.",
                type="insufficient_quota",
                code="insufficient_quota",
            ),
            QuotaExhausted,
        ),
        ("DeepSeek", fails(402, message="Insufficient Balance", type="unknown_error"), QuotaExhausted),
        (
            "Kimi: continuedev/continue#11443",
            fails(
                429,
                type="exceeded_current_quota_error",
                message=(
                    "Your account org-x <ak-x> is suspended due to insufficient balance, please recharge"
                ),
            ),
            QuotaExhausted,
        ),
        (
            "Kimi: MoonshotAI/Kimi-K2#5",
            fails(
                403,
                type="exceeded_current_quota_error",
                message=("Your account is not active, exceeded current quota"),
            ),
            QuotaExhausted,
        ),
        (
            "Kimi behind a gateway: anomalyco/opencode#25458",
            fails(
                429,
                message="Provider returned error",
                code=429,
                metadata={"raw": '{"error":{"type":"exceeded_current_quota_error"}}'},
            ),
            QuotaExhausted,
        ),
        (
            "Qwen",
            fails(
                400,
                code="Arrearage",
                message="Access denied, please make sure your account is in good standing.",
            ),
            QuotaExhausted,
        ),
        ("GLM", fails(429, code="1113", message="余额不足或无可用资源包,请充值。"), QuotaExhausted),
        (
            "Gemini, in a minute",
            Bytes(
                [
                    json.dumps(
                        [
                            {
                                "error": {
                                    "code": 429,
                                    "status": "RESOURCE_EXHAUSTED",
                                    "message": (
                                        "You exceeded your current quota, please check your plan and billing "
                                        "details. Please retry in 26s."
                                    ),
                                }
                            }
                        ]
                    ).encode()
                ],
                JSON,
                429,
            ),
            Transient,
        ),
        (
            "DeepSeek, a wrong model",
            fails(400, message="Model Not Exist", type="invalid_request_error"),
            WrongName,
        ),
        (
            "OpenAI, a wrong model",
            fails(
                404,
                message="The model `gpt-9` does not exist or you do not have access to it.",
                code="model_not_found",
            ),
            WrongName,
        ),
        ("Ollama, a wrong model", fails(404, message='model "x" not found, try pulling it first'), WrongName),
        (
            "Qwen, the filter",
            fails(
                400, code="data_inspection_failed", message="Input data may contain inappropriate content."
            ),
            Declined,
        ),
        (
            "DeepSeek, a wrong key",
            fails(401, message="Authentication Fails, Your api key: ****rst is invalid"),
            Refused,
        ),
        (
            "Qwen, a wrong key",
            fails(401, code="invalid_api_key", message="Incorrect API key provided."),
            Refused,
        ),
        ("busy", fails(503, message="Service is too busy."), Transient),
    ],
)
def test_what_lasts_is_told_from_what_passes(form: str, answer: Bytes, family: type[PlatformError]) -> None:
    error, server = error_of(answer)

    assert type(error) is family, f"{form}: {error.message}"
    assert (len(server.seen) > 1) == (family is Transient), "what lasts is not sent again"


@pytest.mark.parametrize(
    ("form", "refusal", "before", "after"),
    [
        (
            "griptape-ai/ComfyUI-Griptape#312",
            fails(
                400,
                param="max_tokens",
                code="unsupported_parameter",
                message=(
                    "Unsupported parameter: 'max_tokens' is not supported with this model. "
                    "Use 'max_completion_tokens' instead."
                ),
            ),
            {"max_tokens"},
            {"max_completion_tokens"},
        ),
        (
            "open-webui/open-webui#10507",
            fails(
                400,
                message=("<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 200]"),
            ),
            {"max_tokens"},
            set(),
        ),
        (
            "QuantumNous/new-api#418",
            fails(400, param="stream_options", message="Unknown parameter: 'stream_options'."),
            {"stream_options"},
            set(),
        ),
        (
            "openai/openai-agents-python#442",
            Bytes(
                [
                    json.dumps(
                        {
                            "object": "error",
                            "message": {
                                "detail": [
                                    {
                                        "type": "extra_forbidden",
                                        "loc": ["body", "stream_options", "include_usage"],
                                    }
                                ]
                            },
                        }
                    ).encode()
                ],
                JSON,
                422,
            ),
            {"stream_options"},
            set(),
        ),
        (
            "Ollama",
            fails(400, message="registry.ollama.ai/library/gemma:2b does not support tools"),
            {"tools"},
            set(),
        ),
    ],
)
def test_a_parameter_that_is_refused_is_left_out(
    form: str, refusal: Bytes, before: set[str], after: set[str]
) -> None:
    """Once, and remembered for the next question."""

    async def twice(models: ConfiguredModels) -> list[str]:
        return [(await models.reply(ASKED)).text for _ in range(2)]

    with raw_server(refusal, OK) as server:
        assert run(server, twice) == ["好的。"] * 2, form

    first, *others = server.bodies
    assert len(others) == 2
    assert before <= first.keys()
    assert all(not before & body.keys() and after <= body.keys() for body in others)


def test_a_refusal_that_repeats_is_told() -> None:
    error, server = error_of(fails(400, message="Unknown parameter: 'stream_options'"))

    assert "HTTP 400" in error.message
    assert len(server.seen) == 2


# -- addresses ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["", "/", "/v1", "/v1/", "/v1/chat/completions", "/v1/chat/completions/"])
def test_a_base_address_in_any_form(base: str) -> None:
    def only_here(path: str, body: dict[str, Any]) -> Bytes:
        return OK if path == "/v1/chat/completions" else Bytes([b"<html>"], PAGE)

    reply, server = reply_to(only_here, base=base)

    assert reply.text == "好的。"
    assert len(server.seen) == 1


@pytest.mark.parametrize(("base", "place"), [("", "/chat/completions"), ("/api", "/api/v1/chat/completions")])
@pytest.mark.parametrize(
    "elsewhere", [Bytes([b"<!doctype html>"], PAGE), Bytes([b"404 page not found"], "text/plain", 404)]
)
def test_an_address_that_is_none_is_tried_otherwise_once(base: str, place: str, elsewhere: Bytes) -> None:
    async def twice(models: ConfiguredModels) -> list[str]:
        return [(await models.reply(ASKED)).text for _ in range(2)]

    with raw_server(lambda path, body: OK if path == place else elsewhere) as server:
        assert run(server, twice, base=base) == ["好的。"] * 2

    assert [path == place for path, _ in server.seen] == [False, True, True]


def test_presets_stand_for_the_providers_people_use() -> None:
    assert [preset.name for preset in PRESETS] == [
        "anthropic",
        "openai",
        "deepseek",
        "qwen",
        "kimi",
        "glm",
        "gemini",
        "openrouter",
        "ollama",
        "vllm",
    ]
    for preset in PRESETS:
        if preset.kind == "openai":
            assert chat_addresses(preset.base_url) == (preset.base_url,), preset.name
    assert messages_address("https://api.anthropic.com/v1/messages") == "https://api.anthropic.com"
