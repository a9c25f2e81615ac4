"""The tree of a query. Positions (`at`) are no part of what makes two trees equal."""

from dataclasses import dataclass
from decimal import Decimal

from platform_assets.compute.language import place, walk


@dataclass(frozen=True)
class Number:
    """A number as written: `text` without needless zeros, `unit` '', '%', '万' or '亿'."""

    text: str
    unit: str = ""
    at: int = place()

    @property
    def value(self) -> Decimal:
        return Decimal(self.text)


@dataclass(frozen=True)
class Text:
    value: str
    at: int = place()


@dataclass(frozen=True)
class Field:
    name: str
    at: int = place()


@dataclass(frozen=True)
class Call:
    """`period`: the bars of a function over history; None for the others."""

    function: str
    arguments: tuple["Node", ...]
    period: int | None = None
    at: int = place()


@dataclass(frozen=True)
class Arithmetic:
    """`sign` is one of + - * /."""

    sign: str
    left: "Expression"
    right: "Expression"
    at: int = place()


@dataclass(frozen=True)
class Negative:
    operand: "Expression"
    at: int = place()


@dataclass(frozen=True)
class Compare:
    """`sign` is one of > >= < <= = !=."""

    sign: str
    left: "Expression"
    right: "Expression"
    at: int = place()


@dataclass(frozen=True)
class Between:
    """Both ends included."""

    value: "Expression"
    low: "Expression"
    high: "Expression"
    at: int = place()


@dataclass(frozen=True)
class In:
    field: Field
    values: tuple[Number | Text, ...]
    negated: bool = False
    at: int = place()


@dataclass(frozen=True)
class Like:
    field: Field
    pattern: str
    at: int = place()


@dataclass(frozen=True)
class IsNull:
    field: Field
    negated: bool = False
    at: int = place()


@dataclass(frozen=True)
class Flag:
    """A field that is true or false, used as a condition."""

    field: Field
    at: int = place()


@dataclass(frozen=True)
class Not:
    operand: "Condition"
    at: int = place()


@dataclass(frozen=True)
class And:
    items: tuple["Condition", ...]
    at: int = place()


@dataclass(frozen=True)
class Or:
    items: tuple["Condition", ...]
    at: int = place()


Expression = Number | Text | Field | Call | Arithmetic | Negative
Condition = Compare | Between | In | Like | IsNull | Flag | Not | And | Or
Node = Expression | Condition
CONDITIONS = (Compare, Between, In, Like, IsNull, Flag, Not, And, Or)


@dataclass(frozen=True)
class Order:
    field: str
    descending: bool = False
    at: int = place()


@dataclass(frozen=True)
class Query:
    where: Condition
    order: tuple[Order, ...] = ()
    limit: int | None = None


def fields_of(query: Query) -> list[str]:
    """Names of the fields that a query reads, each once, in the order of their first use."""
    used = [node.name for node in walk(query.where) if isinstance(node, Field)]
    return list(dict.fromkeys([*used, *(one.field for one in query.order)]))
