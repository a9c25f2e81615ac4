"""Rows from records: which values, under which names, said in one text."""

from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any


@cache
def columns_by_key(columns: str) -> dict[str, str]:
    """Key in the answer -> column, of words `column`, `key=column`; a `!`, `?` or `*` behind a word says
    something about its type alone (`serving_api.framework.row_models.columns_of`)."""
    return dict(map(split_word, columns.split()))


def picked(row: object, columns: str, convert: Callable[[Any], Any] | None = None) -> dict[str, Any]:
    """A row from a stored one or another record: `columns` in the notation of `columns_by_key`, their values
    as `convert` gives them. Of an object these are attributes, `report.revenue` one of an attribute."""
    if isinstance(row, Mapping):
        found = {key: row[column] for key, column in columns_by_key(columns).items()}
    else:
        found = {key: value(row) for key, value in _attributes(columns).items()}
    return found if convert is None else {key: convert(value) for key, value in found.items()}


def split_word(word: str) -> tuple[str, str]:
    """(key, column) of one word."""
    key, _, column = word.rstrip("!?*").partition("=")
    return key, column or key


@cache
def _attributes(columns: str) -> dict[str, Callable[[object], Any]]:
    return {key: attrgetter(column) for key, column in columns_by_key(columns).items()}
