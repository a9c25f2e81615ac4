"""Hypothesis strategies that damage a recorded answer the way networks and block pages do."""

import copy
import json
import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from core.errors import PayloadError, Refused, Transient

# Errors that a parser may raise for invalid bytes; anything else is a defect of the parser.
ACCEPTED = (PayloadError, Refused, Transient)

_ODD_TEXTS = ["", "-", "-1", "abc", "1e999", "nan", "１２", "1_0", "99999999999", "0", "~", '"']
_ODD_VALUES = st.sampled_from([None, True, 0, -1, 1e300, -5.5, 10**20, [], {}, [[]], {"0": 1}, *_ODD_TEXTS])

# `SOAK_EXAMPLES=10000` runs the same tests at the size of `make soak`.
quick = settings(
    max_examples=int(os.environ.get("SOAK_EXAMPLES", "60")),
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


@st.composite
def damaged_bytes(draw: st.DrawFn, body: bytes) -> bytes:
    """Cut, flipped, doubled, spliced or replaced bytes."""
    kind = draw(st.sampled_from(["cut", "flip", "drop", "double", "insert", "noise"]))
    at = draw(st.integers(0, len(body)))
    if kind == "cut":
        return body[:at]
    if kind == "flip":
        changed = bytearray(body)
        for _ in range(draw(st.integers(1, 8))):
            changed[draw(st.integers(0, len(body) - 1))] = draw(st.integers(0, 255))
        return bytes(changed)
    if kind == "drop":
        return body[:at] + body[at + draw(st.integers(1, 40)) :]
    if kind == "double":
        return body[:at] + body[max(0, at - draw(st.integers(1, 60))) :]
    if kind == "insert":
        return body[:at] + draw(st.binary(min_size=1, max_size=20)) + body[at:]
    return draw(st.binary(max_size=300))


@st.composite
def damaged_json(draw: st.DrawFn, body: bytes) -> bytes:
    """Well-formed JSON in which one to three nodes are gone or are something else."""
    document = json.loads(body)
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(document))
        if not places:
            break
        container, key = places[draw(st.integers(0, len(places) - 1))]
        action = draw(st.sampled_from(["replace", "remove", "repeat"]))
        if action == "remove":
            del container[key]
        elif action == "repeat" and isinstance(container, list):
            container.insert(key, container[key])
        else:
            # A copy: the next round may change what this one put in.
            container[key] = copy.deepcopy(draw(_ODD_VALUES))
    return json.dumps(document, ensure_ascii=False).encode()


def _places(node: Any) -> Any:
    if isinstance(node, dict):
        for key, value in node.items():
            yield node, key
            yield from _places(value)
    elif isinstance(node, list):
        for at, value in enumerate(node):
            yield node, at
            yield from _places(value)


@st.composite
def damaged_text(draw: st.DrawFn, text: str, separator: str) -> str:
    """Text in which one to three of the separated values are gone, moved or are something else."""
    values = text.split(separator)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(values) - 1))
        action = draw(st.sampled_from(["replace", "remove", "repeat", "swap"]))
        if action == "remove":
            del values[at]
        elif action == "repeat":
            values.insert(at, values[at])
        elif action == "swap":
            other = draw(st.integers(0, len(values) - 1))
            values[at], values[other] = values[other], values[at]
        else:
            values[at] = draw(st.sampled_from(_ODD_TEXTS))
        if not values:
            break
    return separator.join(values)
