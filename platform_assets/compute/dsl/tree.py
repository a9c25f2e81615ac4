"""The tree of a query. Positions (`at`) are no part of what makes two trees equal."""

from dataclasses import dataclass
from decimal import Decimal

from platform_assets.compute.language import Placed, walk


@dataclass(frozen=True)
class Number(Placed):
    """A number as written: `text` without needless zeros, `unit` '', '%', '万' or '亿'."""

    text: str
    unit: str = ""

    @property
    def value(self) -> Decimal:
        return Decimal(self.text)


@dataclass(frozen=True)
class Text(Placed):
    value: str


@dataclass(frozen=True)
class Field(Placed):
    name: str


@dataclass(frozen=True)
class Call(Placed):
    """`period`: the bars of a function over history; None for the others."""

    function: str
    arguments: tuple["Node", ...]
    period: int | None = None


@dataclass(frozen=True)
class Arithmetic(Placed):
    """`sign` is one of + - * /."""

    sign: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True)
class Negative(Placed):
    operand: "Expression"


@dataclass(frozen=True)
class Compare(Placed):
    """`sign` is one of > >= < <= = !=."""

    sign: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True)
class Between(Placed):
    """Both ends included."""

    value: "Expression"
    low: "Expression"
    high: "Expression"


@dataclass(frozen=True)
class In(Placed):
    field: Field
    values: tuple[Number | Text, ...]
    negated: bool = False


@dataclass(frozen=True)
class Like(Placed):
    field: Field
    pattern: str


@dataclass(frozen=True)
class IsNull(Placed):
    field: Field
    negated: bool = False


@dataclass(frozen=True)
class Flag(Placed):
    """A field that is true or false, used as a condition."""

    field: Field


@dataclass(frozen=True)
class Not(Placed):
    operand: "Condition"


@dataclass(frozen=True)
class And(Placed):
    items: tuple["Condition", ...]


@dataclass(frozen=True)
class Or(Placed):
    items: tuple["Condition", ...]


Expression = Number | Text | Field | Call | Arithmetic | Negative
Condition = Compare | Between | In | Like | IsNull | Flag | Not | And | Or
Node = Expression | Condition
CONDITIONS = (Compare, Between, In, Like, IsNull, Flag, Not, And, Or)


@dataclass(frozen=True)
class Order(Placed):
    field: str
    descending: bool = False


@dataclass(frozen=True)
class Query:
    where: Condition
    order: tuple[Order, ...] = ()
    limit: int | None = None


def fields_of(query: Query) -> list[str]:
    """Names of the fields that a query reads, each once, in the order of their first use."""
    used = [node.name for node in walk(query.where) if isinstance(node, Field)]
    return list(dict.fromkeys([*used, *(one.field for one in query.order)]))
