"""The client against the simulated server: pages, retries, fail-over, reports, and what it leaves behind."""

import os
import socket
import threading
from contextlib import closing, contextmanager, suppress
from datetime import datetime

import pytest

from core.calendar import TradeCalendar
from core.clock import FrozenClock
from core.errors import DeclarationError, InputError, PayloadError, Transient, Unavailable
from resources.fetch_record import FetchLog, Outcome
from resources.transport.budget import call_budget
from resources.transport.gate import OpenGate
from resources.transport.gates import StateGate
from resources.transport.settings import TransportSettings
from resources.transport.state import MemoryStore
from resources.upstreams.tdx.client import TdxClient
from resources.upstreams.tdx.connection import Connection
from resources.upstreams.tdx.frames import HEARTBEAT
from resources.upstreams.tdx.session import RETRY_WAITS
from simulated_market.faults import FaultPlan
from simulated_market.tdx.server import TdxServer
from simulated_market.world.model import Security, Ticks
from tests.simulated_market.tdx.market import CountingGate, open_market
from tests.simulated_market.tdx.tiny_world import ALL, BANK, DAYS, NOW, TinyWorld


def crowd(size: int) -> list[Security]:
    return [Security(f"{601000 + at}", "SH", "stock", "main", 2, 20100101) for at in range(size)]


def closed_port() -> tuple[str, int]:
    with closing(socket.socket()) as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()


def test_bars_are_joined_from_pages_of_eight_hundred() -> None:
    with open_market() as market:
        frame = market.client.bars("sh600000", count=2000)

    assert len(frame) == DAYS
    assert frame["date"].is_monotonic_increasing
    assert [item.codes_or_page for item in market.log.items] == ["sh600000 start=0", "sh600000 start=800"]


def test_start_skips_the_newest_bars() -> None:
    with open_market() as market:
        whole = market.client.bars("sh600000", count=10)
        older = market.client.bars("sh600000", count=5, start=5)

    assert older["date"].tolist() == whole["date"].tolist()[:5]


def test_the_security_list_is_joined_from_pages_of_a_thousand() -> None:
    with open_market(TinyWorld(extra=crowd(1500))) as market:
        count = market.client.security_count("sh")
        short, new = market.client.security_list("sh"), market.client.security_list("sh", new=True)

    assert count == len(short) == len(new) == 1505
    assert short["symbol"].tolist() == new["symbol"].tolist()
    # Eight bytes cut the name that sixteen hold.
    assert set(new["name"]) - set(short["name"]) == {"ST兴源A份"}


def test_quotes_are_asked_in_batches_of_eighty_and_keep_the_order() -> None:
    symbols = [each.symbol for each in crowd(170)] + [BANK.symbol]
    with open_market(TinyWorld(extra=crowd(170))) as market:
        frame = market.client.quotes(symbols)

    assert frame["symbol"].tolist() == symbols
    assert frame["unknown"].sum() == 170
    assert [item.call_name for item in market.log.items] == ["quotes"] * 3


def test_all_pages_of_transactions_are_read_and_live_ones_twice() -> None:
    with open_market() as market:
        today = market.client.transactions("sh600000")
        past = market.client.transactions("sh600000", "2026-03-04")

    assert len(today) == len(past) == 2400
    # Two pages, and the first once more to see that nothing moved; a past date needs no second look.
    assert [item.call_name for item in market.log.items] == ["transactions"] * 3 + [
        "history_transactions"
    ] * 2


def test_what_the_server_does_not_have_is_an_empty_frame_with_its_columns() -> None:
    with open_market(TinyWorld(intraday=False)) as market:
        bars = market.client.bars("sh600999")
        minutes = market.client.minutes("sh600000")
        finance = market.client.finance("sz000003")

    for frame in (bars, minutes, finance):
        assert frame.empty
        assert "volume" in frame or "bvps" in frame
    assert {item.outcome for item in market.log.items} == {Outcome.EMPTY}


