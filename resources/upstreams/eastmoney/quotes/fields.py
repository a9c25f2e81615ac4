"""How f-fields are read. One table of fields per kind of row uses these readers."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from core.errors import PayloadError
from resources.upstreams.parsing.payload import (
    AMT,
    amount,
    is_no_day,
    iso_day,
    number,
    price,
    quoted_limits,
    string_of,
)
from resources.upstreams.parsing.rows import Field, not_zero

read_price = not_zero(price)
read_lots = partial(amount, scale=100)
read_wan = not_zero(partial(amount, scale=1e-4))
read_count = not_zero(amount)
read_tally = amount
read_net = partial(number, digits=AMT)
read_ratio = number


def read_text(value: Any, what: str) -> str | None:
    text = "" if value is None else string_of(value, what).strip()
    return None if text in {"", "-"} else text


def read_day(value: Any, what: str) -> str | None:
    text = str(value) if isinstance(value, int | str) else ""
    return None if is_no_day(text) else iso_day(text, what)


def read_moment(value: Any, what: str) -> str | None:
    """Naive Asia/Shanghai text from unix seconds."""
    seconds = number(value, what, digits=0)
    if math.isnan(seconds) or seconds == 0:
        return None
    if not 473_385_600 <= seconds <= 4_102_444_800:
        raise PayloadError(f"{what} is no valid time: {value!r}")
    return (datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None) + timedelta(hours=8)).isoformat(" ")


def wire_fields(table: Sequence[Field]) -> str:
    """The `fields` parameter: identity and everything that the table names."""
    names = dict.fromkeys(["f12", "f13", "f14", *(field.wire for field in table)])
    return ",".join(sorted(names, key=lambda name: int(name[1:])))


def values_of(raw: Mapping[str, Any], table: Sequence[Field], owner: str) -> dict[str, Any]:
    values = {}
    for field in table:
        if field.wire in raw:
            values[field.column] = field.read(raw[field.wire], f"{owner} {field.wire} ({field.column})")
    limits = values.get("limit_up", math.nan), values.get("limit_down", math.nan)
    up, down = quoted_limits(*limits, values.get("last_close", math.nan))
    return values | {
        name: found for name, found in (("limit_up", up), ("limit_down", down)) if name in values
    }
