"""Several servers of which each serves some kinds of calls: who is asked for what, and what is remembered."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from core.clock import FrozenClock
from core.errors import Transient, Unavailable
from resources.fetch_record import FetchLog, Outcome
from resources.transport.database_state import TABLE
from resources.transport.gate import Gate, OpenGate
from resources.transport.gates import DatabaseGate, SqliteGate, StateGate
from resources.transport.settings import TransportSettings
from resources.transport.state import MemoryStore
from resources.upstreams.tdx.bars import PERIODS, absolute_call, bars_call
from resources.upstreams.tdx.client import TdxClient
from resources.upstreams.tdx.connection import Connection
from resources.upstreams.tdx.frames import Call, Kind
from resources.upstreams.tdx.instruments import instrument
from resources.upstreams.tdx.survey import ranking, survey
from resources.warehouse.ddl import build_metadata, create_missing
from resources.warehouse.engine import make_engine
from resources.warehouse.system_tables import INFRA_TABLES
from simulated_market.faults import FaultPlan
from simulated_market.tdx.server import TdxServer
from tests.conftest import mariadb_database
from tests.simulated_market.tdx.tiny_world import NOW, TinyWorld
from tests.transport.manual import ManualTime

CLOCK = FrozenClock(NOW)
LISTS_ALONE = ("*bars*", "quotes", "snapshots", "*minutes*", "*transactions*", "history_orders", "auction")

ASK: dict[Kind, Callable[[TdxClient], object]] = {
    Kind.LISTS: lambda client: client.xdxr("sz000001"),
    Kind.BARS: lambda client: client.bars("sh600000", count=3),
    Kind.QUOTES: lambda client: client.quotes(["sh600000"]),
    Kind.TRANSACTIONS: lambda client: client.transactions("sh600000"),
    Kind.FILES: lambda client: client.block_members("gn"),
}


def dead(calls: tuple[str, ...], servers: list[int]) -> list[dict[str, object]]:
    return [{"upstream": "tdx", "call": call, "kind": "dead", "servers": servers} for call in calls]


class Terminal:
    """Running servers; `calls()` counts what each of them was asked for."""

    def __init__(self, servers: list[TdxServer], faults: FaultPlan) -> None:
        self.servers = servers
        self.faults = faults
        self.log = FetchLog()

    def calls(self) -> list[set[str]]:
        return [set(server.calls()) - {"hello", "heartbeat"} for server in self.servers]

    @contextmanager
    def client(self, gate: Gate | None = None, *, files: int = 0) -> Iterator[TdxClient]:
        """`files`: how many of the last servers are there for files."""
        addresses = [server.address for server in self.servers]
        at = len(addresses) - files
        with TdxClient(
            addresses[:at],
            file_endpoints=addresses[at:],
            gate=gate or OpenGate(),
            clock=CLOCK,
            fetches=self.log,
            sleeper=lambda _: None,
            timeout=5.0,
        ) as client:
            yield client


@contextmanager
def terminal(number: int, rules: list[dict[str, object]]) -> Iterator[Terminal]:
    faults = FaultPlan()
    faults.replace(rules)
    with ExitStack() as stack:
        world = TinyWorld()
        servers = [
            stack.enter_context(TdxServer(world, CLOCK, faults, number=one)) for one in range(1, number + 1)
        ]
        yield Terminal(servers, faults)


def rows(answer: object) -> int:
    return len(answer)  # type: ignore[arg-type]


def test_servers_that_serve_lists_alone_are_asked_for_lists_alone() -> None:
    with terminal(3, dead(LISTS_ALONE, [1, 2])) as market, market.client() as client:
        answers = {kind: rows(ask(client)) for kind, ask in ASK.items()}
        first = market.calls()
        for ask in ASK.values():
            ask(client)

    assert all(answers.values())
    assert {item.outcome for item in market.log.items} == {Outcome.OK, Outcome.TRANSIENT}
    # The first server is good for lists and files, and nothing was held against it for the others.
    assert {"xdxr", "file_content"} <= first[0]
    assert "xdxr" not in first[2]
    assert {"bars_day", "quotes", "transactions"} <= first[2]
    # What was seen once is not tried again.
    assert market.calls() == first


@pytest.mark.parametrize("kind", [Kind.BARS, Kind.QUOTES, Kind.TRANSACTIONS, Kind.LISTS, Kind.FILES])
def test_two_zero_bytes_from_every_server_are_no_list_without_rows(kind: Kind) -> None:
    with terminal(2, dead(("*",), [])) as market, market.client() as client:
        with pytest.raises(Transient, match=f"answers {kind} without data"):
            ASK[kind](client)
        # Nobody is asked again at once; the guard says why.
        with pytest.raises(Unavailable, match=f"does not serve {kind}"):
            ASK[kind](client)


@pytest.mark.parametrize(
    ("pattern", "ask"),
    [
        ("bars_*", lambda client: client.bars("sh600000", count=3)),
        ("index_bars*", lambda client: client.index_bars("sh000001", count=3)),
        ("transactions", lambda client: client.transactions("sh600000")),
        ("snapshots", lambda client: client.snapshots(["sh600000"])),
        ("finance", lambda client: client.finance("sh600000")),
    ],
)
def test_a_server_that_lacks_one_call_of_a_kind_does_not_make_it_empty(
    pattern: str, ask: Callable[[TdxClient], object]
) -> None:
    with terminal(2, dead((pattern,), [1])) as market, market.client() as client:
        assert rows(ask(client))


def test_a_security_that_no_server_knows_has_no_bars() -> None:
    with terminal(2, []) as market, market.client() as client:
        assert rows(client.bars("sh600999")) == 0
        assert rows(client.bars("sh600000", count=3)) == 3
        before = sum(server.calls()["bars_day"] for server in market.servers)
        assert rows(client.bars("sh600998")) == 0
        after = sum(server.calls()["bars_day"] for server in market.servers)

    assert {item.outcome for item in market.log.items} == {Outcome.EMPTY, Outcome.OK}
    # Once the server has shown such bars, its word is enough: the call and one proof.
    assert after - before == 2


def test_a_server_that_loses_a_kind_is_left_for_it_alone() -> None:
    with terminal(2, []) as market, market.client() as client:
        for ask in ASK.values():
            ask(client)
        market.faults.replace(dead(LISTS_ALONE, [1]))
        for ask in ASK.values():
            assert rows(ask(client))

    assert "xdxr" not in market.calls()[1]
    assert {"bars_day", "quotes", "transactions"} <= market.calls()[1]


def test_a_file_that_one_server_does_not_have_is_taken_from_another() -> None:
    with terminal(2, []) as market, market.client(files=1) as client:
        # The file server is asked first for files, and last for the rest.
        assert rows(client.block_members("gn"))
        assert rows(client.bars("sh600000", count=1))
        assert client.file("absent.dat") == b""

    assert market.calls() == [{"bars_day", "file_meta"}, {"file_meta", "file_content"}]


@pytest.fixture(params=["sqlite", "mariadb"])
def open_gate(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], StateGate]]:
    """Opens the state of one deployment, as another process or a restart does."""
    if request.param == "sqlite":
        yield lambda: SqliteGate(tmp_path / "transport.sqlite3", TransportSettings(pacing=False))
        return
    for url in mariadb_database("terminal_servers"):
        engine = make_engine(url)
        create_missing(engine, build_metadata(tuple(one for one in INFRA_TABLES if one.name == TABLE)))
        engine.dispose()
        yield partial(DatabaseGate, url, TransportSettings(pacing=False))


def test_a_restart_knows_which_server_serves_what(open_gate: Callable[[], StateGate]) -> None:
    with terminal(3, dead(LISTS_ALONE, [1, 2])) as market:
        for _ in range(2):
            gate = open_gate()
            with market.client(gate) as client:
                for ask in ASK.values():
                    assert rows(ask(client))
            gate.close()
        before = [server.calls() for server in market.servers]
        gate = open_gate()
        with market.client(gate) as client:
            assert rows(client.bars("sh600000", count=1))
        gate.close()

    assert [server.calls() == calls for server, calls in zip(market.servers, before, strict=True)] == [
        True,
        True,
        False,
    ]
    # Nobody cools down: the first two are as good for lists as before.
    assert open_gate().ready("tdx", "{}:{}".format(*market.servers[0]._requested))


def test_a_server_is_asked_again_after_the_pause_when_there_is_no_other() -> None:
    at = ManualTime()
    gate = StateGate(MemoryStore(), TransportSettings(pacing=False), now=at, sleeper=at.sleep)
    with terminal(1, dead(("*bars*",), [1])) as market, market.client(gate) as client:
        with pytest.raises(Transient, match="without data"):
            client.bars("sh600000", count=1)
        market.faults.clear()
        with pytest.raises(Unavailable, match="does not serve bars; asked again in 30 s"):
            client.bars("sh600000", count=1)
        assert rows(client.xdxr("sz000001"))
        at.sleep(30.0)
        assert rows(client.bars("sh600000", count=1)) == 1


def test_the_ranking_names_every_server_by_kind() -> None:
    with terminal(3, dead(LISTS_ALONE, [1])) as market, market.client() as client:
        market.servers[1].stop()
        away = survey(client.session)
        serving = {
            kind: [host for host, record in ranking(client.session, kind) if record.serves(kind)]
            for kind in Kind
        }
        hosts = ["{}:{}".format(*server._requested) for server in market.servers]

    assert list(away) == [hosts[1]]
    assert serving[Kind.BARS] == serving[Kind.QUOTES] == serving[Kind.TRANSACTIONS] == [hosts[2]]
    assert set(serving[Kind.LISTS]) == set(serving[Kind.FILES]) == {hosts[0], hosts[2]}


@pytest.mark.parametrize("call", [bars_call, absolute_call])
def test_bars_are_asked_as_the_servers_of_brokers_want_it(call: Callable[..., Call]) -> None:
    """They answer only when the u16 behind the category is 1 (a public report of 2026)."""
    ours = call(instrument("sh600000"), PERIODS["day"], 0, 2)
    zero = replace(ours, payload=ours.payload[:10] + b"\0\0" + ours.payload[12:])
    with (
        terminal(1, []) as market,
        closing(Connection(market.servers[0].address, timeout=5.0, connect_timeout=5.0)) as connection,
    ):
        assert ours.payload[10:12] == b"\x01\0"
        assert len(connection.exchange(ours)) > 2
        assert connection.exchange(zero) == b"\0\0"
