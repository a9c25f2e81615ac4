"""Codes whose factor of adjusted prices is provisional: the ledger of ex-rights has an open item of them."""

from collections.abc import Iterable, Sequence

from core.declaration.registry import Registry

ITEMS = "ref_exright_item"
"""The ledger."""
Span = tuple[str, str | None, str | None]
"""Code, days on which an item was opened and closed (None: it is open)."""
FINAL, PROVISIONAL = "final", "provisional"


def provisional_codes(items: Iterable[Span], day: str | None) -> frozenset[str]:
    """Codes with an item that is open, or that was at the end of a past day."""
    return frozenset(
        code
        for code, opened, closed in items
        if (closed is None if day is None else str(opened) <= day and (closed is None or closed > day))
    )


def is_adjusted(registry: Registry, table: str, columns: Sequence[str]) -> bool:
    """Whether adjusted prices are behind columns of a table."""
    return not registry.adjusted.get(table, frozenset()).isdisjoint(columns)
