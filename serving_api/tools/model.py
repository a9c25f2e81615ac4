"""What a tool is and what it is called with."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.errors import Forbidden, InputError
from serving_api.db.adjusted_reads import noting
from serving_api.db.request_notes import taking_notes
from serving_api.framework.error_responses import NOT_LOGGED_IN, QUOTA_USED_UP, NotAuthenticated
from serving_api.framework.permissions import Subject
from serving_api.framework.provisional_factors import FACTOR
from serving_api.framework.renumbered_codes import KEY, renumbering_of, reported
from serving_api.framework.state import State
from serving_api.tools.answers import Draft, ToolAnswer, fitted

Progress = Callable[[float, float, str], Awaitable[None]]
"""(done, total, what was done): called between the steps of a longer call."""

MAX_OFFSET = 1_000_000


class Arguments(BaseModel):
    """Arguments of a tool; unknown names are refused."""

    model_config = ConfigDict(extra="forbid")


class Paged(Arguments):
    """Arguments of a tool whose answer may have several pages."""

    cursor: str | None = Field(
        default=None, max_length=16, description="`page.next_cursor` of the answer before"
    )

    @property
    def offset(self) -> int:
        """Number of items on earlier pages. Raises InputError."""
        if self.cursor is None:
            return 0
        if not self.cursor.isascii() or not self.cursor.isdigit() or int(self.cursor) > MAX_OFFSET:
            raise InputError("cursor", "is none that an answer gave; leave it out to begin")
        return int(self.cursor)


async def no_progress(done: float, total: float, what: str) -> None:
    """Ignores the progress."""


@dataclass(frozen=True)
class Call:
    """A running call."""

    state: State
    subject: Subject
    progress: Progress = no_progress


A = TypeVar("A", bound=Arguments)
R = TypeVar("R", bound=ToolAnswer)


@dataclass(frozen=True)
class Tool(Generic[A, R]):
    """One tool. `login`: it belongs to a user; `counted`: a call is one of the user's AI calls of the day;
    `open_world`: it may request an external source."""

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
        """Raises NotAuthenticated, or Forbidden when today's calls are used up."""
        if not self.login:
            return
        if subject.user is None:
            raise NotAuthenticated(NOT_LOGGED_IN)
        if self.counted and not state.members.quota_of(subject.user).allows_one_more:
            raise Forbidden(QUOTA_USED_UP)

    async def run(
        self, state: State, subject: Subject, arguments: Mapping[str, Any], progress: Progress = no_progress
    ) -> R:
        """The answer, cut to size and cleaned. Raises NotAuthenticated, Forbidden, InputError, and the
        errors of its reads (StorageError, Unavailable)."""
        await self.admit(state, subject)
        with taking_notes() as notes, noting() as reads:
            notes.renumbering = await renumbering_of(state)
            requested = self.read(arguments)
            if self.counted and not await state.members.count_call(subject.member):
                raise Forbidden(QUOTA_USED_UP)
            draft = await self.work(Call(state, subject, progress), requested)
            if notes.failure is not None and await state.versions.current():
                raise notes.failure
        draft.body[KEY] = reported(notes.changes.values()) or None
        draft.body[FACTOR[0]] = reads.factor
        return fitted(self.answer, draft)
