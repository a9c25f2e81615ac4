"""Which name a security had on which date: spans from former names and from names as they were seen.

Upstreams cut names at eight bytes, and one-day prefixes (XD, N ...) push more of them out: a name that
another one goes on from is the same name, cut. Pure Python and numpy.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.arrays import Bools, Floats
from core.market.names import is_delisting, is_st
from platform_assets.compute.asof import places_on

CUTTING = "tdx"
"""The source whose names have room for eight bytes."""


@dataclass(frozen=True)
class Seen:
    """A name shown on `day` (without one-day prefixes), up to `until` where its end is known."""

    day: str
    name: str
    src: str
    until: str | None = None


@dataclass(frozen=True)
class Span:
    """A name from `since` to `until`, both included; `until` None: it is the current one."""

    since: str
    until: str | None
    name: str
    src: str

    @property
    def is_st(self) -> bool:
        return is_st(self.name)


def spans_of(
    seen: Iterable[Seen], former: Sequence[tuple[str, str]] | None, trade_dates: Sequence[str]
) -> list[Span]:
    """All spans of one security, oldest first.

    `seen`: names as they were seen, in any order. `former`: (first day of the next name, old name), ascending
    and complete up to the newest day seen; () = it has had one name only, None = not known. With it, spans
    reach back to the first of `trade_dates`, and the name seen first after the last change began with that
    change. Without it, a name begins on the day it was first seen, and the days before are not covered.
    """
    ordered = sorted(seen, key=lambda one: one.day)
    if former is None:
        return _joined(ordered, trade_dates)
    start = trade_dates[0]
    reported: list[Seen] = []
    for following, name in former:
        cut = Seen(start, name, CUTTING, _before(following, trade_dates))
        spelled = (one for one in ordered if start <= one.day < following and _spells(one, cut))
        reported.append(next((replace(cut, name=one.name, src=one.src) for one in spelled), cut))
        start = following
    current = [one for one in ordered if one.day >= start]
    if current:
        current.insert(0, replace(current[0], day=start))
    return _joined([*reported, *current], trade_dates)


def _same_name(one: Seen, other: Seen) -> bool:
    """The same name, or one of the two cut short. A suffix like -U is gone only where names are cut."""
    short, long = sorted((one, other), key=lambda name: len(name.name))
    if short.name == long.name:
        return True
    if len(short.name) < 2 or not long.name.startswith(short.name):
        return False
    return short.src == CUTTING or long.name[len(short.name)] != "-"


def _spells(one: Seen, other: Seen) -> bool:
    """The same name, at least as full."""
    return len(one.name) >= len(other.name) and _same_name(one, other)


def _joined(ordered: Sequence[Seen], trade_dates: Sequence[str]) -> list[Span]:
    """One span per name, in its fullest spelling."""
    names: list[Seen] = []
    for one in ordered:
        last = names[-1] if names else None
        if last is not None and _same_name(last, one):
            spelling = one if len(one.name) > len(last.name) else last
            names[-1] = replace(spelling, day=last.day, until=one.until)
        elif last is not None and last.day == one.day:
            names[-1] = one
        else:
            names.append(one)
    spans = [Span(one.day, one.until, one.name, one.src) for one in names]
    for at, following in enumerate(names[1:]):
        end = _before(following.day, trade_dates)
        spans[at] = replace(spans[at], until=min(end, spans[at].until or end))
    return spans


def _before(day: str, trade_dates: Sequence[str]) -> str:
    """The newest trade date before `day`."""
    return trade_dates[max(bisect_left(trade_dates, day) - 1, 0)]


# -- look-ups ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Named:
    """Names and states of rows by the spans, NaN where no span covers a row. `special`: 1 special
    treatment, 0 none; `delisting_began`: the first day under the name of a delisting period."""

    name: npt.NDArray[np.object_]
    special: Floats
    delisting_began: Bools


def named(rows: pd.DataFrame, spans: pd.DataFrame) -> Named:
    """`rows`: code, date; `spans`: code, valid_from, valid_to, name, is_st."""
    ordered = spans.sort_values(["code", "valid_from"]).reset_index(drop=True)
    if ordered.empty:
        nothing = np.full(len(rows), np.nan)
        return Named(nothing.astype(object), nothing, np.zeros(len(rows), dtype=bool))
    at = places_on(rows, ordered, "valid_from")
    place = np.maximum(at, 0)
    days = rows["date"].to_numpy(dtype=str)
    ends = ordered["valid_to"].fillna("9999-12-31").to_numpy(dtype=str)[place]
    known = (at >= 0) & (days <= ends)
    names = np.where(known, ordered["name"].to_numpy(dtype=object)[place], np.nan)
    special = ordered["is_st"].to_numpy(dtype="float64", na_value=np.nan)[place]
    # A name whose begin was not seen may have begun earlier.
    follows = (ordered["code"] == ordered["code"].shift()).to_numpy()[place]
    began = known & follows & (days == ordered["valid_from"].to_numpy(dtype=str)[place])
    leaving = np.zeros(len(rows), dtype=bool)
    leaving[began] = [is_delisting(str(name)) for name in names[began]]
    return Named(names, np.where(known, special, np.nan), leaving)
