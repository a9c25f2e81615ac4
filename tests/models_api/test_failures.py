"""Failed calls: whether they are retried, how long they wait, which error the caller gets."""

import asyncio
import logging
import socket
import traceback

import pytest

from core.errors import PayloadError, Permanent, PlatformError, Refused, Transient
from resources.models.fallback import ConfiguredModels
from resources.models.protocol import Message, Part, Prompt, Reply, TextPart
from tests.models_api.asking import ASKED, PROTOCOLS, asked, environment
from tests.models_api.clock import Machine
from tests.models_api.fake import Fails, Says, Silent, fake_models
from tests.models_api.fake import Reply as Scripted
from tests.models_api.wire import Asks

KEY, SECRET_QUESTION = "sk-first", "我的账户密码是什么"


def error_of(protocol: str, *replies: Scripted, **more: str) -> tuple[PlatformError, int, list[float]]:
    """(what the caller gets, requests, waits)."""
    machine = Machine()
    with fake_models(*replies) as fake:
        env = environment(fake, protocol, AI_LLM_RETRY_DELAY="1.0", **more)
        with pytest.raises(PlatformError) as raised:
            asked(env, lambda one: one.reply(ASKED), monotonic=machine.monotonic, sleep=machine.sleep)
        return raised.value, len(fake.asked), machine.waited


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_passing_failures_are_retried_twice_with_growing_waits(protocol: str, status: int) -> None:
    error, requests, waited = error_of(protocol, Fails(status, "overloaded_error"))

    assert isinstance(error, Transient)
    assert str(status) in error.message
    assert (requests, waited) == (3, [1.0, 2.0])


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "refusal",
    [
        Fails(401, "authentication_error", "invalid x-api-key"),
        Fails(403, "permission_error", "Your API key does not have permission"),
        Fails(400, "invalid_request_error", "API key not valid. Please pass a valid API key."),
        Fails(400, "", "Incorrect API key provided: sk-fi***rst."),
        Fails(500, "api_error", "Unauthorized"),
        Fails(422, "", "invalid access token"),
        Says(error_after=(0, "authentication_error")),
        Says("好", error_after=(1, "permission_error")),
    ],
)
def test_refused_credentials_are_never_retried(protocol: str, refusal: Scripted) -> None:
    error, requests, waited = error_of(protocol, refusal)

    assert isinstance(error, Refused)
    assert (requests, waited) == (1, [])


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("status", [400, 404, 413, 422])
def test_a_request_that_cannot_be_taken_is_not_repeated(protocol: str, status: int) -> None:
    error, requests, _ = error_of(protocol, Fails(status, "invalid_request_error", "messages: too long"))

    assert isinstance(error, Permanent)
    assert requests == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_redirect_is_not_followed_with_the_key(protocol: str) -> None:
    path = {"anthropic": "/v1/messages", "openai": "/v1/chat/completions"}[protocol]
    with fake_models("别处的回答") as elsewhere:
        error, requests, _ = error_of(protocol, Fails(307, location=elsewhere.url + path))

    assert isinstance(error, Permanent)
    assert (requests, elsewhere.asked) == (1, [])


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "raw",
    [
        b"event: message_start\ndata: {nonsense\n\n",
        b'event: message_start\ndata: {"type":"message_start"}\n\n',
        b'event: content_block_delta\ndata: {"type":"content_block_delta","index":9}\n\n',
        b"event: message_start\ndata: \xff\xfe\n\n",
        b'data: {"choices": 7}\n\n',
        b"data: [1]\n\n",
        b"",
    ],
)
def test_an_answer_that_cannot_be_read_is_an_error_and_no_text(protocol: str, raw: bytes) -> None:
    error, _, _ = error_of(protocol, Says(raw=raw))

    assert isinstance(error, PayloadError | Transient)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "broken", [Says("一半就断了的话", cut_after=3), Says("一半就断了的话", ends_after=3), Fails(529),
               Says("一半就断了的话", error_after=(3, "overloaded_error"))],
)  # fmt: skip
def test_a_whole_reply_is_mended_after_a_break(protocol: str, broken: Scripted) -> None:
    with fake_models(broken, "完整的话。") as fake:
        reply = asked(environment(fake, protocol), lambda one: one.reply(ASKED))

    assert reply.text == "完整的话。"
    assert len(fake.asked) == 2


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "broken",
    [
        Says("一半就断了的话" * 3, cut_after=4),
        Says("一半就断了的话" * 3, ends_after=4),
        Says("一半就断了的话" * 3, error_after=(4, "overloaded_error")),
    ],
)
def test_a_stream_is_not_retried_after_its_first_part(protocol: str, broken: Scripted) -> None:
    given: list[Part] = []

    async def listen(models: ConfiguredModels) -> None:
        async for part in models.stream(ASKED):
            given.append(part)

    with fake_models(broken, "另一个回答") as fake, pytest.raises(Transient):
        asked(environment(fake, protocol), listen)

    assert given
    assert all(isinstance(part, TextPart) for part in given)
    assert len(fake.asked) == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_stream_that_fails_before_its_first_part_is_mended(protocol: str) -> None:
    async def listen(models: ConfiguredModels) -> list[Part]:
        return [part async for part in models.stream(ASKED)]

    with fake_models(Says("不见了", cut_after=1), Fails(503), "好") as fake:
        parts = asked(environment(fake, protocol), listen)

    assert parts[0] == TextPart("好")
    assert isinstance(parts[-1], Reply)
    assert len(fake.asked) == 3


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("silent", [Silent(), Says("慢", first_s=5), Says("一二三四五六七八", pause_s=5)])
def test_a_provider_that_says_nothing_is_given_up(protocol: str, silent: Scripted) -> None:
    with fake_models(silent) as fake:
        env = environment(fake, protocol, AI_LLM_MAX_RETRIES="1")
        with pytest.raises(Transient, match="timeout"):
            asked(env, lambda one: one.reply(ASKED), timeout_s=0.15)

    assert len(fake.asked) == 2


