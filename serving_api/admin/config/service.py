"""Stored settings: the values in force, and changes within the allow-list."""

from collections.abc import Mapping
from typing import Any

from core.clock import stamp
from core.errors import InputError
from resources.settings import Settings
from resources.warehouse.engine import transaction
from serving_api.admin.config import queries
from serving_api.admin.config.entries import Entry, allow_list, entry_of, shown
from serving_api.admin.shared import instant, off_loop
from serving_api.framework.state import State

SECRET = "***"  # noqa: S105  what is shown instead of one


async def config(state: State, group: str | None) -> list[dict[str, Any]]:
    """[ConfigItem] in the order of the allow-list."""
    stored = await state.reading.scan(queries.stored)
    return [
        _item(entry, stored.get(entry.key, {}), state.settings)
        for entry in allow_list().values()
        if group in {None, entry.group}
    ]


def _item(entry: Entry, row: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    value = in_force(entry, row.get("value"), settings)
    return {
        "key": entry.key,
        "value": SECRET if entry.is_secret else value,
        "valueType": entry.kind,
        "group": entry.group,
        "default": SECRET if entry.is_secret else entry.default,
        "note": entry.note,
        "isSecret": entry.is_secret,
        "updatedAt": instant(row.get("updated_at")),
    }


def in_force(entry: Entry, stored: str | None, settings: Settings) -> str:
    """The value in force: environment, else the stored value, else what this process runs with."""
    if entry.field is None:
        return entry.default if stored is None else stored
    if stored is not None and entry.field not in settings.explicit:
        return stored
    return shown(getattr(settings, entry.field))


async def change(state: State, key: str, value: str, by: str) -> dict[str, Any]:
    """Store a value. Raises InputError: key not in the allow-list or fixed by the environment, value of
    another type or out of range."""
    entry = entry_of(key)
    if entry.field in state.settings.explicit:
        raise InputError("key", f"{key} is fixed by the environment; change it there")
    parsed = entry.parse(value)
    before = await off_loop(_put, state, entry, parsed, by)
    previous = in_force(entry, before, state.settings)
    restart = entry.needs_restart
    return {
        "key": key,
        "value": SECRET if entry.is_secret else parsed,
        "previous": SECRET if entry.is_secret else previous,
        "restartRequired": restart,
        "message": "已保存，重启后生效" if restart else "已保存",
    }


def _put(state: State, entry: Entry, value: str, by: str) -> str | None:
    values = {
        "value": value,
        "value_type": entry.kind,
        "group_name": entry.group,
        "is_secret": int(entry.is_secret),
        "default_value": entry.default,
        "note": entry.note,
        "updated_by": by,
    }
    with transaction(state.writer.engine) as connection:
        return queries.put(connection, state.writer.sql, entry.key, values, stamp(state.system.local()))
