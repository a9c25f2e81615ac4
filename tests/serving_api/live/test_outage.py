"""An outage seen by several API processes: what one was refused the others do not ask for again."""

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from resources.transport.gates import MemoryGate
from resources.transport.settings import transport_settings
from resources.upstreams.factory import make_clients
from serving_api.live import shared_reads
from serving_api.live.admin_reads.service import Live, live_of
from serving_api.live.chain import UnifiedReads
from serving_api.live.clients import LiveClients
from tests.serving_api.live.admin_reads.conftest import FetchContext
from tests.serving_api.live.conftest import asked, second_process
from tests.serving_api.live.test_shared import SURFACE, later, waiting

__all__ = ["waiting"]
PROCESSES = 4
MINUTE_S, STEP_S = 60, 4


def unguarded(bench: FetchContext, app: Any) -> None:
    """Clients whose hosts never cool down: every refused call is one that somebody made."""
    state = app.state.platform
    settings = transport_settings(state.settings)

    class Open(MemoryGate):
        def failed(self, *_args: Any, **_how: Any) -> None:
            """Nothing is held against a host."""

    def opener(*args: Any) -> Any:
        return make_clients(*args, gate=Open(settings), sleeper=lambda _seconds: None)

    state.parts[live_of] = Live(state, LiveClients(state.settings, bench.clock, state.calendar, opener))


def calls_of_a_minute(bench: FetchContext, apis: Sequence[Any]) -> Counter[str]:
    before = asked(bench)
    for _ in range(MINUTE_S // STEP_S):
        for api in apis:
            for path in SURFACE:
                answer = api.get(path)
                assert answer.status_code == 200, (path, answer.text)
            api.call(api.app.state.platform.part(UnifiedReads).settled)
        later(bench, STEP_S)
    return asked(bench) - before


def test_four_processes_ask_in_an_outage_as_one_does(bench: FetchContext, tmp_path: Path) -> None:
    """Each process takes its own breakers for nothing; the failures that are shared are what holds."""
    with ExitStack() as stack:
        others = [stack.enter_context(second_process(bench, tmp_path)) for _ in range(PROCESSES - 1)]
        apis = [bench.api, *others]
        for api in apis:
            unguarded(bench, api.app)
        bench.silence("*")
        alone = calls_of_a_minute(bench, apis[:1])
        later(bench, 300)
        together = calls_of_a_minute(bench, apis)
    # 456 and 1,716 while failures were not shared.
    assert 100 < sum(alone.values()) < 250, alone
    assert sum(together.values()) <= 1.05 * sum(alone.values()), together - alone


def test_a_refused_source_is_asked_again_soon(bench: FetchContext, tmp_path: Path) -> None:
    """Another process waits for the end of the pause, and not for longer."""
    with second_process(bench, tmp_path) as other:
        for api in (bench.api, other):
            unguarded(bench, api.app)
        bench.silence("*")
        assert bench.api.get("/market/news-marquee").json()["total"] == 0
        bench.faults.replace([])
        later(bench, shared_reads.FAILED_S - 1)
        before = asked(bench)
        assert other.get("/market/news-marquee").json()["total"] == 0
        assert asked(bench) == before
        later(bench, 1.5)
        assert other.get("/market/news-marquee").json()["total"] > 0
