"""Values of a query: arithmetic, fields, functions. What holds them is in `parser`."""

from abc import abstractmethod
from collections.abc import Callable

from platform_assets.compute.dsl import checks, tree
from platform_assets.compute.dsl.checks import is_condition, kind_of
from platform_assets.compute.dsl.fields import catalogue
from platform_assets.compute.dsl.words import COMPARISONS, FUNCTIONS, KEYWORDS, SYNONYMS, Function
from platform_assets.compute.language import Cursor, Token, nearest
from platform_assets.compute.parameters.screener import MAX_BARS, MAX_PERIOD

NUMERIC_START = ("number", "field", "function", "(")


class Values(Cursor):
    """The part of the parser below comparisons."""

    synonyms = SYNONYMS

    @abstractmethod
    def _or(self, *, inner: bool) -> tree.Node:
        """A condition, or with `inner` arithmetic alone."""

    def _whole(self, token: Token, low: int, high: int, what: str) -> int:
        self.take()
        if token.unit or not token.text.isdecimal():
            self.fail("type", f"{what} takes a whole number", token, expected=[f"{low}..{high}"])
        if not low <= int(token.text) <= high:
            self.fail("limit", f"{what} is out of range", token, expected=[f"{low}..{high}"])
        return int(token.text)

    def _sum(self, expected: tuple[str, ...]) -> tree.Node:
        return self._from_the_left(self._product, expected, "+", "-")

    def _product(self, expected: tuple[str, ...]) -> tree.Node:
        return self._from_the_left(self._unary, expected, "*", "/")

    def _from_the_left(
        self, operand: Callable[[tuple[str, ...]], tree.Node], expected: tuple[str, ...], *signs: str
    ) -> tree.Node:
        start = self.now
        left = operand(expected)
        while token := self.accept(*signs):
            left = self._arithmetic(left, token, operand(NUMERIC_START), start)
        return left

    def _arithmetic(self, left: tree.Node, token: Token, right: tree.Node, start: Token) -> tree.Arithmetic:
        self._numeric(left, start.at)
        self._numeric(right, right.at)
        checks.arithmetic_units(self, token, left, right)
        return self.made(tree.Arithmetic(token.text, left, right, at=token.at))  # type: ignore[arg-type]

    def _unary(self, expected: tuple[str, ...]) -> tree.Node:
        token = self.accept("-")
        if token is None:
            return self._atom(expected)
        with self.deeper(token):
            operand = self._unary(NUMERIC_START)
        self._numeric(operand, operand.at)
        return self.made(tree.Negative(operand, at=token.at))  # type: ignore[arg-type]

    def _numeric(self, node: tree.Node, at: int) -> None:
        if kind_of(node) != "number":
            self.fail("type", f"a number is needed, not a {kind_of(node)}", at, expected=NUMERIC_START)

    def _value(self, node: tree.Node, start: Token) -> None:
        if kind_of(node) in {"condition", "flag"}:
            self.fail(
                "type",
                f"a {kind_of(node)} is compared with nothing; it is written alone, or after `not`",
                start,
                expected=NUMERIC_START,
            )

    def _atom(self, expected: tuple[str, ...]) -> tree.Node:
        token = self.now
        if token.kind == "number":
            self.take()
            return self.made(tree.Number(token.text, token.unit, at=token.at))
        if token.kind == "string":
            self.take()
            return self.made(tree.Text(token.text, at=token.at))
        if self.means(token, "("):
            with self.deeper(self.take()):
                node = self._or(inner=True)
            self._close(node)
            return node
        if token.kind == "name" and self.meaning(token) not in KEYWORDS:
            if self.means(self.after(), "("):
                return self._function()
            if token.text not in FUNCTIONS or catalogue().find(token.text) is not None:
                return self.made(self._field())
            self.take()
            self.unexpected("(")
        return self.unexpected(*expected)

    def _close(self, node: tree.Node) -> None:
        if not self.accept(")"):
            more = ("and", "or") if is_condition(node) else ("+", "-", "*", "/")
            self.unexpected(*more, ")")

    def _field(self) -> tree.Field:
        token = self.now
        if token.kind != "name" or self.meaning(token) in KEYWORDS:
            self.unexpected("field")
        found = catalogue().find(token.text)
        if found is None:
            like = nearest(token.text, catalogue().names)
            meant = catalogue().names[like].name if like else None
            self.fail("unknown_field", "no such field", token, expected=["field"], suggestion=meant)
        self.take()
        return tree.Field(found.name, at=token.at)

    # -- functions ----------------------------------------------------------------------------------

    def _function(self) -> tree.Call:
        name = self.take()
        function = FUNCTIONS.get(name.text)
        if function is None:
            self.fail(
                "unknown_field",
                "no such function",
                name,
                expected=["function"],
                suggestion=nearest(name.text, FUNCTIONS),
            )
        opening = self.take()
        with self.deeper(opening):
            arguments, period = self._arguments(function)
        call = tree.Call(function.name, tuple(arguments), period, at=name.at)
        if (bars := checks.bars_needed(call)) > MAX_BARS:
            self.fail("limit", f"it looks {bars} bars back; at most {MAX_BARS} are held", call.at)
        return self.made(call)

    def _arguments(self, function: Function) -> tuple[list[tree.Node], int | None]:
        wants_condition = function.kind == "counted"
        is_windowed = function.kind in {"history", "counted"}
        arguments = [self._argument(wants_condition=wants_condition)]
        if is_windowed:
            if not wants_condition:
                checks.has_history(self, arguments[0])
            self.expect(",")
            token = self.now
            if token.kind != "number":
                self.unexpected("number")
            period = self._whole(token, 1, MAX_PERIOD, f"the period of {function.name}")
            self.expect(")")
            if wants_condition:
                checks.has_history(self, arguments[0])
            return arguments, period
        while len(arguments) < function.fewest or (
            len(arguments) < function.most and self.means(self.now, ",")
        ):
            self.expect(",")
            arguments.append(self._argument(wants_condition=False))
        self.expect(")")
        return arguments, None

    def _argument(self, *, wants_condition: bool) -> tree.Node:
        start = self.now
        if not wants_condition:
            node = self._sum(NUMERIC_START)
            self._numeric(node, start.at)
            return node
        node = self._or(inner=True)
        if not is_condition(node):
            self.unexpected(*operators(node))
        return node


def operators(left: tree.Node) -> tuple[str, ...]:
    """The operators that may follow a value for it to become a condition."""
    if kind_of(left) == "text":
        return ("=", "!=", "in", "not in", "like", "is") if isinstance(left, tree.Field) else ("=", "!=")
    more = ("in", "not in", "is") if isinstance(left, tree.Field) else ()
    return (*COMPARISONS, "between", "+", "-", "*", "/", *more)
