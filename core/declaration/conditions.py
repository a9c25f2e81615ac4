"""Conditions on the rows of a market window, which the warehouse and the published tables both evaluate.

All conditions of a window hold together. A null meets none of them, except `not_set`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Sign = Literal["=", ">", "in", "known", "not set"]


@dataclass(frozen=True)
class Condition:
    """A condition on one column; made by the functions below."""

    column: str
    sign: Sign
    value: Any = None


def equal(column: str, value: str | float) -> Condition:
    """The column holds this value; 0 or 1 for a flag."""
    return Condition(column, "=", value)


def above(column: str, value: float) -> Condition:
    """The column holds a greater number."""
    return Condition(column, ">", value)


def one_of(column: str, values: Iterable[str]) -> Condition:
    """The column holds one of these texts or days (ISO)."""
    return Condition(column, "in", tuple(values))


def known(column: str) -> Condition:
    """The column is not null."""
    return Condition(column, "known")


def not_set(column: str) -> Condition:
    """A flag is false or unknown."""
    return Condition(column, "not set")


def as_sql(conditions: Sequence[Condition], mark: str) -> tuple[str, tuple[Any, ...]]:
    """(conditions joined by AND, the values that their marks are bound to); '' for none."""
    clauses: list[str] = []
    values: list[Any] = []
    for one in conditions:
        match one.sign:
            case "known":
                clauses.append(f"{one.column} IS NOT NULL")
            case "not set":
                clauses.append(f"({one.column} IS NULL OR {one.column}=0)")
            case "in" if not one.value:
                clauses.append("1=0")  # MariaDB knows no empty list
            case "in":
                clauses.append(f"{one.column} IN ({', '.join(mark for _ in one.value)})")
                values += one.value
            case _:
                clauses.append(f"{one.column}{one.sign}{mark}")
                values.append(one.value)
    return " AND ".join(clauses), tuple(values)
