"""The configured models as one: keys in turn, retries, fallback to the next model, and the return to the
first."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.errors import InputError, PlatformError, QuotaExhausted, Refused, Transient, Unavailable, WrongName
from resources.models.failures import CallFailed
from resources.models.keys import REST_S, Key, KeyPool
from resources.models.protocol import Part, Prompt, Reply
from resources.models.providers import Provider

if TYPE_CHECKING:
    from resources.models.streaming import Adapter

FAILURES_IN_A_ROW = 3
"""Failures in a row after which a model is left out (specification, AI limits)."""
PROBE_S = 30.0
"""Seconds between probes of a model that is left out."""
LONGEST_WAIT_S = 10.0
"""The longest Retry-After, in seconds, that is waited for."""
LONGEST_REST_S = 600.0
Sleep = Callable[[float], Awaitable[None]]
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Pace:
    """Retries and the machine's time."""

    retries: int
    delay_s: float
    monotonic: Callable[[], float] = time.monotonic
    sleep: Sleep = asyncio.sleep


class Line:
    """One model with the keys of its provider and the failures it had."""

    def __init__(self, provider: Provider, adapter: "Adapter", keys: KeyPool, pace: Pace) -> None:
        self.provider = provider
        self.adapter = adapter
        self.keys = keys
        self.refusal: type[Refused] = Refused
        self._pace = pace
        self._failures = 0
        self._next_probe = 0.0

    @property
    def down(self) -> bool:
        return self._failures >= FAILURES_IN_A_ROW

    @property
    def seconds_left(self) -> float:
        return max(0.0, self._next_probe - self._pace.monotonic()) if self.down else 0.0

    def attempts(self) -> int:
        """Tries that a new call has: those of the retry setting; while the model is left out 1 for one call
        every PROBE_S, else 0."""
        if not self.down:
            return self._pace.retries + 1
        now = self._pace.monotonic()
        if now < self._next_probe:
            return 0
        self._next_probe = now + PROBE_S
        return 1

    def failed(self) -> None:
        self._failures += 1
        if self._failures == FAILURES_IN_A_ROW:
            self._next_probe = self._pace.monotonic() + PROBE_S
            log.warning("%s (%s) is left out after failures", self.provider.name, self.provider.model)

    def succeeded(self) -> None:
        if self.down:
            log.info("%s (%s) answers again", self.provider.name, self.provider.model)
        self._failures = 0


