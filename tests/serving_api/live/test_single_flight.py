"""One task per key at a time, answers by age, the last good one when the source fails."""

import asyncio

import pytest

from core.errors import Transient
from serving_api.live.single_flight import CacheAnswer, SingleFlightCache


class Counting:
    """An answer that counts how often it was made."""

    def __init__(self) -> None:
        self.made = 0
        self.error: Exception | None = None

    async def __call__(self) -> int:
        await asyncio.sleep(0)
        self.made += 1
        if self.error is not None:
            raise self.error
        return self.made


class Now:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_callers_of_a_key_share_one_task() -> None:
    make, single_flight = Counting(), SingleFlightCache(Now())

    async def all_at_once() -> list[CacheAnswer]:
        return await asyncio.gather(*(single_flight.take("k", 5, make) for _ in range(20)))

    landed = asyncio.run(all_at_once())

    assert {one.value for one in landed} == {1}
    assert make.made == 1


def test_an_answer_is_cached_for_its_ttl_and_no_longer() -> None:
    make, now = Counting(), Now()
    single_flight = SingleFlightCache(now)

    async def story() -> list[CacheAnswer]:
        first = await single_flight.take("k", lambda: 5.0, make)
        now.seconds = 4.9
        second = await single_flight.take("k", 5, make)
        third = await single_flight.take("k", 5, make, use_cache=False)
        now.seconds = 9.9
        return [first, second, third, await single_flight.take("k", 5, make)]

    reported = [(one.value, one.origin) for one in asyncio.run(story())]
    assert reported == [(1, "live"), (1, "cache"), (2, "live"), (3, "live")]


def test_a_failure_reaches_every_caller_and_is_not_cached() -> None:
    make, single_flight = Counting(), SingleFlightCache(Now())
    make.error = Transient("away")

    async def story() -> list[object]:
        failed = await asyncio.gather(
            *(single_flight.take("k", 5, make) for _ in range(3)), return_exceptions=True
        )
        make.error = None
        return [*failed, (await single_flight.take("k", 5, make)).value]

    *failed, good = asyncio.run(story())
    assert all(isinstance(one, Transient) for one in failed)
    assert good == 2


def test_the_last_good_answer_stands_in_for_the_named_errors_alone() -> None:
    make, now = Counting(), Now()
    single_flight = SingleFlightCache(now)

    async def story() -> CacheAnswer:
        await single_flight.take("k", 1, make)
        now.seconds = 100
        make.error = Transient("away")
        with pytest.raises(Transient):
            await single_flight.take("k", 1, make)
        return await single_flight.take("k", 1, make, stale_on=(Transient,))

    assert asyncio.run(story()) == CacheAnswer(1, "cache_stale")


def test_a_caller_that_leaves_does_not_take_the_answer_along() -> None:
    make, single_flight = Counting(), SingleFlightCache(Now())

    async def story() -> CacheAnswer:
        leaving = asyncio.ensure_future(single_flight.take("k", 5, make))
        staying = asyncio.ensure_future(single_flight.take("k", 5, make))
        await asyncio.sleep(0)
        leaving.cancel()
        return await staying

    assert asyncio.run(story()).value == 1


def test_the_oldest_keys_leave_first() -> None:
    make, single_flight = Counting(), SingleFlightCache(Now(), max_keys=2)

    async def story() -> str:
        for key in ("a", "b", "a", "c"):
            await single_flight.take(key, 60, make)
        return (await single_flight.take("a", 60, make)).origin

    assert asyncio.run(story()) == "cache"
    assert make.made == 3
