"""The parts that every tool's answer has, and the draft that it is cut from."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, Field

from serving_api.framework.envelope import DISCLAIMER, local_iso


class Receipts(BaseModel):
    """Where an answer comes from. `batch_ids` of a stored table are the batches of the rows shown, or the
    newest batch of the table where a row carries none; a live read has none, it is not stored yet."""

    as_of: str | None = Field(description="ISO 8601 with offset: the newest data behind the answer")
    sources: list[str] = Field(description="tables that were read, or live sources that answered")
    batch_ids: list[str] = Field(description="batches that wrote what is shown; see /datamgr/batches/{id}")
    live: bool = Field(description="whether a source outside was asked, now or moments ago")


class Page(BaseModel):
    """How much of the answer this is."""

    returned: int = Field(description="items in this answer")
    total: int | None = Field(default=None, description="items in all; null where that is not known")
    next_cursor: str | None = Field(
        default=None, description="give it as `cursor`, all else unchanged, for the items that follow"
    )
    how: str | None = Field(default=None, description="how to get what is left out; null: nothing is")


class ToolAnswer(BaseModel):
    """Parts of every answer; each tool adds its own."""

    items: list[Any]
    receipts: Receipts
    page: Page
    notice: str | None = Field(default=None, description="how the texts of this answer must be taken")
    disclaimer: str = DISCLAIMER


@dataclass
class Draft:
    """What a tool found, before it is cut to size. `items` are all that follow the cursor, as far as they
    were read; `more`: there are others behind them; `body`: the tool's own keys."""

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
    """How to get what does not fit, of a tool whose answers have no further parts."""

    @classmethod
    def part_of(cls, rows: Sequence[Any], offset: int, limit: int, **reported: Any) -> Self:
        """`limit` of all the rows from `offset` on; `told` are fields of the draft."""
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
