"""The normalised form of a query: canonical names, one space, parentheses only where they are needed."""

from typing import Any

from platform_assets.compute.dsl import tree
from platform_assets.compute.language import children

_OR, _AND, _NOT, _PREDICATE, _SUM, _PRODUCT, _SIGN, _ATOM = range(8)


def written(query: tree.Query) -> str:
    """Parses to the same tree."""
    parts = [text_of(query.where)]
    if query.order:
        ways = (f"{one.field} {'desc' if one.descending else 'asc'}" for one in query.order)
        parts.append("order by " + ", ".join(ways))
    if query.limit is not None:
        parts.append(f"limit {query.limit}")
    return " ".join(parts)


def text_of(node: tree.Node) -> str:  # noqa: PLR0911, PLR0912  one arm a kind of node
    """The normalised text of one part of a query."""
    match node:
        case tree.Number():
            return node.text + node.unit
        case tree.Text():
            return _quoted(node.value)
        case tree.Field():
            return node.name
        case tree.Call():
            period = [] if node.period is None else [str(node.period)]
            return f"{node.function}({', '.join([*map(text_of, node.arguments), *period])})"
        case tree.Negative():
            return "-" + _in(node.operand, _SIGN)
        case tree.Arithmetic():
            rank = _rank(node)
            return f"{_in(node.left, rank)} {node.sign} {_in(node.right, rank + 1)}"
        case tree.Compare():
            return f"{_in(node.left, _SUM)} {node.sign} {_in(node.right, _SUM)}"
        case tree.Between():
            return f"{_in(node.value, _SUM)} between {_in(node.low, _SUM)} and {_in(node.high, _SUM)}"
        case tree.Not():
            return f"not {_in(node.operand, _NOT)}"
        case tree.And():
            return " and ".join(_in(item, _AND + 1) for item in node.items)
        case tree.Or():
            return " or ".join(_in(item, _OR + 1) for item in node.items)
        case tree.In():
            return f"{node.field.name}{_not(node)} in ({', '.join(map(text_of, node.values))})"
        case tree.Like():
            return f"{node.field.name} like {_quoted(node.pattern)}"
        case tree.IsNull():
            return f"{node.field.name} is{_not(node)} null"
        case tree.Flag():
            return node.field.name


def _not(node: tree.In | tree.IsNull) -> str:
    return " not" if node.negated else ""


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _in(node: tree.Node, rank: int) -> str:
    """A part of something that binds as strongly as `rank`."""
    return text_of(node) if _rank(node) >= rank else f"({text_of(node)})"


_RANKS: dict[type, int] = {
    tree.Or: _OR, tree.And: _AND, tree.Not: _NOT, tree.Negative: _SIGN,
    **dict.fromkeys((tree.Number, tree.Text, tree.Field, tree.Call, tree.Flag), _ATOM),
}  # fmt: skip


def _rank(node: tree.Node) -> int:
    if isinstance(node, tree.Arithmetic):
        return _SUM if node.sign in "+-" else _PRODUCT
    return _RANKS.get(type(node), _PREDICATE)


_OWN: dict[type, tuple[str, ...]] = {
    tree.Text: ("value",), tree.Field: ("name",), tree.Call: ("function", "period"), tree.In: ("negated",),
    tree.IsNull: ("negated",), tree.Like: ("pattern",),
}  # fmt: skip
"""What a node says of itself in an answer, beside its kind, place and parts."""


def as_json(node: tree.Node) -> dict[str, Any]:
    """The tree for an answer: `kind`, its parts, and `at`, the place in the text."""
    own = {name: getattr(node, name) for name in _OWN.get(type(node), ())}
    reported: dict[str, Any] = {"kind": type(node).__name__.lower(), "at": node.at, **own}
    if isinstance(node, tree.Number):
        reported |= {"value": float(node.value), "unit": node.unit}
    if isinstance(node, tree.Arithmetic | tree.Compare):
        reported["operator"] = node.sign
    parts = children(node)
    return {**reported, "parts": [as_json(part) for part in parts]} if parts else reported


def query_json(query: tree.Query) -> dict[str, Any]:
    return {
        "where": as_json(query.where),
        "order_by": [{"field": one.field, "descending": one.descending} for one in query.order],
        "limit": query.limit,
    }
