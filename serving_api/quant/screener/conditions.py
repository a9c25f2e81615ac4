"""Converts a list of conditions, as a form sends it, to a query."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from core.errors import InputError
from platform_assets.compute.dsl import tree
from platform_assets.compute.dsl.field_words import Field
from platform_assets.compute.dsl.fields import catalogue
from platform_assets.compute.dsl.written import written
from platform_assets.compute.language import nearest, plain
from platform_assets.compute.parameters.screener import MAX_DIGITS, MAX_LIST
from serving_api.framework.error_responses import BadExpression
from serving_api.quant.screener.schemas import FieldCondition
from serving_api.quant.screener.service import parsed

_SIGNS = frozenset({"=", "!=", ">", ">=", "<", "<="})


def query_of(conditions: Sequence[FieldCondition], sort: str | None) -> tree.Query:
    """One query of all conditions. Raises InputError naming the invalid one."""
    made = [_condition(f"conditions.{at}", one) for at, one in enumerate(conditions)]
    where = made[0] if len(made) == 1 else tree.And(tuple(made))
    order: tuple[tree.Order, ...] = ()
    if sort:
        order = (tree.Order(_field("sort", sort.removeprefix("-")).name, sort.startswith("-")),)
    query = tree.Query(where, order)
    # The limits of a query also apply here.
    return parsed(written(query), "conditions")


def _field(parameter: str, name: str) -> Field:
    found = catalogue().find(name)
    if found is None:
        like = nearest(name.lower(), catalogue().names)
        meant = catalogue().names[like].name if like else None
        reported = {
            "code": "unknown_field",
            "position": 0,
            "line": 1,
            "column": 1,
            "token": name[:40],
            "expected": ["field"],
            **({"suggestion": meant} if meant else {}),
        }
        hint = f"; did you mean {meant}?" if meant else ""
        raise BadExpression(parameter, f"{name[:40]!r} is no field{hint}", reported)
    return found


def _condition(parameter: str, given: FieldCondition) -> tree.Condition:
    known = _field(f"{parameter}.field", given.field)
    if given.op not in known.operators:
        raise InputError(
            f"{parameter}.op", f"{given.op!r} does not fit {known.name}; one of {', '.join(known.operators)}"
        )
    field = tree.Field(known.name)
    if given.op in {"is null", "is not null"}:
        return tree.IsNull(field, given.op == "is not null")
    value = f"{parameter}.value"
    if known.kind == "flag":
        if not isinstance(given.value, bool):
            raise InputError(value, f"{known.name} is true or false")
        return tree.Flag(field) if given.value else tree.Not(tree.Flag(field))
    if given.op == "between":
        low, high = _list(value, known, given.value, 2, 2)
        return tree.Between(field, _expression(low), _expression(high))
    if given.op in {"in", "not in"}:
        listed = _list(value, known, given.value, 1, MAX_LIST)
        return tree.In(field, tuple(listed), given.op == "not in")
    only = _literal(value, known, given.value)
    if given.op in _SIGNS:
        return tree.Compare(given.op, field, _expression(only))
    assert isinstance(only, tree.Text)  # noqa: S101  `like` is an operator of texts alone
    return tree.Like(field, only.value)


def _list(parameter: str, known: Field, given: Any, fewest: int, most: int) -> list[tree.Number | tree.Text]:
    if not isinstance(given, list) or not fewest <= len(given) <= most:
        count = str(fewest) if fewest == most else f"{fewest}..{most}"
        raise InputError(parameter, f"a list of {count} values is needed")
    return [_literal(parameter, known, one) for one in given]


def _literal(parameter: str, known: Field, given: Any) -> tree.Number | tree.Text:
    """A value of a field's type, in the field's unit."""
    if known.kind == "text":
        if not isinstance(given, str):
            raise InputError(parameter, f"{known.name} holds texts")
        return tree.Text(given)
    if isinstance(given, bool) or not isinstance(given, int | float) or not abs(given) < _MOST:
        raise InputError(parameter, f"{known.name} holds numbers; they lie between -1e15 and 1e15")
    text = plain(Decimal(repr(given))) if given else "0"
    if len(text.lstrip("-")) > MAX_DIGITS:
        raise InputError(parameter, f"{known.name}: a number has at most {MAX_DIGITS} digits")
    return tree.Number(text)


_MOST = 1e15


def _expression(literal: tree.Number | tree.Text) -> tree.Expression:
    """A negative number is written with its sign outside a list."""
    if isinstance(literal, tree.Number) and literal.text.startswith("-"):
        return tree.Negative(tree.Number(literal.text[1:]))
    return literal
