"""Transport state of this machine, shared by all its processes: counters and breakers."""

from typing import Any

from resources.settings import Settings
from resources.transport.gates import SqliteGate
from resources.transport.settings import EM_BREAKER, PUSH2EX_BREAKER, transport_settings


def transport_state(settings: Settings) -> dict[str, Any]:
    """{counters by upstream, breakers by name: {state, failure_count, opened_at}}; reads a file."""
    gate = SqliteGate(settings.data_path / "transport.sqlite3", transport_settings(settings))
    try:
        held = gate.breakers()
        shown = {name: held[name] for name in (EM_BREAKER, PUSH2EX_BREAKER)}
        return {"counters": gate.counters(), "breakers": shown}
    finally:
        gate.close()
