"""Keys, fallback models and the way back, on a clock that the test moves; over HTTP against the fake."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from core.errors import InputError, PlatformError, Refused, Transient, Unavailable
from resources.models.factory import language_models
from resources.models.fallback import ConfiguredModels
from resources.models.providers import Provider
from resources.settings import load_settings
from tests.models_api.asking import ASKED
from tests.models_api.clock import Machine
from tests.models_api.fake import Asked, Fails, FakeModels, Says, Script, fake_models
from tests.models_api.fake import Reply as Scripted

FIRST, SECOND = "sk-first", "sk-second"


@dataclass
class Setup:
    """The configured models with their fake provider and clock."""

    models: ConfiguredModels
    fake: FakeModels
    machine: Machine

    async def ask(self, times: int = 1, **how: Any) -> list[str]:
        """At once; the text, or the name of the error."""
        return list(await asyncio.gather(*(self._one(**how) for _ in range(times))))

    async def _one(self, **how: Any) -> str:
        try:
            return (await self.models.reply(ASKED, **how)).text
        except PlatformError as error:
            return type(error).__name__

    def seen(self) -> list[str]:
        """Models that were asked since the last look."""
        names = [asked.model for asked in self.fake.asked]
        self.fake.asked.clear()
        return names


@contextmanager
def configured(
    script: Script | Scripted, *, models: tuple[str, ...] = ("primary",), keys: tuple[str, ...] = (FIRST,),
    **env: str,
) -> Iterator[Setup]:  # fmt: skip
    """`models`: each a provider of its own, all behind the same fake."""
    machine = Machine()
    with fake_models(script) as fake:
        settings = load_settings({"AI_LLM_RETRY_DELAY": "1.0", **env})
        providers = [
            Provider(name, "anthropic", name, fake.url, keys if place == 0 else ("sk-other",))
            for place, name in enumerate(models)
        ]
        made = language_models(settings, providers, monotonic=machine.monotonic, sleep=machine.sleep)
        assert made is not None
        yield Setup(made, fake, machine)


def by_model(**replies: Scripted) -> Script:
    return lambda asked: replies[asked.model]


def by_key(**replies: Scripted) -> Script:
    return lambda asked: replies[asked.key.replace("-", "_")]


def test_three_failures_in_a_row_lead_to_the_next_model_and_probes_back() -> None:
    async def story(one: Setup) -> None:
        assert await one.ask() == ["second"]
        assert one.seen() == ["primary"] * 3 + ["backup"], "2 retries, then the next model answers this call"
        one.machine.advance(29.9)
        assert await one.ask(5) == ["second"] * 5
        assert one.seen() == ["backup"] * 5, "it is left out until 30 s have passed"
        one.machine.advance(0.2)
        assert await one.ask(5) == ["second"] * 5
        assert Counter(one.seen()) == {"primary": 1, "backup": 5}, "one call probes, once"
        one.machine.advance(29)
        await one.ask()
        assert one.seen() == ["backup"], "a probe that failed waits for the next 30 s"
        one.fake.then(by_model(primary="first", backup="second"))
        one.machine.advance(2)
        assert await one.ask() == ["first"]
        assert await one.ask(5) == ["first"] * 5
        assert one.seen() == ["primary"] * 6, "a model that answers is used again"

    with configured(by_model(primary=Fails(529), backup="second"), models=("primary", "backup")) as one:
        asyncio.run(story(one))


def test_failures_that_are_not_in_a_row_leave_no_model_out() -> None:
    replies: list[Scripted] = [Fails(500), Fails(500), "first"] * 5
    with configured(
        lambda asked: replies.pop(0) if asked.model == "primary" else "second", models=("primary", "backup")
    ) as one:
        assert [asyncio.run(_fresh(one)) for _ in range(5)] == [["first"]] * 5


async def _fresh(one: Setup) -> list[str]:
    """On a loop of its own, with connections of its own."""
    try:
        return await one.ask()
    finally:
        await one.models.close()


def test_without_retries_each_call_is_answered_by_the_next_model_and_the_third_failure_counts() -> None:
    async def story(one: Setup) -> None:
        for _ in range(4):
            assert await one.ask() == ["second"]
        assert one.seen() == ["primary", "backup"] * 3 + ["backup"]

    with configured(
        by_model(primary=Fails(503), backup="second"), models=("primary", "backup"), AI_LLM_MAX_RETRIES="0"
    ) as one:
        asyncio.run(story(one))


def test_nothing_is_sent_while_every_model_rests() -> None:
    async def story(one: Setup) -> None:
        assert await one.ask() == ["Transient"]
        assert one.seen() == ["primary"] * 3 + ["backup"] * 3
        with pytest.raises(Unavailable) as raised:
            await one.models.reply(ASKED)
        assert one.seen() == []
        assert raised.value.seconds_left == pytest.approx(30)

    with configured(Fails(500), models=("primary", "backup")) as one:
        asyncio.run(story(one))


def test_refused_credentials_are_no_matter_of_another_model() -> None:
    async def story(one: Setup) -> None:
        assert await one.ask() == ["Refused"]
        assert one.seen() == ["primary"]
        one.machine.advance(29)
        assert await one.ask() == ["Refused"]
        assert one.seen() == [], "a key that was refused rests"
        one.fake.then("first")
        one.machine.advance(1.1)
        assert await one.ask() == ["first"], "an account can be mended without touching the settings"

    script = by_model(primary=Fails(401, "authentication_error"), backup="second")
    with configured(script, models=("primary", "backup")) as one:
        asyncio.run(story(one))


def test_a_model_that_is_gone_leaves_the_prompt_to_the_next() -> None:
    script = by_model(primary=Fails(404, "not_found_error"), backup="second")
    with configured(script, models=("primary", "backup")) as one:
        assert asyncio.run(one.ask()) == ["second"]
        assert one.seen() == ["primary", "backup"]


def test_a_refused_key_rests_and_another_one_answers() -> None:
    async def story(one: Setup) -> None:
        assert await one.ask(100) == ["good"] * 100
        keys = Counter(asked.key for asked in one.fake.asked)
        assert keys[SECOND] == 100
        assert 1 <= keys[FIRST] <= 50, "the keys take turns"
        one.fake.asked.clear()
        one.machine.advance(29)
        assert await one.ask(100) == ["good"] * 100
        assert {asked.key for asked in one.fake.asked} == {SECOND}
        one.machine.advance(1.1)
        assert await one.ask(20) == ["good"] * 20
        assert FIRST in {asked.key for asked in one.fake.asked}, "asked again after 30 s"

    script = by_key(sk_first=Fails(401, "authentication_error"), sk_second="good")
    with configured(script, keys=(FIRST, SECOND)) as one:
        asyncio.run(story(one))


def test_a_403_is_not_repeated_with_another_key() -> None:
    async def story(one: Setup) -> None:
        assert await one.ask() == ["Refused"]
        assert len(one.fake.asked) == 1
        assert await one.ask(10) == ["good"] * 10

    script = by_key(sk_first=Fails(403, "permission_error"), sk_second="good")
    with configured(script, keys=(FIRST, SECOND)) as one:
        asyncio.run(story(one))


def test_a_key_over_its_rate_is_replaced_without_a_wait() -> None:
    async def story(one: Setup) -> None:
        assert await one.ask() == ["good"]
        assert [asked.key for asked in one.fake.asked] == [FIRST, SECOND]
        assert one.machine.waited == []
        assert await one.ask(10) == ["good"] * 10
        assert Counter(asked.key for asked in one.fake.asked) == {FIRST: 1, SECOND: 11}

    script = by_key(sk_first=Fails(429, "rate_limit_error", retry_after="300"), sk_second="good")
    with configured(script, keys=(FIRST, SECOND)) as one:
        asyncio.run(story(one))


def test_a_key_rests_as_long_as_its_provider_asks() -> None:
    async def story(one: Setup) -> None:
        await one.ask()
        one.fake.asked.clear()
        one.machine.advance(299)
        await one.ask(10)
        assert {asked.key for asked in one.fake.asked} == {SECOND}
        one.machine.advance(2)
        await one.ask(10)
        assert FIRST in {asked.key for asked in one.fake.asked}

    script = by_key(sk_first=Fails(429, "rate_limit_error", retry_after="300"), sk_second="good")
    with configured(script, keys=(FIRST, SECOND)) as one:
        asyncio.run(story(one))


def test_the_only_key_is_used_for_the_retries_of_a_call_and_by_its_neighbours() -> None:
    """A key rests so that others take its place; where there is no other, one failure does not stop it."""
    fails = iter([Fails(500)])
    with configured(lambda asked: next(fails, "good")) as one:
        assert asyncio.run(one.ask(20)) == ["good"] * 20


@pytest.mark.parametrize("failing", [Fails(401, "authentication_error"), Fails(429), Fails(529)])
def test_a_hundred_at_once_are_all_answered(failing: Fails) -> None:
    """One of three keys fails, whatever way, while the primary answers with the others."""
    script: Script = lambda asked: failing if asked.key == FIRST else "good"  # noqa: E731
    with configured(script, models=("primary", "backup"), keys=(FIRST, SECOND, "sk-third")) as one:
        assert asyncio.run(one.ask(100)) == ["good"] * 100


def test_a_hundred_at_once_find_the_fallback() -> None:
    async def story(one: Setup) -> None:
        assert await one.ask(100) == ["second"] * 100
        seen = Counter(one.seen())
        assert seen["backup"] == 100
        assert seen["primary"] <= 102, "at most two of them retry before it is left out"
        assert await one.ask(100) == ["second"] * 100
        assert one.seen() == ["backup"] * 100

    with configured(by_model(primary=Fails(529), backup="second"), models=("primary", "backup")) as one:
        asyncio.run(story(one))


def test_a_model_that_was_left_out_meanwhile_is_not_retried() -> None:
    async def story(one: Setup) -> None:
        usual = one.machine.sleep

        async def while_others_fail(seconds: float) -> None:
            one.models._pace = replace(one.models._pace, sleep=usual)
            assert await one.ask() == ["second"]

        one.models._pace = replace(one.models._pace, sleep=while_others_fail)
        assert await one.ask() == ["second"]
        assert Counter(one.seen()) == {"primary": 3, "backup": 2}

    with configured(by_model(primary=Fails(529), backup="second"), models=("primary", "backup")) as one:
        asyncio.run(story(one))


def test_a_stream_falls_back_before_its_first_part_only() -> None:
    async def story(one: Setup) -> None:
        texts = [part async for part in one.models.stream(ASKED)]
        assert texts[-1].provider == "backup"
        one.fake.then(by_model(primary=Says("一半就断了的话" * 3, cut_after=4), backup="second"))
        one.machine.advance(31)
        with pytest.raises(Transient):
            [part async for part in one.models.stream(ASKED)]
        assert one.seen()[-1] == "primary"

    with configured(by_model(primary=Fails(500), backup="second"), models=("primary", "backup")) as one:
        asyncio.run(story(one))


def test_a_caller_may_name_a_model_and_others_are_still_its_fallback() -> None:
    async def story(one: Setup) -> None:
        assert one.models.names == ("primary", "backup")
        assert await one.ask(model="backup") == ["second"]
        one.fake.then(by_model(primary="first", backup=Fails(500)))
        assert await one.ask(model="backup") == ["first"]
        with pytest.raises(InputError, match="configured: primary, backup"):
            await one.models.reply(ASKED, model="another")

    with configured(by_model(primary="first", backup="second"), models=("primary", "backup")) as one:
        asyncio.run(story(one))


def test_an_abandoned_probe_does_not_bring_a_model_back() -> None:
    async def story(one: Setup) -> None:
        await one.ask()
        one.machine.advance(31)
        one.fake.then(lambda asked: Says("慢", first_s=30) if asked.model == "primary" else "second")
        task = asyncio.create_task(one.models.reply(ASKED))
        while one.fake.asked[-1].model != "primary":
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        one.seen()
        assert await one.ask(3) == ["second"] * 3
        assert one.seen() == ["backup"] * 3

    with configured(by_model(primary=Fails(500), backup="second"), models=("primary", "backup")) as one:
        asyncio.run(story(one))


def test_closing_waits_for_the_answers_under_way() -> None:
    async def story(one: Setup) -> None:
        parts = one.models.stream(ASKED)
        first = await anext(parts)
        closing = asyncio.create_task(one.models.close())
        rest = [part async for part in parts]
        await closing
        assert (first.text, rest[-1].text) == ("慢", "慢慢地说完")

    def slowly(asked: Asked) -> Scripted:
        return Says(list("慢慢地说完"), pause_s=0.02)

    with configured(slowly) as one:
        asyncio.run(story(one))


def test_refused_means_refused_for_a_message_too() -> None:
    with configured(Fails(400, "invalid_request_error", "Invalid API key")) as one, pytest.raises(Refused):
        asyncio.run(one.models.reply(ASKED))
