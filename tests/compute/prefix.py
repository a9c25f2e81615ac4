"""Does a calculation look ahead? Its value of a day from the bars up to that day must be its value from all
of them. Any function of `Bars` can be asked: indicators, patterns, factors, scores."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, replace
from typing import NamedTuple

import numpy as np

from core.arrays import Ints
from core.market.bars import Bars

Columns = Mapping[str, np.ndarray]


class Mismatch(NamedTuple):
    code: str
    date: int
    column: str
    of_prefix: object
    of_all: object


def mismatches(
    compute: Callable[[Bars], Columns],
    bars: Bars,
    *,
    last: Callable[[Bars], Columns] | None = None,
    since: int = 320,
    every: int = 1,
    exact: Collection[str] = (),
    relative: float = 1e-9,
    at_once: int = 400_000,
) -> list[Mismatch]:
    """Where a column differs between the bars up to a day and all bars of a code.

    `compute`: column -> values [rows of the bars]. `last`: the same for the newest row of each code only
    (default: the newest rows of `compute`). Looked at is every `every`-th bar of each code from the one that
    has `since` bars with it. Numbers may differ by `relative` (of the larger; that much absolutely below 1),
    text, integers and the columns `exact` not at all. `at_once` bounds the bars of a call.
    """
    whole = compute(bars)
    newest = last or (lambda some: {name: column[some.last_rows] for name, column in compute(some).items()})
    found: list[Mismatch] = []
    for ends in _batches(bars, since, every, at_once):
        of_prefixes = newest(_prefixes(bars, ends))
        assert set(of_prefixes) <= set(whole)
        for name, values in of_prefixes.items():
            of_all = np.asarray(whole[name])[ends]
            differ = ~_equal(np.asarray(values), of_all, 0.0 if name in exact else relative)
            found += [
                Mismatch(
                    bars.codes[bars.owner[ends[at]]], int(bars.date[ends[at]]), name, values[at], of_all[at]
                )
                for at in np.nonzero(differ)[0]
            ]
    return found


def _batches(bars: Bars, since: int, every: int, at_once: int) -> list[Ints]:
    """Rows to look at, in groups whose prefixes have at most `at_once` bars together (or one row)."""
    ends = np.concatenate(
        [np.arange(a + since - 1, b, every) for a, b in zip(bars.offsets[:-1], bars.offsets[1:], strict=True)]
        or [np.zeros(0, dtype=np.int64)]
    ).astype(np.int64)
    lengths = ends - bars.offsets[bars.owner[ends]] + 1
    groups = (np.cumsum(lengths) - 1) // at_once
    return [ends[groups == group] for group in np.unique(groups)]


def _prefixes(bars: Bars, ends: Ints) -> Bars:
    """The bars up to each of some rows, each as a code of its own."""
    starts = bars.offsets[bars.owner[ends]]
    lengths = ends - starts + 1
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    rows = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - starts, lengths)
    columns = {one.name: getattr(bars, one.name)[rows] for one in fields(bars) if one.name not in _SHAPE}
    return replace(bars, codes=tuple(str(row) for row in ends.tolist()), offsets=offsets, **columns)


def _equal(one: np.ndarray, other: np.ndarray, relative: float) -> np.ndarray:
    if one.dtype.kind != "f" or other.dtype.kind != "f" or relative == 0.0:
        return (one == other) | ((one != one) & (other != other))
    near = np.abs(one - other) <= relative * np.maximum(1.0, np.maximum(np.abs(one), np.abs(other)))
    return near | (np.isnan(one) & np.isnan(other))


_SHAPE = ("codes", "offsets")
