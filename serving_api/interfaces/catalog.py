"""The interfaces of a registry: listed, searched, called."""

import difflib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from core.clock import stamp
from core.declaration.dataset import Dataset
from core.declaration.interfaces import Interface
from core.declaration.registry import Registry, builtin_registry
from core.errors import Forbidden, InputError, NotFound, PlatformError
from platform_assets.source_calls import behind
from serving_api.db.sessions import Session
from serving_api.framework.parameters import AsOf, bound_of
from serving_api.framework.state import State
from serving_api.interfaces.call import Executor, InterfaceCall
from serving_api.interfaces.live import LIVE
from serving_api.interfaces.parameters import described, read_params
from serving_api.interfaces.reach import reached
from serving_api.interfaces.search import Index
from serving_api.interfaces.templates import EXECUTORS
from serving_api.live.clients import Answered

WRITERS = ("sync_", "save_", "update_", "delete_", "download_", "run_")
NEAREST = 3


class Catalog:
    """Every declared interface that has an implementation."""

    def __init__(self, registry: Registry) -> None:
        self._interfaces: dict[str, tuple[Interface, Dataset]] = {
            name: (interface, dataset)
            for name, (interface, dataset) in registry.interfaces.items()
            if interface.template in (LIVE if interface.live else EXECUTORS)
        }
        self._index = Index(self._interfaces)

    def entries(self) -> list[dict[str, Any]]:
        """The catalog, by name."""
        listed = [interface for _, (interface, _) in sorted(self._interfaces.items())]
        return [
            {
                "name": one.name, "dimension": one.dimension, "returns": one.returns, "ttl": one.ttl,
                "description": one.description, "params": described(one),
            }
            for one in listed
        ]  # fmt: skip

    def search(self, text: str, limit: int, dimension: str | None = None) -> list[dict[str, Any]]:
        """Interfaces that match a text, best first."""
        hits = []
        for name, score in self._index.rank(text):
            interface, dataset = self._interfaces[name]
            if dimension is None or interface.dimension == dimension:
                shown = {
                    "name": interface.name,
                    "dimension": interface.dimension,
                    "description": interface.description,
                }
                found = {"params": described(interface), "evidence": _evidence(interface, dataset)}
                hits.append({**shown, "score": score, **found})
                if len(hits) == limit:
                    break
        return hits

    def find(self, name: str) -> tuple[Interface, Dataset]:
        """Raises Forbidden for the name of a writer, NotFound (with the nearest names) for an unknown one."""
        if name.startswith(WRITERS):
            raise Forbidden(f"interface {name} is not readable")
        if name not in self._interfaces:
            raise NotFound(f"unknown interface: {name}; nearest: {', '.join(self.nearest(name))}")
        return self._interfaces[name]

    def nearest(self, name: str) -> list[str]:
        """The names with the most similar spelling; without any, those with the most similar meaning."""
        alike = difflib.get_close_matches(name, self._interfaces, n=NEAREST, cutoff=0.5)
        meant = [found for found, _ in self._index.rank(name.replace("_", " "))]
        return list(dict.fromkeys([*alike, *meant, *sorted(self._interfaces)]))[:NEAREST]

    async def call(
        self, state: State, name: str, given: Mapping[str, Any], as_of: AsOf | None
    ) -> tuple[Any, dict[str, Any]]:
        """The value of an interface, and how far back it reaches. Raises Forbidden, NotFound and InputError
        in this order; PlatformError when the execution fails."""
        interface, dataset = self.find(name)
        params = read_params(interface, given)
        table = dataset.table_of(interface)
        if as_of is not None and not table.has_history:
            raise InputError("as_of", f"{name} keeps no versions; leave it out")
        now = stamp(state.clock.now())
        call = InterfaceCall(
            interface, table, params, as_of=bound_of(as_of), today=now[:10], calendar=state.calendar, now=now
        )
        with _naming_interface(name):
            return await state.reading.scan(_answered, EXECUTORS[interface.template], call)

    async def call_live(
        self, state: State, name: str, given: Mapping[str, Any], as_of: AsOf | None
    ) -> Answered:
        """The value of a live interface and where it comes from; raises as `call` does."""
        interface, _ = self.find(name)
        params = read_params(interface, given)
        if as_of is not None:
            raise InputError("as_of", f"{name} only has current data; leave it out")
        with _naming_interface(name):
            return await LIVE[interface.template](state, params)


def _evidence(interface: Interface, dataset: Dataset) -> list[dict[str, str]]:
    """The evidence for the wire formats of the tables behind an interface, source by source."""
    return [
        {"table": table, "source": one.source, "evidence": one.kind}
        for table, one in behind(dataset, interface.table)
    ]


def _answered(session: Session, executor: Executor, call: InterfaceCall) -> tuple[Any, dict[str, Any]]:
    value = executor(session, call)
    return value, reached(session, call, value)


@contextmanager
def _naming_interface(name: str) -> Iterator[None]:
    """Adds the name of the interface to an error."""
    try:
        yield
    except InputError:
        raise
    except PlatformError as error:
        # Status 500: the request was valid, and the cause is not shown to the caller.
        raise PlatformError(f"interface {name}: {error.message}") from error


@cache
def builtin_catalog() -> Catalog:
    """The catalog of the datasets that come with the project."""
    return Catalog(builtin_registry())
