"""Which upstream calls the code of a `fetch` function may make, and what speaks for their formats."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from core.declaration.dataset import Dataset, Source
from core.declaration.registry import builtin_registry
from resources.upstreams.fetch_context import FetchContext
from resources.upstreams.wire_format_evidence import evidence, weakest


@dataclass(frozen=True)
class SourceEvidence:
    """One source of a table and the weakest class of the calls that its function may make."""

    source: str
    kind: str
    calls: tuple[str, ...]


@cache
def of_sources(sources: tuple[Source, ...]) -> tuple[SourceEvidence, ...]:
    """The evidence of each source, in the order asked; one that computes from stored tables calls none and is
    left out."""
    reported = []
    for source in sources:
        calls = calls_of(source.fetch)
        if calls:
            reported.append(SourceEvidence(source.name, weakest(calls), tuple(sorted(calls))))
    return tuple(reported)


@cache
def downloads() -> dict[str, tuple[Source, ...]]:
    """Table -> its sources: the RAW tables, and the fused ones that are asked for directly."""
    registry = builtin_registry()
    return {
        **{name: raw.sources for name, raw in registry.raws.items()},
        **{one.table_name: one.sources for one in registry.datasets.values() if one.sources},
    }


def behind(dataset: Dataset, table: str) -> list[tuple[str, SourceEvidence]]:
    """(table, source) of everything that is downloaded for one of the dataset's tables."""
    if table in downloads():
        names = [table]
    elif dataset.sources:
        names = [dataset.table_name]
    else:
        names = list(dataset.feeds) or [raw.table_name for raw in dataset.raw]
    return [(name, one) for name in names for one in of_sources(downloads()[name])]


@cache
def risks() -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """(table, first source, its assumed calls) of every downloaded table whose first source is only assumed
    and which has no other source that is not."""
    found = []
    for name, sources in downloads().items():
        reported = of_sources(sources)
        if reported and all(one.kind == "assumed" for one in reported):
            bare = tuple(call for call in reported[0].calls if not evidence()[call].is_proved)
            found.append((name, reported[0].source, bare))
    return tuple(sorted(found))


def calls_of(function: Any) -> frozenset[str]:
    """`upstream.call` of every upstream call in a function and in the project's functions that it names."""
    return frozenset(_calls(function, frozenset(), set()))


def _calls(function: Any, passed: frozenset[str], seen: set[tuple[str, frozenset[str]]]) -> Iterator[str]:
    """`passed`: upstreams whose client or name the caller hands over."""
    function = inspect.unwrap(getattr(function, "func", function))
    mark = (f"{function.__module__}.{function.__qualname__}", passed)
    if mark in seen:
        return
    seen.add(mark)
    body = _source(function)
    known = {call.partition(".")[0] for call in evidence()}
    handed = passed | {
        reported
        for node in ast.walk(body)
        if isinstance(node, ast.Call)
        for argument in (*node.args, *(word.value for word in node.keywords))
        for reported in _upstreams(argument, known, frozenset())
    }
    for node in ast.walk(body):
        if isinstance(node, ast.Attribute):
            for upstream in _upstreams(node.value, known, handed):
                if f"{upstream}.{node.attr}" in evidence():
                    yield f"{upstream}.{node.attr}"
        for named in _named(node, function):
            yield from _calls(named, handed, seen)


def _source(function: Any) -> ast.AST:
    text = textwrap.dedent(inspect.getsource(function))
    try:
        return ast.parse(text)
    except SyntaxError:  # a lambda in the midst of a declaration
        return ast.parse(f"({text.strip().rstrip(',')})")


def _upstreams(node: ast.AST, known: set[str], handed: frozenset[str] | set[str]) -> set[str]:
    """The upstreams whose client an expression may be: `ctx.sse`, `view.futures(...)`, a variable or
    parameter, the name of one."""
    if isinstance(node, ast.Constant):
        return {node.value} & known if isinstance(node.value, str) else set()
    if isinstance(node, ast.Call):
        inner = _upstreams(node.func, known, set())
        return inner or set(handed)
    if isinstance(node, ast.Attribute):
        return {node.attr} & known
    if isinstance(node, ast.Name):
        return {node.id} if node.id in known else set(handed)
    return set()


def _named(node: ast.AST, function: Any) -> list[Any]:
    """The functions of the project behind a name, `module.name` or a method of the fetch context."""
    scope = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    reported = None
    if isinstance(node, ast.Name):
        reported = scope.get(node.id)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        held = scope.get(node.value.id)
        if inspect.ismodule(held):
            reported = getattr(held, node.attr, None)
        elif node.value.id in {"ctx", "self", "view"}:
            reported = inspect.getattr_static(FetchContext, node.attr, None)
    reported = inspect.unwrap(getattr(reported, "func", reported)) if callable(reported) else None
    ours = str(getattr(reported, "__module__", "")).startswith(
        ("platform_assets.", "resources.upstreams.fetch_context")
    )
    return [reported] if ours and inspect.isfunction(reported) else []
