"""The allow-list: which settings may be stored, with their types and ranges."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from core.errors import InputError
from resources.settings import Settings
from resources.warehouse.retention import LEAST_DAYS, MOST_DAYS, SCHEDULED_DAYS, SETTING

KINDS = {bool: "bool", int: "int", float: "float", str: "str"}
_GROUPS = {
    "web_search_max_results": "search",
    "model_web_search": "search",
    "enable_portfolio_monitor": "monitor",
    "price_alert_threshold": "monitor",
    "volume_alert_ratio": "monitor",
    "stop_loss_proximity": "monitor",
}
_READ_LIVE = frozenset({"monitor"})
"""Groups whose settings are read again at every use."""
_RANGES: Mapping[str, tuple[float, float]] = {"web_search_max_results": (1, 50)}
_POSITIVE = (0.0, 1_000_000.0)
_NUMBERS = {"int": re.compile(r"-?[0-9]{1,18}"), "float": re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?")}
_TRUE, _FALSE = {"true", "1", "yes", "on"}, {"false", "0", "no", "off"}


@dataclass(frozen=True)
class Entry:
    """One key. `field` names the field of `Settings`; keys without it are read at their point of use."""

    key: str
    kind: str
    default: str
    group: str
    note: str = ""
    is_secret: bool = False
    field: str | None = None
    low: float = -math.inf
    high: float = math.inf

    @property
    def needs_restart(self) -> bool:
        return self.field is not None and self.group not in _READ_LIVE

    def parse(self, text: str) -> str:
        """`text` in its canonical form. Raises InputError for another type or out of range."""
        value = text.strip()
        if self.kind == "bool":
            if value.lower() not in _TRUE | _FALSE:
                raise InputError("value", f"{text[:40]!r} is no truth value; true or false are allowed")
            return shown(value.lower() in _TRUE)
        if self.kind == "str":
            return value
        if not _NUMBERS[self.kind].fullmatch(value):
            raise InputError("value", f"{text[:40]!r} is no {self.kind}")
        number = int(value) if self.kind == "int" else float(value)
        if not (math.isfinite(number) and self.low <= number <= self.high):
            raise InputError("value", f"{value[:40]} is out of range; allowed: {self.low:g}..{self.high:g}")
        return shown(number)


def shown(value: Any) -> str:
    """A setting as text, the form in which it is stored and served."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@cache
def allow_list() -> Mapping[str, Entry]:
    """Settings that are marked as stored, and the retention of the cleanup."""
    entries = [
        Entry(
            key=row.name.upper(),
            kind=KINDS[type(row.default)],
            default=shown(row.default),
            group=_GROUPS.get(row.name, "general"),
            note=row.metadata["note"],
            is_secret=bool(row.metadata["secret"]),
            field=row.name,
            **_bounds(row.name),
        )
        for row in fields(Settings)
        if row.metadata.get("stored")
    ]
    entries.append(
        Entry(
            key=SETTING,
            kind="int",
            default=str(SCHEDULED_DAYS),
            group="cleanup",
            note="days that staged time series are retained",
            low=LEAST_DAYS,
            high=MOST_DAYS,
        )
    )
    return {entry.key: entry for entry in entries}


def _bounds(name: str) -> dict[str, float]:
    low, high = _RANGES.get(name, _POSITIVE)
    return {"low": low, "high": high}


def entry_of(key: str) -> Entry:
    """Raises InputError for a key outside the allow-list."""
    known = allow_list()
    if key not in known:
        raise InputError("key", f"{key[:64]!r} cannot be stored; allowed: {', '.join(known)}")
    return known[key]