def test_responses_are_reported_with_body_and_canonical_request() -> None:
    with open_market() as market:
        market.client.bars("sz000001", count=3)
    (fetch,) = market.log.items

    assert (fetch.upstream, fetch.call_name, fetch.outcome) == ("tdx", "bars_day", Outcome.OK)
    assert fetch.request == "tdx://bars?symbol=sz000001&category=9&start=0&count=3"
    assert fetch.body[:2] == b"\x03\x00"
    assert (fetch.received_at, fetch.attempt) == (NOW, 1)


def test_a_view_reports_elsewhere_and_leaves_the_connections_open() -> None:
    other = FetchLog()
    with open_market() as market:
        with market.client.with_fetches(other) as view:
            view.bars("sh600000", count=1)
        market.client.bars("sh600000", count=1)

    assert (len(other.items), len(market.log.items)) == (1, 1)
    assert market.gate.count("enter") == market.gate.count("succeeded") == 2


def test_the_gate_is_asked_with_family_and_address() -> None:
    with open_market() as market:
        market.client.heartbeat()
        host, port = market.server.address

    assert market.gate.reported == [
        ("enter", "tdx", f"{host}:{port}"),
        ("succeeded", "tdx", f"{host}:{port}"),
    ]


def test_a_gate_that_refuses_every_host_sends_nothing() -> None:
    class Shut(CountingGate):
        def enter(self, family: str, host: str) -> None:
            super().enter(family, host)
            raise Unavailable("breaker open")

    log, gate = FetchLog(), Shut()
    endpoints = [closed_port(), closed_port()]
    with (
        TdxClient(endpoints, gate=gate, clock=FrozenClock(NOW), fetches=log) as client,
        pytest.raises(Unavailable),
    ):
        client.heartbeat()

    assert [host for _, _, host in gate.reported] == [f"{host}:{port}" for host, port in endpoints]
    assert log.items == []


def test_a_host_that_does_not_answer_is_left_after_two_failures() -> None:
    with TdxServer(TinyWorld(), FrozenClock(NOW), FaultPlan()) as server:
        endpoints = [closed_port(), server.address]
        with open_market(endpoints=endpoints) as market:
            frame = market.client.bars("sh600000", count=2)

    assert len(frame) == 2
    assert market.naps == list(RETRY_WAITS[:2])
    assert [item.outcome for item in market.log.items] == [Outcome.TRANSIENT, Outcome.TRANSIENT, Outcome.OK]
    assert [item.attempt for item in market.log.items] == [1, 2, 3]


def test_a_dead_server_is_left_at_once() -> None:
    plan = FaultPlan()
    plan.replace([{"kind": "dead"}])
    clock = FrozenClock(NOW)
    with (
        TdxServer(TinyWorld(), clock, plan) as dead,
        TdxServer(TinyWorld(), clock, FaultPlan()) as alive,
        open_market(endpoints=[dead.address, alive.address]) as market,
    ):
        frame = market.client.bars("sh600000", count=2)

    assert len(frame) == 2
    assert market.naps == []
    assert market.gate.count("failed") == 1


def test_a_server_that_dies_later_does_not_pass_as_empty() -> None:
    with open_market() as market:
        assert len(market.client.bars("sh600000", count=2)) == 2
        market.fault("dead")

        with pytest.raises(Transient, match="without data"):
            market.client.xdxr("sh600000")

    assert market.log.items[-1].outcome is Outcome.TRANSIENT


def test_no_try_helps_against_a_server_that_is_gone() -> None:
    with open_market(endpoints=[closed_port()]) as market, pytest.raises(Transient, match="cannot connect"):
        market.client.heartbeat()

    assert market.naps == list(RETRY_WAITS)
    assert market.gate.count("failed") == len(RETRY_WAITS) + 1


def test_a_request_that_has_waited_long_enough_tries_once() -> None:
    with (
        open_market(endpoints=[closed_port()]) as market,
        call_budget(9, retry_within_s=-1.0),
        pytest.raises(Transient, match="cannot connect"),
    ):
        market.client.heartbeat()

    assert market.naps == []


