"""How many upstream calls a load from one source takes, by the limits of that upstream.

It is declared beside the function that makes the calls, so that a plan prices what a load would do.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any

from core.declaration.scope import Scope

Number = Callable[[Any, Scope, int], int]
"""Gets the fetch context, what is loaded, and how many securities that is; the calls."""


@dataclass(frozen=True)
class Calls:
    """`number` of calls, and the family that their pauses are those of (empty: that of the source's name)."""

    number: Number
    family: str = ""


def one_each(_ctx: Any, _scope: Scope, codes: int) -> int:
    """A call brings all of one security."""
    return codes


def one_for_all(_ctx: Any, _scope: Scope, _codes: int) -> int:
    """A call brings the market."""
    return 1


def groups_of(size: int) -> Number:
    """A call brings so many securities."""
    return lambda _ctx, _scope, codes: ceil(codes / size)


def pages_of(dates: int) -> Number:
    """A call brings so many trade dates of one security, counted back from the newest one."""
    return lambda ctx, scope, codes: (
        codes * ceil((len(ctx.calendar.between(scope.since, ctx.today)) + 1) / dates)
    )
