"""The parts that every answer of a tool has: items, receipts, a page of at most 25 kB; and their draft."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Self, TypeVar

import orjson
from pydantic import BaseModel, Field

from core.clock import local_iso
from serving_api.framework.envelope import DISCLAIMER
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.live.clients import ORIGIN, Answered
from serving_api.live.data_types import Found
from serving_api.tools import queries
from serving_api.tools.cleaning import clean


class Receipts(BaseModel):
    """The origin of an answer. `batch_ids` of a stored table are the batches of the shown rows, or the
    newest batch of the table when rows carry none; a live read has none, since it is not stored yet."""

    as_of: str | None = Field(description="ISO 8601 with offset: the newest data behind the answer")
    sources: list[str] = Field(description="tables that were read, or live sources that answered")
    batch_ids: list[str] = Field(description="batches that wrote the shown rows; see /datamgr/batches/{id}")
    live: bool = Field(description="whether an external source was asked, now or moments ago")


class Page(BaseModel):
    """Which part of the whole result the answer holds."""

    returned: int = Field(description="items in this answer")
    total: int | None = Field(default=None, description="items in all; null when unknown")
    next_cursor: str | None = Field(
        default=None,
        description="pass it as `cursor`, with all other arguments unchanged, for the following items",
    )
    how: str | None = Field(default=None, description="how to get the rest; null: nothing is left out")


class ToolAnswer(BaseModel):
    """Fields of every answer; each tool adds its own."""

    items: list[Any]
    receipts: Receipts
    page: Page
    notice: str | None = Field(default=None, description="how the texts of this answer have to be treated")
    renumbered: list[dict[str, str | None]] | None = Field(
        default=None, description="codes that were given as a former one: {from, to, date}"
    )
    factor: Literal["provisional", "final"] | None = Field(
        default=None,
        description=(
            "provisional: adjusted prices behind a value rest on a quoted ratio, since no source has the "
            "ex-right event yet; null: no adjusted price is behind any value"
        ),
    )
    disclaimer: str = DISCLAIMER


@dataclass
class Draft:
    """The result of a tool before it is cut to size. `items` are the items from the cursor on that were
    read; `more`: there are others after them; `body`: the tool's own keys."""

    items: Sequence[Any]
    offset: int = 0
    total: int | None = None
    more: bool = False
    body: dict[str, Any] = field(default_factory=dict)
    sources: Sequence[str] = ()
    batch_ids: Sequence[str] = ()
    as_of: str | datetime | None = None
    live: bool = False
    notice: str | None = None
    rest: str | None = None
    """How to get the rest, for a tool whose answers have no pages."""

    @classmethod
    def part_of(cls, rows: Sequence[Any], offset: int, limit: int, **reported: Any) -> Self:
        """`limit` of all the rows from `offset` on; `reported` are further fields of the draft."""
        last = offset + limit
        return cls(rows[offset:last], offset, len(rows), last < len(rows), **reported)

    def receipts(self) -> Receipts:
        return Receipts(
            as_of=local_iso(self.as_of) if isinstance(self.as_of, datetime) else self.as_of,
            sources=list(dict.fromkeys(self.sources)),
            batch_ids=list(dict.fromkeys(self.batch_ids))[:20],
            live=self.live,
        )


MAX_BYTES = 25_000
_ROOM = 400
"""Bytes reserved for the text about the rest."""
HOW = "更多内容：以 page.next_cursor 作为 cursor 再次调用，其余参数不变；或减小 limit、缩小范围"
TOO_LARGE = "单项超过 25 kB，已省略：请减小 limit、periods 或 days，或用 fields 指定列"

R = TypeVar("R", bound=ToolAnswer)


def text_of(answer: ToolAnswer) -> str:
    """The JSON text of an answer."""
    return orjson.dumps(answer.model_dump(mode="json")).decode()


def fitted(kind: type[R], draft: Draft) -> R:
    """As many items as fit, in their order. An item that is too large by itself is replaced by a remark."""
    body: dict[str, Any] = clean(draft.body)
    parts: dict[str, Any] = {"receipts": draft.receipts(), "notice": draft.notice, **body}
    # As they are sent, with the fields that the models add.
    whole = kind(items=clean(list(draft.items)), page=Page(returned=0), **parts).model_dump(mode="json")
    items: list[Any] = whole.pop("items")
    room = MAX_BYTES - _ROOM - len(orjson.dumps(whole))
    kept: list[Any] = []
    how = HOW if draft.more else None
    for item in items:
        size = len(orjson.dumps(item)) + 1
        if size > room and not kept:
            kept.append({"omitted_bytes": size, "why": TOO_LARGE})
            how = TOO_LARGE
            room = 0
            continue
        if size > room:
            how = how or draft.rest or HOW
            break
        kept.append(item)
        room -= size
    reached = draft.offset + len(kept)
    is_cut = len(kept) < len(items) or draft.more
    page = Page(
        returned=len(kept),
        total=draft.total if draft.total is not None else (None if is_cut else reached),
        next_cursor=str(reached) if is_cut and draft.rest is None else None,
        how=how,
    )
    return kind(items=kept, page=page, **parts)


OUTSIDE = frozenset(ORIGIN.values())
"""Sources that are not our tables."""


async def of_tables(state: State, tables: Sequence[str]) -> dict[str, Any]:
    """Fields of a `Draft`: the tables with rows, their newest batches, the newest time."""
    rows = await read_or([], state.reading.point(queries.last_batches, tuple(tables))) if tables else []
    times = [at for _, _, at in rows if at]
    return {
        "sources": [name for name, _, _ in rows],
        "batch_ids": [batch for _, batch, _ in rows if batch],
        "as_of": local_iso(datetime.fromisoformat(max(times))) if times else None,
    }


async def of_live(state: State, *answers: Answered | Found) -> dict[str, Any]:
    """Receipts of live reads; a stored table may have answered instead of an external source."""
    sources = [one.origin for one in answers if one.origin is not None]
    reported = await of_tables(state, [name for name in sources if name not in OUTSIDE])
    newest = max((one.at for one in answers if one.at is not None), default=None)
    is_live = any(name in OUTSIDE for name in sources)
    return {"sources": sources, "batch_ids": reported["batch_ids"], "as_of": newest, "live": is_live}