def test_the_client_comes_back_after_a_restart_of_the_server() -> None:
    with open_market() as market:
        before = market.client.bars("sh600000", count=5)
        market.server.stop()
        market.server.start()
        after = market.client.bars("sh600000", count=5)

    assert before.equals(after)
    # The pool saw that the peer had closed: no try was spent on the old connection.
    assert market.naps == []


def test_an_idle_connection_that_the_server_closed_is_replaced_silently() -> None:
    with open_market(server={"idle_timeout": 0.05}) as market:
        market.client.heartbeat()
        pool = market.client._session.pool
        while pool._idle[0].is_open():
            threading.Event().wait(0.01)
        market.client.heartbeat()

    assert {item.outcome for item in market.log.items} == {Outcome.OK}


def test_heartbeats_keep_an_idle_connection_for_a_while() -> None:
    with open_market(heartbeat_every=0.0, timeout=2.0) as market:
        market.client.bars("sh600000", count=1)
        pool = market.client._session.pool
        alive = [pool.beat() for _ in range(25)]

    assert alive == [1] * 20 + [0] * 5


def test_heartbeats_are_sent_by_a_thread_that_ends_with_the_client() -> None:
    before = set(threading.enumerate())
    with open_market(heartbeat_every=0.02, server={"idle_timeout": 0.3}) as market:
        market.client.bars("sh600000", count=1)
        connection = market.client._session.pool._idle[0]
        threading.Event().wait(0.5)
        assert connection.is_open() or connection.idle_beats >= 20

    assert "tdx-heartbeat" not in {thread.name for thread in set(threading.enumerate()) - before}


