"""The skills of this deployment: shipped ones, their switches, and installed ones."""

from collections.abc import Callable, Sequence

from pydantic import ValidationError
from sqlalchemy.engine import Connection

from core.clock import stamp
from core.declaration.registry import builtin_registry
from core.errors import ConflictError, InputError, NotFound
from resources.warehouse.engine import transaction
from resources.warehouse.table_versions import claim_version
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop
from serving_api.skills import queries
from serving_api.skills.definitions import Definition, shipped
from serving_api.skills.matching import MOST_SKILLS, best

MOST_INSTALLED = 50


class Skill(Definition):
    """A skill with its state in this deployment."""

    builtin: bool


class Skills:
    """Reads and changes; the state is stored in the database, so all API processes agree."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def all(self) -> list[Skill]:
        """Shipped skills in the order of their keys, then installed ones. Without a database the shipped
        ones with their default state."""
        return _all(await read_or({}, self._state.reading.point(queries.changes)))

    async def matching(self, text: str, requested: Sequence[str] = ()) -> list[Skill]:
        """At most three for an input: those of `wanted` first (keys that the caller names), then by score;
        only skills that are switched on."""
        on = [skill for skill in await self.all() if skill.enabled]
        by_key = {skill.key: skill for skill in on}
        chosen = [by_key[key] for key in dict.fromkeys(requested) if key in by_key]
        chosen += [skill for skill, _ in best(on, text) if skill not in chosen]
        return chosen[:MOST_SKILLS]

    async def install(self, definition: Definition, by: str) -> None:
        """Raises InputError (an unknown interface, too many installed), ConflictError (the key is taken)."""
        known = builtin_registry().interfaces
        unknown = next((name for name in definition.reads if name not in known), None)
        if unknown is not None:
            raise InputError("definition.reads", f"{unknown} is no interface of the catalog")

        def write(connection: Connection, rows: dict[str, queries.Row]) -> None:
            if definition.key in shipped() or definition.key in rows:
                raise ConflictError(f"技能 {definition.key} 已存在")
            if sum(text is not None for _, text in rows.values()) >= MOST_INSTALLED:
                raise InputError("definition", f"at most {MOST_INSTALLED} skills are installed")
            values = {"enabled": int(definition.enabled), "definition_json": definition.model_dump_json()}
            self._put(connection, definition.key, values, by)

        await off_loop(self._changed, write)

    async def uninstall(self, key: str) -> None:
        """Raises NotFound, ConflictError (a shipped one can only be switched off)."""

        def write(connection: Connection, rows: dict[str, queries.Row]) -> None:
            if key in shipped():
                raise ConflictError(f"内置技能 {key} 不能卸载，只能停用")
            if key not in rows:
                raise NotFound(f"没有技能 {key}")
            queries.remove(connection, self._state.writer.sql, key)

        await off_loop(self._changed, write)

    async def toggle(self, key: str, enabled: bool, by: str) -> None:
        """Raises NotFound."""

        def write(connection: Connection, rows: dict[str, queries.Row]) -> None:
            if key not in shipped() and key not in rows:
                raise NotFound(f"没有技能 {key}")
            self._put(connection, key, {"enabled": int(enabled)}, by)

        await off_loop(self._changed, write)

    def _changed(self, write: Callable[[Connection, dict[str, queries.Row]], None]) -> None:
        writer = self._state.writer
        with transaction(writer.engine) as connection:
            claim_version(writer.sql, connection, writer.table(queries.TABLE))
            write(connection, queries.stored_to_change(connection, writer.sql))

    def _put(self, connection: Connection, key: str, values: dict[str, object], by: str) -> None:
        now = stamp(self._state.system.local())
        queries.put(connection, self._state.writer.sql, key, {**values, "updated_by": by}, now)


def _all(rows: dict[str, queries.Row]) -> list[Skill]:
    found = [
        _skill(one, rows[key][0] if key in rows else one.enabled, builtin=True)
        for key, one in shipped().items()
    ]
    for key, (on, text) in sorted(rows.items()):
        if text is None or key in shipped():
            continue
        try:
            found.append(_skill(Definition.model_validate_json(text), on, builtin=False))
        except ValidationError:
            continue  # written by another version of the platform: it can be uninstalled and installed again
    return found


def _skill(one: Definition, enabled: bool, *, builtin: bool) -> Skill:
    return Skill.model_construct(**{**dict(one), "enabled": enabled, "builtin": builtin})


def prompt_block(skills: Sequence[Skill]) -> str:
    """The part of a system prompt with these skills; empty without any."""
    if not skills:
        return ""
    parts = [f"【{skill.name}】\n{skill.text}" for skill in skills]
    return "本次适用的分析方法（只是方法，不含数据）：\n\n" + "\n\n".join(parts)
