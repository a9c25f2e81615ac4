"""One pass over everything that an installation can be asked for; lists what is empty."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any

from core.days import moved
from core.declaration.registry import Registry
from resources.warehouse.stored import stored
from serving_api.framework.envelope import PREFIX
from serving_api.inspection import by_nature, queries
from serving_api.inspection.examples import ALIASES, OF_INTERFACES, STOCKS, TRIES, Column, Values, of_path

LISTS = ("results", "items", "data", "rows")
"""Keys of the part of an answer that holds its data, when it has one."""
_FRAME = frozenset(
    {
        "ok", "schema_version", "query_time", "disclaimer", "stats", "page_info", "data_availability",
        "total", "page", "pageSize", "page_size", "note", "source", "limit", "days",
    }
)  # fmt: skip


def holds_data(answer: Any, echoed: Collection[str] = ()) -> bool:
    """Whether an answer holds data: its data part is a text or a number other than 0, or a list with a
    value; of an object, whose texts may be labels, a number or a list counts. `echoed` are names of
    parameters, which an answer repeats."""
    if isinstance(answer, Mapping):
        for name in LISTS:
            if name in answer:
                data = answer[name]
                return holds_data(data, echoed) if isinstance(data, Mapping) else _holds(data)
        return any(
            holds_data(value, echoed) for name, value in answer.items() if name not in _FRAME.union(echoed)
        )
    return _holds(answer) and not isinstance(answer, str)


def _holds(value: Any) -> bool:
    """Whether there is any value: in lists texts count as well."""
    if isinstance(value, Mapping):
        return any(_holds(one) for one in value.values())
    if isinstance(value, list):
        return any(_holds(one) for one in value)
    return bool(value)


Ask = Callable[[str, str, Mapping[str, str], Any], tuple[int, Any]]
"""(method, path, query, body) -> (status, body), as an administrator."""
Query = Callable[[str], list[tuple[Any, ...]]]
"""Our own SQL on the warehouse -> rows."""


_EVENTS = "text/event-stream"
_BARS = stored("fusion_kline_daily")
_QUOTES, _OF_THE_PAST = "raw_quote", "tdx"
"""The one source with quotes of past dates; every other one only has current ones."""


@dataclass
class Found:
    """Names that are empty (stale, refused), and how many were checked."""

    kind: str
    reasons: Mapping[str, str]
    looked_at: int = 0
    empty: list[str] = field(default_factory=list)

    @property
    def unexplained(self) -> list[str]:
        return [name for name in self.empty if name not in self.reasons]

    def look(self, name: str, reported: bool) -> None:
        self.looked_at += 1
        if not reported:
            self.empty.append(name)

    def lines(self) -> Iterator[str]:
        yield f"{self.kind}: {len(self.empty)} of {self.looked_at} empty, {len(self.unexplained)} unexplained"
        for name in self.empty:
            yield f"  {name}: {self.reasons.get(name, 'NOT EXPLAINED')}"


class Walk:
    """`reasons`: kind -> {name: why it may be empty}."""

    def __init__(self, registry: Registry, ask: Ask, query: Query) -> None:
        self._registry = registry
        self._ask = ask
        self._query = query
        self._known: dict[Column, list[str]] = {}

    def all(self) -> list[Found]:
        return [self.tables(), self.dimensions(), self.interfaces(), self.routes()]

    def _found(self, kind: str, reasons: Mapping[str, str]) -> Found:
        """The result before any check. Before a current quote was stored more may be empty."""
        present = self._query(queries.any_price_beside(_QUOTES, _OF_THE_PAST))
        waiting = {} if present else by_nature.PRESENT[kind]
        return Found(kind, {**reasons, **self._quiet(kind), **waiting})

    def _quiet(self, kind: str) -> Mapping[str, str]:
        """Reasons of what had no cause to be reported before the newest bars."""
        declared = by_nature.QUIET.get(kind, {})
        until = self._newest(_BARS, "date") if declared else None
        if until is None:
            return {}
        return {
            name: one.reason
            for name, one in declared.items()
            if (self._newest(one.table, one.column) or "") < moved(until, -one.days)
        }

    def _newest(self, table: str, column: str) -> str | None:
        rows = self._query(queries.newest(table, column))
        return str(rows[0][0]) if rows and rows[0][0] is not None else None

    def tables(self) -> Found:
        """Tables that a load writes."""
        found = self._found("tables", by_nature.TABLES)
        for dataset in self._registry.datasets.values():
            for table in dataset.tables():
                found.look(table.name, bool(self._query(queries.any_row(table.name))))
        return found

    def dimensions(self) -> Found:
        """Freshness dimensions; lists the stale ones."""
        found = self._found("freshness dimensions", by_nature.DIMENSIONS)
        _, answer = self._ask("GET", f"{PREFIX}/datamgr/stats/freshness", {}, None)
        for name, one in answer["results"]["details"].items():
            found.look(name, not one["isStale"])
        return found

    def interfaces(self) -> Found:
        found = self._found("interfaces", by_nature.INTERFACES)
        for name, (interface, dataset) in self._registry.interfaces.items():
            table = dataset.table_of(interface)
            choices = {}
            for param, parameter in interface.params.items():
                if not parameter.required:
                    continue
                column = param if param in table.names else ALIASES.get(param, "")
                own = Column(table.name, column) if column in table.names else STOCKS
                choices[param] = self._values(OF_INTERFACES.get((name, param), own))
            found.look(name, self._answers_interface(name, choices))
        return found

    def _answers_interface(self, name: str, choices: Mapping[str, list[str]]) -> bool:
        for params in _combinations(choices):
            body = {"interface": name, "params": {k: [v] if k == "codes" else v for k, v in params.items()}}
            status, answer = self._ask("POST", f"{PREFIX}/datamgr/fusion/call", {}, body)
            if status == 200 and holds_data(answer, params):
                return True
        return False

    def routes(self) -> Found:
        """Every GET route of the document except event streams, which do not end."""
        found = self._found("read routes", by_nature.ROUTES)
        _, document = self._ask("GET", "/openapi.json", {}, None)
        for path, methods in document["paths"].items():
            if "get" in methods and not _is_stream(methods["get"]):
                found.look(path, self._answers_route(path, methods["get"].get("parameters", [])))
        return found

    def _answers_route(self, path: str, parameters: list[Mapping[str, Any]]) -> bool:
        required = [one for one in parameters if one.get("required")]
        inside = {one["name"] for one in required if one["in"] == "path"}
        choices = {one["name"]: self._values(of_path(path, one["name"])) for one in required}
        if "codes" in choices:  # a list: all values to try, at once
            choices["codes"] = [",".join(choices["codes"][:40])]
        for params in _combinations(choices):
            asked = path
            for name in inside:
                asked = asked.replace(f"{{{name}}}", params[name])
            query = {name: value for name, value in params.items() if name not in inside}
            status, answer = self._ask("GET", asked, query, None)
            if status == 200 and holds_data(answer, {one["name"] for one in parameters}):
                return True
        return False

    def _values(self, values: Values) -> list[str]:
        if not isinstance(values, Column):
            return list(values)
        if values not in self._known:
            rows = self._query(queries.distinct(values))
            self._known[values] = [str(value) for (value,) in rows if value is not None]
        return self._known[values]


def _is_stream(operation: Mapping[str, Any]) -> bool:
    return _EVENTS in operation.get("responses", {}).get("200", {}).get("content", {})


def _combinations(choices: Mapping[str, list[str]]) -> Iterator[dict[str, str]]:
    """At most `TRIES` combinations of values; one empty combination when nothing is required."""
    for chosen in islice(product(*choices.values()), TRIES):
        yield dict(zip(choices, chosen, strict=True))
