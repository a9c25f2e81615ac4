"""What `ashare lineage` does."""

import json
from typing import Any

from ashare.output import Output
from ashare.session import with_state
from core.errors import InputError
from serving_api.admin.lineage import service
from serving_api.framework.parameters import parse_as_of
from serving_api.framework.state import State


def run(
    out: Output, table: str, key: tuple[str, ...], column: str | None, payload: bool, as_of: str | None
) -> None:
    """Show the way of a row back to its sources."""

    async def walked(state: State) -> dict[str, Any]:
        instant = None if as_of is None else parse_as_of(as_of, state.clock.now()).bound
        return await service.lineage(state, table, _pairs(key), column=column, payload=payload, as_of=instant)

    found = with_state(walked)
    # The walk is a tree: its JSON is what a person reads, too.
    out.result(found, json.dumps(found, ensure_ascii=False, indent=2, default=str).splitlines())


def _pairs(key: tuple[str, ...]) -> list[tuple[str, str]]:
    pairs = [text.partition("=") for text in key]
    wrong = next((text for text, (_, sign, _value) in zip(key, pairs, strict=True) if not sign), None)
    if wrong is not None:
        raise InputError("key", f"{wrong[:64]!r} is not COLUMN=VALUE")
    return [(name, value) for name, _, value in pairs]
