"""Work with patience waits for a cooldown: once, not for ever, and only until it is to stop."""

import threading

import pytest

from core.errors import Transient, Unavailable
from resources.transport.patience import Patience, may_wait, patient, wait_out
from tests.transport.manual import ManualTime
from tests.transport.test_http import Bench, bench, server, status  # noqa: F401  fixtures


def patience(seconds: float, time: ManualTime) -> Patience:
    return Patience(seconds, sleeper=time.sleep, monotonic=time)


def test_a_call_waits_until_its_host_may_be_asked_again(bench):  # noqa: F811
    one = bench(host_failure_threshold=2, host_cooldown_sec=30.0)
    one.script.answers = [status(503), status(503), status(200)]

    with patient(patience(60, one.time)):
        assert one.call() == b"answer"

    assert [item.outcome for item in one.log.items] == ["transient", "transient", "ok"]
    assert sum(one.time.slept) >= 30


def test_without_enough_patience_there_is_no_wait(bench):  # noqa: F811
    one = bench(host_failure_threshold=2, host_cooldown_sec=30.0)
    one.script.answers = [status(503), status(503), status(200)]

    with pytest.raises(Transient):
        one.call()
    with patient(patience(5, one.time)), pytest.raises(Unavailable, match="cools down") as reported:
        one.call()

    assert reported.value.seconds_left == pytest.approx(30, abs=2)
    assert len(one.script.asked) == 2


def test_an_upstream_that_stays_unavailable_uses_the_patience_up(bench):  # noqa: F811
    one = bench(host_failure_threshold=2, host_cooldown_sec=30.0)
    one.script.answers = [status(503)]
    began = one.time.at

    with patient(patience(70, one.time)):
        for _ in range(10):
            with pytest.raises((Transient, Unavailable)):
                one.call()

    assert one.time.at - began < 100
    assert len(one.script.asked) <= 6


def test_threads_that_wait_at_the_same_time_wait_once() -> None:
    time = ManualTime()
    shared = Patience(30.0, sleeper=lambda _seconds: None, monotonic=time)
    waiting = [threading.Thread(target=shared.wait, args=(20.0,)) for _ in range(3)]
    for thread in waiting:
        thread.start()
    while shared.left == 30.0:
        pass
    time.at += 20
    for thread in waiting:
        thread.join()

    assert shared.left == pytest.approx(10, abs=0.01)
    assert not shared.wait(20.0)


def test_a_cooldown_of_unknown_length_is_not_waited_for() -> None:
    with patient(Patience(60.0)):
        assert may_wait()
        assert not wait_out([Unavailable("call budget of 6 external calls is used up")])
    assert not may_wait()
