"""Pacing, breakers, cooldowns and counters: the same behaviour in memory and in the shared file."""

import pytest

from core.errors import PayloadError, Permanent, Refused, Transient, Unavailable
from resources.transport.budget import Budget, call_budget
from resources.transport.settings import TransportSettings
from resources.upstreams.hosts import SITES
from tests.transport.manual import ManualTime, gate_of

HOST = "push2.eastmoney.com"


@pytest.fixture(params=["memory", "sqlite"])
def make(request, tmp_path):
    """A function settings -> (gate, time)."""

    def build(**changes):
        time = ManualTime()
        return gate_of(request.param, tmp_path, time, TransportSettings(**changes)), time

    return build


def fail(gate, family, host, error, times=1):
    """`times` failures of calls that the gate let pass; each from a host of its own if `host` is None."""
    for number in range(times):
        name = host or f"{number}.example"
        gate.enter(family, name)
        gate.failed(family, name, error)


# --- pacing


def test_quote_site_calls_start_at_least_200_ms_apart(make):
    gate, time = make()

    for _ in range(3):
        gate.enter("tencent", "qt.gtimg.cn")

    assert time.slept == pytest.approx([0.2, 0.2])


def test_portal_hosts_share_one_pace_with_jitter(make):
    gate, time = make()

    gate.enter("eastmoney", "push2.eastmoney.com")
    gate.enter("eastmoney", "push2his.eastmoney.com")
    gate.enter("push2ex", "push2ex.eastmoney.com")

    assert len(time.slept) == 2
    assert all(0.4 <= wait <= 0.8 for wait in time.slept)


def test_any_other_upstream_gets_the_random_pause_of_the_specification(make):
    gate, time = make()

    for _ in range(20):
        gate.enter("chinabond", "yield.chinabond.com.cn")

    assert len(time.slept) == 19
    assert all(0.3 <= wait <= 1.0 for wait in time.slept)
    assert max(time.slept) - min(time.slept) > 0.2


def test_families_do_not_wait_for_each_other(make):
    gate, time = make()

    gate.enter("tencent", "qt.gtimg.cn")
    gate.enter("eastmoney", HOST)
    gate.enter("tdx", "10.0.0.1")
    gate.enter("tdx", "10.0.0.1")

    assert time.slept == []


def test_time_that_passed_by_itself_counts_as_waiting(make):
    gate, time = make()

    gate.enter("tencent", "qt.gtimg.cn")
    time.at += 0.15
    gate.enter("tencent", "qt.gtimg.cn")

    assert time.slept == pytest.approx([0.05])


def test_mock_mode_never_waits(make):
    gate, time = make(pacing=False)

    for family in ("eastmoney", "tencent", "cninfo"):
        gate.enter(family, family)
        gate.enter(family, family)

    assert time.slept == []


def test_a_wall_clock_that_was_set_back_does_not_stop_the_calls(make):
    gate, time = make()
    gate.enter("tencent", "qt.gtimg.cn")

    time.at -= 86_400
    gate.enter("tencent", "qt.gtimg.cn")

    assert time.slept == []


# --- breakers


def state(gate, name="em_breaker"):
    return gate.breakers()[name]["state"]


def test_the_portal_breaker_opens_at_the_fourth_failure_and_refuses_for_120_s(make):
    gate, time = make(pacing=False)
    fail(gate, "eastmoney", None, Transient("503"), times=3)
    assert state(gate) == "CLOSED"

    fail(gate, "eastmoney", "fourth.example", Transient("503"))

    assert state(gate) == "OPEN"
    with pytest.raises(Unavailable, match="em_breaker is open"):
        gate.enter("eastmoney", "fifth.example")
    time.at += 119
    with pytest.raises(Unavailable):
        gate.enter("eastmoney", "fifth.example")
    time.at += 1
    gate.enter("eastmoney", "fifth.example")
    assert state(gate) == "HALF_OPEN"


def test_success_in_between_starts_the_count_again(make):
    gate, _ = make(pacing=False)
    fail(gate, "eastmoney", None, Transient("503"), times=3)
    gate.enter("eastmoney", HOST)
    gate.succeeded("eastmoney", HOST)

    fail(gate, "eastmoney", None, Transient("503"), times=1)

    assert gate.breakers()["em_breaker"]["failure_count"] == 1
    assert state(gate) == "CLOSED"


def test_one_refusal_opens_the_breaker_and_cools_the_host_down(make):
    gate, _ = make(pacing=False)

    fail(gate, "eastmoney", HOST, Refused("403"))

    assert state(gate) == "OPEN"
    with pytest.raises(Unavailable, match="cools down"):
        gate.enter("eastmoney", HOST)


