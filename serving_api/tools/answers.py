"""The parts that every tool's answer has, and the draft that it is cut from."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, Field

from serving_api.framework.envelope import DISCLAIMER, local_iso


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
        at = local_iso(self.as_of) if isinstance(self.as_of, datetime) else self.as_of
        return Receipts(
            as_of=at,
            sources=list(dict.fromkeys(self.sources)),
            batch_ids=list(dict.fromkeys(self.batch_ids))[:20],
            live=self.live,
        )
