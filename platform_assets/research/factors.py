"""Codes whose factor of adjusted prices is provisional: the ledger of ex-rights has an open item of them."""

from collections.abc import Iterable, Mapping, Sequence

from core.days import moved
from core.declaration.registry import Registry

ITEMS = "ref_exright_item"
"""The ledger."""
Item = tuple[str, str, str | None, str | None]
"""Code, trade date, days on which it was opened and closed (None: it is open)."""
FINAL, PROVISIONAL = "final", "provisional"


def provisional_since(items: Iterable[Item], day: str | None) -> dict[str, str]:
    """Code with an item that is open, or that was at the end of a past day -> trade date of the first of
    them: values of the dates before it do not rest on it."""
    found: dict[str, str] = {}
    for code, date, opened, closed in items:
        if closed is None if day is None else str(opened) <= day and (closed is None or closed > day):
            found[code] = min(date, found.get(code, date))
    return found


def reached(since: Mapping[str, str], codes: Iterable[str], until: str | None, ahead: int = 0) -> set[str]:
    """Those of some codes whose factor is provisional on a day, or up to `ahead` days after it. None: on any
    day."""
    last = None if until is None else moved(until[:10], ahead)
    return {code for code in codes if code in since and (last is None or since[code] <= last)}


def is_adjusted(registry: Registry, table: str, columns: Sequence[str]) -> bool:
    """Whether adjusted prices are behind columns of a table."""
    return not registry.adjusted.get(table, frozenset()).isdisjoint(columns)


def days_ahead(registry: Registry, table: str) -> int:
    """For how many days after its own date a row of a table looks at adjusted prices, at most: what became
    of a pick or a deal."""
    dataset = registry.of_table(table)
    dates = max(dataset.revisits, dataset.late if dataset.later else 0)
    return 2 * dates + 10 if dates else 0  # a trade date is about a day and a half, and holidays take ten