def test_threads_share_a_bounded_number_of_connections() -> None:
    with open_market(pool_size=2) as market:
        frames: list[int] = []
        threads = [
            threading.Thread(target=lambda: frames.append(len(market.client.bars("sh600000", count=50))))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert market.client._session.pool.open_connections <= 2

    assert frames == [50] * 8


def test_nothing_is_left_open() -> None:
    def round_trip() -> None:
        with open_market() as market:
            market.client.quotes([each.symbol for each in ALL])
            market.fault("reset", "bars_day", count=1)
            market.client.bars("sh600000", count=1)

    round_trip()
    descriptors, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(5):
        round_trip()

    assert len(os.listdir("/proc/self/fd")) <= descriptors
    assert threading.active_count() == threads


def test_a_closed_client_says_so() -> None:
    with open_market() as market:
        market.client.close()
        with pytest.raises(Unavailable, match="closed"):
            market.client.heartbeat()


def test_a_pool_whose_connections_are_all_out_blames_no_host() -> None:
    with open_market(pool_size=1, timeout=0.05) as market:
        pool = market.client._session.pool
        held = pool.borrow(pool.hosts[0])
        with pytest.raises(Unavailable, match="busy"):
            market.client.heartbeat()
        market.client._session.pool.give_back(held)
        assert market.client.heartbeat() == 20260306

    assert market.gate.count("failed") == 0


def test_the_shared_gate_cools_a_host_down_and_the_client_says_why() -> None:
    gate = StateGate(MemoryStore(), TransportSettings(), sleeper=lambda _: None)
    log, naps = FetchLog(), []
    options = {"gate": gate, "clock": FrozenClock(NOW), "fetches": log, "sleeper": naps.append}
    with TdxClient([closed_port()], **options) as client, pytest.raises(Transient, match="cannot connect"):
        client.heartbeat()

    assert len(naps) == 2
    assert gate.counters()["tdx"]["retries"] == 2
    assert gate.counters()["tdx"]["cooldown"]


@contextmanager
def scripted(answers: bytes):
    """A server that sends `answers` to every connection."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        sock, _ = listener.accept()
        with sock, suppress(ConnectionError):
            sock.sendall(answers)
            while sock.recv(1024):
                continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()
    finally:
        listener.close()
        thread.join(2)


def frame(seq: int, method: int, body: bytes) -> bytes:
    size = len(body).to_bytes(2, "little")
    return (
        b"\xb1\xcb\x74\x00\x0c"
        + seq.to_bytes(4, "little")
        + b"\0"
        + method.to_bytes(2, "little")
        + size * 2
        + body
    )


def greeted(address: tuple[str, int]) -> Connection:
    return Connection(address, timeout=1.0, connect_timeout=1.0)


def test_noise_and_stale_answers_before_the_frame_are_passed_over() -> None:
    noise = b"\xb1\xcb\x00 noise \xb1\xcb\x74" * 3
    with scripted(noise + frame(99, 0x0D, b"stale") + frame(1, 0x0D, b"hello")) as address:
        greeted(address).close()


def test_endless_noise_is_a_payload_error() -> None:
    with scripted(bytes(200_000)) as address, pytest.raises(PayloadError, match="no frame"):
        greeted(address)


def test_an_answer_to_another_method_is_a_payload_error() -> None:
    with scripted(frame(1, 0x04, b"hello")) as address, pytest.raises(PayloadError, match="answers"):
        greeted(address)


def test_silence_ends_with_the_timeout_of_the_whole_answer() -> None:
    with scripted(frame(1, 0x0D, b"hello")) as address:
        connection = Connection(address, timeout=0.1, connect_timeout=1.0)
        with closing(connection), pytest.raises(Transient, match="no answer"):
            connection.exchange(HEARTBEAT)


def test_the_noon_bar_of_today_gets_its_own_time() -> None:
    with open_market(now=datetime(2026, 3, 6, 13, 30)) as market:
        today = market.client.bars("sh600000", "30m", count=6)

    assert today["datetime"].str[11:16].tolist() == ["15:00", "10:00", "10:30", "11:00", "11:30", "13:30"]


def test_today_means_the_newest_trade_date() -> None:
    calendar = TradeCalendar(["2026-03-05", "2026-03-06"])
    with open_market(now=datetime(2026, 3, 6, 16, 0), calendar=calendar) as market:
        assert market.client.minutes("sh600000")["datetime"].iloc[-1] == "2026-03-06 15:00:00"


@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.bars("sh000001"),
        lambda client: client.index_bars("sh600000"),
        lambda client: client.bars("sh600000", "2h"),
        lambda client: client.bars("sh600000", count=0),
        lambda client: client.bars("sh600000", start=-1),
        lambda client: client.minutes("sh600000", "6 March"),
        lambda client: client.block_members("xx"),
        lambda client: client.security_count("hk"),
    ],
)
def test_wrong_requests_are_refused_before_anything_is_sent(ask) -> None:
    with open_market() as market, pytest.raises(InputError):
        ask(market.client)

    assert market.log.items == []


def test_a_client_needs_a_host_and_a_connection() -> None:
    for endpoints, size in (([], 1), ([("127.0.0.1", 7709)], 0)):
        with pytest.raises(DeclarationError):
            TdxClient(endpoints, gate=OpenGate(), clock=FrozenClock(NOW), fetches=FetchLog(), pool_size=size)


class Growing(TinyWorld):
    """New transactions arrive with each of the first `times` requests."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.left = times

    def ticks(self, security: Security, date: int, now: datetime) -> Ticks | None:
        whole = super().ticks(security, date, now)
        assert whole is not None
        self.left = max(0, self.left - 1)
        size = len(whole.minute) - self.left
        return Ticks(**{name: getattr(whole, name)[:size] for name in Ticks.__dataclass_fields__})


def test_transactions_that_arrive_between_two_pages_are_not_read_twice() -> None:
    with open_market(Growing(4)) as market:
        frame = market.client.transactions("sh600000")
    with open_market() as quiet:
        assert frame.equals(quiet.client.transactions("sh600000"))


def test_a_list_that_never_rests_is_transient() -> None:
    with open_market(Growing(50)) as market, pytest.raises(Transient, match="moved"):
        market.client.transactions("sh600000")
