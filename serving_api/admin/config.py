"""/datamgr/config."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, Field
from sqlalchemy.engine import Connection

from core.clock import stamp
from core.errors import InputError
from resources.settings import Settings
from resources.warehouse.retention import LEAST_DAYS, MOST_DAYS, SCHEDULED_DAYS, SETTING
from resources.warehouse.sql import Sql
from resources.warehouse.stored import select, stored, update
from serving_api.db.sessions import Session, write
from serving_api.framework.envelope import PREFIX
from serving_api.framework.openapi import example
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from serving_api.framework.row_models import Instant, StoredRow
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop


class ConfigItem(StoredRow):
    key: str
    value: str = Field(description="in force: environment, else stored, else default; '***' when secret")
    valueType: Literal["str", "int", "float", "bool", "json"] = Field(validation_alias="kind")
    group: str
    default: str
    note: str
    isSecret: bool = Field(validation_alias="is_secret")
    updatedAt: Instant


class ConfigChange(BaseModel):
    model_config = example(extra="forbid", key="data.cleanup.retention_days", value="1095")
    key: Annotated[str, Field(min_length=1, max_length=128)]
    value: Annotated[str, Field(max_length=2000)]


class ConfigChanged(BaseModel):
    key: str
    value: str
    previous: str
    restartRequired: bool
    message: str


TABLE = stored("sys_config")


def stored_entries(session: Session) -> dict[str, dict[str, Any]]:
    """Rows by key."""
    columns = ("config_key", "value", "updated_at")
    return {str(row["config_key"]): row for row in session.dicts(TABLE, columns=columns)}


def values_to_change(connection: Connection, sql: Sql, keys: Sequence[str]) -> dict[str, str]:
    """Value by key, locked until the transaction ends."""
    c = TABLE.c
    rows = connection.execute(
        select(TABLE, c.config_key, c.value).where(c.config_key.in_(keys)).with_for_update()
    )
    return {str(key): str(value) for key, value in rows if value is not None}


def put(connection: Connection, sql: Sql, key: str, values: Mapping[str, Any], now: str) -> str | None:
    """Store a row; returns the value that it replaces, or None."""
    own = TABLE.c.config_key == key
    before = connection.execute(select(TABLE, TABLE.c.value).where(own)).first()
    named = {**values, "updated_at": now}
    if before is None:
        sql.put(connection, TABLE, {"config_key": key, **named, "created_at": now})
        return None
    connection.execute(update(TABLE, named, own))
    return None if before[0] is None else str(before[0])


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


SECRET = "***"  # noqa: S105  what is shown instead of one


def _item(entry: Entry, row: Mapping[str, Any], settings: Settings) -> ConfigItem:
    value = in_force(entry, row.get("value"), settings)
    hidden = {"value": SECRET, "default": SECRET} if entry.is_secret else {"value": value}
    return ConfigItem.model_validate({**vars(entry), **hidden, "updatedAt": row.get("updated_at")})


def in_force(entry: Entry, stored: str | None, settings: Settings) -> str:
    """The value in force: environment, else the stored value, else what this process runs with."""
    if entry.field is None:
        return entry.default if stored is None else stored
    if stored is not None and entry.field not in settings.explicit:
        return stored
    return shown(getattr(settings, entry.field))


def _put(state: State, entry: Entry, value: str, by: str) -> str | None:
    values = {
        "value": value, "value_type": entry.kind, "group_name": entry.group, "default_value": entry.default,
        "note": entry.note, "is_secret": int(entry.is_secret), "updated_by": by,
    }  # fmt: skip
    return write(state.writer, put, entry.key, values, stamp(state.system.local()))


router = area_router(f"{PREFIX}/datamgr/config", "datamgr: configuration")


@router.get("", response_model=list[ConfigItem])
async def config(
    call: Admin, group: Annotated[str | None, Query(max_length=32, description="only this group")] = None
) -> Answer:
    """The settings that may be stored, with the value in force."""
    stored = await call.state.reading.scan(stored_entries)
    return Answer(
        [
            _item(entry, stored.get(entry.key, {}), call.state.settings)
            for entry in allow_list().values()
            if group in {None, entry.group}
        ]
    )


@router.put("", response_model=ConfigChanged)
async def change(call: Admin, body: ConfigChange) -> Answer:
    """Store one setting."""
    state, entry = call.state, entry_of(body.key)
    if entry.field in state.settings.explicit:
        raise InputError("key", f"{entry.key} is fixed by the environment; change it there")
    parsed = entry.parse(body.value)
    before = await off_loop(_put, state, entry, parsed, call.member.username)
    values = {"value": parsed, "previous": in_force(entry, before, state.settings)}
    shown = dict.fromkeys(values, SECRET) if entry.is_secret else values
    restart = entry.needs_restart
    message = "已保存，重启后生效" if restart else "已保存"
    return Answer({"key": entry.key, **shown, "restartRequired": restart, "message": message})
