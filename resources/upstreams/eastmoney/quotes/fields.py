"""How f-fields are read: wire field -> column, reader, scale. One table per kind of row uses these."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from core.errors import PayloadError
from resources.upstreams.parsing.payload import (
    AMT,
    amount,
    iso_day,
    nothing_to_missing,
    number,
    price,
    string_of,
)

Reader = Callable[[Any, str], Any]


@dataclass(frozen=True)
class Field:
    """Wire field, column, and how its value is read."""

    wire: str
    column: str
    read: Reader


def read_price(value: Any, what: str) -> float:
    return nothing_to_missing(price(value, what))


def read_lots(value: Any, what: str) -> float:
    return amount(value, what, scale=100)


def read_wan(value: Any, what: str) -> float:
    return nothing_to_missing(amount(value, what, scale=1e-4))


def read_count(value: Any, what: str) -> float:
    return nothing_to_missing(amount(value, what))


def read_tally(value: Any, what: str) -> float:
    return amount(value, what)


def read_net(value: Any, what: str) -> float:
    return number(value, what, digits=AMT)


def read_ratio(value: Any, what: str) -> float:
    return number(value, what)


def read_text(value: Any, what: str) -> str | None:
    text = "" if value is None else string_of(value, what).strip()
    return None if text in {"", "-"} else text


def read_day(value: Any, what: str) -> str | None:
    text = str(value) if isinstance(value, int | str) else ""
    return None if text in {"", "-", "0"} else iso_day(text, what)


def read_moment(value: Any, what: str) -> str | None:
    """Naive Asia/Shanghai text from unix seconds."""
    seconds = number(value, what, digits=0)
    if math.isnan(seconds) or seconds == 0:
        return None
    if not 473_385_600 <= seconds <= 4_102_444_800:
        raise PayloadError(f"{what} is no valid time: {value!r}")
    return (datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None) + timedelta(hours=8)).isoformat(" ")


def fields(read: Reader, text: str) -> tuple[Field, ...]:
    """`"f2 price f15 high"` as fields that are read alike."""
    words = text.split()
    return tuple(Field(wire, column, read) for wire, column in zip(words[::2], words[1::2], strict=True))


_TEXT_READERS = frozenset({read_text, read_day, read_moment})


def columns_of(table: Sequence[Field], identity: str) -> dict[str, str]:
    named = dict.fromkeys(identity.split(), "s")
    return named | {field.column: "s" if field.read in _TEXT_READERS else "f" for field in table}


def wire_fields(table: Sequence[Field]) -> str:
    """The `fields` parameter: identity and everything that the table names."""
    names = dict.fromkeys(["f12", "f13", "f14", *(field.wire for field in table)])
    return ",".join(sorted(names, key=lambda name: int(name[1:])))


def values_of(raw: Mapping[str, Any], table: Sequence[Field], owner: str) -> dict[str, Any]:
    values = {}
    for field in table:
        if field.wire in raw:
            values[field.column] = field.read(raw[field.wire], f"{owner} {field.wire} ({field.column})")
    return values
