"""Every answer about the past says how far back it reaches: held against the OpenAPI document."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serving_api.conftest import Ticks, make_app

WINDOWS = {
    *("days", "lookback_days", "forward_days", "periods", "snapshots", "count", "months", "years"),
    *("start", "end", "since", "until", "from", "to", "start_date", "end_date"),
}
"""Parameters that say how much of the past is wanted."""
DATES = {"date", "trade_date", "period"}
"""Parameters that say which date is wanted (`period` where it is no choice between lengths)."""
MOMENTS = ("date", "day", "time", "period")
"""How the column ends that dates the rows of an answer."""
TOLD = {"first_date", "note"}

NOW = "a live read of the sources: nothing of it is stored"
LEDGER = "a ledger of the platform's own work: it says what it did on each date"
BACKTEST = "`start_date` is the first date it had, `note` says when fewer are stored than were asked for"
SHARES = "`bars` is how many there were, and `note` says what the answer is; no row has a date"
AHEAD = "`days` looks ahead, and the counts say what is stored of the quarter"

EXCEPTIONS = {
    "/stocks/{code}/intraday": NOW,
    "/datamgr/fusion/market/limit-up": NOW,
    "/tasks/runs": LEDGER,
    "/datamgr/tasks/runs": LEDGER,
    "/datamgr/gaps": LEDGER,
    "/datamgr/day-grid": LEDGER,
    "/datamgr/day-report": LEDGER,
    "/datamgr/reconcile": LEDGER,
    "/market/backtest": BACKTEST,
    "/market/backtest/strategy": BACKTEST,
    "/market/factors/bench": "`sample_days` is how many dates there were, and `note` says what was measured",
    "/stocks/{code}/vpa": SHARES,
    "/quant/vpa/{code}": SHARES,
    "/futures/{symbol}/positions": "no documented source has them; `available` and `reason` say so",
    "/market/news-marquee": "the newest headlines; it looks at no past",
    "/earnings-window/overview": AHEAD,
    "/datamgr/fusion/stock/{code}/lockup": AHEAD,
}
"""Histories by their parameters that say nothing of their reach -> why not."""


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    folder = Path(tempfile.gettempdir())
    return make_app(f"sqlite:///{folder}/never-opened.sqlite3", folder, Ticks()).openapi()


class Shapes:
    """Schemas of a document with their references followed."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._named: dict[str, Any] = document["components"]["schemas"]

    def follow(self, schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            schema = self._named[schema["$ref"].rsplit("/", 1)[1]]
        return schema

    def keys(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Key -> schema of an object, whichever of its shapes it takes."""
        own = self.follow(schema)
        found = dict(own.get("properties", {}))
        for choice in (*own.get("anyOf", ()), *own.get("allOf", ()), *own.get("oneOf", ())):
            found |= self.keys(choice)
        return found

    def rows(self, schema: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[dict[str, Any]]:
        """Every object that stands in a list of an answer, at any depth."""
        name = schema.get("$ref")
        if name in above:
            return
        own, below = self.follow(schema), (*above, *([name] if name else ()))
        items = own.get("items")
        if isinstance(items, dict):
            if self.keys(items) or self.follow(items).get("type") == "object":
                yield items
            yield from self.rows(items, below)
        inner = [*own.get("anyOf", ()), *own.get("allOf", ()), *own.get("oneOf", ())]
        inner += [*own.get("properties", {}).values(), own.get("additionalProperties")]
        for part in inner:
            if isinstance(part, dict):
                yield from self.rows(part, below)


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """(path below the prefix, parameters of query and body by name, schema of the answer) of what reads."""
    shapes = Shapes(document)
    for path, methods in document["paths"].items():
        for method in ("get", "post"):
            reported = methods.get(method, {})
            answer = _json(reported.get("responses", {}).get("200", {}))
            if answer is None:
                continue
            asked = {row["name"]: row["schema"] for row in reported.get("parameters", ())}
            asked |= shapes.keys(_json(reported.get("requestBody", {})) or {})
            yield path.removeprefix("/api/v1"), asked, answer


def _json(body: dict[str, Any]) -> dict[str, Any] | None:
    found: dict[str, Any] | None = body.get("content", {}).get("application/json", {}).get("schema")
    return found


def is_history(path: str, asked: dict[str, Any], answer: dict[str, Any], shapes: Shapes) -> bool:
    """Whether an answer has rows of a window, of a date, or the newest dated rows of one thing."""
    rows = list(shapes.rows(answer))
    if not rows:
        return False
    choices = {name for name, schema in asked.items() if "enum" in shapes.follow(schema)}
    dated = any(key.rsplit("_", 1)[-1] in MOMENTS for row in rows for key in shapes.keys(row))
    of_one = "{" in path or "code" in asked
    return bool(asked.keys() & (WINDOWS | DATES) - choices) or ("limit" in asked and of_one and dated)


def histories(document: dict[str, Any]) -> dict[str, bool]:
    """Path of each history -> whether it says how far back it reaches."""
    shapes = Shapes(document)
    return {
        path: shapes.keys(answer).keys() >= TOLD
        for path, asked, answer in operations(document)
        if is_history(path, asked, answer, shapes)
    }


def test_every_history_says_how_far_back_it_reaches(document: dict[str, Any]) -> None:
    found = histories(document)

    assert {path for path, reported in found.items() if not reported} == set(EXCEPTIONS)


@pytest.mark.parametrize(
    "path",
    ["/stocks/{code}/kline", "/macro/erp", "/datamgr/fusion/stock/{code}/margin", "/factor/screen",
     "/market/dragon-score-history", "/industry/valuation", "/scorecard/overview", "/quant/screener"],
)  # fmt: skip
def test_what_a_history_is_shows_in_the_document(document: dict[str, Any], path: str) -> None:
    """So that a rule that finds nothing passes for no rule that is kept."""
    assert histories(document)[path]


def test_what_is_no_history_need_not_say_it(document: dict[str, Any]) -> None:
    found = histories(document)

    for path in ("/stocks/search", "/index/weights/{symbol}", "/market/indices", "/datamgr/batches"):
        assert path not in found