def test_a_probe_that_succeeds_closes_the_breaker(make):
    gate, time = make(pacing=False)
    fail(gate, "eastmoney", None, Transient("503"), times=4)
    time.at += 121

    gate.enter("eastmoney", HOST)
    gate.succeeded("eastmoney", HOST)

    assert gate.breakers()["em_breaker"] == {"state": "CLOSED", "failure_count": 0, "opened_at": None}
    gate.enter("eastmoney", HOST)


def test_a_probe_that_fails_opens_the_breaker_for_another_period(make):
    gate, time = make(pacing=False)
    fail(gate, "eastmoney", None, Transient("503"), times=4)
    time.at += 121

    fail(gate, "eastmoney", HOST, Transient("503"))

    assert state(gate) == "OPEN"
    time.at += 119
    with pytest.raises(Unavailable):
        gate.enter("eastmoney", "other.example")


def test_a_late_answer_from_before_the_opening_does_not_close_the_breaker(make):
    gate, _ = make(pacing=False)
    gate.enter("eastmoney", "slow.example")
    fail(gate, "eastmoney", None, Transient("503"), times=4)

    gate.succeeded("eastmoney", "slow.example")

    assert state(gate) == "OPEN"


def test_a_prober_that_died_is_replaced_after_its_lease(make, tmp_path):
    gate, time = make(pacing=False, probe_lease_sec=45)
    fail(gate, "eastmoney", None, Transient("503"), times=4)
    time.at += 121
    gate._me = lambda: "process that dies"
    gate.enter("eastmoney", HOST)

    gate._me = lambda: "another process"
    with pytest.raises(Unavailable, match="half-open"):
        gate.enter("eastmoney", HOST)
    time.at += 46
    gate.enter("eastmoney", HOST)


def test_only_the_prober_ends_the_probe(make):
    gate, time = make(pacing=False)
    fail(gate, "eastmoney", None, Transient("503"), times=4)
    time.at += 121
    gate.enter("eastmoney", HOST)

    gate._me = lambda: "somebody else"
    gate.succeeded("eastmoney", HOST)

    assert state(gate) == "HALF_OPEN"


@pytest.mark.parametrize(
    ("family", "breaker", "threshold", "cooldown"),
    [
        ("push2ex", "push2ex_breaker", 2, 30),
        ("sse", "exchange_breaker", 5, 600),
        ("em_search", "search_breaker", 2, 600),
        ("push2his", "push2his_breaker", 2, 600),
    ],
)
def test_the_other_breakers_keep_their_own_numbers(make, family, breaker, threshold, cooldown):
    gate, time = make(pacing=False)
    fail(gate, family, None, Transient("503"), times=threshold - 1)
    assert state(gate, breaker) == "CLOSED"

    fail(gate, family, "last.example", Transient("503"))

    assert state(gate, breaker) == "OPEN"
    assert state(gate) == "CLOSED"
    time.at += cooldown - 1
    with pytest.raises(Unavailable):
        gate.enter(family, "next.example")
    time.at += 1
    gate.enter(family, "next.example")


def test_the_exchange_sites_share_one_breaker(make):
    gate, _ = make(pacing=False)
    fail(gate, "sse", None, Transient("503"), times=3)
    fail(gate, "szse", None, Transient("503"), times=2)

    with pytest.raises(Unavailable):
        gate.enter("bse", "www.bse.cn")


# --- hosts


def test_two_failures_in_a_row_cool_a_host_down(make):
    gate, time = make(pacing=False)
    fail(gate, "tencent", "qt.gtimg.cn", Transient("timeout"), times=2)

    with pytest.raises(Unavailable, match=r"qt\.gtimg\.cn cools down"):
        gate.enter("tencent", "qt.gtimg.cn")
    gate.enter("tencent", "proxy.finance.qq.com")
    time.at += 31
    gate.enter("tencent", "qt.gtimg.cn")


def test_after_its_pause_a_host_is_on_trial(make):
    gate, time = make(pacing=False)
    fail(gate, "tencent", "qt.gtimg.cn", Transient("timeout"), times=2)
    time.at += 31

    fail(gate, "tencent", "qt.gtimg.cn", Transient("timeout"))

    with pytest.raises(Unavailable):
        gate.enter("tencent", "qt.gtimg.cn")


@pytest.mark.parametrize("error", [PayloadError("garbage"), Permanent("404")])
def test_an_answer_that_is_wrong_still_proves_that_the_host_is_there(make, error):
    gate, _ = make(pacing=False)

    fail(gate, "eastmoney", HOST, error, times=6)

    assert state(gate) == "CLOSED"
    gate.enter("eastmoney", HOST)
    assert gate.counters()["eastmoney"]["failures"] == 6


