"""Text of a formula to its tree. The grammar is in `docs/calculations/formulas.md`."""

from collections.abc import Callable
from typing import NoReturn

from platform_assets.compute.formulas import tree
from platform_assets.compute.formulas.bars import bars_needed, constant, is_condition, whole_bars, work
from platform_assets.compute.formulas.functions import FUNCTIONS, LOOK_AHEAD, SERIES
from platform_assets.compute.language import END, Alphabet, Cursor, Token, nearest, tokens_of
from platform_assets.compute.parameters.screener import MAX_BARS, MAX_PERIOD, MAX_WORK

_MEANS = {"==": "=", "!=": "<>", "&&": "and", "||": "or"}
_COMPARISONS = (">", ">=", "<", "<=", "=", "<>")
_ALPHABET = Alphabet(
    signs=(*_COMPARISONS, *_MEANS, ":=", ":", ";", "+", "-", "*", "/", "(", ")", ","), comments=("{", "}")
)
_START = ("number", "series", "function", "(", "not")
_KEYWORDS = frozenset({"and", "or", "not"})


def parse(text: str) -> tree.Formula:
    """The tree of a formula. Raises LanguageError."""
    return _Parser(text).formula()


class _Parser(Cursor):
    synonyms = _MEANS

    def __init__(self, text: str) -> None:
        super().__init__(text, tokens_of(text, _ALPHABET))
        self._variables: dict[str, tree.Statement] = {}

    # -- statements ---------------------------------------------------------------------------------

    def formula(self) -> tree.Formula:
        statements = [self._statement()]
        while self.accept(";"):
            if self.now.kind == "end":
                break
            statements.append(self._statement())
        if self.now.kind != "end":
            self.unexpected("+", "-", "*", "/", *_COMPARISONS, "and", "or", ";", END)
        made = tree.Formula(tuple(statements))
        if not any(one.is_output for one in statements):
            self.fail("syntax", "no statement has a result", self.now, expected=("name:", "expression"))
        bars, at = made.result.bars, made.result.value.at
        if bars > MAX_BARS:
            self.fail("limit", f"it looks {bars} bars back; at most {MAX_BARS} are held", at)
        if work(made) > MAX_WORK:
            self.fail("limit", "it is more work than one formula may be", at)
        return made

    def _statement(self) -> tree.Statement:
        token = self.now
        assigns = self.after().text if self.after().kind == "sign" else ""
        if token.kind != "name" or assigns not in {":=", ":"}:
            return self._stated("", self._or(), is_output=True)
        if token.text in SERIES or token.text.upper() in FUNCTIONS or token.text in _KEYWORDS:
            self.fail("syntax", "this name has a meaning already", token, expected=("another name",))
        if token.text in self._variables:
            self.fail("syntax", "this name has been given", token, expected=("another name",))
        self.take()
        self.take()
        made = self._stated(token.text, self._or(), is_output=assigns == ":")
        self._variables[token.text] = made
        return made

    def _stated(self, name: str, value: tree.Node, *, is_output: bool) -> tree.Statement:
        bars = bars_needed(value, self._variables)
        return tree.Statement(name, value, is_output, bars, is_condition(value, self._variables))

    # -- conditions ---------------------------------------------------------------------------------

    def _or(self) -> tree.Node:
        return self._from_the_left(self._and, "or")

    def _and(self) -> tree.Node:
        return self._from_the_left(self._not, "and")

    def _from_the_left(self, operand: Callable[[], tree.Node], *signs: str) -> tree.Node:
        left = operand()
        while token := self.accept(*signs):
            left = self.made(tree.Binary(self.meaning(token), left, operand(), at=token.at))
        return left

    def _not(self) -> tree.Node:
        token = self.accept("not")
        if token is None:
            return self._comparison()
        with self.deeper(token):
            return self.made(tree.Unary("not", self._not(), at=token.at))

    def _comparison(self) -> tree.Node:
        left = self._sum()
        token = self.accept(*_COMPARISONS)
        if token is None:
            return left
        sign = self.meaning(token)
        return self.made(tree.Binary(sign, left, self._sum(), at=token.at))

    # -- values -------------------------------------------------------------------------------------

    def _sum(self) -> tree.Node:
        return self._from_the_left(self._product, "+", "-")

    def _product(self) -> tree.Node:
        return self._from_the_left(self._unary, "*", "/")

    def _unary(self) -> tree.Node:
        token = self.accept("-", "+")
        if token is None:
            return self._atom()
        with self.deeper(token):
            operand = self._unary()
        return operand if token.text == "+" else self.made(tree.Unary("-", operand, at=token.at))

    def _atom(self) -> tree.Node:
        token = self.now
        if token.kind == "number":
            self.take()
            return self.made(tree.Number(float(token.text), at=token.at))
        if self.accept("("):
            with self.deeper(token):
                node = self._or()
            if not self.accept(")"):
                self.unexpected("+", "-", "*", "/", *_COMPARISONS, "and", "or", ")")
            return node
        if token.kind == "name" and token.text not in _KEYWORDS:
            return self._call() if self.after().text == "(" else self._named()
        return self.unexpected(*_START)

    def _named(self) -> tree.Node:
        token = self.now
        if token.text in self._variables:
            self.take()
            return self.made(tree.Variable(token.text, at=token.at))
        if token.text in SERIES:
            self.take()
            return self.made(tree.Series(SERIES[token.text], at=token.at))
        if token.text.upper() in FUNCTIONS:
            self.take()
            self.unexpected("(")
        return self._unknown(token, "no such name", (*SERIES, *self._variables), "series")

    def _unknown(self, token: Token, message: str, known: tuple[str, ...], kind: str) -> NoReturn:
        if token.text.upper() in LOOK_AHEAD:
            self._looks_ahead(token)
        like = nearest(token.text, [name.lower() for name in known])
        meant = like.upper() if like else None
        self.fail("unknown_field", message, token, expected=(kind,), suggestion=meant)

    def _looks_ahead(self, token: Token) -> NoReturn:
        message = f"{token.text.upper()} reads bars that were not there yet"
        self.fail("lookahead", message, token, expected=("REF",))

    def _call(self) -> tree.Node:
        token = self.now
        name = token.text.upper()
        function = FUNCTIONS.get(name)
        if function is None:
            self._unknown(token, "no such function", tuple(FUNCTIONS), "function")
        self.take()
        arguments: list[tree.Node] = []
        with self.deeper(self.take()):
            for at, kind in enumerate(function.takes):
                if at and not self.accept(","):
                    self.unexpected(",")
                start = self.now
                argument = self._or()
                self._checked(name, kind, argument, start)
                if kind == "w":
                    self._weighted(argument, arguments[-1], start)
                elif name == "DMA" and at == 1:
                    self._shared(argument, start)
                arguments.append(argument)
        if not self.accept(")"):
            self.unexpected(")")
        return self.made(tree.Call(name, tuple(arguments), at=token.at))

    def _weighted(self, weight: tree.Node, period: tree.Node, start: Token) -> None:
        """A weight above its period would throw the mean further from every value, without end."""
        most = constant(period, self._variables) or 0.0
        if (constant(weight, self._variables) or 0.0) > most:
            message = "the weight of SMA is at most its period"
            self.fail("limit", message, start, expected=(f"1..{most:.0f}",))

    def _shared(self, weight: tree.Node, start: Token) -> None:
        """As above. Of a weight that moves the bars outside are passed over when it is evaluated."""
        value = constant(weight, self._variables)
        if value is not None and not 0 <= value <= 1:
            self.fail("limit", "the weight of DMA lies between 0 and 1", start, expected=("0..1",))

    def _checked(self, name: str, kind: str, argument: tree.Node, start: Token) -> None:
        """Checks that bars are whole numbers, or for some functions BARSLAST."""
        if kind in "xc":
            return
        value = constant(argument, self._variables)
        if value is None:
            if kind in "dr" and whole_bars(argument, self._variables):
                return
            more = ("BARSLAST(...)",) if kind in "dr" else ()
            self.fail("type", f"{name} takes a whole number here", start, expected=("number", *more))
        low = 0 if kind == "r" else 1
        if value < 0 and name == "REF":
            self._looks_ahead(start)
        allowed = (f"{low}..{MAX_PERIOD}",)
        if value != int(value):
            self.fail("type", f"{name} takes a whole number here", start, expected=allowed)
        if not low <= value <= MAX_PERIOD:
            self.fail("limit", f"{name}: out of range", start, expected=allowed)
