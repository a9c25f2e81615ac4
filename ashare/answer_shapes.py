"""The shape of an upstream's answer, and how two shapes of one call differ.

A shape has a type per field, found in JSON (also as the argument of a function), in lines of separated
fields, and in the heads of HTML tables. Values that name codes or dates are not part of it.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import orjson
import pandas as pd
from lxml import etree, html

_NAMED = re.compile(r"[0-9]{2,}")
"""Digits of a code or date within the name of a field."""
_OPEN = re.compile(rb"[\[{]")
SCALES = 1000.0
"""Figures this many times as large or small as expected are reported: another unit, or another company."""
_SEPARATORS = ("~", ",", "|", "\t", ";")
_MOST = 5
"""Fields that one message names."""


@dataclass(frozen=True)
class Shape:
    """`fields`: path -> types. `figures`: path -> median of the absolute numbers that are not 0."""

    kind: str
    fields: dict[str, frozenset[str]]
    figures: dict[str, float]


def shape_of(body: bytes) -> Shape:
    """Of a body as received; kinds "empty" and, for one that is no text, "binary" have no fields."""
    if not body.strip():
        return Shape("empty", {}, {})
    value = _json(body)
    if value is not None:
        return _of_leaves("json", _leaves("", value))
    text = _text(body)
    if text is None:
        return Shape("binary", {}, {})
    if re.search(r"<\s*(html|table|div)\b", text[:4000], re.IGNORECASE):
        return _of_leaves("html", _heads(text))
    return _of_leaves("text", _separated(text))


def shape_of_rows(value: Any) -> Shape:
    """Of what a parser made of an answer: the columns of its frame that hold a value."""
    if not isinstance(value, pd.DataFrame):
        return Shape("value", {}, {})
    leaves = [(str(name), cell) for name in value.columns for cell in value[name].dropna().tolist()]
    return _of_leaves("rows", iter(leaves))


def _of_leaves(kind: str, leaves: Iterator[tuple[str, Any]]) -> Shape:
    types: dict[str, set[str]] = defaultdict(set)
    numbers: dict[str, list[float]] = defaultdict(list)
    for path, value in leaves:
        if value is None:
            continue
        types[path].add(_type(value))
        if isinstance(value, int | float) and not isinstance(value, bool) and value and math.isfinite(value):
            numbers[path].append(abs(float(value)))
    fields = {path: frozenset(found) for path, found in types.items()}
    return Shape(kind, fields, {path: median(found) for path, found in numbers.items()})


def _type(value: Any) -> str:
    if isinstance(value, bool):
        return "flag"
    return "number" if isinstance(value, int | float) else "text"


def _json(body: bytes) -> Any:
    """The document of a JSON body, or of the argument of a function; None for another format."""
    begin = _OPEN.search(body[:200])
    if begin is None:
        return None
    end = max(body.rfind(b"}"), body.rfind(b"]")) + 1
    part = body[begin.start() : end]
    for encoding in ("utf-8", "gb18030"):
        try:
            return orjson.loads(part.decode(encoding))
        except ValueError:
            continue
    return None


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(f"{path}.{_NAMED.sub('#', str(name))}".lstrip("."), inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(f"{path}[]", inner)
    else:
        yield path, value


def _text(body: bytes) -> str | None:
    for encoding in ("utf-8", "gb18030"):
        try:
            text = body.decode(encoding)
        except UnicodeDecodeError:
            continue
        return None if "\0" in text else text
    return None


def _heads(text: str) -> Iterator[tuple[str, Any]]:
    """Heads of the tables, and the ids of the page."""
    try:
        page = html.fromstring(text)
    except (etree.ParserError, ValueError):
        return
    for cell in page.iter("th"):
        yield f"table head {_NAMED.sub('#', ' '.join(cell.text_content().split()))[:40]}", ""
    for name in page.xpath("//@id"):
        yield f"id {_NAMED.sub('#', str(name))}", ""


def _separated(text: str) -> Iterator[tuple[str, Any]]:
    """Field numbers of the longest line, by the separator that it has most of."""
    longest = max(text.splitlines() or [""], key=len)
    counts = Counter({mark: longest.count(mark) for mark in _SEPARATORS})
    mark, count = counts.most_common(1)[0]
    if not count:
        return
    for number, part in enumerate(longest.split(mark)):
        cell = part.strip().strip("\"';")
        try:
            yield f"field {number}", float(cell)
        except ValueError:
            if cell:
                yield f"field {number}", cell


def differences(known: Shape, found: Shape) -> list[str]:
    """What is other in `found`, in words; nothing where an empty list left nothing to compare."""
    if "empty" in {known.kind, found.kind}:
        return []
    if known.kind != found.kind:
        return [f"{known.kind} expected, {found.kind} received"]
    if not known.fields or not found.fields:
        return []
    gone = [path for path in known.fields if path not in found.fields and _is_shown(path, found)]
    new = [path for path in found.fields if path not in known.fields and _is_shown(path, known)]
    typed = [
        f"{path} ({', '.join(sorted(found.fields[path]))}, not {', '.join(sorted(types))})"
        for path, types in known.fields.items()
        if path in found.fields and not types & found.fields[path]
    ]
    scaled = [
        f"{path} (about {found.figures[path] / figure:.0e} times)"
        for path, figure in known.figures.items()
        if path in found.figures and not 1 / SCALES < found.figures[path] / figure < SCALES
    ]
    parts = (("gone", gone), ("new", new), ("other type", typed), ("other scale", scaled))
    return [f"{what}: {_named(paths)}" for what, paths in parts if paths]


def _is_shown(path: str, other: Shape) -> bool:
    """Whether the list that holds the field has an element in the other answer."""
    inside, sign, _ = path.rpartition("[]")
    return not sign or any(one.startswith(f"{inside}[]") for one in other.fields)


def _named(paths: list[str]) -> str:
    more = f" and {len(paths) - _MOST} more" if len(paths) > _MOST else ""
    return ", ".join(sorted(paths)[:_MOST]) + more
