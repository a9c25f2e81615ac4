"""What a request, or a call of a tool, asked for: what its answer says about itself beside its content."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from core.errors import InputError, StorageError
from core.market.renumbering import CodeChange, Renumbering
from core.market.symbols import dataset_code, security_code

_CURRENT: ContextVar["RequestNotes | None"] = ContextVar("request_notes", default=None)


@dataclass
class RequestNotes:
    """`codes`: as they are read, in their order; `changes`: of those that were given as a former code;
    `failure`: of a read of the database that an empty structure stands in for."""

    renumbering: Renumbering = field(default_factory=lambda: Renumbering((), None, ""))
    codes: dict[str, None] = field(default_factory=dict)
    changes: dict[str, CodeChange] = field(default_factory=dict)
    failure: StorageError | None = None


def take_notes() -> RequestNotes:
    """The notes of this task from now on, of its threads and of the stream that it may answer with."""
    made = RequestNotes()
    _CURRENT.set(made)
    return made


@contextmanager
def taking_notes() -> Iterator[RequestNotes]:
    """The notes of what runs inside, apart from those of the request around it."""
    before = _CURRENT.get()
    try:
        yield take_notes()
    finally:
        _CURRENT.set(before)


def note_failure(error: StorageError) -> None:
    """A read of this request failed, and something empty stands in for it."""
    notes = _CURRENT.get()
    if notes is not None:
        notes.failure = error


def written_code(text: str) -> str:
    """The code that a notation names, former ones as they are. Raises ValueError as `current_code`."""
    try:
        return dataset_code(text)
    except InputError as error:
        raise ValueError(error.problem) from None


def current_security(text: str) -> str:
    """`current_code` of six digits; ValueError for an index, and for anything that is no code."""
    try:
        return current_code(security_code(text))
    except InputError as error:
        raise ValueError(error.problem) from None


def current_code(text: str) -> str:
    """The code of today of what a notation names (`symbols.dataset_code`); every code of a request comes
    through here. Raises ValueError for a number of Beijing that was replaced by an unknown one, and for one
    that its market does not have. Outside of a request no code is a former one."""
    code = written_code(text)
    notes = _CURRENT.get()
    if notes is None:
        return code
    change = notes.renumbering.of(code)
    if change is not None:
        notes.changes[code] = change
        code = change.new_code
    notes.codes[code] = None
    return code
