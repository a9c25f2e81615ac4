"""Checks of a tree before it is evaluated: kinds, units, bars of history."""

from platform_assets.compute.dsl import tree
from platform_assets.compute.dsl.field_words import SCALES
from platform_assets.compute.dsl.fields import catalogue
from platform_assets.compute.dsl.words import FUNCTIONS
from platform_assets.compute.language import Cursor, Token, children, recursion_bars, remembered, steps, walk

_OF_MONEY = frozenset({"亿", "万"})
_UNITLESS = frozenset({"rank", "pct_rank", "change", "count"})


def is_condition(node: tree.Node) -> bool:
    return isinstance(node, tree.CONDITIONS)


def kind_of(node: tree.Node) -> str:
    """number, text, flag or condition."""
    match node:
        case tree.Field():
            return catalogue()[node.name].kind
        case tree.Text():
            return "text"
        case _:
            return "condition" if is_condition(node) else "number"


def unit_of(node: tree.Node) -> str | None:
    """Unit of the first field that a value is made of; None for a constant."""
    match node:
        case tree.Field():
            return catalogue()[node.name].unit
        case tree.Call(function=name):
            if name == "change":
                return "pct"
            if name in _UNITLESS:
                return ""
        case tree.Arithmetic(sign="/", left=left, right=right):
            return unit_of(left) if unit_of(right) is None else ""
        case tree.Arithmetic(sign="*", left=left, right=right):
            known = [unit for unit in (unit_of(left), unit_of(right)) if unit is not None]
            return known[0] if len(known) == 1 else ("" if known else None)
    return next((unit for child in children(node) if (unit := unit_of(child)) is not None), None)


def scale_of(node: tree.Node) -> float:
    """One unit of a value in CNY or shares."""
    return SCALES.get(unit_of(node) or "", 1.0)


def units_agree(cursor: Cursor, left: tree.Node, right: tree.Node) -> None:
    """Refuses a comparison of a percent with an amount."""
    for literal, other in ((left, right), (right, left)):
        sign = _written_unit(literal)
        unit = unit_of(other)
        if unit is None or not sign:
            continue
        if sign == "%" and unit not in {"pct", ""}:
            cursor.fail("type", "a percent is compared with an amount", literal.at, expected=["number"])
        if sign in _OF_MONEY and unit in {"pct", "days"}:
            cursor.fail(
                "type", "an amount is compared with a percent or days", literal.at, expected=["number"]
            )


def arithmetic_units(cursor: Cursor, token: Token, left: tree.Node, right: tree.Node) -> None:
    """A percent is the number itself (15% is 15), so it is no factor."""
    for literal in (left, right):
        if token.text in {"*", "/"} and _written_unit(literal) == "%":
            cursor.fail(
                "type",
                "a percent is no factor: 15% is the number 15; write 0.15",
                literal.at,
                expected=["number"],
            )
    if token.text in {"+", "-"}:
        units_agree(cursor, left, right)


def _written_unit(node: tree.Node) -> str:
    if isinstance(node, tree.Negative):
        return _written_unit(node.operand)
    return node.unit if isinstance(node, tree.Number) else ""


def has_history(cursor: Cursor, node: tree.Node) -> None:
    """Refuses what has no value on the days before: fields that are not read from bars, and ranks."""
    match node:
        case tree.Field() if not catalogue()[node.name].series:
            known = [one.name for one in catalogue().fields.values() if one.series]
            cursor.fail("type", f"{node.name} has no history here", node.at, expected=known)
        case tree.Call(function=name) if FUNCTIONS[name].kind == "cross":
            cursor.fail("type", f"{name} has no history", node.at, expected=["field"])
    for child in children(node):
        has_history(cursor, child)


def bars_needed(node: tree.Node) -> int:
    """Bars of history behind one value, the newest included."""
    inner = max((bars_needed(child) for child in children(node)), default=1)
    if not isinstance(node, tree.Call) or node.period is None:
        return inner
    match node.function:
        case "ref" | "change":
            return inner + node.period
        case "ema":
            return remembered(inner, recursion_bars(node.period))
        case _:
            return inner + node.period - 1


def work(node: tree.Node) -> int:
    """Passes over one bar of all stocks that the functions over history take."""
    if isinstance(node, tree.Call) and node.period is not None:
        parts = [one for one in walk(node) if not isinstance(one, tree.Field | tree.Number)]
        each = (steps(one.function, one.period or 1) if isinstance(one, tree.Call) else 1 for one in parts)
        return bars_needed(node) * sum(each)
    return sum(work(child) for child in children(node))


def columns_needed(node: tree.Node) -> dict[str, int]:
    """Column of bars -> bars that a tree reads of it, for its functions over history."""
    needs: dict[str, int] = {}
    for part in walk(node):
        if isinstance(part, tree.Call) and part.period is not None:
            bars = bars_needed(part)
            for below in walk(part):
                if isinstance(below, tree.Field):
                    column = catalogue()[below.name].series
                    needs[column] = max(needs.get(column, 0), bars)
    return needs
