"""The tree of a formula. Positions (`at`) are no part of what makes two trees equal."""

from dataclasses import dataclass

from platform_assets.compute.language import Placed


@dataclass(frozen=True)
class Number(Placed):
    value: float


@dataclass(frozen=True)
class Series(Placed):
    """A column of the bars: open, high, low, close, volume or amount."""

    column: str


@dataclass(frozen=True)
class Variable(Placed):
    """A name that an earlier statement gave to a value."""

    name: str


@dataclass(frozen=True)
class Call(Placed):
    """`function` in upper case; the arguments as they are written, periods included."""

    function: str
    arguments: tuple["Node", ...]


@dataclass(frozen=True)
class Binary(Placed):
    """`sign` is one of + - * / > >= < <= = <> and or."""

    sign: str
    left: "Node"
    right: "Node"


@dataclass(frozen=True)
class Unary(Placed):
    """`sign` is - or not."""

    sign: str
    operand: "Node"


Node = Number | Series | Variable | Call | Binary | Unary


@dataclass(frozen=True)
class Statement:
    """`name` is '' for a bare expression; `is_output` is false for `name:=`.

    `bars`: bars behind one value, the newest included. Who uses the name need not look into it again.
    """

    name: str
    value: Node
    is_output: bool
    bars: int
    is_condition: bool


@dataclass(frozen=True)
class Formula:
    """The last statement that is an output is the result."""

    statements: tuple[Statement, ...]

    @property
    def result(self) -> Statement:
        return next(one for one in reversed(self.statements) if one.is_output)

    @property
    def variables(self) -> dict[str, Statement]:
        return {one.name: one for one in self.statements if one.name}
