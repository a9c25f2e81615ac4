"""Rejected rows within an accepted answer.

A parser leaves such a row out and notes the reason; its caller stores the reasons with the record of the
response (`Fetch.rejected`), and the batch shows them. An answer of which more than `ODD_SHARE` is rejected is
refused as a whole, because its format must have changed. So is one with two rows in another unit: a unit
belongs to a board or to an answer, never to a single row. A row whose key came before is left out as well:
an identical one counts once and is no odd row, and of two that contradict each other the first stays.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from core.arrays import Bools
from core.errors import PayloadError, WrongUnit

R = TypeVar("R")
T = TypeVar("T")

ODD_SHARE = 0.1
"""Share of the rows of one answer that may be odd; a single odd row among others always may."""

Rejection = tuple[str, str]
"""The row (its code, or its place where it states none) and why it was left out."""

_noted: ContextVar[list[Rejection] | None] = ContextVar("rejected_rows", default=None)


@contextmanager
def noting() -> Iterator[list[Rejection]]:
    """Collects the rejections of the parser that runs within."""
    found: list[Rejection] = []
    token = _noted.set(found)
    try:
        yield found
    finally:
        _noted.reset(token)


def note(odd: Sequence[Rejection]) -> None:
    """Adds rejections to those that are being collected."""
    noted = _noted.get()
    if noted is not None:
        noted += odd


class Odd(list[Rejection]):
    """What was left out so far; `units`: how many for their unit."""

    units = 0

    def add(self, item: str, error: PayloadError | ValueError) -> None:
        self.append((item, str(error)))
        self.units += isinstance(error, WrongUnit)


def reject(odd: Sequence[Rejection], rows: int, what: str) -> None:
    """Notes the `odd` ones of `rows` rows. PayloadError when they are all, more than the share, or two in
    another unit."""
    if not odd:
        return
    if isinstance(odd, Odd) and odd.units > 1:
        item, reason = odd[0]
        raise PayloadError(f"{what}: {odd.units} of {rows} rows are in another unit; {item}: {reason}")
    if len(odd) == rows or len(odd) > max(1, int(ODD_SHARE * rows)):
        item, reason = odd[0]
        message = reason if rows == 1 else f"{len(odd)} of {rows} rows fail validation; {item}: {reason}"
        raise PayloadError(f"{what}: {message}" if rows > 1 else message)
    note(odd)


def accepted_table(
    raws: Sequence[R], read: Callable[[Sequence[R]], T], what: str, item: Callable[[R], object]
) -> T:
    """`read` of all rows; where it raises PayloadError, of those rows that it accepts one by one."""
    try:
        return read(raws)
    except PayloadError:
        most = max(1, int(ODD_SHARE * len(raws)))
        odd = Odd()
        good = _good(raws, 0, read, item, odd, most)
        reject(odd, len(raws), what)
        return read(good)


def _good(
    raws: Sequence[R],
    first: int,
    read: Callable[[Sequence[R]], Any],
    item: Callable[[R], object],
    odd: Odd,
    most: int,
) -> Sequence[R]:
    """The rows that `read` accepts, found by halving; stops once too many are rejected."""
    if not raws or len(odd) > most:
        return []
    try:
        read(raws)
    except PayloadError as error:
        if len(raws) == 1:
            odd.add(_name(item(raws[0]), first), error)
            return []
        half = len(raws) // 2
        before = _good(raws[:half], first, read, item, odd, most)
        return [*before, *_good(raws[half:], first + half, read, item, odd, most)]
    return raws


def named_by(*names: str) -> Callable[[Any], object]:
    """What a row, if it is an object, says that it is of: the first of these fields that it has."""

    def of(row: Any) -> object:
        return next((row[name] for name in names if name in row), None) if isinstance(row, dict) else None

    return of


def _name(stated: object, at: int) -> str:
    return stated if isinstance(stated, str) and stated else f"row {at + 1}"


def accepted_rows(
    raws: Sequence[R], read: Callable[[R], T], what: str, item: Callable[[R], object]
) -> list[T]:
    """`read` of every row; one for which it raises PayloadError is left out and noted under `item`. A row of
    which it makes None (a sum, another kind of security) counts neither way."""
    made: list[T] = []
    odd = Odd()
    for at, raw in enumerate(raws):
        try:
            made.append(read(raw))
        except PayloadError as error:
            odd.add(_name(item(raw), at), error)
    reject(odd, sum(row is not None for row in made) + len(odd), what)
    return made


def once_each(rows: pd.DataFrame, key: Sequence[str], what: str) -> pd.DataFrame:
    """The rows without those whose `key` came before, which are noted. PayloadError when rows that contradict
    an earlier one are more than the share, or when identical ones are more than half of the others: then the
    answer as a whole came twice."""
    again = rows.duplicated(list(key)).to_numpy()
    if not again.any():
        return rows
    same = again & rows.astype(object).where(rows.notna(), None).astype(str).duplicated().to_numpy()
    title, fields = f"{what}: rows that came twice", ", ".join(key)
    repeated = _named(rows, same, key, f"repeats an earlier row with the same {fields}")
    if len(repeated) > max(1, (len(rows) - len(repeated)) // 2):
        raise PayloadError(f"{title}: {len(repeated)} of {len(rows)}; {': '.join(repeated[0])}")
    note(repeated)
    reason = f"contradicts an earlier row with the same {fields}"
    return set_aside(rows[~same], again[~same], reason, title, key).reset_index(drop=True)


def set_aside(
    rows: pd.DataFrame,
    odd: Sequence[bool] | Bools,
    reasons: Sequence[str] | str,
    what: str,
    key: Sequence[str],
) -> pd.DataFrame:
    """The rows without the `odd` ones, which are noted under their code, or their key, with the reason of
    each row. PayloadError when they are more than the share."""
    mask = np.asarray(odd, dtype=bool)
    if not mask.any():
        return rows
    reject(_named(rows, mask, key, reasons), len(rows), what)
    return rows[~mask].reset_index(drop=True)


def _named(
    rows: pd.DataFrame, mask: Bools, key: Sequence[str], reasons: Sequence[str] | str
) -> list[Rejection]:
    """Rejections of the rows of the mask."""
    texts = [reasons] * len(rows) if isinstance(reasons, str) else reasons
    names = rows[["code"] if "code" in rows.columns else list(key)].astype(str)
    return [
        (" ".join(name), text)
        for name, text, wrong in zip(names.itertuples(index=False), texts, mask, strict=True)
        if wrong
    ]