def test_signs_of_life_do_not_renew_the_time_limit() -> None:
    with fake_models(Silent(pings=True)) as fake:
        env = environment(fake, "anthropic", AI_LLM_MAX_RETRIES="0")
        with pytest.raises(Transient, match="timeout"):
            asked(env, lambda one: one.reply(ASKED), timeout_s=0.2)


def test_an_address_without_a_server() -> None:
    with fake_models() as fake, socket.create_server(("127.0.0.1", 0)) as closed:
        fake.address = f"http://127.0.0.1:{closed.getsockname()[1]}"
        env = environment(fake, "anthropic")
    with pytest.raises(Transient, match="connection failed"):
        asked(env, lambda one: one.reply(ASKED))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("retry_after", "waited", "requests"),
    [
        ("0", [1.0], 2),
        ("4", [4.0], 2),
        ("0.2", [1.0], 2),
        ("3600", [], 1),
        ("soon", [1.0], 2),
        ("-5", [1.0], 2),
    ],
)
def test_retry_after_is_honoured_within_reason(
    protocol: str, retry_after: str, waited: list[float], requests: int
) -> None:
    machine = Machine()
    how = {"monotonic": machine.monotonic, "sleep": machine.sleep}
    with fake_models(Fails(429, "rate_limit_error", retry_after=retry_after), "好") as fake:
        env = environment(fake, protocol, AI_LLM_RETRY_DELAY="1.0")
        try:
            asked(env, lambda one: one.reply(ASKED), **how)
        except Transient:
            assert requests == 1

    assert (machine.waited, len(fake.asked)) == (waited, requests)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_model_that_declines_is_an_error_and_no_empty_answer(protocol: str) -> None:
    word = {"anthropic": "refusal", "openai": "content_filter"}[protocol]
    error, requests, _ = error_of(protocol, Says((), stop=word))

    assert isinstance(error, Permanent)
    assert "declined" in error.message
    assert requests == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "reply",
    [
        Fails(401, "authentication_error", f"Incorrect API key provided: {KEY}; you asked {SECRET_QUESTION}"),
        Fails(400, "invalid_request_error", f"messages.0: {SECRET_QUESTION} {KEY}"),
        Fails(529, f"{SECRET_QUESTION} {KEY}", f"{SECRET_QUESTION} {KEY}"),
        Says(raw=f"data: {{{SECRET_QUESTION} {KEY}\n\n".encode()),
        Says(calls=[Asks("quote", f'{{"{SECRET_QUESTION}')]),
        Says("好"),
    ],
)
def test_neither_key_nor_prompt_reaches_a_log_or_an_error(
    protocol: str, reply: Scripted, caplog: pytest.LogCaptureFixture
) -> None:
    async def ask(models: ConfiguredModels) -> str:
        try:
            await models.reply(Prompt(SECRET_QUESTION, [Message("user", SECRET_QUESTION)]))
        except PlatformError as error:
            return error.message + "".join(traceback.format_exception(error))
        return ""

    caplog.set_level(logging.INFO)
    with fake_models(reply) as fake:
        reported = asked(environment(fake, protocol), ask)

    for text in (reported, caplog.text):
        assert SECRET_QUESTION not in text
        assert KEY not in text


def test_a_frame_that_never_ends_is_given_up() -> None:
    """Each wait is short, all of them together are not."""

    async def drip(models: ConfiguredModels) -> None:
        async with asyncio.timeout(10):
            await models.reply(ASKED)

    with fake_models(Says("字" * 6 * 400, pause_s=0.02)) as fake:
        env = environment(fake, "anthropic", AI_LLM_MAX_RETRIES="0")
        with pytest.raises(Transient, match="timeout"):
            asked(env, drip, timeout_s=0.1)