class ConfiguredModels:
    """A `LanguageModel`. `lines`: in the order in which they are asked."""

    def __init__(self, lines: Sequence[Line], pace: Pace) -> None:
        self._lines = list(lines)
        self._pace = pace
        self._running = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def names(self) -> tuple[str, ...]:
        """What `model` may name: providers and models, the active ones first."""
        names = (name for line in self._lines for name in (line.provider.model, line.provider.name))
        return tuple(dict.fromkeys(names))

    async def close(self) -> None:
        """Close the clients after the answers that are under way."""
        await self._idle.wait()
        for line in self._lines:
            await line.adapter.close()

    async def reply(self, prompt: Prompt, *, model: str | None = None) -> Reply:
        async with aclosing(self._parts(prompt, model, whole=True)) as parts:
            async for part in parts:
                if isinstance(part, Reply):
                    return part
        raise AssertionError("a stream ends with its reply or an error")

    async def stream(self, prompt: Prompt, *, model: str | None = None) -> AsyncGenerator[Part, None]:
        async with aclosing(self._parts(prompt, model, whole=False)) as parts:
            async for part in parts:
                yield part

    async def _parts(self, prompt: Prompt, model: str | None, *, whole: bool) -> AsyncGenerator[Part, None]:
        """`whole`: the caller sees nothing before the end, so a failure after the first part can still be
        retried."""
        self._running += 1
        self._idle.clear()
        try:
            async with aclosing(self._first_that_answers(prompt, model, whole=whole)) as parts:
                async for part in parts:
                    yield part
        finally:
            self._running -= 1
            if not self._running:
                self._idle.set()

    async def _first_that_answers(
        self, prompt: Prompt, model: str | None, *, whole: bool
    ) -> AsyncGenerator[Part, None]:
        lines = self._order(model)
        last: PlatformError | None = None
        for place, line in enumerate(lines):
            attempts = line.attempts()
            if not attempts:
                continue
            given = False
            try:
                call = self._asked(line, attempts, prompt, whole=whole, alone=place == len(lines) - 1)
                async with aclosing(call) as parts:
                    async for part in parts:
                        given = given or not whole
                        yield part
            except CallFailed as failed:
                if given or not _may_go_on(failed):
                    raise failed.error from None
                last = failed.error
                log.warning("%s", failed.error.message)
            else:
                return
        raise last or self._all_rest(lines)

    async def _asked(
        self, line: Line, attempts: int, prompt: Prompt, *, whole: bool, alone: bool
    ) -> AsyncGenerator[Part, None]:
        """One model: retries, with another key where there is one. `alone`: no other model comes after it."""
        tries = 0
        refusal: CallFailed | None = None
        while True:
            key = line.keys.take()
            if key is None:
                raise refusal or _still_refused(line)
            given = False
            try:
                async with aclosing(line.adapter.stream(prompt, key.value)) as parts:
                    async for part in parts:
                        if isinstance(part, Reply):
                            # Before it is yielded: the caller need not come back after it.
                            line.keys.succeeded(key)
                            line.succeeded()
                        given = given or not whole
                        yield part
            except CallFailed as failed:
                self._note(line, key, failed)
                if given:
                    raise
                if isinstance(failed.error, QuotaExhausted) or (
                    isinstance(failed.error, Refused) and failed.status != 403
                ):
                    # Another key is no repetition. The pool gives none that was refused.
                    refusal = failed
                    continue
                tries += 1
                if not isinstance(failed.error, Transient) or tries >= attempts or (line.down and not alone):
                    raise
                await self._wait(line, failed, tries)
                if line.down and not alone:  # by others, meanwhile
                    raise
            else:
                return

    def _note(self, line: Line, key: Key, failed: CallFailed) -> None:
        if isinstance(failed.error, Refused):
            line.refusal = type(failed.error)
            line.keys.failed(key, refused=True)
        elif isinstance(failed.error, Transient):
            line.keys.failed(key, seconds=min(max(REST_S, failed.retry_after or 0.0), LONGEST_REST_S))
            line.failed()
        elif _may_go_on(failed):
            line.failed()

    async def _wait(self, line: Line, failed: CallFailed, tries: int) -> None:
        if failed.status == 429 and line.keys.awake:
            return
        requested = failed.retry_after or 0.0
        if requested > LONGEST_WAIT_S:
            raise failed
        delay = max(self._pace.delay_s * 2 ** (tries - 1), requested)
        log.info("retry in %.1f s: %s", delay, failed.error.message)
        await self._pace.sleep(delay)

    def _order(self, model: str | None) -> list[Line]:
        """The model that is asked for first, then the others."""
        if model is None:
            return self._lines
        first = [line for line in self._lines if model in (line.provider.model, line.provider.name)]
        if not first:
            raise InputError("model", f"not configured; configured: {', '.join(self.names)}")
        return first + [line for line in self._lines if line not in first]

    def _all_rest(self, lines: Sequence[Line]) -> Unavailable:
        seconds = min(line.seconds_left for line in lines)
        return Unavailable(
            f"all models rest after failures, {seconds:.0f} s left", source="models", seconds_left=seconds
        )


def _may_go_on(failed: CallFailed) -> bool:
    """Whether another model may succeed: after passing failures, for a model that does not exist, and behind
    another account."""
    return isinstance(failed.error, Transient | WrongName | QuotaExhausted)


def _still_refused(line: Line) -> CallFailed:
    name, seconds = line.provider.name, line.keys.seconds_left
    why = f"{name}: {line.refusal.__name__}, asked again in {seconds:.0f} s"
    return CallFailed(line.refusal(why, source=name))
