"""Asks every read route and every interface, of one stock where an answer can be of one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from core.declaration.registry import Registry
from serving_api.framework.envelope import PREFIX
from serving_api.framework.routing import PlatformRoute
from serving_api.inspection.examples import ALIASES, OF_INTERFACES, STOCKS, Column, of_path
from serving_api.inspection.walk import Query, Walk, _combinations, _is_stream, holds_data
from tests.serving_api.client import Api
from tests.serving_api.conftest import ADMIN

_TRIES = 8


@dataclass(frozen=True)
class Read:
    """The answer of `name` (a path, or an interface) about `code` (None: of no stock in particular).
    `tables`: those that its declaration names; `holds`: whether it holds data."""

    name: str
    code: str | None
    tables: frozenset[str]
    answer: httpx.Response
    holds: bool

    @property
    def is_marked(self) -> bool:
        return self.answer.headers.get("X-Factor") == "provisional"

    @property
    def tag(self) -> str | None:
        found: str | None = self.answer.headers.get("ETag")
        return found


class EveryRead:
    """`codes`: the stocks that are asked about."""

    def __init__(self, api: Api, registry: Registry, query: Query, codes: tuple[str, ...]) -> None:
        token = api.post("/auth/login", json=ADMIN).json()["access_token"]
        self._api, self._registry, self._codes = api, registry, codes
        self._headers = {"Authorization": f"Bearer {token}"}
        self._walk = Walk(registry, lambda *_: (404, None), query)
        self._routes = {
            route.path: frozenset(route.serving.tables)
            for route in api.app.routes
            if isinstance(route, PlatformRoute)
        }

    def all(self) -> Iterator[Read]:
        yield from self.interfaces()
        yield from self.routes()

    def interfaces(self) -> Iterator[Read]:
        for name, (interface, dataset) in self._registry.interfaces.items():
            table = dataset.table_of(interface)
            values = {}
            for param, parameter in interface.params.items():
                column = param if param in table.names else ALIASES.get(param, "")
                own = Column(table.name, column) if column in table.names else STOCKS
                if parameter.required:
                    values[param] = self._walk._values(OF_INTERFACES.get((name, param), own))
            for code, choices in self._choices(values):

                def ask(params: Mapping[str, str]) -> httpx.Response:
                    listed = {key: [one] if key == "codes" else one for key, one in params.items()}
                    body = {"interface": name, "params": listed}  # noqa: B023  called at once
                    return self._ask("POST", f"{PREFIX}/datamgr/fusion/call", {}, body)

                yield self._first(name, code, frozenset({table.name}), choices, ask)

    def routes(self) -> Iterator[Read]:
        document = self._ask("GET", "/openapi.json", {}, None).json()
        for path, methods in document["paths"].items():
            if "get" not in methods or _is_stream(methods["get"]):
                continue
            required = [one for one in methods["get"].get("parameters", []) if one.get("required")]
            inside = [one["name"] for one in required if one["in"] == "path"]
            values = {one["name"]: self._walk._values(of_path(path, one["name"])) for one in required}
            for code, choices in self._choices(values):

                def ask(params: Mapping[str, str]) -> httpx.Response:
                    asked = path  # noqa: B023  called at once
                    for name in inside:  # noqa: B023
                        asked = asked.replace(f"{{{name}}}", params[name])
                    query = {name: value for name, value in params.items() if name not in inside}  # noqa: B023
                    return self._ask("GET", asked, query, None)

                yield self._first(path, code, self._routes.get(path, frozenset()), choices, ask)

    def _choices(self, values: Mapping[str, list[str]]) -> Iterator[tuple[str | None, dict[str, list[str]]]]:
        of_stock = [name for name, known in values.items() if set(self._codes) <= {*known}]
        if not of_stock:
            yield None, {name: known[:40] for name, known in values.items()}
            return
        for code in self._codes:
            yield code, {name: [code] if name in of_stock else known[:40] for name, known in values.items()}

    def _first(
        self, name: str, code: str | None, tables: frozenset[str], choices: Mapping[str, list[str]], ask: Any
    ) -> Read:
        """The first answer that holds data, else the last one."""
        found = None
        for params in list(_combinations(choices))[:_TRIES]:
            answer = ask(params)
            is_json = "json" in answer.headers.get("content-type", "")
            holds = answer.status_code == 200 and is_json and holds_data(answer.json(), params)
            found = Read(name, code, tables, answer, holds)
            if holds:
                break
        return found or Read(name, code, tables, httpx.Response(404), holds=False)

    def _ask(self, method: str, path: str, query: Mapping[str, str], body: Any) -> httpx.Response:
        return self._api.request(method, f"/{path}", params=query, json=body, headers=self._headers)
