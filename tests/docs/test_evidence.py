"""Every call of an upstream client says what speaks for its format."""

import inspect
from importlib import import_module

from platform_assets.documentation_vocabulary import _CLIENTS
from resources.upstreams.evidence import CLASSES, evidence

SHARED = {"asked", "clist", "only_of", "report"}
"""What the calls of a client are made of, and what ends it."""
ENDS = {"close", "new_run", "view", "with_fetches"}


def calls() -> set[str]:
    found = set()
    for upstream, package, name, module in _CLIENTS:
        client = getattr(import_module(f"{package}.{module}"), name)
        found |= {
            f"{upstream}.{call}"
            for call, _ in inspect.getmembers(client, inspect.isfunction)
            if not call.startswith("_") and call not in SHARED | ENDS
        }
    return found


def test_every_call_has_a_record_and_every_record_a_call() -> None:
    assert set(evidence()) == calls()


def test_a_record_names_its_proof() -> None:
    assert {one.kind for one in evidence().values()} <= set(CLASSES)
    for one in evidence().values():
        assert one.kind == "assumed" or one.reads, one.call
        assert one.kind != "witnessed" or one.witness.split()[1][0].isdigit(), one.call
