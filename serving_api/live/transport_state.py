"""Transport state of this deployment, shared by all its processes: counters and breakers."""

from typing import Any

from resources.settings import Settings
from resources.transport.gates import deployment_gate
from resources.transport.settings import EM_BREAKER, PUSH2EX_BREAKER


def transport_state(settings: Settings) -> dict[str, Any]:
    """{counters by upstream, breakers by name: {state, failure_count, opened_at}, calls: [(upstream, host,
    outcome, number)]}."""
    gate = deployment_gate(settings)
    try:
        held = gate.breakers()
        shown = {name: held[name] for name in (EM_BREAKER, PUSH2EX_BREAKER)}
        return {"counters": gate.counters(), "breakers": shown, "calls": gate.calls()}
    finally:
        gate.close()
