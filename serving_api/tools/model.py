"""What a tool is, what it is called with, and the parts that every answer has."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from core.errors import Forbidden, InputError
from serving_api.framework.envelope import DISCLAIMER, local_iso
from serving_api.framework.error_responses import NOT_LOGGED_IN, QUOTA_USED_UP, NotAuthenticated
from serving_api.framework.permissions import Subject
from serving_api.framework.state import State

Code = Annotated[str, StringConstraints(pattern=r"^[0-9]{6}$")]
Progress = Callable[[float, float, str], Awaitable[None]]
"""(done, of how much, what was done): called between the parts of a longer call."""

MAX_OFFSET = 1_000_000


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


class Arguments(BaseModel):
    """Arguments of a tool; a name that it does not have is refused."""

    model_config = ConfigDict(extra="forbid")


class Paged(Arguments):
    """Arguments of a tool whose answer may have more parts."""

    cursor: str | None = Field(
        default=None, max_length=16, description="`page.next_cursor` of the answer before"
    )

    @property
    def offset(self) -> int:
        """How many items were told before. Raises InputError."""
        if self.cursor is None:
            return 0
        if not self.cursor.isascii() or not self.cursor.isdigit() or int(self.cursor) > MAX_OFFSET:
            raise InputError("cursor", "is none that an answer gave; leave it out to begin")
        return int(self.cursor)


async def nothing_told(done: float, total: float, what: str) -> None:
    """Nobody wants to hear of progress."""


@dataclass(frozen=True)
class Call:
    """One call under way."""

    state: State
    subject: Subject
    progress: Progress = nothing_told


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


A = TypeVar("A", bound=Arguments)
R = TypeVar("R", bound=ToolAnswer)


@dataclass(frozen=True)
class Tool(Generic[A, R]):
    """One tool. `login`: it belongs to a user; `counted`: a call is one of the user's AI calls of the day;
    `open_world`: it may ask a source outside."""

    name: str
    title: str
    description: str
    arguments: type[A]
    answer: type[R]
    work: Callable[[Call, A], Awaitable[Draft]]
    login: bool = False
    counted: bool = False
    open_world: bool = False

    @property
    def input_schema(self) -> dict[str, Any]:
        return self.arguments.model_json_schema()

    @property
    def output_schema(self) -> dict[str, Any]:
        return self.answer.model_json_schema(mode="serialization")

    def read(self, given: Mapping[str, Any]) -> A:
        """Raises InputError that names the argument."""
        try:
            return self.arguments.model_validate(dict(given))
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            name = ".".join(str(part) for part in first["loc"])[:64] or "arguments"
            problem = str(first["msg"]).removeprefix("Value error, ")
            if first["type"] == "extra_forbidden":
                known = ", ".join(self.arguments.model_fields) or "(none)"
                problem = f"is no argument of {self.name}; it has {known}"
            raise InputError(name, problem) from None

    async def admit(self, state: State, subject: Subject) -> None:
        """Raises NotAuthenticated, or Forbidden where today's calls are used up."""
        if not self.login:
            return
        if subject.user is None:
            raise NotAuthenticated(NOT_LOGGED_IN)
        if self.counted and not state.accounts.quota_of(subject.user).allows_one_more:
            raise Forbidden(QUOTA_USED_UP)

    async def run(
        self, state: State, subject: Subject, arguments: Mapping[str, Any], progress: Progress = nothing_told
    ) -> R:
        """The answer, cut to size and cleaned. Raises NotAuthenticated, Forbidden, InputError, and what its
        readers raise (StorageError, Unavailable)."""
        await self.admit(state, subject)
        requested = self.read(arguments)
        if self.counted and not await state.accounts.count_call(subject.member):
            raise Forbidden(QUOTA_USED_UP)
        draft = await self.work(Call(state, subject, progress), requested)
        return finished(self.answer, draft)


def finished(kind: type[R], draft: Draft) -> R:
    """The answer of a draft."""
    from serving_api.tools.size import fitted

    return fitted(kind, draft)