# --- counters and budget


def test_counters_show_requests_failures_retries_and_cooldown(make):
    gate, time = make(pacing=False)
    gate.enter("tencent", "qt.gtimg.cn")
    gate.succeeded("tencent", "qt.gtimg.cn")
    fail(gate, "tencent", "qt.gtimg.cn", Transient("x"), times=2)
    gate.retried("tencent")

    assert gate.counters() == {"tencent": {"requests": 3, "failures": 2, "retries": 1, "cooldown": True}}
    time.at += 31
    assert gate.counters()["tencent"]["cooldown"] is False


def test_the_anomaly_calls_count_for_the_portal(make):
    gate, _ = make(pacing=False)

    gate.enter("push2ex", "push2ex.eastmoney.com")

    assert list(gate.counters()) == ["eastmoney"]


def test_snapshots_name_the_time_of_opening_in_exchange_time(make):
    gate, time = make(pacing=False)
    time.at = 1_787_299_200.0  # 2026-08-21 08:00:00 UTC

    fail(gate, "eastmoney", HOST, Refused("403"))

    assert gate.breakers()["em_breaker"]["opened_at"] == "2026-08-21 16:00:00.000000"
    assert set(gate.breakers()) == {
        "em_breaker",
        "push2ex_breaker",
        "exchange_breaker",
        "search_breaker",
        "push2his_breaker",
    }


def test_the_seventh_call_of_one_request_is_not_sent(make):
    gate, _ = make(pacing=False)

    with call_budget(6) as budget:
        for _ in range(6):
            gate.enter("tencent", "qt.gtimg.cn")
        with pytest.raises(Unavailable, match="budget"):
            gate.enter("tencent", "qt.gtimg.cn")

    assert gate.counters()["tencent"]["requests"] == 6
    assert budget.remaining == 0
    gate.enter("tencent", "qt.gtimg.cn")


def test_a_call_that_the_breaker_refused_costs_no_budget(make):
    gate, _ = make(pacing=False)
    fail(gate, "eastmoney", HOST, Refused("403"))

    with call_budget(6) as budget:
        with pytest.raises(Unavailable):
            gate.enter("eastmoney", "other.example")
        assert budget.used == 0


def test_a_ban_that_is_learned_of_in_the_queue_stops_the_waiting_call(make):
    gate, time = make()
    gate.enter("eastmoney", HOST)

    def refused_meanwhile(seconds: float, /) -> None:
        time.sleep(seconds)
        gate.failed("eastmoney", HOST, Refused("403"))

    gate._sleep = refused_meanwhile
    with pytest.raises(Unavailable):
        gate.enter("eastmoney", "other.example")
    assert gate.counters()["eastmoney"]["requests"] == 1


def test_the_time_for_retries_starts_again_for_every_source():
    now = [0.0]
    budget = Budget(6, retry_within_s=3.0, monotonic=lambda: now[0])

    assert budget.allows_retry
    now[0] = 3.1
    assert not budget.allows_retry
    budget.restart()
    assert budget.allows_retry
    assert Budget(6, monotonic=lambda: now[0]).allows_retry


def test_a_refused_search_leaves_quotes_and_bars_alone(make):
    gate, _ = make(pacing=False)
    search, quotes = SITES["eastmoney.search"], SITES["eastmoney.push2"]

    fail(gate, search.family, "search-api-web.eastmoney.com", Refused("robots"))

    gate.enter(quotes.family, HOST)
    assert (state(gate, "search_breaker"), state(gate)) == ("OPEN", "CLOSED")
    assert search.apart
    assert not quotes.apart


def test_a_family_that_bans_after_ten_calls_gets_ten_in_its_window(make):
    gate, time = make(em_min_interval=0.0, em_jitter_min=0.0, em_jitter_max=0.0)
    for _ in range(10):
        gate.enter("push2his", "push2his.eastmoney.com")
        time.sleep(1.0)
    with pytest.raises(Unavailable, match="push2his takes 10 calls in 600 s") as refused:
        gate.enter("push2his", "33.push2his.eastmoney.com")

    assert refused.value.seconds_left == pytest.approx(590)
    time.sleep(591.0)
    gate.enter("push2his", "push2his.eastmoney.com")


def test_the_host_of_the_past_stops_no_other_host_of_the_portal(make):
    gate, _ = make(pacing=False)
    fail(gate, "push2his", "push2his.eastmoney.com", Transient("cut"), times=2)

    with pytest.raises(Unavailable, match="push2his_breaker is open"):
        gate.enter("push2his", "33.push2his.eastmoney.com")
    gate.enter("eastmoney", "datacenter-web.eastmoney.com")
